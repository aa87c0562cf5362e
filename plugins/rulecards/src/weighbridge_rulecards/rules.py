"""A root's rules: its system and its cards, read once and ready to work with."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Any

from weighbridge.contract import Problem

from weighbridge_rulecards.card_reading import read_cards
from weighbridge_rulecards.cards import Card
from weighbridge_rulecards.forms import Forms
from weighbridge_rulecards.graph import KINDS, Graph
from weighbridge_rulecards.index import Index
from weighbridge_rulecards.reader import Reader
from weighbridge_rulecards.system import System
from weighbridge_rulecards.system_reading import read_system


class Rules:
    """The rules in force: a system, its cards in listed order, and what can be known of them beforehand."""

    def __init__(self, system: System, cards: tuple[Card, ...], forms: Forms | None = None) -> None:
        self.system = system
        self.cards = cards
        self.forms = forms if forms is not None else Forms(system)
        self.index = Index(cards)

    @cached_property
    def stories(self) -> dict[str, Card]:
        """The cards that ask the storyteller, by id."""
        return {card.id: card for card in self.cards if card.on == "story"}

    @cached_property
    def graph(self) -> Graph:
        """Which card can set off which."""
        return Graph(self.system, self.cards, self.index)

    @cached_property
    def rolling(self) -> dict[str, bool]:
        """Of each kind of move: whether it can set off a card that rolls."""
        any_roll = any(effect.kind == "roll" for card in self.cards for effect in card.then)
        return {kind: any_roll and self.graph.rolls(kind) for kind in KINDS}


class _Written(str):
    """A value written out as text, by which alone it is told from others, together with the value."""

    __slots__ = ("value",)
    value: Any

    def __new__(cls, value: Any) -> _Written:
        """Write a value out."""
        written = super().__new__(cls, ascii(value))
        written.value = value
        return written


def read_rules(root: Mapping[str, Any]) -> tuple[Rules | None, tuple[Problem, ...]]:
    """Return a root's rules, and every problem with its path."""
    return _read(_Written({"rules": root["rules"]} if "rules" in root else {}))


@lru_cache(maxsize=16)
def _read(written: _Written) -> tuple[Rules | None, tuple[Problem, ...]]:
    # A fold reads its root anew whenever it goes back; what comes of the same rules is the same.
    root: Mapping[str, Any] = written.value
    reader = Reader()
    if "rules" not in root:
        reader.wrong("$.rules", "is missing: a map of system and cards")
        return None, tuple(reader.problems)
    found = reader.fields(root["rules"], "$.rules", ("system",), ("cards",))
    if found is None:
        return None, tuple(reader.problems)
    return read_set(found, "$.rules", reader)


def read_set(found: Mapping[str, Any], path: str, reader: Reader) -> tuple[Rules | None, tuple[Problem, ...]]:
    """Read `system` and `cards` of a map."""
    system, problems = read_system(found["system"], f"{path}.system")
    reader.problems += problems
    forms = Forms(system)
    cards = read_cards(reader, found.get("cards", []), f"{path}.cards", system, forms)
    if reader.problems:
        return None, tuple(reader.problems)
    return Rules(system, cards, forms), ()
