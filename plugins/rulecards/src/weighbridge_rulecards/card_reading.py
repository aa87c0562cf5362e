"""Reading cards: each field checked against the system, and the sentence against the data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from weighbridge_rulecards.cards import Card, effect_words, parse, render, story_fault, trigger_words
from weighbridge_rulecards.effect_reading import AFTER, BEFORE, EffectReader, Where, read_track
from weighbridge_rulecards.entry_reading import id_fault
from weighbridge_rulecards.forms import Forms
from weighbridge_rulecards.formula_reading import Wrong
from weighbridge_rulecards.formulas import BOOLEAN
from weighbridge_rulecards.knowing import AMOUNT, known_in, of_any_check, of_check
from weighbridge_rulecards.names import MOST_CARDS, MOST_EFFECTS, OUTCOMES, plain_fault, text_fault
from weighbridge_rulecards.nearest import hint
from weighbridge_rulecards.reader import Json, Reader
from weighbridge_rulecards.system import Effect, Formula, System

Fields = tuple[tuple[str, ...], tuple[str, ...]]

AFTER_FIELDS: dict[str, Fields] = {
    "roll": ((), ("check", "band", "outcome")),
    "track": (("track", "cross"), ("of", "at")),
    "clock": ((), ("clock",)),
    "fight": (("is",), ()),
    "rest": ((), ()),
    "level": ((), ()),
    "turn": ((), ()),
    "place": ((), ("place", "kind")),
    "meet": ((), ("person", "kind")),
    "item": (("is",), ("item",)),
    "damage": (("dir",), ("min",)),
    "defeat": ((), ("foe",)),
    "quest": (("is",), ()),
    "story": (("ask",), ()),
}
"""Of each trigger: the fields it must have beside `on`, and those it may have."""
BEFORE_FIELDS: dict[str, Fields] = {
    "roll": ((), ("check", "place")),
    "damage": (("dir",), ("min", "place")),
}
CROSSINGS = ("out", "full", "half", "reach")
OPTIONS = {"fight": ("start", "end"), "item": ("gain", "lose"), "quest": ("step", "finish")}


def read_cards(reader: Reader, value: Any, path: str, system: System, forms: Forms) -> tuple[Card, ...]:
    """Read a list of cards; those that cannot be read are left out."""
    items = reader.items(value, path, MOST_CARDS)
    seen: dict[str, int] = {}
    cards = CardReader(reader, system, forms)
    found: list[Card] = []
    for at, each in enumerate(items):
        card_id = each.get("id") if isinstance(each, dict) else None
        if isinstance(card_id, str) and seen.setdefault(card_id, at) != at:
            reader.wrong(f"{path}[{at}].id", f"{card_id[:64]} stands at [{seen[card_id]}] already")
        card = cards.read(each, f"{path}[{at}]", len(found))
        if card is not None:
            found.append(card)
    return tuple(found)


@dataclass(frozen=True)
class _Trigger:
    on: str
    before: bool
    when: Json


class CardReader:
    """Reads cards of one system."""

    def __init__(self, reader: Reader, system: System, forms: Forms) -> None:
        self._reader = reader
        self._system = system
        self._forms = forms
        self._known = known_in(system)
        self._effects = EffectReader(reader, system, self._known)
        self._any_roll = of_any_check(system)

    def read(self, value: Any, path: str, place: int) -> Card | None:
        """Read one card; None after noting what is wrong with it."""
        reader = self._reader
        before = len(reader.problems)
        found = reader.fields(value, path, ("id", "name", "when", "then"), ("stage", "if", "note"))
        if found is None:
            return None
        reader.text(found["id"], f"{path}.id", id_fault)
        reader.text(found["name"], f"{path}.name", lambda text: plain_fault(text, 100))
        if "note" in found:
            reader.text(found["note"], f"{path}.note", lambda text: plain_fault(text, 1000))
        return self._card(found, path, place, before)

    def read_data(self, value: Any, path: str) -> Card | None:
        """Read what a sentence carries: when, stage, if, then."""
        before = len(self._reader.problems)
        found = self._reader.fields(value, path, ("when", "then"), ("stage", "if"))
        return None if found is None else self._card({"id": "card", "name": "Card", **found}, path, 0, before)

    def _card(self, found: Json, path: str, place: int, before: int) -> Card | None:
        reader = self._reader
        if "stage" in found:
            reader.word(found["stage"], f"{path}.stage", ("before",))
        trigger = self._trigger(found["when"], f"{path}.when", before="stage" in found)
        if trigger is None:
            return None
        extra = self._extra(trigger)
        where = Where(self._kinds(trigger), extra, trigger.on == "damage")
        then = self._effects.read_all(found["then"], f"{path}.then", where, MOST_EFFECTS, 1)
        test = None
        if "if" in found:
            test = self._known.formula(reader, found["if"], f"{path}.if", BOOLEAN, extra)
        if len(reader.problems) != before:
            return None
        card = self._made(found, place, trigger, test, then)
        return card if self._reads_back(card, path) else None

    def _made(
        self, found: Json, place: int, trigger: _Trigger, test: Formula | None, then: tuple[Effect, ...]
    ) -> Card:
        does = tuple(self._does(each, trigger) for each in then)
        note = found.get("note", "")
        return Card(
            place=place,
            id=found["id"],
            name=found["name"],
            when=trigger.when,
            before=trigger.before,
            test=test,
            then=then,
            note=note,
            does=does,
            says=note or "; ".join(does),
            acts=tuple(each for each in then if each.kind != "tell"),
            show=tuple(str(each.get("text")) for each in then if each.kind == "tell"),
        )

    def _does(self, effect: Effect, trigger: _Trigger) -> str:
        return effect_words(effect.data, self._forms, trigger.on, before=trigger.before) or ""

    def _reads_back(self, card: Card, path: str) -> bool:
        """Check that the sentence says this card and no other: names can be such that it would not."""
        sentence = render(card.data, self._forms)
        try:
            heard = parse(sentence, self._forms)
        except Wrong as wrong:
            self._reader.wrong(path, f"its sentence cannot be read back ({wrong.says}): {sentence}")
            return False
        if heard != card.data:
            self._reader.wrong(
                path, f"its sentence reads as another card, for the names it holds: {sentence}"
            )
        return heard == card.data

    def _extra(self, trigger: _Trigger) -> tuple[str, ...]:
        if trigger.on == "damage":
            return AMOUNT
        if trigger.on == "event":
            return tuple(f"@event.{each}" for each in self._system.events[trigger.when["event"]].fields)
        if trigger.on != "roll" or trigger.before:
            return ()
        return (
            of_check(self._system.checks[trigger.when["check"]])
            if "check" in trigger.when
            else self._any_roll
        )

    def _kinds(self, trigger: _Trigger) -> tuple[str, ...]:
        if self._system.attached:
            return self._system.admits
        if trigger.before:
            return BEFORE
        return (*AFTER, "mark") if trigger.on == "roll" else AFTER

    # --- triggers ------------------------------------------------------------------------------------------

    def _trigger(self, value: Any, path: str, *, before: bool) -> _Trigger | None:
        reader = self._reader
        table = BEFORE_FIELDS if before else AFTER_FIELDS
        if self._system.attached:
            table = {} if before else {"event": (("event",), ())}
        found = reader.map(value, path)
        if found is None:
            return None
        on = found.get("on")
        if not isinstance(on, str) or on not in table:
            stands = "stands before" if before else "is a trigger here"
            reader.wrong(
                f"{path}.on",
                f"{hint(str(on), table, 'trigger')}; of all triggers {', '.join(table)} {stands}",
            )
            return None
        start = len(reader.problems)
        needed, may = table[on]
        if reader.fields(found, path, ("on", *needed), may) is not None:
            _CHECKS.get(on, CardReader.plain)(self, found, path)
        return _Trigger(on, before, dict(found)) if len(reader.problems) == start else None

    def plain(self, found: Json, path: str) -> None:
        """Check a trigger whose fields name entries, or choose among few words."""
        for field, (entries, what) in _ENTRIES.items():
            if field in found:
                self._reader.named(found[field], f"{path}.{field}", getattr(self._system, entries), what)
        if "is" in found:
            self._reader.word(found["is"], f"{path}.is", OPTIONS[found["on"]])

    def roll(self, found: Json, path: str) -> None:
        """Check a trigger on rolls."""
        reader, system = self._reader, self._system
        self.plain(found, path)
        if "band" in found and "outcome" in found:
            reader.wrong(path, "a band or how it turned out, not both")
        if "band" in found:
            check = system.checks.get(found["check"]) if isinstance(found.get("check"), str) else None
            bands = system.bands if check is None else {band.id: band for band in check.bands}
            reader.named(found["band"], f"{path}.band", bands, "band")
        if "outcome" in found:
            given = reader.items(found["outcome"], f"{path}.outcome", 4, 1)
            words = [reader.word(each, f"{path}.outcome[{at}]", OUTCOMES) for at, each in enumerate(given)]
            if given and None not in words and words != [each for each in OUTCOMES if each in words]:
                reader.wrong(f"{path}.outcome", f"each once, in this order: {', '.join(OUTCOMES)}")

    def track(self, found: Json, path: str) -> None:
        """Check a trigger on a track."""
        read_track(self._reader, self._system, found, path)
        cross = self._reader.word(found["cross"], f"{path}.cross", CROSSINGS)
        if "at" in found:
            self._reader.whole(found["at"], f"{path}.at", 0)
        if cross is not None and (cross == "reach") != ("at" in found):
            self._reader.wrong(f"{path}.at", "stands with reach, and only there")

    def one_of(self, found: Json, path: str) -> None:
        """Check a trigger on a place or a person: by name or by kind."""
        name, entries = ("place", "places") if found["on"] == "place" else ("person", "people")
        if (name in found) == ("kind" in found):
            self._reader.wrong(path, f"{name} or kind, one of the two")
            return
        if name in found:
            self._reader.named(found[name], f"{path}.{name}", getattr(self._system, entries), name)
            return
        kinds = dict.fromkeys(self._system.kinds(entries))
        self._reader.named(found["kind"], f"{path}.kind", kinds, f"kind of {name}")

    def damage(self, found: Json, path: str) -> None:
        """Check a trigger on damage."""
        self.plain(found, path)
        self._reader.word(found["dir"], f"{path}.dir", ("dealt", "taken"))
        if "min" in found:
            self._reader.whole(found["min"], f"{path}.min", 1)

    def story(self, found: Json, path: str) -> None:
        """Check a question to the storyteller: no misspelt trigger."""
        ask = self._reader.text(found["ask"], f"{path}.ask", text_fault)
        fault = story_fault(ask, self._forms) if ask is not None else ""
        if fault:
            self._reader.wrong(f"{path}.ask", fault)


_ENTRIES = {
    "check": ("checks", "check"),
    "clock": ("clocks", "clock"),
    "place": ("places", "place"),
    "item": ("items", "item"),
    "foe": ("foes", "foe"),
    "event": ("events", "event"),
}
_CHECKS: Mapping[str, Callable[[CardReader, Json, str], None]] = {
    "roll": CardReader.roll,
    "track": CardReader.track,
    "place": CardReader.one_of,
    "meet": CardReader.one_of,
    "damage": CardReader.damage,
    "story": CardReader.story,
}
__all__ = ["AFTER_FIELDS", "BEFORE_FIELDS", "CardReader", "read_cards", "trigger_words"]
