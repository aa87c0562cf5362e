"""What a fold decides once, and in which order: rounds, receipts, stakes, and dockets that complete together."""

from __future__ import annotations

from typing import Any

import pytest
from book import ANN, BOB, DAY, GM, MINUTE, SECOND, Book, place
from coin import RULES, Coin
from test_evidence import (
    KEYS,
    LISTER,
    OPA,
    OPB,
    OPC,
    OPERATORS,
    ROUND,
    beacon,
    beacons,
    flip_at,
    near,
    operators_of,
    receipt,
    status,
)
from weighbridge.codec import encode
from weighbridge.contract import Context, Docket, Needs, Table
from weighbridge.dice import QUICKNET, round_time
from weighbridge.identity import SIGNATURE, make_operator_record, verifier_key
from weighbridge.identity.vkeys import COSIGNATURE
from weighbridge.seals import seal_hash

__all__ = ["beacons"]

WITNESSED = {"gm": GM, "lister": LISTER.did, "policy": OPERATORS, "rules": {"perDay": 5}}


def opened(ruleset: Coin, root: dict[str, Any]) -> Book:
    book = Book(ruleset)
    book.now = near(ROUND) - 3_600 * SECOND
    book.put(GM, "root", root, uri=book.game)
    operators_of(book)
    return book


