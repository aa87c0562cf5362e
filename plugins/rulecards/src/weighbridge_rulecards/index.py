"""Cards by trigger: an event finds the cards that watch it, and those that do not cost nothing."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable

from weighbridge_rulecards.cards import Card
from weighbridge_rulecards.events import Happened, Key, trigger_keys

Found = tuple[Card, ...]
_NONE: Found = ()


class Index:
    """The cards of a game by the keys of their triggers, each list in listed order."""

    def __init__(self, cards: Iterable[Card]) -> None:
        found: dict[Key, list[Card]] = {}
        for card in cards:
            for key in trigger_keys(card.when, before=card.before):
                found.setdefault(key, []).append(card)
        self._cards = {key: tuple(each) for key, each in found.items()}
        self._sorted = {key: _by_number(key, each) for key, each in self._cards.items() if _number(key)}

    def watching(self, event: Happened) -> Found:
        """Return the cards that watch an event, in listed order."""
        if event.keys and event.keys[0][0] == "damage":
            return self._up_to(event.keys[0], event.amount)
        found = self.under(event.keys)
        if event.reach is None:
            return found
        key, low, high = event.reach
        return _merged((found, self._between(key, low, high)))

    def under(self, keys: Iterable[Key]) -> Found:
        """Return the cards under any of these keys, in listed order."""
        lists = [each for key in keys if (each := self._cards.get(key)) is not None]
        return _merged(lists) if len(lists) > 1 else lists[0] if lists else _NONE

    def _up_to(self, key: Key, amount: int) -> Found:
        numbers, cards = self._sorted.get(key, ([], []))
        return _merged((cards[: bisect_right(numbers, amount)],))

    def _between(self, key: Key, low: int, high: int) -> Found:
        numbers, cards = self._sorted.get(key, ([], []))
        return tuple(cards[bisect_left(numbers, low) : bisect_right(numbers, high)])


def _number(key: Key) -> str:
    """Return the field of a trigger that is a number to be met."""
    if key[0] == "damage":
        return "min"
    return "at" if key[0] == "track" and key[-1] == "reach" else ""


def _by_number(key: Key, cards: Found) -> tuple[list[int], list[Card]]:
    field = _number(key)
    ranked = sorted(cards, key=lambda card: (card.when.get(field, 0), card.place))
    return [card.when.get(field, 0) for card in ranked], ranked


def _merged(lists: Iterable[Iterable[Card]]) -> Found:
    return tuple(sorted((card for each in lists for card in each), key=lambda card: card.place))
