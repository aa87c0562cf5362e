"""What the fold service publishes and signs, decided without a broker."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from weighbridge import codec
from weighbridge.fold.operators import listing_origin
from weighbridge.fold.roots import Root, read_root
from weighbridge.identity import SIGNATURE, Signer, format_note, make_operator_record, sign_note, verifier_key
from weighbridge.identity.vkeys import COSIGNATURE
from weighbridge.log.checkpoint import Checkpoint
from weighbridge_services.fold.decide import (
    MESSAGE_BYTES,
    Batch,
    addressee,
    batches,
    listing_checkpoint,
    new_leaves,
    opened_questions,
    question_message,
    to_sign,
    weaknesses,
)
from weighbridge_services.folding.store import Era, too_many

RECORDS, LOG, RECOMPUTE = (Signer(bytes([n]) * 32) for n in (1, 2, 3))
GAME = f"at://{RECORDS.did}/example.game.root/self"
OPERATOR = make_operator_record(
    RECORDS.did, GAME, "alma", verifier_key("alma", SIGNATURE, LOG.public),
    verifier_key("alma", COSIGNATURE, RECOMPUTE.public),
)  # fmt: skip
FIRST = Era("first", "coin", "a", 0, 0)
SECOND = Era("second", "coin", "b", 10, 1)


def checkpoint(signer: Signer = LOG, origin: str | None = None) -> bytes:
    text = Checkpoint(origin or listing_origin(GAME), 3, bytes(32)).text()
    return codec.encode({"note": format_note(text, [sign_note(signer, "alma", text)]).decode()})


# --- sizes ------------------------------------------------------------------------------------------------------


def test_only_sizes_that_are_folded_and_above_the_last_are_signed() -> None:
    assert to_sign([9, 3, 7, 5, 3], folded=7, done=3) == [5, 7]


def test_places_of_leaves_follow_the_eras() -> None:
    assert (FIRST.index_of(4), FIRST.size_at(5)) == (4, 5)
    assert (SECOND.index_of(10), SECOND.size_at(11), SECOND.seq_of(1)) == (1, 2, 10)
    assert SECOND.seq_of(0) == 9, "the genesis leaf is of the entry that ended the transcript before"


def test_new_leaves_end_with_the_checkpoint_and_bring_the_genesis_of_a_new_era() -> None:
    assert list(new_leaves([FIRST], 2, 5)) == [("first", 2), ("first", 3), ("first", 4)]
    over = list(new_leaves([FIRST, SECOND], 8, 12))
    assert over == [("first", 8), ("first", 9), ("second", 0), ("second", 1), ("second", 2)]
    assert list(new_leaves([FIRST, SECOND], 12, 13)) == [("second", 3)]
    assert list(new_leaves([FIRST, SECOND], 5, 10)) == [("first", place) for place in range(5, 10)]


@given(st.lists(st.integers(1, 40), min_size=1, max_size=20), st.integers(0, 30))
def test_however_checkpoints_fall_every_leaf_is_published_once(steps: list[int], start: int) -> None:
    eras = [FIRST, Era("second", "coin", "b", start + 1, 1)]
    found, done = [], 0
    for step in steps:
        found += list(new_leaves(eras, done, done + step))
        done += step
    assert found == list(new_leaves(eras, 0, done))
    assert len(set(found)) == len(found)


def test_messages_hold_leaves_of_one_origin_and_stay_under_the_limit() -> None:
    half = MESSAGE_BYTES // 2
    leaves = [("a", 0, half), ("a", 1, half), ("a", 2, half), ("b", 0, 10), ("b", 1, 10)]
    assert list(batches(leaves)) == [Batch("a", 0, 2), Batch("a", 2, 1), Batch("b", 0, 2)]


def test_a_leaf_over_the_limit_has_a_message_of_its_own() -> None:
    leaves = [("a", 0, 1), ("a", 1, 2 * MESSAGE_BYTES), ("a", 2, 1)]
    assert list(batches(leaves)) == [Batch("a", 0, 1), Batch("a", 1, 1), Batch("a", 2, 1)]


# --- checkpoints ------------------------------------------------------------------------------------------------


def test_the_listers_checkpoint_is_read_with_its_note() -> None:
    found = listing_checkpoint(checkpoint(), GAME, OPERATOR)
    assert not isinstance(found, str)
    assert (found[0].size, found[0].root) == (3, bytes(32))


@pytest.mark.parametrize(
    ("data", "code"),
    [
        pytest.param(checkpoint(RECORDS), "no-known-signature", id="signed with another key"),
        pytest.param(checkpoint(origin="another/log"), "checkpoint-origin", id="of another log"),
        pytest.param(codec.encode({"envelope": b""}), "no-note", id="a follower's receipt"),
        pytest.param(codec.encode({"note": "three lines?"}), "bad-note", id="no note at all"),
        pytest.param(b"\xff", "indefinite-length", id="no encoding"),
    ],
)
def test_what_is_no_checkpoint_of_the_listers_is_told_by_its_code(data: bytes, code: str) -> None:
    assert listing_checkpoint(data, GAME, OPERATOR) == code


def test_without_the_listers_keys_the_form_alone_is_checked() -> None:
    assert not isinstance(listing_checkpoint(checkpoint(RECORDS), GAME, None), str)
    assert isinstance(listing_checkpoint(checkpoint(origin="another/log"), GAME, None), str)


# --- words ------------------------------------------------------------------------------------------------------


def root(**more: object) -> Root:
    found, problems = read_root({"gm": RECORDS.did, **more}, None)
    assert found is not None, problems
    return found


def test_a_game_without_operators_and_witnesses_says_so_in_every_statement() -> None:
    assert weaknesses(root()) == ["lister-timed", "no witnesses"]
    others = {"dids": [LOG.did, RECOMPUTE.did], "quorum": 2}
    assert weaknesses(root(policy=others, witnesses=others)) == []
    assert weaknesses(None) == []


def test_a_question_goes_to_the_gm_or_to_the_role_that_the_rule_set_names() -> None:
    assert addressee({"to": "gm"}, "did:plc:gm") == "did:plc:gm"
    assert addressee({"to": "landlord"}, "did:plc:gm") == "landlord"


def test_a_delta_opens_the_questions_that_it_sets_and_none_that_it_closes() -> None:
    cell = codec.encode(
        {"kind": "mercy", "about": "at://a/b/c", "words": "?", "options": [], "to": "gm", "asked": 4}
    )
    delta = {"_/question/new": cell, "_/question/old": None, "purse/a": cell}
    ((id, found),) = opened_questions(delta)
    assert id == "new"
    message = codec.decode(question_message(GAME, id, found))
    assert message["id"] == "new"  # type: ignore[index, call-overload]
    assert message["game"] == GAME  # type: ignore[index, call-overload]


# --- snapshots --------------------------------------------------------------------------------------------------


def test_of_many_snapshots_the_newest_and_the_oldest_stay_and_gaps_grow_evenly() -> None:
    kept: list[int] = []
    for size in range(5_000, 205_000, 5_000):
        kept.append(size)
        for gone in too_many(kept, 6):
            kept.remove(gone)
    assert len(kept) == 6
    assert (kept[0], kept[-1]) == (5_000, 200_000)
