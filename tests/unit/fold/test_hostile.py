"""Records, uris and rule sets that nobody meant, and that anybody may list: each has its outcome and ends nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from book import ANN, BOB, DAY, GM, MINUTE, Book
from coin import Coin
from weighbridge.contract import Docket, Needs, Problem, Ruling, Shape
from weighbridge.fold import Resolved
from weighbridge.fold.records import place_of
from weighbridge.limits import MAX_TREE_KEY

ROOT = {"gm": GM, "rules": {"perDay": 2}}
LONG = "did:web:" + "a" * 2_000


def played(ruleset: Coin) -> Book:
    """A game in which every hook of the toy rule set is called."""
    book = Book(ruleset, root=ROOT, scenario=True)
    flip = book.put(ANN, "flip", {"call": "heads"})
    book.put(BOB, "flip", {"call": "heads"})
    book.dice(flip, 1)
    strike = book.put(GM, "move", {"kind": "strike", "subject": flip}, wait=MINUTE)
    book.put(GM, "move", {"kind": "release", "subject": flip})
    book.put(ANN, "flip", {}, op="delete", uri=flip)
    book.put(BOB, "note", {"text": "x"})
    book.put(GM, "move", {"kind": "strike", "subject": strike})
    book.tick(2 * DAY)
    book.fold.due()
    return book


ANSWERS: list[Any] = [
    *[
        pytest.param(hook, answer, id=f"{hook} answers {answer!r}")
        for hook in ("shape", "rules", "needs", "judge", "ruling", "changed", "due")
        for answer in (1.5, "x", {"x"}, [None])
    ],
    pytest.param("shape", None, id="shape answers nothing"),
    pytest.param("rules", None, id="rules answers nothing"),
    pytest.param("changed", None, id="changed answers nothing"),
    pytest.param("stake", 1.5, id="stake answers a float"),
    pytest.param("shape", Shape((1.5,)), id="a problem is a float"),  # type: ignore[arg-type]
    pytest.param("shape", Shape(unknown=(1.5,)), id="an unknown field is a float"),  # type: ignore[arg-type]
    pytest.param("rules", ({}, (Problem("$", 1.5),)), id="a problem says a float"),  # type: ignore[arg-type]
    pytest.param("needs", Needs(dice=(1.5,)), id="a purpose is a float"),  # type: ignore[arg-type]
    pytest.param("ruling", Ruling(1.5), id="the subject of a ruling is a float"),  # type: ignore[arg-type]
    pytest.param("ruling", Ruling("x", effect="burn"), id="a ruling of no such effect"),  # type: ignore[arg-type]
    pytest.param("due", (1.5,), id="a due time is a float"),
]


@pytest.mark.parametrize(("hook", "answer"), ANSWERS)
def test_a_hook_that_answers_what_is_no_answer_is_a_rule_fault(hook: str, answer: Any) -> None:
    book = played(type("Wrong", (Coin,), {hook: lambda *_: answer})())
    reports = [book.fold.table.get(key) for key in book.fold.table.keys("_/report/")]
    faults = [codes["rule-fault"] for codes in reports if "rule-fault" in codes]
    assert faults
    assert all(f"failed in {hook}" in says or "failed in judge" in says for says in faults)
    assert book.steps[-1].seq == len(book.entries) - 1


def test_a_rule_set_whose_exception_has_no_text_is_a_rule_fault_like_any_other() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise LookupError("no text")

    class Failing(Coin):
        def judge(self, *_: Any) -> Needs:
            raise Mute

    book = Book(Failing(), root=ROOT)
    assert book.reports(book.put(ANN, "flip", {"call": "heads"})) == ["rule-fault"]
    assert book.steps[-1].alerts[0].error.startswith("Mute")


@pytest.mark.parametrize(
    "cells",
    [{"_/x": 1}, {"a/b": 1.5}, {"a/b": 1, "a b": 1}, {5: 1}, None, 7],
    ids=[
        "a kernel's key",
        "a float",
        "half of it a bad key",
        "a key that is a number",
        "nothing",
        "a number",
    ],
)
def test_a_migration_that_fails_leaves_the_cells_as_they_were(cells: Any) -> None:
    class Moved(Coin):
        def migrate(self, held: Any) -> Any:
            held.clear()
            return cells

    book = Book(Coin(), root=ROOT, pin="p1", resolve=lambda fold: Resolved(Moved(), fold.pin or "", {}))
    book.put(BOB, "note", {"text": "x"})
    own = {key: data for key, data in book.cells().items() if not key.startswith("_/")}
    book.put(GM, "root", {**ROOT, "fold": {"name": "coin", "pin": "p2"}}, uri=book.game, op="update")
    assert {key: data for key, data in book.cells().items() if not key.startswith("_/")} == own
    assert book.reports(book.game) == ["rule-fault"]
    assert "@p2+" in book.fold.origin


def failing_on_boom() -> Coin:
    class Failing(Coin):
        def voidable(self, docket: Docket) -> Any:
            return 1 // 0 if docket.value.get("trace") == "boom" else super().voidable(docket)

    return Failing()


def test_a_fault_found_in_a_ruling_stands_however_far_the_past_is_folded_anew() -> None:
    book = Book(failing_on_boom(), root={"gm": GM, "rules": {"perDay": 1}}, scenario=True)
    book.put(ANN, "flip", {"call": "heads"})
    refused = book.put(ANN, "flip", {"call": "heads"})
    flip = book.put(BOB, "flip", {"call": "heads", "trace": "boom"})
    strike = book.put(GM, "move", {"kind": "strike", "subject": flip})
    assert book.reports(strike) == ["rule-fault"]
    for _ in range(20):
        book.tick(DAY)
    book.put(GM, "move", {"kind": "uphold", "subject": refused})
    assert "over-ration" not in book.reports(refused)
    assert book.reports(strike) == ["rule-fault"]


@pytest.mark.parametrize(
    ("answer", "reports"), [(False, []), (1 << 70, ["rule-fault"]), ("yes", ["rule-fault"])]
)
def test_a_ruling_that_cannot_be_about_its_subject_leaves_standing_what_stood(
    answer: Any, reports: list[str]
) -> None:
    def may_rule(self: Coin, docket: Docket, subject: Docket) -> Any:
        return True if docket.value["kind"] == "strike" else answer

    book = Book(type("Choosy", (Coin,), {"may_rule": may_rule})(), root=ROOT, scenario=True)
    flip = book.put(ANN, "flip", {"call": "heads"})
    strike = book.put(GM, "move", {"kind": "strike", "subject": flip})
    struck = book.cells()
    release = book.put(GM, "move", {"kind": "release", "subject": flip})
    assert book.reports(release) == reports
    assert book.fold.world.mark_of(flip).void == strike
    assert {key: data for key, data in book.cells().items() if key in struck and "flip/" in key} == {
        key: data for key, data in struck.items() if "flip/" in key
    }


@pytest.mark.parametrize("strikes", [1, 2, 65, 66, 67, 80])
def test_a_strike_on_a_strike_lets_stand_again_however_many_there_are(strikes: int) -> None:
    ruleset = type("AllBack", (Coin,), {"voidable": lambda self, docket: "back"})()
    book = Book(ruleset, root=ROOT, scenario=True)
    flip = subject = book.put(ANN, "flip", {"call": "heads"})
    for _ in range(strikes):
        subject = book.put(GM, "move", {"kind": "strike", "subject": subject})
    assert book.fold.world.is_void(flip) == (strikes % 2 == 1)
    assert ("struck" in book.reports(flip)) == (strikes % 2 == 1)


# --- uris ------------------------------------------------------------------------------------------------------


def listed_by_a_long_did(book: Book) -> str:
    return book.put(LONG, "flip", {"call": "heads"}, uri=f"at://{LONG}/example.coin.flip/{'k' * 512}")


def of_no_type(book: Book) -> str:
    collection = ".".join(["n" * 63] * 4 + ["type"])
    author = "did:web:" + ".".join(["h" * 60] * 4)
    return book.put(author, collection, {}, uri=f"at://{author}/{collection}/{'k' * 512}")


def an_operator_s(book: Book) -> str:
    return book.put(LONG, "network.weighbridge.operator", {"name": "x"})


@pytest.mark.parametrize("put", [listed_by_a_long_did, of_no_type, an_operator_s])
def test_a_record_of_the_longest_uri_does_not_keep_a_day_from_its_end(put: Callable[[Book], str]) -> None:
    # A day's end takes the root of the state tree, whose keys have at most 1,024 characters.
    book = Book(Coin(), root=ROOT)
    uri = put(book)
    book.tick(DAY)
    assert book.steps[-1].state_root is not None
    assert book.fold.table.get(f"_/report/{place_of(uri)}")
    assert all(len(key) <= MAX_TREE_KEY for key in book.cells())


def test_two_records_never_share_a_place_whatever_colons_their_names_have() -> None:
    book = Book(Coin(), root=ROOT)
    bad = book.put("did:web:a", "flip", {"call": 7}, uri="at://did:web:a/example.coin.flip/b:x")
    good = book.put("did:web:a:b", "flip", {"call": "heads"}, uri="at://did:web:a:b/example.coin.flip/x")
    assert place_of(bad) != place_of(good)
    assert book.fold.table.get(f"_/report/{place_of(bad)}") is not None
    assert book.fold.table.get(f"_/report/{place_of(good)}") is None


def test_a_record_listed_after_a_deletion_of_nothing_is_the_first_version() -> None:
    book = Book(Coin(), root=ROOT, scenario=True)
    uri = f"at://{ANN}/example.coin.flip/self"
    book.put(ANN, "flip", {}, op="delete", uri=uri)
    assert book.reports(uri) == []
    book.put(ANN, "flip", {"call": "heads"}, uri=uri)
    assert book.fold.table[f"flip/{ANN}:self"]["status"] == "pending"
    book.put(ANN, "flip", {"call": "tails"}, uri=uri, op="update")
    assert book.reports(uri) == ["edited"]
    assert book.fold.table[f"flip/{ANN}:self"]["call"] == "heads"


# --- sizes -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        {"call": "heads", **{f"field{n}": n for n in range(15_000)}},
        {"call": "heads", **{"f" * 60_000 + str(n): n for n in range(4)}},
        {"call": "heads", **{f"\x1b[31m\n\u202e{n}": n for n in range(2_000)}},
    ],
    ids=["many fields", "long fields", "fields that are no text to print"],
)
def test_a_report_on_a_large_record_stays_small_and_printable(value: dict[str, Any]) -> None:
    book = Book(Coin(), root=ROOT)
    flip = book.put(ANN, "flip", value)
    says = book.fold.table.get(f"_/report/{place_of(flip)}")["unknown-field"]
    assert len(says) < 6_000
    assert says.isprintable()
    book.put(GM, "root", {**ROOT, **value}, uri=book.game, op="update")
    assert all(len(data) < 6_000 for key, data in book.cells().items() if key.startswith("_/report/"))


def test_a_report_names_the_first_problems_and_counts_the_others() -> None:
    book = Book(Coin(), root={**ROOT, "rules": {f"x{n:03}": 1 for n in range(300)}})
    says = book.fold.table.get(f"_/report/{place_of(book.game)}")["bad-root"]
    assert "$.rules.x000" in says
    assert says.endswith("; and 280 more.")


# --- roots -----------------------------------------------------------------------------------------------------


def test_the_root_in_force_said_anew_takes_back_one_that_waits_for_its_quorum() -> None:
    root = {**ROOT, "policy": {"dids": [ANN, BOB], "quorum": 2}}
    book = Book(Coin(), root=root)
    book.put(GM, "root", {**root, "gm": BOB}, uri=book.game, op="update")
    assert book.fold.world.root_cell().waiting == 1
    book.put(GM, "root", root, uri=book.game, op="update")
    assert book.fold.world.root_cell().waiting is None
