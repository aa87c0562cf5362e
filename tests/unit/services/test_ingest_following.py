"""What a follower takes from a lister, and what it holds against it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from ingest_facts import GAME, NOON, SECOND, note, opened, opened_book, player
from weighbridge import codec
from weighbridge.identity import encode_envelope
from weighbridge.log.entries import Listed, make_entry
from weighbridge_services.ingest.following import (
    Fault,
    Reached,
    Taken,
    check_follows,
    forged,
    forked,
    may_cosign,
    take_entry,
)
from weighbridge_services.ingest.opening import claim_of, log_message, proof_of
from weighbridge_services.ingest.verifying import holds

ANN, BOB = player(1), player(2)
SOUND = note(ANN, "a")


def listed_note(**changes: Any) -> Listed:
    fields: dict[str, Any] = {
        "game": GAME, "at": NOON, "op": "create", "uri": SOUND.uri, "author": ANN.did, "record": SOUND.record,
        "prov": {"sig": SOUND.sig},
    }  # fmt: skip
    return make_entry(None, **{**fields, **changes})


def test_a_listed_record_comes_with_the_envelope_that_its_entry_holds() -> None:
    taken = take_entry(log_message(listed_note()), GAME)
    assert isinstance(taken, Taken)
    assert taken.proof == encode_envelope(SOUND) == proof_of(listed_note())
    assert taken.opened is not None
    assert holds(claim_of(taken.opened))


def test_a_tick_comes_without_one() -> None:
    tick = make_entry(None, game=GAME, at=NOON, op="tick")
    assert take_entry(log_message(tick), GAME) == Taken(tick, None)


def message(listed: Listed, **changes: Any) -> bytes:
    parts = {"entry": listed.data, "record": listed.record, "proof": proof_of(listed)}
    return codec.encode({**parts, **changes})


BAD: dict[str, tuple[Callable[[], bytes], str]] = {
    "no map": (lambda: b"\x80", "malformed-log"),
    "no CBOR": (lambda: b"hello", "malformed-log"),
    "no entry in it": (lambda: message(listed_note(), entry=b"\xa0"), "malformed-log"),
    "another record than the entry names": (lambda: message(listed_note(), record=b"\xa0"), "malformed-log"),
    "no record": (lambda: message(listed_note(), record=None), "malformed-log"),
    "no envelope": (lambda: message(listed_note(), proof=None), "bad-proof"),
    "bytes that are no envelope": (lambda: message(listed_note(), proof=b"\xa0"), "bad-proof"),
    "another record's envelope": (
        lambda: message(listed_note(), proof=encode_envelope(note(ANN, "b"))),
        "bad-proof",
    ),
    "another author's": (lambda: message(listed_note(), proof=encode_envelope(note(BOB, "a"))), "bad-proof"),
    "another signature in the entry": (
        lambda: message(listed_note(prov={"sig": bytes(64)}), proof=encode_envelope(SOUND)),
        "bad-proof",
    ),
    "a deletion that nobody signed": (
        lambda: message(listed_note(op="delete", record=None, prov=None), proof=encode_envelope(SOUND)),
        "bad-proof",
    ),
}


@pytest.mark.parametrize(("made", "code"), BAD.values(), ids=list(BAD))
def test_an_entry_is_not_taken_with(made: Callable[[], bytes], code: str) -> None:
    fault = take_entry(made(), GAME)
    assert isinstance(fault, Fault)
    assert fault.code == code


def test_a_claim_with_anothers_signature_does_not_hold() -> None:
    other = message(listed_note(prov={"sig": note(BOB, "a").sig}))
    taken = take_entry(other, GAME)
    assert isinstance(taken, Taken)
    assert taken.opened is not None
    assert not holds(claim_of(taken.opened))


def test_a_time_before_the_last_ones_is_a_malformed_log() -> None:
    last = listed_note()
    earlier = make_entry(last, game=GAME, at=NOON - 1, op="tick")
    fault = check_follows(last, earlier, GAME)
    assert fault is not None
    assert fault.code == "malformed-log"
    assert fault.detail["before"] == last.data
    assert check_follows(last, make_entry(last, game=GAME, at=NOON, op="tick"), GAME) is None


def test_another_entry_in_an_old_place_is_a_forked_log_with_both_as_evidence() -> None:
    own, other = listed_note(), make_entry(None, game=GAME, at=NOON, op="tick")
    fault = forked(own, other)
    assert (fault.code, fault.detail["held"], fault.detail["entry"]) == ("forked-log", own.data, other.data)


def test_a_forged_checkpoint_is_shown_with_both_notes_where_there_are_two() -> None:
    reached = Reached(2, bytes(32), b"one")
    assert forged(GAME, reached, b"r" * 32, b"two").detail["other"] == "two"
    assert "other" not in forged(GAME, reached, b"r" * 32, None).detail


@pytest.mark.parametrize(
    ("ahead", "may"), [(-60, True), (0, True), (5, True), (5.1, False), (3600, False)], ids=str
)
def test_nothing_is_cosigned_that_is_listed_more_than_five_seconds_ahead(ahead: float, may: bool) -> None:
    assert may_cosign(NOON + int(ahead * SECOND), NOON) is may


def test_a_lister_and_a_follower_read_the_same_log() -> None:
    book = opened_book()
    book.list(opened(note(ANN, "a")), opened(note(BOB, "b")))
    last = None
    for listed in book.entries:
        taken = take_entry(log_message(listed), GAME)
        assert isinstance(taken, Taken)
        assert check_follows(last, taken.listed, GAME) is None
        last = taken.listed
