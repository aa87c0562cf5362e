"""Attachments: what they prepare, what they may report, and families of dice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from book import ANN, GM, Book, place
from coin import Coin
from weighbridge.codec import cid_of
from weighbridge.contract import NOTHING, Attachment, Context, Docket, Effect, Event, Needs, Table
from weighbridge.errors import Unavailable
from weighbridge.fold import FoldPin, Resolved, attached_pins


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


# --- what a root attaches, and a later one ------------------------------------------------------------------

ONE, TWO = str(cid_of("one")), str(cid_of("two"))


class NotHere(Unavailable):
    code = "not-here"


class Shelf:
    """What a node has installed: one version of the attachment, and rule sets whose pin covers what is attached."""

    def __init__(self, pin: str | None = ONE) -> None:
        self.pin = pin

    def attach(self, settings: Mapping[str, Any]) -> Attachment:
        if self.pin is None or settings.get("pin") not in (None, self.pin):
            raise NotHere("the attachment is not here with that pin")
        return Listening()

    def resolve(self, fold: FoldPin) -> Resolved:
        found = {settings["name"]: self.attach(settings) for settings in fold.attached}
        return Resolved(Coin(), fold.pin or self.covering(fold), found)

    def covering(self, fold: FoldPin) -> str:
        return "".join(f"{name}={pin or self.pin}" for name, pin in sorted(attached_pins(fold).items()))


def begun(shelf: Shelf, *attached: dict[str, Any], pin: str | None = None) -> Book:
    first = FoldPin(None, pin, attached)
    found = shelf.resolve(first)
    return Book(
        Coin(), root=root_with(*attached, pin=pin), scenario=True, pin=found.pin, attachments=found.attachments,
        resolve=shelf.resolve, attach=shelf.attach,
    )  # fmt: skip


def root_with(*attached: dict[str, Any], pin: str | None = None) -> dict[str, Any]:
    fold: dict[str, Any] = {"with": list(attached)}
    return {"gm": GM, "fold": fold if pin is None else {**fold, "pin": pin}}


def update(book: Book, *attached: dict[str, Any], pin: str | None = None) -> None:
    book.put(GM, "root", root_with(*attached, pin=pin), uri=book.game, op="update")


def heard(book: Book) -> bool:
    flip = book.put(ANN, "flip", {"call": "heads"})
    book.dice(flip, 1)
    return book.reports(flip) == ["heard"]


def listening(**settings: Any) -> dict[str, Any]:
    return {"name": "listening", "says": "heard", **settings}


def test_a_root_that_attaches_something_more_moves_the_game_and_what_it_attaches_is_heard() -> None:
    book = begun(Shelf())
    assert not heard(book)
    update(book, listening())
    assert book.fold.origin.endswith(f"@listening={ONE}+k1")
    assert heard(book)
    update(book)
    assert book.fold.origin.endswith("@+k1")
    assert not heard(book)


class Proclaiming(Coin):
    """A coin whose root itself raises an event, and is noted."""

    def apply(self, table: Table, docket: Docket, ctx: Context) -> None:
        if docket.collection == self.root:
            table["proclaimed"] = docket.seq
            ctx.emit(Event("flipped", docket.uri))
        else:
            super().apply(table, docket, ctx)


def test_an_event_of_the_very_root_that_attaches_something_is_no_fault() -> None:
    shelf = Shelf()
    book = Book(
        Proclaiming(), root=root_with(), scenario=True, pin="", resolve=shelf.resolve, attach=shelf.attach
    )
    update(book, listening())
    assert (book.fold.table.get("proclaimed"), book.reports(book.game)) == (1, [])


def test_what_stays_attached_under_other_settings_or_with_its_pin_said_moves_nothing() -> None:
    book = begun(Shelf(), listening())
    update(book, listening(says="heard well"))
    update(book, listening(pin=ONE))
    assert len(book.fold.eras) == 0
    assert heard(book)


def test_an_attachment_that_is_not_here_is_no_outcome_and_ends_the_folding() -> None:
    """Were it `bad-root`, nodes that have it would come to another table."""
    book = begun(Shelf(None))
    with pytest.raises(NotHere):
        update(book, listening())


def test_another_version_of_what_is_attached_is_judged_by_the_old_and_folded_by_the_new() -> None:
    shelf = Shelf(ONE)
    book = begun(shelf, listening())
    shelf.pin = TWO
    update(book, listening(pin=TWO))
    assert [origin.rpartition("@")[2] for origin, _, _ in book.fold.eras] == [f"listening={ONE}+k1"]
    assert book.fold.origin.endswith(f"@listening={TWO}+k1")
    assert heard(book)


@pytest.mark.parametrize(
    "attached",
    [
        pytest.param((), id="nothing"),
        pytest.param((listening(pin=TWO),), id="another version"),
        pytest.param((listening(pin=ONE), {"name": "more"}), id="something more"),
    ],
)
def test_a_root_that_attaches_otherwise_under_the_same_pin_is_a_bad_root(
    attached: tuple[dict[str, Any], ...],
) -> None:
    book = begun(Shelf(), listening(pin=ONE), pin="p1")
    update(book, *attached, pin="p1")
    assert book.reports(book.game) == ["bad-root"]
    assert len(book.fold.eras) == 0
    update(book, listening(pin=ONE), pin="p2")
    assert (book.reports(book.game), len(book.fold.eras)) == ([], 1)


@pytest.mark.parametrize(
    ("attached", "says"),
    [
        pytest.param([listening(pin="one")], "the CID that an attachment has", id="no CID"),
        pytest.param([listening(pin=5)], "the CID that an attachment has", id="no text"),
        pytest.param([listening(pin=ONE), listening(pin=TWO)], "one for each name", id="two for one name"),
    ],
)
def test_a_pin_that_nothing_can_have_is_a_bad_root(attached: list[dict[str, Any]], says: str) -> None:
    book = Book(Coin(), root=root_with(*attached), scenario=True, attachments={"listening": Listening()})
    assert book.reports(book.game) == ["bad-root"]
    assert says in book.fold.table[f"_/report/example.coin.root/{GM}:self"]["bad-root"]
