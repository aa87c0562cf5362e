"""What a lister lists, and what it answers."""

from __future__ import annotations

import coin
import pytest
from ingest_facts import (
    GAME,
    LISTER,
    NOON,
    SECOND,
    WITNESS,
    Book,
    beacon,
    codes,
    flip,
    note,
    opened,
    opened_book,
    player,
    receipt,
    refused,
    root,
)
from weighbridge.dice import QUICKNET, round_after
from weighbridge.fold.records import DAY
from weighbridge.log import check_next
from weighbridge_services.ingest.decide import Handed, Placed, decide, decide_time

ANN, BOB = player(1), player(2)
MIDNIGHT = (NOON // DAY + 1) * DAY


def test_what_was_handed_in_is_listed_in_that_order_as_a_chain() -> None:
    book = opened_book()
    made = book.list(opened(note(ANN, "a")), opened(note(BOB, "b")), opened(note(ANN, "c")))
    assert [each.entry.uri and each.entry.uri[-1] for each in made.entries] == ["a", "b", "c"]
    assert [each.seq for each in made.answers if isinstance(each, Placed)] == [1, 2, 3]
    previous = None
    for listed in book.entries:
        check_next(
            previous.entry if previous else None, previous.cid if previous else None, listed.entry, GAME
        )
        previous = listed


def test_the_same_record_again_is_answered_with_its_first_place() -> None:
    book = opened_book()
    (first,) = book.list(opened(note(ANN, "a"))).answers
    made = book.list(opened(note(ANN, "a")), now=NOON + SECOND)
    assert made.entries == ()
    assert made.answers == (Placed(1, NOON, None, fresh=False),)
    assert isinstance(first, Placed)
    assert first.fresh


def test_twice_in_one_batch_is_listed_once() -> None:
    book = opened_book()
    made = book.list(opened(note(ANN, "a")), opened(note(ANN, "a")))
    assert len(made.entries) == 1
    assert [each.seq for each in made.answers if isinstance(each, Placed)] == [1, 1]


def test_another_version_of_a_record_is_listed_as_an_update() -> None:
    book = opened_book()
    book.list(opened(note(ANN, "a", "one")), opened(note(ANN, "a", "two")))
    book.list(opened(note(ANN, "a", "three")))
    assert book.ops() == ["create", "create", "update", "update"]


def test_a_later_version_equal_to_an_earlier_one_has_its_place() -> None:
    book = opened_book()
    book.list(opened(note(ANN, "a", "one")), opened(note(ANN, "a", "two")))
    (answer,) = book.list(opened(note(ANN, "a", "one"))).answers
    assert isinstance(answer, Placed)
    assert answer.seq == 1


def test_a_refused_one_costs_the_others_nothing() -> None:
    book = opened_book()
    made = book.list(opened(note(ANN, "a")), refused(), opened(note(BOB, "b")))
    assert codes(made.answers) == ["placed", "bad-signature", "placed"]
    assert len(made.entries) == 2


@pytest.mark.parametrize(
    ("now", "at"), [(NOON + 5, NOON + 5), (NOON - 5, NOON), (NOON, NOON)], ids=["later", "earlier", "equal"]
)
def test_listed_times_never_decrease(now: int, at: int) -> None:
    made = opened_book().list(opened(note(ANN, "a")), now=now)
    assert made.entries[0].entry.at == at


def test_a_recorded_record_is_listed_at_its_time_whatever_the_clock_says() -> None:
    made = opened_book().list(opened(note(ANN, "a"), at=NOON + 7), now=NOON + 900 * SECOND)
    assert made.entries[0].entry.at == NOON + 7


def test_the_signature_of_an_envelope_stays_with_its_entry() -> None:
    envelope = note(ANN, "a")
    made = opened_book().list(opened(envelope))
    assert made.entries[0].entry.prov == {"sig": envelope.sig}


# --- dice --------------------------------------------------------------------------------------------------


def test_a_record_that_may_roll_is_urgent_and_told_its_round() -> None:
    book = opened_book()
    made = book.list(opened(flip(ANN, "a")))
    (answer,) = made.answers
    assert made.urgent
    assert isinstance(answer, Placed)
    assert answer.round == round_after(QUICKNET, NOON, 15)
    assert not book.list(opened(note(ANN, "b"))).urgent


def test_the_round_is_told_again_to_who_hands_in_again() -> None:
    book = opened_book()
    (first,) = book.list(opened(flip(ANN, "a"))).answers
    (again,) = book.list(opened(flip(ANN, "a")), now=NOON + 60 * SECOND).answers
    assert isinstance(first, Placed)
    assert isinstance(again, Placed)
    assert again.round == first.round


def test_a_record_that_the_rule_set_cannot_read_may_roll_for_all_we_know() -> None:
    book = opened_book()
    record = opened(flip(ANN, "a"))
    broken = record.opened._replace(envelope=record.opened.envelope.__class__(  # type: ignore[union-attr]
        **{**{f: getattr(record.opened.envelope, f) for f in record.opened.envelope.__struct_fields__}, "value": None}  # type: ignore[union-attr]
    ))  # fmt: skip
    made = book.list(Handed(broken))
    assert made.urgent
    assert made.answers == (Placed(1, NOON, None),)


# --- evidence ----------------------------------------------------------------------------------------------


def test_one_beacon_is_listed_for_each_round_whoever_has_it_first() -> None:
    book = opened_book()
    made = book.list(opened(beacon(WITNESS, 7), sound=True), opened(beacon(LISTER, 7), sound=True))
    assert codes(made.answers) == ["placed", "passed"]
    assert codes(book.list(opened(beacon(LISTER, 7), sound=True)).answers) == ["passed"]
    assert codes(book.list(opened(beacon(LISTER, 8), sound=True)).answers) == ["placed"]


def test_a_beacon_that_does_not_verify_takes_no_round() -> None:
    book = opened_book()
    made = book.list(opened(beacon(WITNESS, 7)), opened(beacon(LISTER, 7), sound=True))
    assert codes(made.answers) == ["placed", "placed"]


def test_a_receipt_for_what_is_receipted_already_is_not_listed() -> None:
    book = opened_book()
    book.list(opened(note(ANN, "a")), opened(note(ANN, "b")))
    made = book.list(opened(receipt(WITNESS, 3)), opened(receipt(WITNESS, 2)))
    assert codes(made.answers) == ["placed", "passed"]


def test_receipts_for_receipts_come_to_an_end() -> None:
    book = opened_book()
    book.list(opened(receipt(WITNESS, 1)))
    # Our checkpoint of size 2 holds nothing but the root and that receipt: the newest entry that matters is 0.
    facts = book.now_known(matter={2: 0})
    made = decide(coin.RULES, facts, [opened(receipt(WITNESS, 2))], NOON)
    assert codes(made.answers) == ["passed"]
    assert made.entries == ()


def test_a_receipt_for_entries_that_matter_is_listed() -> None:
    book = opened_book()
    book.list(opened(receipt(WITNESS, 1)), opened(note(ANN, "a")))
    made = book.list(opened(receipt(WITNESS, 3)))
    assert codes(made.answers) == ["placed"]
    assert made.matter is None


def test_a_receipt_for_more_than_there_is_does_not_silence_the_next() -> None:
    book = opened_book()
    book.list(opened(receipt(WITNESS, 900)))
    assert codes(book.list(opened(receipt(WITNESS, 1))).answers) == ["placed"]


def test_a_strangers_receipt_is_a_record_like_any() -> None:
    book = opened_book()
    assert codes(book.list(opened(receipt(ANN, 1)), opened(receipt(ANN, 1))).answers) == ["placed", "placed"]
    assert len(book.entries) == 2


# --- time --------------------------------------------------------------------------------------------------


def test_a_tick_is_listed_at_each_day_end_before_what_comes_later() -> None:
    made = opened_book().list(opened(note(ANN, "a")), now=MIDNIGHT + 2 * DAY + 5)
    assert [(each.entry.op, each.entry.at) for each in made.entries] == [
        ("tick", MIDNIGHT),
        ("tick", MIDNIGHT + DAY),
        ("tick", MIDNIGHT + 2 * DAY),
        ("create", MIDNIGHT + 2 * DAY + 5),
    ]


def test_time_alone_lists_ticks_for_day_ends_and_what_falls_due() -> None:
    book = opened_book()
    due = NOON + 60 * SECOND
    facts = book.now_known(dues=(NOON - 1, due, MIDNIGHT, MIDNIGHT + DAY))
    made = decide_time(coin.RULES, facts, MIDNIGHT + 1)
    assert [each.entry.at for each in made.entries] == [due, MIDNIGHT]
    assert {each.entry.op for each in made.entries} == {"tick"}


def test_no_time_passes_before_there_is_a_game() -> None:
    assert decide_time(coin.RULES, Book().facts, NOON).entries == ()


def test_a_rejected_record_lets_no_time_pass() -> None:
    assert opened_book().list(refused(), now=MIDNIGHT + 5).entries == ()


# --- the root ----------------------------------------------------------------------------------------------


def test_a_root_with_problems_leaves_the_last_one_in_force() -> None:
    book = opened_book(floods={"author": 5})
    made = book.list(opened(root(floods={"author": -1})))
    assert made.rules.floods[0] == 5
    assert made.roots == (1,)


def test_the_first_roots_beacon_holds_for_good() -> None:
    book = opened_book(beacon={"margin": 20})
    book.list(opened(root(beacon={"margin": 30})))
    (answer,) = book.list(opened(flip(ANN, "a"))).answers
    assert isinstance(answer, Placed)
    assert answer.round == round_after(QUICKNET, NOON, 20)
