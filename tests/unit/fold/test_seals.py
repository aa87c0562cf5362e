"""Sealed choices and attachments, through a rule set that uses them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from book import ANN, BOB, DAY, GM, SECOND, Book
from coin import RULES, Coin
from weighbridge.contract import Attachment, Context, Effect, Event, Problem, Table
from weighbridge.seals import seal_hash

SALT = "000102030405060708090a0b0c0d0e0f"


def sealed(book: Book, who: str, value: str, salt: str = SALT) -> str:
    return seal_hash(book.game, who, ["hide"], bytes.fromhex(salt), value)


def hidden() -> tuple[Book, str]:
    book = Book(RULES, root={"gm": GM}, scenario=True)
    return book, book.put(ANN, "move", {"kind": "hide", "seal": sealed(book, ANN, "seven")})


def test_a_seal_is_opened_by_its_author_with_the_salt_and_the_value() -> None:
    book, commitment = hidden()
    book.put(ANN, "move", {"kind": "open", "opens": commitment, "salt": SALT, "value": "seven"})
    assert book.fold.table.get(f"purse/{ANN}")["score"] == 2


@pytest.mark.parametrize(
    ("who", "change", "wait", "code"),
    [
        pytest.param(BOB, {}, SECOND, "bad-opening", id="another author"),
        pytest.param(ANN, {"value": "eight"}, SECOND, "bad-opening", id="another value"),
        pytest.param(ANN, {"salt": "zz"}, SECOND, "bad-opening", id="no hex"),
        pytest.param(ANN, {"opens": "at://x"}, SECOND, "bad-shape", id="no at-uri"),
        pytest.param(ANN, {"salt": "0011"}, SECOND, "short-salt", id="a salt that can be guessed"),
        pytest.param(ANN, {}, 0, "too-early", id="too soon"),
        pytest.param(ANN, {}, 2 * DAY, "opened-late", id="too late"),
    ],
)
def test_an_opening_that_does_not_open_says_why(
    who: str, change: dict[str, Any], wait: int, code: str
) -> None:
    book, commitment = hidden()
    value = {"kind": "open", "opens": commitment, "salt": SALT, "value": "seven", **change}
    assert book.reports(book.put(who, "move", value, wait=wait)) == [code]


def test_a_seal_is_opened_once_and_one_never_opened_is_reported() -> None:
    book, commitment = hidden()
    for code in ([], ["opened-twice"]):
        opening = book.put(ANN, "move", {"kind": "open", "opens": commitment, "salt": SALT, "value": "seven"})
        assert book.reports(opening) == code
    book, commitment = hidden()
    book.tick(2 * DAY)
    assert book.reports(commitment) == ["not-opened"]


def test_a_second_seal_and_a_copied_one_commit_to_nothing() -> None:
    book, _ = hidden()
    second = book.put(ANN, "move", {"kind": "hide", "seal": sealed(book, ANN, "eight")})
    copied = book.put(BOB, "move", {"kind": "hide", "seal": sealed(book, ANN, "seven")})
    assert (book.reports(second), book.reports(copied)) == (["second-seal"], ["copied-seal"])


class Gifts(Attachment):
    """Gives points to whoever shows heads; loops for ever on tails if its settings say so."""

    name = "gifts"
    version = "1"

    def attach(
        self, settings: Mapping[str, Any], vocabulary: Mapping[str, Any], record: Any
    ) -> tuple[Problem, ...]:
        known = settings.get("on") in vocabulary["events"]
        return () if known else (Problem("$.fold.with.on", "no such event"),)

    def handle(
        self, table: Table, event: Event, settings: Mapping[str, Any], record: Any, ctx: Context
    ) -> Sequence[Effect]:
        table["gifts/-"] = table.get("gifts/-", 0) + 1
        if event.fields["face"] == "heads":
            return [Effect("gift", event.about, {"points": settings["points"]})]
        if settings.get("loop"):
            ctx.emit(event)
        return []


def attached(**settings: Any) -> Book:
    root = {"gm": GM, "fold": {"with": {"name": "gifts", **settings}}}
    return Book(Coin(), root=root, scenario=True, attachments={"gifts": Gifts()})


def test_an_attachment_answers_the_owner_s_events_with_effects_the_owner_applies() -> None:
    book = attached(on="flipped", points=5)
    flip = book.put(ANN, "flip", {"call": "heads"})
    book.dice(flip, 1)
    assert book.fold.table.get(f"purse/{ANN}")["score"] == 6
    assert book.fold.table.get("gifts/-") == 1


def test_an_attachment_that_does_not_fit_the_owner_makes_a_bad_root() -> None:
    unfit = attached(on="nothing", points=1)
    assert "bad-root" in unfit.reports(unfit.game)
    root = {"gm": GM, "fold": {"with": [{"name": "unknown"}]}}
    book = Book(Coin(), root=root, scenario=True)
    assert book.reports(book.game) == ["bad-root"]


def test_events_that_raise_events_for_ever_are_a_fault_and_undo_the_record() -> None:
    book = attached(on="flipped", points=1, loop=True)
    flip = book.put(ANN, "flip", {"call": "heads"})
    book.dice(flip, 2)
    assert book.reports(flip) == ["rule-fault"]
    assert book.fold.table.get("gifts/-") is None
