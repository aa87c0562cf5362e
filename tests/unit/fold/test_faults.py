"""A rule set that fails has one outcome on every node, and what is no function of the log has none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from book import ANN, DAY, GM, Book
from coin import Coin
from weighbridge.contract import Context, Docket, Event, Needs, Table
from weighbridge.fold.breach import FoldStopped

Apply = Callable[[Table, Docket, Context], Any]


def failing(apply: Apply) -> Book:
    class Failing(Coin):
        def apply(self, table: Table, docket: Docket, ctx: Context) -> None:
            if docket.collection.endswith(".note"):
                table["half/done"] = 1
                apply(table, docket, ctx)

    return Book(Failing(), root={"gm": GM}, scenario=True)


def put_into(table: Table, key: Any, value: Any) -> None:
    table[key] = value


FAULTS = [
    pytest.param(lambda t, d, c: 1 // 0, "", id="raises"),
    pytest.param(lambda t, d, c: put_into(t, "x/y", 0.5), "(float)", id="answers in floats"),
    pytest.param(lambda t, d, c: put_into(t, "x/y", 2**70), "(integer-range)", id="an integer past 64 bits"),
    pytest.param(lambda t, d, c: put_into(t, "x/y", {1, 2}), "(unencodable)", id="a set in a cell"),
    pytest.param(lambda t, d, c: put_into(t, "x/y", b"x" * 300_000), "at most", id="a cell too large"),
    pytest.param(lambda t, d, c: put_into(t, "_/root/-", 1), "does not begin with _/", id="a kernel's key"),
    pytest.param(lambda t, d, c: put_into(t, "x/ü", 1), "printable ASCII", id="a key that is not ASCII"),
    pytest.param(lambda t, d, c: t["no/such"], "no cell no/such", id="a cell that is not there"),
    pytest.param(lambda t, d, c: c.dice("flip"), "needs do not name", id="dice it did not ask for"),
    pytest.param(lambda t, d, c: c.report("made-up", d.uri, "x"), "declare", id="a code it does not declare"),
    pytest.param(
        lambda t, d, c: c.report("not-gm", "x", "x"), "no record's at-uri", id="a report on nothing"
    ),
    pytest.param(
        lambda t, d, c: c.emit(Event("made-up", "x")), "apply emits 'made-up'", id="K03 an unknown event"
    ),
    pytest.param(lambda t, d, c: c.replace(d.uri), "replaces a record", id="replacing no earlier record"),
    pytest.param(lambda t, d, c: c.seal(["x"]), "without a seal", id="a seal where there is none"),
]


@pytest.mark.parametrize(("fault", "says"), FAULTS)
def test_a_fault_leaves_the_cells_as_before_the_record_and_is_reported(fault: Apply, says: str) -> None:
    book = failing(fault)
    before = book.cells()
    note = book.put(ANN, "note", {"text": "x"})
    assert book.reports(note) == ["rule-fault"]
    sentence = book.fold.table.get(f"_/report/example.coin.note/{ANN}:{note.rsplit('/', 1)[1]}")["rule-fault"]
    assert sentence.startswith("The rule set coin failed in apply")
    assert says in sentence
    assert {k: v for k, v in book.cells().items() if not k.startswith("_/report/")} == before
    assert book.steps[-1].alerts[0].hook == "apply"
    flip = book.put(ANN, "flip", {"call": "heads"})  # the game goes on
    assert book.reports(flip) == []


@pytest.mark.parametrize("error", [MemoryError, RecursionError, OSError])
def test_what_is_no_function_of_the_log_stops_the_fold(error: type[Exception]) -> None:
    def fail(table: Table, docket: Docket, ctx: Context) -> None:
        raise error

    book = failing(fail)
    with pytest.raises(FoldStopped) as stopped:
        book.put(ANN, "note", {"text": "x"})
    assert (stopped.value.code, stopped.value.fate) == ("fold-stopped", "broken")


def test_a_day_s_end_that_fails_is_reported_on_the_game_and_the_day_ends_all_the_same() -> None:
    class Failing(Coin):
        def day_end(self, table: Table, day: int, ctx: Context) -> None:
            table["half/done"] = 1
            raise KeyError(day)

    book = Book(Failing(), root={"gm": GM}, scenario=True)
    book.tick(2 * DAY)
    assert book.reports(book.game) == ["rule-fault"]
    assert book.fold.table.get("half/done") is None
    assert book.fold.table.get("_/day/-") == book.now // DAY


def test_a_rule_set_that_awaits_more_than_it_said_is_at_fault() -> None:
    class Greedy(Coin):
        def judge(self, table: Table, docket: Docket, ctx: Context) -> Needs:
            return Needs(dice=("more",))

    book = Book(Greedy(), root={"gm": GM}, scenario=True)
    assert book.reports(book.put(ANN, "note", {"text": "x"})) == ["rule-fault"]


@pytest.mark.parametrize("hook", ["shape", "needs", "judge", "voidable", "ruling", "changed", "rules"])
def test_every_other_hook_may_fail_without_ending_the_fold(hook: str) -> None:
    def fail(*_: Any) -> Any:
        raise LookupError(hook)

    ruleset = type("Failing", (Coin,), {hook: fail})()
    book = Book(ruleset, root={"gm": GM}, scenario=True)
    flip = book.put(ANN, "flip", {"call": "heads"})
    book.put(ANN, "flip", {"call": "tails"}, uri=flip, op="update")
    book.put(GM, "move", {"kind": "strike", "subject": flip})
    book.tick(DAY)
    assert any("rule-fault" in (book.fold.table.get(key) or {}) for key in book.fold.table.keys("_/report/"))


def test_a_record_of_no_type_of_the_game_is_listed_and_reported() -> None:
    book = Book(Coin(), root={"gm": GM}, scenario=True)
    assert book.reports(book.put(ANN, "org.example.other", {"x": 1})) == ["unknown-type"]


def test_a_misfit_changes_nothing_and_an_unknown_field_is_kept_and_reported() -> None:
    book = Book(Coin(), root={"gm": GM}, scenario=True)
    assert book.reports(book.put(ANN, "flip", {"call": 7})) == ["bad-shape"]
    flip = book.put(ANN, "flip", {"call": "heads", "extra": [1]})
    assert book.reports(flip) == ["unknown-field"]
    assert len(book.fold.table.keys("flip/")) == 1


def test_the_first_listed_version_is_the_record_whatever_comes_later() -> None:
    book = Book(Coin(), root={"gm": GM}, scenario=True)
    flip = book.put(ANN, "flip", {"call": "heads"})
    book.put(ANN, "flip", {"call": "heads"}, uri=flip, op="update")
    assert book.reports(flip) == []
    book.put(ANN, "flip", {"call": "tails"}, uri=flip, op="update")
    assert book.reports(flip) == ["edited"]
    book.put(ANN, "flip", {}, uri=flip, op="delete")
    assert book.reports(flip) == ["deleted", "edited"]
    assert book.fold.table.get(book.fold.table.keys("flip/")[0])["call"] == "heads"
