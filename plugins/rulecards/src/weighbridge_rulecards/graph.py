"""Which card can set off which, every `if` taken as true: what a kind of move can come to within three steps.

A number written out has a sign: `Hit points −1` can make them run out and never fill up. A formula can do either.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from weighbridge_rulecards.cards import Card
from weighbridge_rulecards.events import Key, named_keys, roll_keys, trigger_keys
from weighbridge_rulecards.index import Index
from weighbridge_rulecards.names import LAST_STEP
from weighbridge_rulecards.system import Check, Effect, System

KINDS = ("act", "blow", "turn", "rest", "enter", "meet", "item", "fight", "quest", "grant", "rule")
"""The kinds of move that can set cards off."""
CROSSINGS = ("out", "full", "half", "reach")


@dataclass(frozen=True)
class Link:
    """One card can set off another. `by`: the effect of the first, as in its sentence."""

    source: str
    target: str
    by: str


class Graph:
    """What the cards of a game can set off."""

    def __init__(self, system: System, cards: tuple[Card, ...], index: Index) -> None:
        self._system = system
        self._cards = cards
        self._index = index

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """Which card can set off which, in listed order of both."""
        found: list[Link] = []
        for card in self._cards:
            for effect, words in zip(card.then, card.does, strict=True):
                for target in self._cards_under(self._raises(effect)):
                    found.append(Link(card.id, target.id, words))
        return tuple(dict.fromkeys(found))

    def targets(self, card: str) -> list[str]:
        """Return the cards that one can set off."""
        return list(dict.fromkeys(each.id for each in self._by_id[card]))

    def steps(self, kind: str) -> dict[str, int]:
        """Return the cards that a kind of move can set off, and the first step at which each could fire.

        Those at step 4 would be stopped; beyond it nothing is looked for.
        """
        steps: dict[str, int] = {}
        keys, waits = self._begins(kind), self._before(kind)
        frontier = self._cards_under(keys)
        for card in [*waits, *frontier]:
            steps.setdefault(card.id, 1)
        frontier = [*waits, *frontier]
        for step in range(2, LAST_STEP + 2):
            reached = [each for card in frontier for each in self._next(card)]
            frontier = [each for each in reached if each.id not in steps]
            for card in frontier:
                steps.setdefault(card.id, step)
        return steps

    def first_steps(self) -> dict[str, int]:
        """Return the first step at which each card could fire in play.

        The story may begin a chain at any link (`grant`), so it counts only for what nothing else sets off.
        """
        found: dict[str, int] = {}
        for kind in KINDS:
            for card, step in self.steps(kind).items() if kind != "grant" else ():
                found[card] = min(step, found.get(card, step))
        granted = self.steps("grant")
        return {card.id: found.get(card.id, granted.get(card.id, 1)) for card in self._cards}

    def rolls(self, kind: str) -> bool:
        """Return whether a kind of move can set off, within three steps, a card with a roll."""
        steps = self.steps(kind)
        return any(steps.get(card.id, LAST_STEP + 1) <= LAST_STEP and _has_roll(card) for card in self._cards)

    def cycles(self) -> list[list[str]]:
        """Return the groups of cards that can set each other off in a circle, in listed order."""
        finished = _finished({card.id: self.targets(card.id) for card in self._cards})
        sources: dict[str, list[str]] = {card.id: [] for card in self._cards}
        for card in self._cards:
            for target in self.targets(card.id):
                sources[target].append(card.id)
        places = {card.id: card.place for card in self._cards}
        placed: dict[str, None] = {}
        groups: list[list[str]] = []
        for start in (each for each in reversed(finished) if each not in placed):
            group = list(_reached(start, sources, placed))
            placed.update(dict.fromkeys(group))
            if len(group) > 1 or start in self.targets(start):
                groups.append(sorted(group, key=lambda each: places[each]))
        return sorted(groups, key=lambda group: places[group[0]])

    # --- events --------------------------------------------------------------------------------------------

    def _cards_under(self, keys: Iterable[Key]) -> list[Card]:
        return list(self._index.under(dict.fromkeys(keys)))

    @cached_property
    def _by_id(self) -> Mapping[str, list[Card]]:
        return {
            card.id: [each for e in card.then for each in self._cards_under(self._raises(e))]
            for card in self._cards
        }

    def _next(self, card: Card) -> list[Card]:
        return self._by_id[card.id]

    def _raises(self, effect: Effect) -> list[Key]:
        """Return the keys of what an effect can raise, before-cards on a roll it makes among them."""
        if effect.kind == "track":
            return _track_keys(effect)
        if effect.kind == "clock":
            return [("clock", effect.get("clock")), ("clock", "")]
        if effect.kind == "xp":
            loses = (
                effect.amount is not None and effect.amount.literal is not None and effect.amount.literal < 0
            )
            return [] if loses or len(self._system.levels) < 2 else [("level",)]
        return self._rolls(self._system.checks[effect.get("check")]) if effect.kind == "roll" else []

    def _rolls(self, check: Check) -> list[Key]:
        found = [key for card in self._cards if (key := _before_roll(card, check.id)) is not None]
        for band in check.bands:
            found += roll_keys(check.id, band)
            found += [key for effect in band.then for key in self._raises(effect)]
        return found

    def _begins(self, kind: str) -> list[Key]:
        """Return the keys of the events that a kind of move can begin with."""
        system = self._system
        if kind == "act":
            spent = [key for track, each in system.tracks.items() if each.spend for key in _falling(track)]
            return [*spent, *(key for check in system.checks.values() for key in self._rolls(check))]
        if kind == "rest":
            return [("rest",), *(key for effect in system.rest for key in self._raises(effect))]
        if kind == "enter":
            return [key for place in system.places for key in named_keys("place", system, place)]
        if kind == "meet":
            return [key for person in system.people for key in named_keys("meet", system, person)]
        on = _FIRST.get(kind, ())
        lowered = _falling(system.damage) if kind == "blow" else []
        return lowered + [
            key
            for card in self._cards
            if card.on in on and not card.before
            for key in trigger_keys(card.when, before=False)
        ]

    def _before(self, kind: str) -> list[Card]:
        return [card for card in self._cards if kind == "blow" and card.before and card.on == "damage"]


_FIRST = {
    "blow": ("damage", "defeat"),
    "turn": ("turn",),
    "item": ("item",),
    "fight": ("fight",),
    "quest": ("quest",),
    "grant": ("track", "clock", "level"),
    "rule": ("story",),
}


def _falling(track: str) -> list[Key]:
    """Return the keys of a track of a character that goes down."""
    return [("track", track, "", cross) for cross in ("out", "half", "reach")]


def _finished(targets: Mapping[str, list[str]]) -> list[str]:
    """Return all cards, each after those that it can set off (but for circles)."""
    order: list[str] = []
    seen: dict[str, None] = {}
    for start in targets:
        stack = [] if start in seen else [(start, iter(targets[start]))]
        seen[start] = None
        while stack:
            card, rest = stack[-1]
            found = next((each for each in rest if each not in seen), None)
            if found is None:
                order.append(card)
                stack.pop()
            else:
                seen[found] = None
                stack.append((found, iter(targets[found])))
    return order


def _reached(start: str, links: Mapping[str, list[str]], without: Mapping[str, None]) -> dict[str, None]:
    """Return what can be reached from a card, itself among it, without passing some."""
    found: dict[str, None] = {}
    waiting = [start]
    while waiting:
        card = waiting.pop()
        if card not in found and card not in without:
            found[card] = None
            waiting += links[card]
    return found


def _has_roll(card: Card) -> bool:
    return any(effect.kind == "roll" for effect in card.then)


def _before_roll(card: Card, check: str) -> Key | None:
    if not card.before or card.on != "roll" or card.when.get("check", check) != check:
        return None
    return trigger_keys(card.when, before=True)[0]


def _track_keys(effect: Effect) -> list[Key]:
    track, of = effect.get("track"), effect.get("of")
    literal = effect.amount.literal if effect.amount is not None else None
    part, sets = effect.get("part"), effect.get("op") == "set"
    return [("track", track, of, cross) for cross in _crossings(literal, maximum=part == "max", sets=sets)]


def _crossings(literal: int | None, *, maximum: bool, sets: bool) -> tuple[str, ...]:
    if literal is None:
        return tuple(each for each in CROSSINGS if not (maximum and each == "out"))
    if sets and not maximum:
        return ("out", "half", "reach") if literal <= 0 else ("full", "half", "reach")
    if sets:
        return ("full", "half", "reach")
    if maximum:
        return ("half",) if literal > 0 else ("full", "reach")
    return ("full", "reach") if literal > 0 else ("out", "half", "reach")
