"""A damaged page is detected and named, or what is read is right: nothing damaged is ever served."""

from __future__ import annotations

import random
import sqlite3
from pathlib import Path

import pytest
from weighbridge.errors import Broken
from weighbridge.ledger import ForeignLedger, Ledger, LedgerCorrupt, LedgerNewer, restore
from weighbridge.ledger.schema import TABLES
from writer import GAME, ORIGIN, PER_BATCH, entries, everything, reads, uri, write_batch

HEADER = 100
BATCHES = 6


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, dict[str, object]]:
    path = tmp_path_factory.mktemp("sound") / "ledger"
    with Ledger.open(path) as ledger:
        for number in range(BATCHES):
            write_batch(ledger, entries(BATCHES * PER_BATCH, size=600), number)
        held = everything(ledger)
    return path.read_bytes(), held


def check_damaged(path: Path, data: bytes, held: dict[str, object], offset: int) -> str:
    """Read everything of a damaged ledger: each thing is right, or the error says where the damage is."""
    path.write_bytes(data)
    for suffix in ("-wal", "-shm"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
    detected = 0
    try:
        with Ledger.open(path, create=False) as ledger:
            for name, read in reads(ledger, BATCHES * PER_BATCH):
                try:
                    value = read()
                except LedgerCorrupt as error:
                    detected += names_its_place(error)
                else:
                    assert value == held[name], f"byte {offset}: {name} is wrong and was served"
    except LedgerCorrupt as error:
        detected += names_its_place(error)
    except (ForeignLedger, LedgerNewer):
        return "refused" if offset < HEADER else "refused for no reason"
    return "detected" if detected else "right"


def names_its_place(error: LedgerCorrupt) -> bool:
    return bool(error.detail["table"]) and bool(error.detail["key"])


def flips(data: bytes, step: int, seed: int) -> list[tuple[int, int]]:
    draw = random.Random(seed)
    return [(offset, 1 << draw.randrange(8)) for offset in range(draw.randrange(step), len(data), step)]


def damage(path: Path, sound: tuple[bytes, dict[str, object]], places: list[tuple[int, int]]) -> set[str]:
    data, held = sound
    outcomes = set[str]()
    for offset, bit in places:
        damaged = bytearray(data)
        damaged[offset] ^= bit
        outcomes.add(check_damaged(path, bytes(damaged), held, offset))
    assert outcomes <= {"detected", "refused", "right"}
    return outcomes


def test_a_flipped_bit_anywhere_is_detected_or_harmless(
    path: Path, sound: tuple[bytes, dict[str, object]]
) -> None:
    outcomes = damage(path, sound, flips(sound[0], step=len(sound[0]) // 200, seed=1))
    assert {"detected", "right"} <= outcomes


def test_a_flipped_bit_in_the_file_header_is_detected_refused_or_harmless(
    path: Path, sound: tuple[bytes, dict[str, object]]
) -> None:
    damage(path, sound, [(offset, 1 << offset % 8) for offset in range(HEADER)])


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0])
def test_a_flipped_bit_at_every_sixty_first_byte_is_detected_or_harmless(
    path: Path, sound: tuple[bytes, dict[str, object]], seed: int
) -> None:
    damage(path, sound, flips(sound[0], step=61, seed=seed))


@pytest.mark.parametrize("filling", [0, 255], ids=["zeroes", "ones"])
def test_a_wiped_page_is_detected_or_harmless(
    path: Path, sound: tuple[bytes, dict[str, object]], filling: int
) -> None:
    data, held = sound
    for start in range(0, len(data), 4096):
        damaged = data[:start] + bytes([filling]) * 4096 + data[start + 4096 :]
        outcome = check_damaged(path, damaged, held, start)
        assert outcome != "right" or start >= 4096


def test_two_swapped_pages_are_detected_or_harmless(
    path: Path, sound: tuple[bytes, dict[str, object]]
) -> None:
    data, held = sound
    pages = [data[start : start + 4096] for start in range(0, len(data), 4096)]
    for first in range(1, len(pages) - 1):
        swapped = [*pages]
        swapped[first], swapped[first + 1] = swapped[first + 1], swapped[first]
        check_damaged(path, b"".join(swapped), held, first * 4096)


def test_a_truncated_file_is_detected(path: Path, sound: tuple[bytes, dict[str, object]]) -> None:
    data, held = sound
    for length in (100, 4096, len(data) // 2, len(data) - 4096):
        assert check_damaged(path, data[:length], held, length) == "detected"


@pytest.mark.parametrize(
    ("statement", "table"),
    [
        pytest.param("DELETE FROM entry WHERE place % 4096 = 3", "entry", id="an-entry-is-gone"),
        pytest.param("UPDATE entry SET data = 5 WHERE place % 4096 = 3", "entry", id="an-entry-is-no-bytes"),
        pytest.param("DELETE FROM block", "block", id="the-records-are-gone"),
        pytest.param("UPDATE block SET data = X'00'", "block", id="the-records-are-others"),
        pytest.param("DELETE FROM leaf WHERE place % 4096 = 3", "leaf", id="a-leaf-is-gone"),
        pytest.param("UPDATE leaf SET data = X'00'", "leaf", id="a-leaf-is-another"),
        pytest.param("DELETE FROM node", "node", id="the-hashes-are-gone"),
        pytest.param("UPDATE node SET data = X'00'", "node", id="the-hashes-are-others"),
        pytest.param(
            "DELETE FROM uri WHERE next <> X'' AND key <> X''", "uri", id="the-index-by-uri-is-gone"
        ),
        pytest.param(
            "DELETE FROM kept WHERE CAST(key AS TEXT) LIKE 'position%'", "kept", id="a-position-is-gone"
        ),
        pytest.param("DELETE FROM kept WHERE key = X''", "kept", id="the-first-row-is-gone"),
        pytest.param("UPDATE kept SET value = X'00'", "kept", id="the-kept-values-are-others"),
        pytest.param("DELETE FROM blob", "blob", id="the-long-values-are-gone"),
        pytest.param("DROP TABLE blob", "ledger", id="a-table-is-gone"),
    ],
)
def test_what_another_program_changed_is_detected_and_verify_names_the_table(
    path: Path, sound: tuple[bytes, dict[str, object]], statement: str, table: str
) -> None:
    path.write_bytes(sound[0])
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()
    with pytest.raises(LedgerCorrupt) as caught, Ledger.open(path) as ledger:
        everything(ledger)
    assert caught.value.detail["table"] in TABLES or table == "ledger"
    if table != "ledger" and "first-row" not in statement and caught.value.detail["key"] != "''":
        with Ledger.open(path) as ledger:
            report = ledger.verify()
        assert not report.sound
        assert table in {fault.table for fault in report.faults}


def test_verify_names_a_damaged_page_and_goes_on_to_the_rest(
    path: Path, sound: tuple[bytes, dict[str, object]]
) -> None:
    path.write_bytes(sound[0])
    connection = sqlite3.connect(path)
    connection.execute("UPDATE leaf SET sum = X'00'")
    connection.execute("UPDATE block SET data = X'00' WHERE id = 1")
    connection.commit()
    connection.close()
    with Ledger.open(path) as ledger:
        report = ledger.verify()
        assert ledger.verify(quick=True).sound
    assert {fault.table for fault in report.faults} == {"block", "leaf"}
    assert report.counts["uri"] > 1


def test_verify_quick_finds_damaged_structure(path: Path, sound: tuple[bytes, dict[str, object]]) -> None:
    data = bytearray(sound[0])
    path.write_bytes(data)
    connection = sqlite3.connect(path)
    (root,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'block'").fetchone()
    connection.close()
    data[(root - 1) * 4096 + 3] = 0xFF  # the number of cells on the page
    path.write_bytes(data)
    with Ledger.open(path) as ledger:
        report = ledger.verify(quick=True)
    assert not report.sound


def test_nothing_is_appended_to_a_log_whose_end_is_damaged(
    path: Path, sound: tuple[bytes, dict[str, object]]
) -> None:
    path.write_bytes(sound[0])
    connection = sqlite3.connect(path)
    connection.execute("UPDATE entry SET data = X'00' WHERE place = (SELECT MAX(place) FROM entry)")
    connection.commit()
    connection.close()
    with Ledger.open(path) as ledger:
        size = ledger.log(GAME).size
        following = entries(size + 1, 600)[-1]
        with pytest.raises(LedgerCorrupt):
            ledger.log(GAME).append(following)
        assert ledger.log(GAME).size == size
        assert ledger.log(GAME).first(uri(0)) == 0
        assert ledger.transcript(ORIGIN).size == size


def test_a_damaged_backup_is_not_restored(path: Path, sound: tuple[bytes, dict[str, object]]) -> None:
    data = sound[0]
    outcomes = [restored(path, data, start + 4000) for start in range(4096, len(data), 4096)]
    assert "ledger-corrupt" in outcomes
    assert sorted(one.name for one in path.parent.iterdir()) == [path.name]


def restored(path: Path, data: bytes, offset: int) -> str:
    damaged = bytearray(data)
    damaged[offset] ^= 1
    path.write_bytes(damaged)
    try:
        restore(path, path.parent / "restored")
    except Broken as error:
        return error.code
    (path.parent / "restored").unlink()
    return "restored"
