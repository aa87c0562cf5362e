"""Cards attached to a game that another rule set owns: checked against its vocabulary, answering its events.

The owner hands in events with their character and applies the effects that come back, amounts worked out. A formula
here reads the event's own fields, and nothing else: the owner's table is the owner's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from weighbridge.contract import Context, Effect, Event, Problem, Table

from weighbridge_rulecards.card_reading import read_cards
from weighbridge_rulecards.cards import Card
from weighbridge_rulecards.forms import Forms
from weighbridge_rulecards.names import LAST_STEP
from weighbridge_rulecards.reader import Reader
from weighbridge_rulecards.rules import Rules
from weighbridge_rulecards.system import Effect as CardEffect
from weighbridge_rulecards.system_reading import read_vocabulary

MOMENT = "rulecards/moment"
"""The cell that remembers which cards have fired in the moment at hand, for whom."""


def read_attached(vocabulary: Mapping[str, Any], record: Any) -> tuple[Rules, tuple[Problem, ...]]:
    """Return the cards of a set, checked against the owner's vocabulary, and every problem with its path."""
    reader = Reader()
    system, problems = read_vocabulary(vocabulary, "$.vocabulary")
    reader.problems += problems
    forms = Forms(system)
    found = record.get("cards") if isinstance(record, dict) else None
    cards = read_cards(reader, found, "$.cards", system, forms)
    return Rules(system, cards, forms), tuple(reader.problems)


def check_attached(
    settings: Mapping[str, Any], vocabulary: Mapping[str, Any], record: Any
) -> tuple[Problem, ...]:
    """Check the settings of `fold.with` and the set of cards that they name by CID."""
    unknown = [
        Problem(f"$.fold.with.{key}", "no such option")
        for key in sorted(settings)
        if key not in ("name", "pin", "cards")
    ]
    if "cards" not in settings:
        return (*unknown, Problem("$.fold.with.cards", "is missing: the CID of a set of cards"))
    return (*unknown, *read_attached(vocabulary, record)[1])


class _Fields:
    """What formulas of attached cards read: the event's fields."""

    def __init__(self, event: Event) -> None:
        self._event = event

    def read(self, path: tuple[str, ...]) -> int:
        """Return a field of the event; 0 for a text or what the owner left out."""
        value = self._event.fields.get(path[-1], 0)
        return value if type(value) is int else 0


def answer(table: Table, event: Event, rules: Rules, ctx: Context) -> Sequence[Effect]:
    """Return the effects of the cards that watch an event, in listed order."""
    cards = rules.index.under((("event", event.name),))
    if not cards:
        return ()
    moment: dict[str, Any] = table.get(MOMENT, {})
    about = [ctx.uri, ctx.at]
    if moment.get("about") != about:
        moment = {"about": about, "fired": {}, "stopped": []}
    found = [effect for card in cards for effect in _fire(card, event, moment, ctx)]
    table[MOMENT] = moment
    return found


def _fire(card: Card, event: Event, moment: dict[str, Any], ctx: Context) -> list[Effect]:
    fields = _Fields(event)
    fired: list[str] = moment["fired"].setdefault(event.about, [])
    if card.id in fired or (card.test is not None and not card.test.run(fields)):
        return []
    if event.step > LAST_STEP:
        if card.name not in moment["stopped"]:
            moment["stopped"].append(card.name)
        names = ", ".join(moment["stopped"])
        says = f"Cards set each other off three steps deep; these would have been next: {names}."
        ctx.report("chain-stopped", ctx.uri, says)
        return []
    fired.append(card.id)
    return [_worked_out(each, event, fields) for each in card.then]


def _worked_out(effect: CardEffect, event: Event, fields: _Fields) -> Effect:
    given = {name: value for name, value in effect.data.items() if name != "kind"}
    if effect.amount is not None:
        given["amount"] = effect.amount.run(fields)
    return Effect(effect.kind, event.about, given)