def test_a_roll_without_receipts_is_untimely_at_the_end_of_the_next_day_and_not_before() -> None:
    book = opened(RULES, WITNESSED)
    flip = flip_at(book, ROUND)
    midnight = (book.now // DAY + 1) * DAY
    book.tick(midnight - book.now)
    assert book.reports(flip) == []
    book.tick(DAY - 1)
    assert book.reports(flip) == []
    book.tick(1)
    assert book.reports(flip)[-1] == "untimely"


class AfterTrace(Coin):
    """A coin that is tossed once its trace has settled."""

    def needs(self, docket: Docket, rules: Any) -> Needs:
        needs = super().needs(docket, rules)
        return Needs(needs.dice, needs.trace, "trace") if needs.trace else needs


def test_what_rolls_after_its_trace_is_timely_by_receipts_that_hold_what_settled_it() -> None:
    book = opened(AfterTrace(), WITNESSED)
    flip = book.put(ANN, "flip", {"call": "heads", "trace": "x"})
    cid = str(book.entries[-1].entry.record)
    book.now = near(ROUND) - SECOND
    subject = {"uri": flip, "cid": cid}
    book.put(LISTER.did, "network.weighbridge.trace", {"subject": subject, "verdict": "ok"})
    settled, early = len(book.entries) - 1, round_time(QUICKNET, ROUND) - 5
    assert book.fold.world.pendings[place(flip)].round == ROUND
    for signer in (OPA, OPB, OPC):
        receipt(book, signer, early, size=settled)
    assert book.fold.world.pendings[place(flip)].roll is None
    for signer in (OPA, OPB):
        receipt(book, signer, early, size=settled + 1)
    assert book.fold.world.pendings[place(flip)].roll == "timely"


def test_the_days_to_hold_a_roll_count_from_the_entry_that_fixed_its_round() -> None:
    book = opened(AfterTrace(), WITNESSED)
    flip = book.put(ANN, "flip", {"call": "heads", "trace": "x"})
    subject = {"uri": flip, "cid": str(book.entries[-1].entry.record)}
    book.put(LISTER.did, "network.weighbridge.trace", {"subject": subject, "verdict": "ok"}, wait=DAY)
    midnight = (book.now // DAY + 1) * DAY
    book.tick(midnight - book.now)
    assert book.reports(flip) == []
    book.tick(DAY)
    assert book.reports(flip)[-1] == "untimely"


def test_a_due_time_has_passed_at_that_very_microsecond_and_not_before() -> None:
    book = Book(RULES, root={"gm": GM, "rules": {"mercyHours": 1}}, scenario=True)
    flip = book.put(ANN, "flip", {"call": "heads"})
    book.dice(flip, 2)
    (due,) = RULES.due(book.fold.table)
    book.tick(due - book.now - 1)
    assert book.fold.table.keys("mercy/")
    book.tick(1)
    assert book.fold.table.keys("mercy/") == []


class Ordered(Coin):
    """A coin that notes in which order flips take effect."""

    def apply(self, table: Table, docket: Docket, ctx: Context) -> None:
        if docket.collection.endswith(".flip"):
            table["order/-"] = [*table.get("order/-", []), docket.rkey]
        super().apply(table, docket, ctx)


def test_what_completes_at_one_entry_does_so_in_listing_order(beacons: dict[int, bytes]) -> None:
    book = Book(Ordered())
    book.now = near(ROUND) - 3_600 * SECOND
    book.put(GM, "root", {"gm": GM, "rules": {"perDay": 5}}, uri=book.game)
    book.now = near(ROUND) - SECOND
    for who, rkey in ((BOB, "z"), (ANN, "m"), (ANN, "a")):
        uri = f"at://{who}/example.coin.flip/{rkey}"
        book.put(who, "flip", {"call": "heads"}, uri=uri, wait=1_000)
    beacon(book, ROUND, beacons[ROUND])
    assert book.fold.table["order/-"] == ["z", "m", "a"]
    assert status(book, uri) == "flipped"


def test_an_operator_record_of_another_game_counts_for_nothing_here() -> None:
    book = Book(RULES, root=WITNESSED)
    log, recompute = KEYS[OPA.did]
    keys = verifier_key("op", SIGNATURE, log.public), verifier_key("op", COSIGNATURE, recompute.public)
    record = make_operator_record(OPA.did, f"at://{BOB}/example.coin.root/self", "op", *keys)
    uri = f"at://{OPA.did}/network.weighbridge.operator/self"
    book.list(op="create", uri=uri, author=OPA.did, record=encode(record.value))
    assert book.reports(uri) == ["bad-operator"]
    assert book.fold.table.keys("_/operator/") == []


def test_an_older_receipt_listed_later_takes_nothing_back() -> None:
    book = opened(RULES, WITNESSED)
    before = len(book.entries)
    book.put(GM, "root", {**WITNESSED, "gm": BOB}, uri=book.game, op="update")
    time = book.now // SECOND
    receipt(book, OPA, time)
    receipt(book, OPA, time, size=before)
    receipt(book, OPB, time)
    receipt(book, OPC, time)
    held = book.fold.world.root_at(book.fold.size)
    assert held is not None
    assert held[0].gm == BOB


class Staking(Coin):
    """A coin whose stake grows with the notes there are."""

    def stake(self, table: Table, docket: Docket) -> Any:
        return len(table.keys("note/"))


def test_a_stake_is_kept_once_and_for_all_however_often_the_past_changes() -> None:
    book = Book(Staking(), root={"gm": GM, "rules": {"perDay": 5}}, scenario=True)
    struck = book.put(ANN, "flip", {"call": "heads"})
    flip = book.put(BOB, "flip", {"call": "heads"})
    book.put(GM, "move", {"kind": "strike", "subject": struck}, wait=MINUTE)
    assert book.fold.table[f"_/stake/{place(flip)}"] == 0
    book.put(ANN, "note", {"text": "x"})
    book.put(GM, "move", {"kind": "release", "subject": struck})
    assert book.fold.table[f"_/stake/{place(flip)}"] == 0


def test_a_ruling_that_was_replaced_stays_so_when_what_replaced_it_is_replaced() -> None:
    book = Book(RULES, root={"gm": GM}, scenario=True)
    flip = book.put(ANN, "flip", {"call": "heads"})
    kinds = ("strike", "release", "strike", "release")
    rulings = [book.put(GM, "move", {"kind": kind, "subject": flip}) for kind in kinds]
    assert [book.fold.world.is_void(each) for each in rulings] == [True, True, True, False]


@pytest.mark.parametrize(("before", "code"), [(1, []), (0, ["opened-late"])], ids=["just before", "at it"])
def test_a_seal_opens_until_the_microsecond_before_its_time_is_over(before: int, code: list[str]) -> None:
    book = Book(RULES, root={"gm": GM})
    salt = b"s" * 16
    seal = seal_hash(book.game, ANN, ("hide",), salt, "x")
    hidden = book.put(ANN, "move", {"kind": "hide", "seal": seal})
    move = {"kind": "open", "opens": hidden, "salt": salt.hex(), "value": "x"}
    assert book.reports(book.put(ANN, "move", move, wait=DAY - before)) == code
