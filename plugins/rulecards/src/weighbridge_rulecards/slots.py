"""The slots of forms: how a field of a card is written in a sentence, read back, and offered to choose from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from weighbridge_rulecards.formula_reading import Wrong, read_formula
from weighbridge_rulecards.formulas import INTEGER, text_of
from weighbridge_rulecards.names import text_fault
from weighbridge_rulecards.nearest import hint
from weighbridge_rulecards.system import Entry
from weighbridge_rulecards.words import (
    an,
    from_signed,
    from_unsigned,
    listed,
    literal,
    number,
    signed,
    unsigned,
    without_article,
)

Data = Mapping[str, Any]


def _anything(text: str) -> bool:
    return bool(text)


@dataclass(frozen=True)
class Slot:
    """One changeable place of a form.

    `fields`: the data's fields it stands for. `say`: their words, or None where this slot has none for them.
    `hear(text, data)`: the fields that words say, or None. `refuse`: the sentence for words that say nothing.
    `could_be`: whether a gap with these words could be a misspelling of it.
    """

    fields: tuple[str, ...]
    say: Callable[[Data], str | None]
    hear: Callable[[str, Data], dict[str, Any] | None]
    refuse: Callable[[str], str]
    could_be: Callable[[str], bool] = field(default=_anything)


def named(
    field_name: str,
    entries: Mapping[str, Entry],
    what: str,
    *,
    article: bool = False,
    also: Iterable[str] = (),
) -> Slot:
    """Return the slot of an entry by its name, perhaps with an article. `also`: what else it may be taken for."""
    ids = {entry.name: entry.id for entry in entries.values()}
    near = [*ids, *also]

    def say(data: Data) -> str | None:
        entry = entries.get(data[field_name])
        if entry is None:
            return None
        return an(entry.name) if article else entry.name

    def hear(text: str, data: Data) -> dict[str, Any] | None:
        name = without_article(text) if article else text
        return {field_name: ids[name]} if name in ids else None

    def refuse(text: str) -> str:
        return hint(_bare(text) if article else text, near, what)

    return Slot((field_name,), say, hear, refuse, _with_article if article else _anything)


def kind(field_name: str, kinds: Iterable[str]) -> Slot:
    """Return the slot of a kind of place or person, with its article."""
    known = tuple(kinds)

    def say(data: Data) -> str | None:
        return an(data[field_name]) if data[field_name] in known else None

    def hear(text: str, data: Data) -> dict[str, Any] | None:
        name = without_article(text)
        return {field_name: name} if name in known else None

    return Slot((field_name,), say, hear, lambda text: hint(_bare(text), known, "kind"), _with_article)


def _with_article(text: str) -> bool:
    return text.startswith(("a ", "an "))


def _bare(text: str) -> str:
    return text.removeprefix("an ").removeprefix("a ")


OUTCOME_WORDS = {"critical": "is a critical", "success": "succeeds", "failure": "fails", "fumble": "fumbles"}


def outcomes(*, alone: bool = False) -> Slot:
    """Return the slot of how a roll turned out: one to four phrases, in their order.

    `alone`: the words around it say by themselves that it is one, so anything in it is a misspelling.
    """

    def say(data: Data) -> str | None:
        return listed([OUTCOME_WORDS[each] for each in data["outcome"]])

    phrases = {listed([OUTCOME_WORDS[each] for each in some]): some for some in _choices(list(OUTCOME_WORDS))}

    def hear(text: str, data: Data) -> dict[str, Any] | None:
        return {"outcome": list(phrases[text])} if text in phrases else None

    def could_be(text: str) -> bool:
        words = tuple(OUTCOME_WORDS.values())
        return alone or text.startswith(words) or text.endswith(tuple(f" {word}" for word in words))

    return Slot(("outcome",), say, hear, lambda text: hint(text, OUTCOME_WORDS.values(), "outcome"), could_be)


def _choices(options: list[str]) -> list[list[str]]:
    if not options:
        return []
    rest = _choices(options[1:])
    return [[options[0]], *([options[0], *each] for each in rest), *rest]


def amount(field_name: str, *, change: bool) -> Slot:
    """Return the slot of an amount: as a change (`+2`) or as a value (`2`)."""
    write, read = (signed, from_signed) if change else (unsigned, from_unsigned)

    def hear(text: str, data: Data) -> dict[str, Any] | None:
        formula = _canonical(read(text))
        return None if formula is None else {field_name: formula}

    return Slot((field_name,), lambda data: write(data[field_name]), hear, _no_amount, _could_be_amount)


def less(field_name: str) -> Slot:
    """Return the slot of what a blow is less by: only a negative number written out."""

    def say(data: Data) -> str | None:
        value = literal(data[field_name])
        return str(-value) if value is not None and value < 0 else None

    def hear(text: str, data: Data) -> dict[str, Any] | None:
        value = number(text)
        return None if value is None else {field_name: f"-{value}"}

    return Slot((field_name,), say, hear, _no_amount, _could_be_amount)


def _canonical(formula: str | None) -> str | None:
    if formula is None:
        return None
    try:
        return text_of(read_formula(formula, INTEGER))
    except Wrong:
        return None


def _no_amount(text: str) -> str:
    bracket = text[text.find("(") :] if "(" in text else ""
    try:
        read_formula(bracket or text, INTEGER)
    except Wrong as wrong:
        return f"{text[:64]} is no amount: {wrong.says}"
    return f"{text[:64]} is no amount: write +2, −2 or +(a formula)"


def _could_be_amount(text: str) -> bool:
    return text[:1] in tuple("+-−(0123456789") and bool(text)


def whole(field_name: str, *, least: int = 0, alone: bool = False) -> Slot:
    """Return the slot of a number written out. `alone`: the words around it say by themselves that it is one."""

    def hear(text: str, data: Data) -> dict[str, Any] | None:
        value = number(text)
        return None if value is None or value < least else {field_name: value}

    def could_be(text: str) -> bool:
        return alone or text[:1] in tuple("-−0123456789")

    return Slot(
        (field_name,),
        lambda data: str(data[field_name]),
        hear,
        lambda text: f"{text[:64]} is no number here",
        could_be,
    )


def turns() -> Slot:
    """Return the slot of a duration: `1 turn`, `3 turns`."""

    def say(data: Data) -> str | None:
        return f"{data['turns']} {'turn' if data['turns'] == 1 else 'turns'}"

    def hear(text: str, data: Data) -> dict[str, Any] | None:
        value = number(text.partition(" ")[0])
        return {"turns": value} if value is not None and say({"turns": value}) == text else None

    return Slot(("turns",), say, hear, lambda text: f"{text[:64]} is no number of turns")


def text(field_name: str) -> Slot:
    """Return the slot of a text."""

    def hear(words: str, data: Data) -> dict[str, Any] | None:
        return None if text_fault(words) else {field_name: words}

    return Slot((field_name,), lambda data: str(data[field_name]), hear, text_fault)
