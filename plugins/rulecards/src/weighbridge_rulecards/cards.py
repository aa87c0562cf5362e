"""A card, as the fold works with it and as its sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from weighbridge_rulecards.conditions import condition_words, read_words
from weighbridge_rulecards.forms import Forms
from weighbridge_rulecards.formula_reading import Wrong, read_formula
from weighbridge_rulecards.formulas import BOOLEAN
from weighbridge_rulecards.grammar import Form, hear, misheard, misspelt, say
from weighbridge_rulecards.names import text_fault
from weighbridge_rulecards.system import Effect, Formula
from weighbridge_rulecards.words import squeezed

ARROW = " → "


@dataclass(frozen=True)
class Card:
    """A card. `place`: which in its list, from 0. `when` and `then` are as written, formulas canonical."""

    place: int
    id: str
    name: str
    when: Mapping[str, Any]
    before: bool
    test: Formula | None
    then: tuple[Effect, ...]
    note: str
    does: tuple[str, ...]
    """Its effects as in the sentence."""
    says: str = ""
    """What the storyteller is told when it fires: the note, else what it does."""
    acts: tuple[Effect, ...] = ()
    """Its effects but for lines to the storyteller, which stand in the cue."""
    show: tuple[str, ...] = ()
    """The lines that the storyteller must show."""

    @property
    def on(self) -> str:
        """The kind of its trigger."""
        return str(self.when["on"])

    @property
    def data(self) -> dict[str, Any]:
        """The part of it that its sentence carries."""
        found: dict[str, Any] = {"when": dict(self.when)}
        if self.before:
            found["stage"] = "before"
        if self.test is not None:
            found["if"] = self.test.text
        return {**found, "then": [dict(each.data) for each in self.then]}


def effect_forms(forms: Forms, on: str, *, before: bool) -> list[Form]:
    """Return the forms of what a card may do."""
    if before:
        return forms.roll_effects if on == "roll" else forms.damage_effects
    return forms.effects


# --- writing -----------------------------------------------------------------------------------------------


def trigger_words(when: Mapping[str, Any], forms: Forms, *, before: bool) -> str | None:
    """Return a trigger in words; None where no words stand for it."""
    if when["on"] == "story":
        return str(when["ask"])
    return say(forms.before if before else forms.after, when)


def effect_words(data: Mapping[str, Any], forms: Forms, on: str, *, before: bool) -> str | None:
    """Return an effect in words; None where no words stand for it."""
    return say(effect_forms(forms, on, before=before), data)


def render(card: Mapping[str, Any], forms: Forms) -> str:
    """Return the sentence of a card's data. It must be well-formed: what no words stand for is left empty."""
    when, before = card["when"], card.get("stage") == "before"
    words = trigger_words(when, forms, before=before)
    start = "Each turn" if when["on"] == "turn" else f"{'Before' if before else 'When'} {words}"
    test = ""
    if "if" in card:
        tree = read_formula(card["if"], BOOLEAN)
        test = f" ({condition_words(tree, forms.system, damage=when['on'] == 'damage')})"
    does = [effect_words(each, forms, when["on"], before=before) or "" for each in card["then"]]
    return f"{start}{test}{ARROW}{'; '.join(does)}."


# --- reading -----------------------------------------------------------------------------------------------


def parse(sentence: str, forms: Forms) -> dict[str, Any]:
    """Return the data that a sentence says: when, stage, if, then. Raises `Wrong`."""
    left, right = _halves(squeezed(sentence))
    trigger, test = _condition(left)
    card = _when(trigger, forms)
    on, before = card["when"]["on"], "stage" in card
    if test is not None:
        card["if"] = read_words(test, forms.system, damage=on == "damage")
    effects = effect_forms(forms, on, before=before)
    card["then"] = [_effect(each.strip(" "), effects) for each in right.split(";")]
    return card


def _halves(sentence: str) -> tuple[str, str]:
    arrow = "→" if "→" in sentence else "->"
    left, found, right = sentence.removesuffix(".").partition(arrow)
    if not found:
        raise Wrong("a card's sentence has an arrow between when and what: When they rest → +25 xp.")
    return left.strip(" "), right.strip(" ")


def _condition(left: str) -> tuple[str, str | None]:
    trigger, found, rest = left.partition("(")
    if not found:
        return left, None
    if not rest.endswith(")"):
        raise Wrong("the brackets of a condition close before the arrow")
    return trigger.strip(" "), rest[:-1].strip(" ")


def _when(text: str, forms: Forms) -> dict[str, Any]:
    if text == "Each turn" and not forms.system.attached:
        return {"when": {"on": "turn"}}
    word, _, words = text.partition(" ")
    if word == "Before":
        when = hear(forms.before, words)
        if when is None:
            raise Wrong(
                misheard(forms.before, words) or f"no card stands before {words[:64]}: any roll, and damage"
            )
        return {"when": when, "stage": "before"}
    if word != "When":
        raise Wrong("a card begins with When, Before or Each turn")
    when = hear(forms.after, words)
    return {"when": _story(words, forms) if when is None else when}


def _story(words: str, forms: Forms) -> dict[str, Any]:
    fault = story_fault(words, forms)
    if fault:
        raise Wrong(fault)
    return {"on": "story", "ask": words}


def story_fault(words: str, forms: Forms) -> str:
    """Return why a text is no question to the storyteller, or nothing: a misspelt trigger never becomes one."""
    if forms.system.attached:
        return misheard(forms.after, words) or f"the game's owner knows no such event: {words[:64]}"
    triggers = [*forms.after, *forms.before]
    if hear(triggers, words) is not None:
        return f"{words[:64]} is a trigger, and no question to the storyteller"
    near = misspelt(triggers, words)
    return (f"did you mean {near}?" if near else "") or misheard(triggers, words) or text_fault(words)


def _effect(text: str, forms: list[Form]) -> dict[str, Any]:
    found = hear(forms, text)
    if found is None:
        raise Wrong(misheard(forms, text) or f"{text[:64]} is nothing that a card does here")
    return found
