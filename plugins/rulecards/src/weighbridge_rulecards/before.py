"""Before-cards: what they do just ahead of a roll or a blow, and the lines that say so."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from weighbridge_rulecards import effects
from weighbridge_rulecards.board import Reading
from weighbridge_rulecards.cards import Card
from weighbridge_rulecards.formula_running import held
from weighbridge_rulecards.system import Effect
from weighbridge_rulecards.words import signed

if TYPE_CHECKING:
    from weighbridge_rulecards.moments import Moment


@dataclass
class Changes:
    """What before-cards have done to a roll or a blow so far.

    `amount`: added to the roll, or the blow as it stands. `edges` each once, `chip` a line for each card that
    changed or blocked it, `blocked` why it is not made.
    """

    amount: int = 0
    damage: bool = False
    edges: dict[str, None] = field(default_factory=dict)
    chip: list[str] = field(default_factory=list)
    blocked: str = ""


def ask_before(moment: Moment, cards: Iterable[tuple[Card, str]], step: int, changes: Changes) -> Changes:
    """Let before-cards fire, each for its character, until one blocks. What they raise waits in the queue."""
    for card, who in cards:
        reading = Reading(moment.board, who, changes.amount if changes.damage else 0)
        if changes.damage and changes.amount < card.when.get("min", changes.amount):
            moment.record.passed.append((card, who, "amount"))
            continue
        if card.test is not None and not card.test.run(reading):
            moment.record.passed.append((card, who, "condition"))
            continue
        moment.record.cue(card, who, step, "")
        _fire(moment, card, who, step, changes)
        if changes.blocked:
            break
    return changes


def _fire(moment: Moment, card: Card, who: str, step: int, changes: Changes) -> None:
    parts: list[str] = []
    for effect in card.acts:
        reading = Reading(moment.board, who, changes.amount if changes.damage else 0)
        if effect.kind == "block":
            changes.blocked = changes.blocked or str(effect.get("text"))
            parts.append("blocked")
        elif effect.kind == "modify":
            parts += _modify(effect, reading, changes)
        else:
            effects.do(moment, effect, who, step + 1, reading, card=card.id)
    if parts:
        changes.chip.append(f"{card.name}: {', '.join(parts)}")


def _modify(effect: Effect, reading: Reading, changes: Changes) -> list[str]:
    if effect.amount is None:
        changes.edges[effect.get("edge")] = None
        return [str(effect.get("edge"))]
    amount = effect.amount.run(reading)
    changes.amount = held(changes.amount + amount)
    if amount == 0:
        return []
    if not changes.damage:
        return [signed(str(amount))]
    return [f"{-amount} less damage" if amount < 0 else f"{amount} more damage"]
