"""A system as the fold works with it: entries by id, formulas ready to run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from weighbridge_rulecards.formula_running import Run


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula: its canonical text, how to run it, and its value where it is a number written out."""

    text: str
    run: Run
    literal: int | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of any list: its id and name, and what its list has more."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Stat(Entry):
    """A stat: what a sheet may give."""

    least: int
    most: int


@dataclass(frozen=True, slots=True)
class Track(Entry):
    """A track from 0 to `max`. `sheet`: the least and most maximum that a sheet gives; `start` None: at the maximum."""

    max: int
    start: int | None
    sheet: tuple[int, int] | None
    plural: bool
    spend: bool


@dataclass(frozen=True, slots=True)
class Condition(Entry):
    """A condition or tag. `levels` 0: it has none; `edge` on every roll of its bearer, or empty."""

    levels: int
    edge: str


@dataclass(frozen=True, slots=True)
class Pool(Entry):
    """A pool of the storyteller's."""

    max: int
    start: int


@dataclass(frozen=True, slots=True)
class Item(Entry):
    """An item, and the tracks that each set of it has."""

    tracks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sort(Entry):
    """A place or a person, and what kind of one, or empty."""

    kind: str


@dataclass(frozen=True, slots=True)
class Foe(Entry):
    """A foe and the hit points it comes with."""

    hp: int


@dataclass(frozen=True, slots=True)
class Dice:
    """A group of dice of a check."""

    group: str
    n: Formula
    sides: int


@dataclass(frozen=True, slots=True)
class Effect:
    """One effect, as data and ready to be done. `kind` and `data` are the card's; `amount` is what it works out."""

    kind: str
    data: Mapping[str, Any]
    amount: Formula | None = None

    def get(self, name: str, default: Any = "") -> Any:
        """Return one of its fields."""
        return self.data.get(name, default)


@dataclass(frozen=True, slots=True)
class Band(Entry):
    """A band of a check: the first whose `test` holds counts."""

    outcome: str
    test: Formula | None
    then: tuple[Effect, ...]


@dataclass(frozen=True, slots=True)
class Check(Entry):
    """A check. `target` None: it has none; GIVEN: the GM gives it."""

    dice: tuple[Dice, ...]
    read: str
    hit: int
    add: bool
    target: int | None
    bands: tuple[Band, ...]


GIVEN = -(10**12)
"""A check's target that the GM gives: no number that a target can be."""


@dataclass(frozen=True, slots=True)
class Happening(Entry):
    """An event of the owner of a game that cards are attached to: its words are its name."""

    fields: tuple[str, ...]


@dataclass(frozen=True)
class System:
    """A system: its lists by id in their order, and what is in no list. `admits` empty: every kind of effect.

    `data` is the system as it is written, with its base filled in.
    """

    id: str
    name: str
    stats: Mapping[str, Stat] = field(default_factory=dict)
    checks: Mapping[str, Check] = field(default_factory=dict)
    tracks: Mapping[str, Track] = field(default_factory=dict)
    conditions: Mapping[str, Condition] = field(default_factory=dict)
    pools: Mapping[str, Pool] = field(default_factory=dict)
    items: Mapping[str, Item] = field(default_factory=dict)
    places: Mapping[str, Sort] = field(default_factory=dict)
    people: Mapping[str, Sort] = field(default_factory=dict)
    foes: Mapping[str, Foe] = field(default_factory=dict)
    clocks: Mapping[str, Entry] = field(default_factory=dict)
    events: Mapping[str, Happening] = field(default_factory=dict)
    admits: tuple[str, ...] = ()
    damage: str = ""
    rest: tuple[Effect, ...] = ()
    levels: tuple[int, ...] = ()
    improve: int = 0
    data: Mapping[str, Any] = field(default_factory=dict)

    @property
    def attached(self) -> bool:
        """Whether it is the vocabulary of another rule set, which owns the game."""
        return bool(self.events)

    @property
    def owned_tracks(self) -> list[str]:
        """The tracks that items have, and no character."""
        return list(dict.fromkeys(track for item in self.items.values() for track in item.tracks))

    @property
    def own_tracks(self) -> list[str]:
        """The tracks that every character has, in the order of their list."""
        owned = self.owned_tracks
        return [track for track in self.tracks if track not in owned]

    @property
    def bands(self) -> dict[str, Band]:
        """The bands of all checks by id: one id has one name."""
        return {band.id: band for check in self.checks.values() for band in check.bands}

    @property
    def groups(self) -> list[str]:
        """The groups of dice of all checks."""
        return list(dict.fromkeys(dice.group for check in self.checks.values() for dice in check.dice))

    def kinds(self, entries: str) -> list[str]:
        """Return the kinds of the places or people."""
        found: Mapping[str, Sort] = getattr(self, entries)
        return list(dict.fromkeys(each.kind for each in found.values() if each.kind))
