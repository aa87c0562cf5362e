"""What an editor offers in each changeable place of a card: only what the system has, so a card names nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from weighbridge_rulecards.card_reading import AFTER_FIELDS, BEFORE_FIELDS, CROSSINGS, OPTIONS
from weighbridge_rulecards.effect_reading import AFTER, BEFORE
from weighbridge_rulecards.names import EDGES, MOST_SEGMENTS, OUTCOMES
from weighbridge_rulecards.slots import OUTCOME_WORDS
from weighbridge_rulecards.system import GIVEN, System

Json = Mapping[str, Any]


class Option(NamedTuple):
    """One thing to choose: the value as data, and its words."""

    value: Any
    words: str


_WORDS = {
    "out": "runs out", "full": "fills up", "half": "drops below half", "reach": "reaches", "start": "starts",
    "end": "ends", "gain": "gained", "lose": "lost", "step": "a step is done", "finish": "is finished",
    "dealt": "they deal damage", "taken": "they take damage", "rise": "rises", "fall": "falls", "set": "set to",
    "max": "maximum", **OUTCOME_WORDS,
}  # fmt: skip


def options_at(card: Json, position: str, system: System) -> list[Option]:
    """Return what may stand in a place of a card, in the system's order.

    `position`: `stage`, `if`, `when.FIELD` or `then.N.FIELD`, N from 0, such as `when.check` or `then.0.track`.
    Places that take numbers or texts of one's own, and places that this card has not, offer nothing.
    """
    parts = position.split(".")
    if parts == ["if"]:
        return _conditions(card, system)
    if parts == ["stage"]:
        return (
            _plain(["before"])
            if card.get("when", {}).get("on") in BEFORE_FIELDS and not system.attached
            else []
        )
    if len(parts) == 2 and parts[0] == "when":
        return _when(card, parts[1], system)
    if len(parts) == 3 and parts[0] == "then":
        return _then(card, parts, system)
    return []


def _plain(values: Sequence[str]) -> list[Option]:
    return [Option(each, _WORDS.get(each, each)) for each in values]


def _entries(entries: Mapping[str, Any]) -> list[Option]:
    return [Option(each.id, each.name) for each in entries.values()]


# --- triggers ----------------------------------------------------------------------------------------------

_LISTS = {
    "check": "checks", "clock": "clocks", "place": "places", "person": "people", "item": "items", "foe": "foes",
    "event": "events",
}  # fmt: skip
_NEEDED = {
    "roll": "checks", "clock": "clocks", "place": "places", "meet": "people", "item": "items", "defeat": "foes",
    "track": "tracks", "level": "levels",
}  # fmt: skip
"""What a system must have before a trigger is worth offering."""


def _when(card: Json, field: str, system: System) -> list[Option]:
    when, before = card.get("when", {}), card.get("stage") == "before"
    if field == "on":
        return _triggers(before, system)
    table = BEFORE_FIELDS if before else AFTER_FIELDS
    on = str(when.get("on", ""))
    needed, may = (("event",), ()) if system.attached else table.get(on, ((), ()))
    if field not in (*needed, *may):
        return []
    if field in _LISTS:
        return _entries(getattr(system, _LISTS[field]))
    return _TRIGGER.get(field, _nothing)(when, on, system)


def _triggers(before: bool, system: System) -> list[Option]:
    if system.attached:
        return _plain(["event"])
    table = BEFORE_FIELDS if before else AFTER_FIELDS
    return _plain([each for each in table if each not in _NEEDED or getattr(system, _NEEDED[each])])


def _nothing(when: Json, on: str, system: System) -> list[Option]:
    return []


def _bands(when: Json, on: str, system: System) -> list[Option]:
    check = system.checks.get(str(when.get("check", "")))
    return _entries(system.bands if check is None else {band.id: band for band in check.bands})


def _kinds(when: Json, on: str, system: System) -> list[Option]:
    return _plain(system.kinds("places" if on == "place" else "people"))


def _tracks(when: Json, on: str, system: System) -> list[Option]:
    item = system.items.get(str(when.get("of", "")))
    return _entries(
        {each: system.tracks[each] for each in (system.own_tracks if item is None else item.tracks)}
    )


def _owners(when: Json, on: str, system: System) -> list[Option]:
    return _entries({item.id: item for item in system.items.values() if item.tracks})


_Offer = Callable[[Json, str, System], list[Option]]
_TRIGGER: dict[str, _Offer] = {
    "band": _bands,
    "kind": _kinds,
    "track": _tracks,
    "of": _owners,
    "outcome": lambda when, on, system: _plain(OUTCOMES),
    "cross": lambda when, on, system: _plain(CROSSINGS),
    "is": lambda when, on, system: _plain(OPTIONS[on]),
    "dir": lambda when, on, system: _plain(("dealt", "taken")),
}

# --- effects -----------------------------------------------------------------------------------------------


def _then(card: Json, parts: list[str], system: System) -> list[Option]:
    then, at = card.get("then", []), int(parts[1]) if parts[1] in tuple(map(str, range(16))) else -1
    if not 0 <= at < len(then):
        return []
    on, before = str(card.get("when", {}).get("on", "")), card.get("stage") == "before"
    if parts[2] == "kind":
        return _plain([each for each in _kinds_of(on, before, system) if _has(each, system)])
    kind = then[at].get("kind")
    return _EFFECT.get((kind, parts[2]), _nothing)(then[at], on, system)


def _kinds_of(on: str, before: bool, system: System) -> tuple[str, ...]:
    if system.attached:
        return system.admits
    return BEFORE if before else (*AFTER, "mark") if on == "roll" else AFTER


_FOR_EFFECTS = {
    "track": "tracks", "condition": "conditions", "clock": "clocks", "pool": "pools", "xp": "levels", "mark": "improve",
}  # fmt: skip


def _has(kind: str, system: System) -> bool:
    if kind == "roll":
        return bool(_rollable({}, "", system))
    own_clocks = kind == "clock" and system.attached
    return own_clocks or kind not in _FOR_EFFECTS or bool(getattr(system, _FOR_EFFECTS[kind]))


def _rollable(effect: Json, on: str, system: System) -> list[Option]:
    return _entries({check.id: check for check in system.checks.values() if check.target != GIVEN})


def _ops(effect: Json, on: str, system: System) -> list[Option]:
    condition = system.conditions.get(str(effect.get("condition", "")))
    levels = condition is not None and condition.levels
    return _plain(("lose", "rise", "fall") if levels else ("lose",))


def _levels(effect: Json, on: str, system: System) -> list[Option]:
    condition = system.conditions.get(str(effect.get("condition", "")))
    most = condition.levels if condition is not None else 0
    return [Option(level, str(level)) for level in range(1, min(most, 100) + 1)]


_EFFECT: dict[tuple[Any, str], _Offer] = {
    ("track", "track"): _tracks,
    ("track", "of"): _owners,
    ("track", "part"): lambda effect, on, system: _plain(("max",)),
    ("track", "op"): lambda effect, on, system: _plain(("set",)),
    ("condition", "condition"): lambda effect, on, system: _entries(system.conditions),
    ("condition", "op"): _ops,
    ("condition", "level"): _levels,
    ("clock", "clock"): lambda effect, on, system: _entries(system.clocks),
    ("clock", "size"): lambda effect, on, system: [Option(n, str(n)) for n in range(1, MOST_SEGMENTS + 1)],
    ("pool", "pool"): lambda effect, on, system: _entries(system.pools),
    ("roll", "check"): _rollable,
    ("modify", "edge"): lambda effect, on, system: _plain(EDGES) if on == "roll" else [],
}

# --- conditions --------------------------------------------------------------------------------------------


def _conditions(card: Json, system: System) -> list[Option]:
    """Offer the terms of `if` that read as words; numbers in them are there to be changed."""
    found = [
        Option(f"@cond.{each.id} {test}", f"{word} {each.name}")
        for each in system.conditions.values()
        for word, test in (("while", "> 0"), ("unless", "== 0"))
    ]
    for track in (system.tracks[each] for each in ([] if system.attached else system.own_tracks)):
        be = "are" if track.plural else "is"
        found.append(Option(f"@{track.id} < 2", f"while {track.name} {be} below 2"))
        found.append(Option(f"@{track.id} >= 3", f"while {track.name} {be} at least 3"))
    return found + _of_event(card, system)


def _of_event(card: Json, system: System) -> list[Option]:
    when = card.get("when", {})
    if when.get("on") == "damage":
        return [Option("@event.amount >= 8", "when it is at least 8")]
    if when.get("on") != "roll" or card.get("stage") == "before":
        return []
    check = system.checks.get(str(when.get("check", "")))
    groups = system.groups if check is None else [dice.group for dice in check.dice]
    found: list[Option] = []
    for group in groups:
        found.append(Option(f"@group.{group}.high == 6", f"when the {group} die shows 6"))
        found.append(Option(f"@group.{group}.ones > 0", f"when the {group} die shows a 1"))
    return found
