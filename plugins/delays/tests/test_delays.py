from __future__ import annotations

from typing import Any

from weighbridge.contract import Finding
from weighbridge_delays import SECOND, Delays

GAME = "at://did:plc:gmgmgmgmgmgmgmgmgmgmgmgm/example.root/self"
OPERATOR = "did:key:one"
START = 1_700_000_000


class Log:
    """Shows an audit a log."""

    def __init__(self) -> None:
        self.audit = Delays()
        self.found: list[Finding] = []
        self.size = 0

    def list(self, at: int, *delta: tuple[str, Any]) -> Log:
        uri = f"at://did:plc:annannannannannannannann/example.note/r{self.size}"
        entry = {"game": GAME, "seq": self.size, "at": (START + at) * SECOND, "uri": uri}
        self.found += self.audit.observe(entry, {}, list(delta))
        self.size += 1
        return self

    def receipt(self, at: int, size: int, of: int) -> Log:
        return self.list(at, (f"_/receipt/{OPERATOR}", {"size": size, "time": START + of}))


def test_receipts_in_time_are_nothing_to_speak_of() -> None:
    log = Log().list(0).list(1).receipt(3, 2, of=2).list(10).receipt(12, 4, of=11)
    assert log.found == []


def test_a_late_receipt_is_found_once_with_the_longest_wait() -> None:
    log = Log().list(0).list(50).receipt(101, 2, of=100).receipt(120, 2, of=119)
    assert [(each.code, each.about) for each in log.found] == [
        ("late-receipt", "at://did:plc:annannannannannannannann/example.note/r0")
    ]
    assert "1 of the entries 0 to 1" in log.found[0].says
    assert "100 s" in log.found[0].says


def test_a_receipt_of_less_than_is_receipted_already_says_nothing() -> None:
    log = Log().list(0).list(0).receipt(1, 2, of=1).receipt(200, 1, of=199)
    assert log.found == []


def test_a_listed_time_ahead_of_its_receipt_is_found() -> None:
    log = Log().list(30).receipt(31, 1, of=10)
    assert [each.code for each in log.found] == ["listed-ahead"]
    assert "19 s" in log.found[0].says


def test_what_no_receipt_holds_is_waited_for() -> None:
    log = Log().list(0).list(1).receipt(3, 1, of=2)
    assert log.found == []
    assert len(log.audit._waiting) == 2
