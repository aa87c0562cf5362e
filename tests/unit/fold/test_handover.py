"""A handover: the GM and the quorum in force let the log go on under another lister."""

from __future__ import annotations

from typing import Any

import pytest
from book import ANN, BOB, GM, SECOND, Book, refolded
from coin import RULES
from test_evidence import KEYS, LISTER, OPA, OPB, OPC, OPERATORS, operators_of, receipt
from weighbridge.fold import Fold

ROOT = {"gm": GM, "lister": LISTER.did, "policy": OPERATORS, "rules": {"perDay": 9}}


def begun(**root: Any) -> Book:
    book = Book(RULES, root={**ROOT, **root})
    operators_of(book)
    book.put(ANN, "note", {"text": "the last that the old lister listed"})
    return book


def hand_over(book: Book, by: str, to: str = OPA.did, **fields: Any) -> str:
    size = fields.pop("size", None)
    if size is None:
        size = len(book.entries) - len(handovers(book))
    root = fields.pop("root", None) or book.fold.world.history.root(size)
    value = {"size": size, "root": root, "lister": to, **fields}
    return book.put(by, "network.weighbridge.handover", value, wait=0)


def handovers(book: Book) -> list[str]:
    uris = (each.entry.uri for each in book.entries)
    return [uri for uri in uris if uri is not None and "handover" in uri]


def lister(book: Book) -> str | None:
    held = book.fold.world.root_at(book.fold.size)
    return held[0].lister if held else None


def test_the_gm_and_the_quorum_in_force_together_name_another_lister() -> None:
    book = begun()
    for by in (GM, OPA.did, OPB.did):
        hand_over(book, by)
        assert lister(book) == LISTER.did
    hand_over(book, OPC.did)
    assert lister(book) == OPA.did
    (handed,) = book.fold.world.lister_cell().handed
    assert (handed.before, handed.size) == (LISTER.did, len(book.entries) - 4)
    assert [book.reports(uri) for uri in handovers(book)] == [[], [], [], []]
    assert refolded(book, RULES) == [(step.delta_cid, step.leaf) for step in book.steps]


def test_the_quorum_without_the_gm_hands_nothing_over() -> None:
    book = begun()
    for signer in (LISTER, OPA, OPB, OPC):
        hand_over(book, signer.did)
    assert lister(book) == LISTER.did
    hand_over(book, GM)
    assert lister(book) == OPA.did


def test_a_game_without_a_policy_asks_the_gm_alone() -> None:
    book = Book(RULES, root={"gm": GM, "lister": LISTER.did})
    operators_of(book)
    hand_over(book, GM)
    assert lister(book) == OPA.did


def test_time_may_pass_before_and_between_and_nothing_else_may_be_listed() -> None:
    book = begun()
    size = len(book.entries)
    book.tick(86_400 * SECOND)
    for by in (GM, OPA.did, OPB.did):
        hand_over(book, by, size=size)
        book.tick()
    book.put(ANN, "note", {"text": "in between"})
    late = hand_over(book, OPC.did, size=size)
    assert (book.reports(late), lister(book)) == (["bad-handover"], LISTER.did)


@pytest.mark.parametrize(
    ("by", "fields", "says"),
    [
        pytest.param(BOB, {}, "signed by nobody", id="a stranger"),
        pytest.param(GM, {"to": LISTER.did}, "no other lister", id="to whom it is already"),
        pytest.param(GM, {"to": "nobody"}, "no other lister", id="to no DID"),
        pytest.param(GM, {"to": BOB}, "keys of", id="to somebody without keys"),
        pytest.param(GM, {"size": 2}, "gone on otherwise", id="in the midst of the log"),
        pytest.param(GM, {"size": 0, "root": bytes(32)}, "gone on otherwise", id="of an empty log"),
        pytest.param(GM, {"root": bytes(32)}, "another root", id="of another log"),
    ],
)
def test_what_hands_nothing_over_says_why(by: str, fields: dict[str, Any], says: str) -> None:
    book = begun()
    uri = hand_over(book, by, **fields)
    assert book.reports(uri) == ["bad-handover"]
    collection, rkey = uri.removeprefix("at://").split("/")[1:]
    assert says in book.fold.table[f"_/report/{collection}/{by}:{rkey}"]["bad-handover"]


def test_what_is_no_handover_at_all_is_reported() -> None:
    book = begun()
    uri = book.put(GM, "network.weighbridge.handover", {"size": "many"})
    assert book.reports(uri) == ["bad-handover"]


def handed_over() -> Book:
    book = begun()
    for by in (GM, OPA.did, OPB.did, OPC.did):
        hand_over(book, by)
    return book


def test_a_later_root_that_names_the_new_lister_holds_at_once_and_one_that_names_the_old_waits() -> None:
    book = handed_over()
    book.put(GM, "root", {**ROOT, "lister": LISTER.did, "voidDays": 3}, uri=book.game, op="update")
    assert lister(book) == OPA.did
    book.put(GM, "root", {**ROOT, "lister": OPA.did, "voidDays": 4}, uri=book.game, op="update")
    held = book.fold.world.root_at(book.fold.size)
    assert held is not None
    assert (held[0].lister, held[0].void_days) == (OPA.did, 4)


def handed_over_while_a_root_waits(named: str) -> Book:
    book = begun()
    book.put(GM, "root", {**ROOT, "gm": BOB, "lister": named}, uri=book.game, op="update")
    for by in (GM, OPA.did, OPB.did, OPC.did):
        hand_over(book, by)
    size = len(book.entries)
    for signer in (OPA, OPB, OPC):
        receipt(book, signer, book.now // SECOND, size=size)
    return book


def test_a_root_that_waits_meanwhile_does_not_give_the_log_back_and_says_so() -> None:
    book = handed_over_while_a_root_waits(LISTER.did)
    held = book.fold.world.root_at(book.fold.size)
    assert held is not None
    assert (held[0].lister, held[0].gm, book.reports(book.game)) == (OPA.did, GM, ["bad-root"])
    assert refolded(book, RULES) == [(step.delta_cid, step.leaf) for step in book.steps]


def test_a_root_that_waits_meanwhile_and_names_the_new_lister_comes_into_force() -> None:
    book = handed_over_while_a_root_waits(OPA.did)
    held = book.fold.world.root_at(book.fold.size)
    assert held is not None
    assert (held[0].lister, held[0].gm, book.reports(book.game)) == (OPA.did, BOB, [])


def test_the_log_can_be_handed_on_again() -> None:
    book = handed_over()
    book.put(ANN, "note", {"text": "listed by the second lister"})
    size = len(book.entries)
    for by in (GM, OPB.did, OPC.did, LISTER.did):
        hand_over(book, by, to=OPB.did, size=size)
    assert lister(book) == OPB.did
    assert KEYS.keys() >= {OPB.did}


def test_a_fold_restored_after_it_knows_the_new_lister() -> None:
    book = handed_over()
    again = Fold(book.game, RULES, history=book.fold.world.history)
    again.restore(book.fold.snapshot())
    held = again.world.root_at(again.size)
    assert held is not None
    assert held[0].lister == OPA.did
