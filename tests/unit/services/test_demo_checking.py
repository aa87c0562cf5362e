from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from season_log import KERNEL, LISTER, Log, checkpoint_note, proof
from weighbridge.contract import RuleSet
from weighbridge.identity import SIGNATURE, verifier_key
from weighbridge.log.entries import decode_entry, encode_entry, make_entry, read_listed
from weighbridge.plugins import Plugins
from weighbridge_delvetown import asks
from weighbridge_services.demo.checking import Checked, Message, check
from weighbridge_services.demo.errors import DemoUntrue
from weighbridge_services.demo.story import tell

KEY = verifier_key(LISTER.name, SIGNATURE, LISTER.log.public)
Change = Callable[[list[Message]], None]


@pytest.fixture(scope="module")
def ruleset() -> RuleSet:
    return Plugins({"weighbridge.rulesets": ["delvetown"]}).ruleset("delvetown")


@pytest.fixture(scope="module")
def log() -> Log:
    made = Log(tell(KERNEL))
    made.run()
    return made


@pytest.fixture(scope="module")
def messages(log: Log) -> list[Message]:
    return [Message(each.data, each.record, proof(each)) for each in log.listed]


def checked(log: Log, messages: list[Message], ruleset: RuleSet, size: int | None = None) -> Checked:
    return check(messages, checkpoint_note(log, size or len(log.listed)), KEY, ruleset, "pin")


def test_every_die_is_drawn_again(log: Log, messages: list[Message], ruleset: RuleSet) -> None:
    found = checked(log, messages, ruleset)
    assert len(found.rolls) >= 55
    assert found.dice == sum(len(roll.faces) for roll in found.rolls)
    assert {roll.purpose for roll in found.rolls} == {"ask", "resist"}
    assert found.fold.transcript.size == len(messages)


def test_what_comes_after_the_checkpoint_is_left_alone(
    log: Log, messages: list[Message], ruleset: RuleSet
) -> None:
    (place,) = [n for n, each in enumerate(log.listed) if (each.entry.uri or "").endswith("/1121-claim")]
    assert len(checked(log, messages, ruleset, place).listed) == place


def test_a_roll_that_still_waits_is_no_success(log: Log, messages: list[Message], ruleset: RuleSet) -> None:
    (place,) = [n for n, each in enumerate(log.listed) if (each.entry.uri or "").endswith("/1121-wim-again")]
    with pytest.raises(DemoUntrue, match="still waits"):
        checked(log, messages, ruleset, place)


def spoil_signature(messages: list[Message]) -> None:
    proof = bytearray(messages[9].proof or b"")
    proof[-1] ^= 1
    messages[9] = messages[9]._replace(proof=bytes(proof))


def swap_proofs(messages: list[Message]) -> None:
    messages[8] = messages[8]._replace(proof=messages[9].proof)


def leave_out(messages: list[Message]) -> None:
    del messages[30]


def add_a_tick(messages: list[Message]) -> None:
    last = read_listed(messages[19].entry, messages[19].record)
    messages[20] = Message(
        make_entry(last, game=last.entry.game, at=last.entry.at, op="tick").data, None, None
    )


def backdate(messages: list[Message]) -> None:
    entry: Any = decode_entry(messages[5].entry)
    messages[5] = messages[5]._replace(entry=encode_entry(msgspec.structs.replace(entry, at=entry.at + 1)))


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (spoil_signature, "bad-signature"),
        (swap_proofs, "not what its author signed"),
        (leave_out, "log-gap"),
        (add_a_tick, "log-out-of-order"),
        (backdate, "log-out-of-order"),
    ],
    ids=[
        "a spoilt signature",
        "another record's envelope",
        "an entry left out",
        "one put in",
        "one backdated",
    ],
)
def test_a_log_that_does_not_hold_is_no_success(
    log: Log, messages: list[Message], ruleset: RuleSet, spoil: Change, says: str
) -> None:
    spoilt = list(messages)
    spoil(spoilt)
    with pytest.raises(DemoUntrue, match=says):
        checked(log, spoilt, ruleset)


def test_a_checkpoint_of_another_log_is_no_success(
    log: Log, messages: list[Message], ruleset: RuleSet
) -> None:
    other = Log(tell({**KERNEL, "voidDays": 3}))
    other.run()
    with pytest.raises(DemoUntrue, match="the lister's checkpoint"):
        check(messages, checkpoint_note(other, 20), KEY, ruleset, "pin")


def test_a_die_that_its_beacon_does_not_give_is_no_success(
    log: Log, messages: list[Message], ruleset: RuleSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = asks._roll

    def loaded(docket: Any, ctx: Any, pool: int) -> dict[str, Any]:
        cell = drawn(docket, ctx, pool)
        return {**cell, "dice": [6 for _ in cell["dice"]]}

    monkeypatch.setattr(asks, "_roll", loaded)
    with pytest.raises(DemoUntrue, match="its beacon gives"):
        checked(log, messages, ruleset)
