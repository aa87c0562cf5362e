"""What a day's log holds at most, and whose records it leaves out: as the lister counts it, and its followers."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import coin
import pytest
from ingest_facts import (
    GAME,
    GM,
    LISTER,
    NOON,
    WITNESS,
    beacon,
    codes,
    note,
    opened,
    opened_book,
    player,
    receipt,
    root,
)
from weighbridge.fold.records import DAY, HANDOVER, OPERATOR, RECEIPT, SCENARIO, TRACE
from weighbridge.identity import Envelope, Signer, sign_record
from weighbridge.ledger import DiskFull, Ledger
from weighbridge.ports import Told
from weighbridge_services.ingest.counting import EVIDENCE
from weighbridge_services.ingest.decide import Handed, decide
from weighbridge_services.ingest.driver import told
from weighbridge_services.ingest.opening import Opened, read_record
from weighbridge_services.ingest.store import Store

ANN, BOB = player(1), player(2)
MIDNIGHT = (NOON // DAY + 1) * DAY


def said_of(who: Signer, status: str, number: int) -> Handed:
    found = read_record(told(LISTER, GAME, number, Told(who.did, "identity", status)), GAME)
    assert isinstance(found, Opened)
    return Handed(found)


def test_an_author_has_so_many_records_a_day() -> None:
    book = opened_book(floods={"author": 2})
    made = book.list(*(opened(note(ANN, f"n{n}")) for n in range(4)), opened(note(BOB, "b")))
    assert codes(made.answers) == ["placed", "placed", "flooded", "flooded", "placed"]
    assert made.tally.left_out == {ANN.did: 2}


def test_authors_without_standing_have_so_many_together() -> None:
    book = opened_book(floods={"strangers": 3})
    made = book.list(*(opened(note(player(n), "a")) for n in range(1, 6)))
    assert codes(made.answers) == ["placed", "placed", "placed", "flooded", "flooded"]
    assert made.tally.left_out == {None: 2}


def test_who_was_listed_on_an_earlier_day_has_standing() -> None:
    book = opened_book(floods={"strangers": 1})
    book.list(opened(note(ANN, "a")))
    later = NOON + DAY
    made = book.list(opened(note(ANN, "b")), opened(note(BOB, "a")), opened(note(player(3), "a")), now=later)
    assert codes(made.answers) == ["placed", "placed", "flooded"]


@pytest.mark.parametrize("who", [GM, LISTER, WITNESS], ids=["gm", "lister", "operator"])
def test_whom_the_root_or_the_configuration_names_has_standing(who: object) -> None:
    book = opened_book(floods={"strangers": 1})
    book.list(opened(note(ANN, "a")))
    assert codes(book.list(opened(note(who, "a"))).answers) == ["placed"]  # type: ignore[arg-type]


def test_operators_evidence_and_the_root_are_never_flooded() -> None:
    book = opened_book(floods={"author": 1, "strangers": 1})
    made = book.list(*(opened(beacon(WITNESS, n), sound=True) for n in range(5)))
    again = book.list(opened(root(floods={"author": 2})), opened(root(floods={"author": 3})))
    assert codes([*made.answers, *again.answers]) == ["placed"] * 7


def trace(who: Signer, number: int, collection: str = TRACE) -> Envelope:
    return sign_record(who, GAME, collection, f"t{number}", {"game": GAME, "number": number})


@pytest.mark.parametrize("collection", [TRACE, OPERATOR, SCENARIO, HANDOVER])
def test_evidence_of_one_operator_has_a_wide_limit_that_takes_no_place_of_other_records(
    collection: str,
) -> None:
    book = opened_book(floods={"author": 1, "strangers": 1})
    made = book.list(*(opened(trace(WITNESS, number, collection)) for number in range(258)))
    assert codes(made.answers) == ["placed"] * 256 + ["flooded"] * 2
    others = [trace(LISTER, 0), note(WITNESS, "a"), note(ANN, "a")]
    assert codes(book.list(*map(opened, others)).answers) == ["placed"] * 3
    floods = [each.entry for each in book.list(opened(note(BOB, "c")), now=MIDNIGHT + 5).entries]
    assert [(entry.op, entry.author, entry.count) for entry in floods[:1]] == [("flood", WITNESS.did, 2)]
    assert codes(book.list(opened(trace(WITNESS, 900)), now=MIDNIGHT + 6).answers) == ["placed"]


def test_beacons_that_verify_have_no_limit_but_rounds_and_the_others_have_that_of_evidence() -> None:
    book = opened_book(floods={"author": 1})
    made = book.list(*(opened(beacon(WITNESS, n), sound=n < 300) for n in range(600)))
    assert codes(made.answers) == ["placed"] * 556 + ["flooded"] * 44


def test_receipts_of_what_there_is_not_have_the_limit_of_evidence() -> None:
    book = opened_book(floods={"author": 1})
    made = book.list(*(opened(receipt(WITNESS, 100_000 + n)) for n in range(258)))
    assert codes(made.answers) == ["placed"] * 256 + ["flooded"] * 2
    unreadable = sign_record(WITNESS, GAME, RECEIPT, "x", {"game": GAME, "checkpoint": "?"})
    assert codes(book.list(opened(unreadable), opened(receipt(WITNESS, 1))).answers) == ["flooded", "placed"]


def test_receipts_feed_on_no_receipts_in_one_batch_or_in_many(tmp_path: Path) -> None:
    book = opened_book()
    made = book.list(*(opened(receipt(WITNESS, size)) for size in range(1, 9)))
    assert codes(made.answers) == ["placed"] + ["passed"] * 7
    with Ledger.open(tmp_path / "ledger.db") as ledger, ThreadPoolExecutor(1) as thread:
        store = Store(ledger, GAME, thread)
        store.log.extend(book.entries, formed=True)
        more = opened(receipt(WITNESS, 2))
        facts = store.facts(book.facts, [more])
        assert facts.matter == {2: 0}
        assert codes(decide(coin.RULES, facts, [more], NOON).answers) == ["passed"]


def test_a_lister_that_starts_anew_counts_the_day_s_evidence_and_newcomers_on(tmp_path: Path) -> None:
    book = opened_book(floods={"author": 3})
    with Ledger.open(tmp_path / "ledger.db") as ledger, ThreadPoolExecutor(1) as thread:
        store = Store(ledger, GAME, thread)
        store.log.extend(book.entries, formed=True)
        handed = [
            opened(beacon(WITNESS, 7), sound=True), opened(beacon(WITNESS, 8)), opened(receipt(WITNESS, 1)),
            opened(receipt(WITNESS, 9_000)), opened(trace(WITNESS, 1)), opened(note(ANN, "a")),
            opened(note(ANN, "b")), opened(note(BOB, "a")), opened(note(WITNESS, "a")),
        ]  # fmt: skip
        store.keep(book.list(*handed), {}, {})
        assert book.facts.tally.newcomers == 2
        assert store.tally(book.facts.rules, book.facts.operators) == book.facts.tally


def test_a_follower_counts_evidence_and_newcomers_as_the_lister_does(tmp_path: Path) -> None:
    book = opened_book(floods={"author": 4, "strangers": 4})
    known = [f"{EVIDENCE}{WITNESS.did}", WITNESS.did, ANN.did, BOB.did]
    with Ledger.open(tmp_path / "ledger.db") as ledger, ThreadPoolExecutor(1) as thread:
        store, day, operators = Store(ledger, GAME, thread), NOON // DAY, book.facts.operators
        store.log.extend(book.entries, formed=True)
        store.keep_followed(book.list(*(opened(trace(WITNESS, n)) for n in range(1_023))).entries)
        assert store.full_for(day, known, operators, {}) == frozenset()
        store.keep_followed(book.list(opened(trace(WITNESS, 2_000))).entries)
        assert store.full_for(day, known, operators, {}) == {known[0]}
        five = player(5)
        store.keep_followed(book.list(*(opened(note(five, f"n{n}")) for n in range(3))).entries)
        assert store.full_for(day, [five.did, ANN.did], operators, {}) == frozenset()
        store.keep_followed(book.list(opened(note(BOB, "a"))).entries)
        assert store.full_for(day, [five.did, ANN.did, BOB.did], operators, {}) == {
            five.did,
            ANN.did,
            BOB.did,
        }


def test_a_follower_knows_that_a_newcomer_still_has_room_where_others_have_not(tmp_path: Path) -> None:
    book = opened_book(floods={"author": 8, "strangers": 8})
    with Ledger.open(tmp_path / "ledger.db") as ledger, ThreadPoolExecutor(1) as thread:
        store = Store(ledger, GAME, thread)
        store.log.extend(book.entries, formed=True)
        store.keep_followed(book.list(*(opened(note(ANN, f"n{n}")) for n in range(7))).entries)
        full = store.full_for(NOON // DAY, [ANN.did, BOB.did], book.facts.operators, {})
        assert full == {ANN.did}
        assert codes(book.list(opened(note(ANN, "z")), opened(note(BOB, "z"))).answers) == [
            "flooded",
            "placed",
        ]


def test_a_quarter_of_the_strangers_day_is_kept_for_newcomers() -> None:
    book = opened_book(floods={"author": 64, "strangers": 256})
    five = [opened(note(player(n), f"n{m}")) for m in range(64) for n in range(1, 6)]
    assert codes(book.list(*five).answers) == ["placed"] * 197 + ["flooded"] * 123
    newcomers = [opened(note(player(n), "a")) for n in range(100, 160)]
    assert codes(book.list(*newcomers).answers) == ["placed"] * 59 + ["flooded"]


def test_what_hosts_say_of_accounts_fills_no_day_and_takes_nobody_s_place() -> None:
    # Nobody signs it: who runs a host can say of its accounts as much as they like.
    book = opened_book(floods={"author": 2, "strangers": 3})
    words = [said_of(ANN, f"handle not verified: {n}.delve.town", n) for n in range(9)]
    made = book.list(*words)
    assert codes(made.answers) == ["placed"] * 3 + ["flooded"] * 6
    assert codes(book.list(opened(note(ANN, "a")), opened(note(LISTER, "b"))).answers) == ["placed"] * 2
    floods = [each.entry for each in book.list(opened(note(BOB, "c")), now=MIDNIGHT + 5).entries]
    assert [(entry.op, entry.author, entry.count) for entry in floods[:1]] == [("flood", LISTER.did, 6)]
    assert codes(book.list(said_of(ANN, "active", 10), now=MIDNIGHT + 6).answers) == ["placed"]


def test_a_lister_that_starts_anew_counts_the_day_s_words_of_hosts_on(tmp_path: Path) -> None:
    book = opened_book(floods={"strangers": 3})
    with Ledger.open(tmp_path / "ledger.db") as ledger, ThreadPoolExecutor(1) as thread:
        store = Store(ledger, GAME, thread)
        store.log.extend(book.entries, formed=True)
        words = [said_of(ANN, f"{n}", n) for n in range(3)]
        store.keep(book.list(*words, opened(note(ANN, "a"))), {}, {})
        assert store.tally(book.facts.rules, book.facts.operators) == book.facts.tally
        assert store.full_for(NOON // DAY, [ANN.did, LISTER.did], book.facts.operators, {}) == frozenset()


def test_what_was_left_out_is_counted_in_the_log_when_the_day_ends() -> None:
    book = opened_book(floods={"author": 1, "strangers": 2})
    for n in range(3):
        book.list(opened(note(ANN, f"a{n}")), opened(note(player(n + 10), "b")))
    made = book.list(opened(note(ANN, "c")), now=MIDNIGHT + 5)
    entries = [each.entry for each in made.entries]
    assert [entry.op for entry in entries] == ["flood", "flood", "tick", "create"]
    assert [(entry.author, entry.count, entry.at) for entry in entries[:2]] == [
        (None, 2, MIDNIGHT - 1),
        (ANN.did, 2, MIDNIGHT - 1),
    ]
    assert made.tally.authors == {ANN.did: 1}
    assert made.tally.left_out == {}


def test_an_author_of_a_batch_that_was_undone_is_new_the_next_time(tmp_path: Path) -> None:
    """A disk that was full would else leave an author without standing for good: remembered, and never written."""
    book = opened_book()
    with Ledger.open(tmp_path / "ledger.db") as ledger, ThreadPoolExecutor(1) as thread:
        store = Store(ledger, GAME, thread)
        store.log.extend(book.entries, formed=True)
        decision = book.list(opened(note(ANN, "a")))

        def undone() -> None:
            with ledger.batch():
                store.keep(decision, {}, {})
                assert store.since([ANN.did]) == {ANN.did: NOON // DAY}
                raise DiskFull("no space left")

        with pytest.raises(DiskFull):
            undone()
        assert store.since([ANN.did]) == {}
