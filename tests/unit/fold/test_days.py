"""The passing of time: every day ends once, in order, within the entry that shows that it has passed."""

from __future__ import annotations

from typing import Any, ClassVar

from book import ANN, DAY, GM, START, Book
from coin import Coin
from weighbridge.contract import Context, Table


class Diary(Coin):
    """A coin game that writes down each day's end."""

    name: ClassVar[str] = "diary"

    def day_end(self, table: Table, day: int, ctx: Context) -> None:
        table["diary/-"] = [*table.get("diary/-", []), day, ctx.day, ctx.at]


def days(book: Book) -> list[int]:
    found: list[Any] = book.fold.table.get("diary/-", [])
    return found[::3]


def test_each_day_passed_ends_in_order_within_the_entry_that_shows_it() -> None:
    book = Book(Diary(), root={"gm": GM})
    first = START // DAY
    assert days(book) == []
    book.tick(3 * DAY)
    assert days(book) == [first, first + 1, first + 2]
    assert book.fold.table["diary/-"][1::3] == days(book)
    assert book.fold.table["diary/-"][2::3] == [(day + 1) * DAY for day in days(book)]
    assert "diary/-" in dict(book.steps[-1].delta)


def test_a_day_ends_at_its_midnight_and_not_before() -> None:
    book = Book(Diary(), root={"gm": GM})
    left = DAY - book.now % DAY
    book.tick(left - 1)
    assert days(book) == []
    book.tick(1)
    assert days(book) == [START // DAY]


def test_a_day_ends_once_however_many_entries_follow() -> None:
    book = Book(Diary(), root={"gm": GM})
    book.tick(DAY)
    for _ in range(3):
        book.put(ANN, "flip", {"call": "heads"})
    assert days(book) == [START // DAY]


def test_the_state_root_stands_in_the_delta_of_an_entry_that_ends_a_day() -> None:
    book = Book(Diary(), root={"gm": GM})
    assert "_/state" not in dict(book.steps[-1].delta)
    book.tick(DAY)
    assert dict(book.steps[-1].delta)["_/state"] == book.fold.state_root()
