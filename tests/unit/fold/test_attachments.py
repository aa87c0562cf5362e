"""Attachments: what they prepare, what they may report, and families of dice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from book import ANN, GM, Book, place
from coin import Coin
from weighbridge.contract import NOTHING, Attachment, Context, Docket, Effect, Event, Needs, Table


class Listening(Attachment):
    """Prepares what it will answer from its settings and the owner's words, and reports under a code of its own."""

    name = "listening"
    version = "1"
    codes = ("heard",)

    def __init__(self) -> None:
        self.prepared = 0

    def prepare(self, settings: Mapping[str, Any], vocabulary: Mapping[str, Any], record: Any) -> Any:
        self.prepared += 1
        return f"{settings['says']} of {', '.join(vocabulary['events'])}"

    def handle(
        self, table: Table, event: Event, settings: Mapping[str, Any], record: Any, ctx: Context
    ) -> Sequence[Effect]:
        ctx.report("heard", ctx.uri, record)
        return []


def test_an_attachment_prepares_once_and_reports_on_the_record_at_hand_under_its_own_code() -> None:
    listening = Listening()
    root = {"gm": GM, "fold": {"with": {"name": "listening", "says": "heard"}}}
    book = Book(Coin(), root=root, scenario=True, attachments={"listening": listening})
    flips = [book.put(ANN, "flip", {"call": "heads"}) for _ in range(3)]
    for flip in flips:
        book.dice(flip, 1)
    assert [book.reports(flip) for flip in flips] == [["heard"]] * 3
    assert book.fold.table.get(f"_/report/{place(flips[0])}") == {"heard": "heard of flipped"}
    assert listening.prepared == 1


def test_a_code_that_neither_owner_nor_attachment_declares_is_a_fault() -> None:
    listening = Listening()
    listening.codes = ()  # type: ignore[misc]
    root = {"gm": GM, "fold": {"with": {"name": "listening", "says": "heard"}}}
    book = Book(Coin(), root=root, scenario=True, attachments={"listening": listening})
    flip = book.put(ANN, "flip", {"call": "heads"})
    book.dice(flip, 1)
    assert book.reports(flip) == ["rule-fault"]


class Families(Coin):
    """Needs a family of purposes, and draws from it, or beside it."""

    def __init__(self, purpose: str) -> None:
        self.purpose = purpose

    def needs(self, docket: Docket, rules: Any) -> Needs:
        return Needs(("flip:*",)) if docket.collection == "example.coin.flip" else NOTHING

    def judge(self, table: Table, docket: Docket, ctx: Context) -> Needs:
        return self.needs(docket, docket.rules)

    def apply(self, table: Table, docket: Docket, ctx: Context) -> None:
        if docket.collection == "example.coin.flip":
            table["drawn/-"] = ctx.dice(self.purpose).die(6)


def test_a_family_of_purposes_covers_what_begins_as_it_does_and_nothing_else() -> None:
    outcomes = {}
    for purpose in ("flip:a:1", "flip:b", "flip", "flop:a"):
        book = Book(Families(purpose), root={"gm": GM}, scenario=True)
        flip = book.put(ANN, "flip", {"call": "heads"})
        book.dice(flip, 4)
        outcomes[purpose] = (book.fold.table.get("drawn/-"), book.reports(flip))
    fine, fault = (4, []), (None, ["rule-fault"])
    assert outcomes == {"flip:a:1": fine, "flip:b": fine, "flip": fault, "flop:a": fault}


def test_a_vocabulary_s_events_may_be_a_list_with_more_about_each() -> None:
    class Wordy(Coin):
        def vocabulary(self) -> Mapping[str, Any]:
            return {"events": [{"id": "flipped", "words": "a coin is flipped"}], "effects": ["gift"]}

    root = {"gm": GM}
    book = Book(Wordy(), root=root, scenario=True)
    flip = book.put(ANN, "flip", {"call": "heads"})
    book.dice(flip, 1)
    assert book.reports(flip) == []
