"""Reading a system: its lists, its checks and what is in no list, every problem at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

from weighbridge.contract import Problem

from weighbridge_rulecards.check_reading import read_checks
from weighbridge_rulecards.effect_reading import GRANTED, KINDS, EffectReader, Where
from weighbridge_rulecards.entry_reading import read_list
from weighbridge_rulecards.knowing import known_in
from weighbridge_rulecards.names import (
    EVENT_ID,
    FIELD,
    MOST,
    MOST_EFFECTS,
    MOST_ENTRIES,
    MOST_SIDES,
    SYSTEM_ID,
    plain_fault,
)
from weighbridge_rulecards.nearest import distance, hint, nearest
from weighbridge_rulecards.reader import Json, Reader
from weighbridge_rulecards.shipped import SHIPPED
from weighbridge_rulecards.system import Happening, System

LISTS = ("stats", "checks", "tracks", "conditions", "pools", "items", "places", "people", "foes", "clocks")
_MISSPELT = 3
IN_NO_LIST = ("id", "name", "damage", "rest", "levels", "improve")


def read_system(value: Any, path: str = "$") -> tuple[System, tuple[Problem, ...]]:
    """Return a system and every problem with it. `value`: a shipped name, a system, or changes to a `base`.

    With problems the system holds what could be read, so that cards can be checked all the same.
    """
    reader = Reader()
    whole = _whole(reader, value, path)
    system = _system(reader, whole, path) if whole is not None else _EMPTY
    return system, tuple(reader.problems)


def read_vocabulary(value: Mapping[str, Any], path: str = "$") -> tuple[System, tuple[Problem, ...]]:
    """Return the owner's system that attached cards are checked against: its events and the effects it admits."""
    reader = Reader()
    own = {key: each for key, each in value.items() if key not in ("events", "effects")}
    lists = {name: _plain(reader, own, name, path) for name in LISTS if name != "checks"}
    events = _events(reader, value.get("events", []), f"{path}.events")
    admits = tuple(each for each in value.get("effects", ()) if each in KINDS)
    name = str(value.get("name", value.get("id", "")))
    fields: dict[str, Any] = {**lists, "events": events, "admits": admits, "data": dict(value)}
    return replace(System(str(value.get("id", "")), name), **fields), tuple(reader.problems)


# --- the whole, with its base ------------------------------------------------------------------------------


def _whole(reader: Reader, value: Any, path: str) -> Json | None:
    if isinstance(value, str):
        if value in SHIPPED:
            return SHIPPED[value]
        reader.wrong(path, hint(value, SHIPPED, "shipped system"))
        return _meant(value)
    found = reader.map(value, path)
    if found is None or "base" not in found:
        return found
    base = found["base"]
    if not isinstance(base, str) or base not in SHIPPED:
        reader.wrong(f"{path}.base", hint(str(base), SHIPPED, "shipped system"))
        meant = _meant(str(base))
    else:
        meant = SHIPPED[base]
    changes = {key: each for key, each in found.items() if key != "base"}
    return None if meant is None else _onto(meant, changes)


def _meant(name: str) -> Json | None:
    """Return the shipped system that a misspelt name comes near, so that its cards are not told of names amiss."""
    near = nearest(name, SHIPPED)[0]
    return SHIPPED[near] if distance(name[:64], near) <= _MISSPELT else None


def _onto(base: Json, changes: Json) -> Json:
    """Return a shipped system with changes: an entry replaces the one of its id or is added, all else replaces."""
    whole = dict(base)
    for key, value in changes.items():
        if key in LISTS and isinstance(value, list):
            whole[key] = _merged(base.get(key, []), value)
        else:
            whole[key] = value
    return whole


def _merged(shipped: list[Any], entries: list[Any]) -> list[Any]:
    ids = [each["id"] for each in shipped]
    merged = list(shipped)
    replaced: list[str] = []
    for entry in entries:
        name = str(entry.get("id")) if isinstance(entry, dict) else ""
        # An id that the changes name twice is left for the list's own check to find.
        if name in ids and name not in replaced:
            merged[ids.index(name)] = entry
            replaced.append(name)
        else:
            merged.append(entry)
    return merged


# --- reading it --------------------------------------------------------------------------------------------


def _plain(reader: Reader, whole: Mapping[str, Any], name: str, path: str) -> dict[str, Any]:
    items = reader.items(whole.get(name, []), f"{path}.{name}", MOST_ENTRIES)
    return read_list(reader, name, items, f"{path}.{name}")


def _system(reader: Reader, whole: Json, path: str) -> System:
    if reader.fields(whole, path, ("id", "name", "damage"), (*LISTS, *IN_NO_LIST)) is None:
        whole = {"id": "unnamed", "name": "Unnamed", **whole}
    name = reader.text(
        whole["id"], f"{path}.id", lambda each: "" if SYSTEM_ID.fullmatch(each) else "letters a-z first"
    )
    title = reader.text(whole["name"], f"{path}.name", lambda each: plain_fault(each, 48))
    lists: dict[str, Any] = {each: _plain(reader, whole, each, path) for each in LISTS if each != "checks"}
    system = replace(System(name or "", title or ""), **lists, data=whole)
    _across(reader, system, path)
    checks = reader.items(whole.get("checks", []), f"{path}.checks", MOST_ENTRIES)
    system = replace(system, checks=read_checks(reader, system, checks, f"{path}.checks"))
    return _in_no_list(reader, system, whole, path)


def _across(reader: Reader, system: System, path: str) -> None:
    """Check what holds across lists: items' tracks exist, and no name stands twice where sentences tell by name."""
    for at, item in enumerate(system.items.values()):
        for number, track in enumerate(item.tracks):
            reader.named(track, f"{path}.items[{at}].tracks[{number}]", system.tracks, "track")
    seen: dict[str, str] = {}
    for name, entries in (
        ("tracks", system.tracks),
        ("conditions", system.conditions),
        ("pools", system.pools),
    ):
        for at, entry in enumerate(entries.values()):
            if entry.name in seen and seen[entry.name] != name:
                says = f"{entry.name} is a name among {seen[entry.name]} too, and sentences tell by name"
                reader.wrong(f"{path}.{name}[{at}].name", says)
            seen.setdefault(entry.name, name)


def _in_no_list(reader: Reader, system: System, whole: Json, path: str) -> System:
    own = {each: system.tracks[each] for each in system.own_tracks}
    damage = reader.named(whole["damage"], f"{path}.damage", own, "track") if "damage" in whole else None
    effects = EffectReader(reader, system, known_in(system))
    rest = effects.read_all(whole.get("rest", []), f"{path}.rest", Where(GRANTED), MOST_EFFECTS)
    levels = _levels(reader, whole.get("levels", []), f"{path}.levels")
    improve = 0
    if "improve" in whole:
        found = reader.fields(whole["improve"], f"{path}.improve", ("sides",))
        sides = found and reader.whole(found["sides"], f"{path}.improve.sides", 2, MOST_SIDES)
        improve = sides or 0
    return replace(system, damage=damage or "", rest=rest, levels=levels, improve=improve)


def _levels(reader: Reader, value: Any, path: str) -> tuple[int, ...]:
    found = reader.items(value, path, MOST_ENTRIES)
    read = [reader.whole(each, f"{path}[{at}]", 0, MOST) for at, each in enumerate(found)]
    levels = [each for each in read if each is not None]
    if levels and levels[0] != 0:
        reader.wrong(f"{path}[0]", "level 1 takes 0 xp")
    for at, (one, next_one) in enumerate(pairwise(levels), 1):
        if next_one <= one:
            reader.wrong(f"{path}[{at}]", "each level takes more xp than the one before")
    return tuple(levels)


def _events(reader: Reader, value: Any, path: str) -> dict[str, Happening]:
    """Read an owner's events: a list of {id, words, fields}, or the same by id."""
    if isinstance(value, Mapping):
        value = [{"id": each, **value[each]} for each in value]
    found: dict[str, Happening] = {}
    for at, each in enumerate(reader.items(value, path, MOST_ENTRIES)):
        entry = reader.fields(each, f"{path}[{at}]", ("id", "words"), ("fields",))
        if entry is None or not isinstance(entry["id"], str) or not EVENT_ID.fullmatch(entry["id"]):
            continue
        fields = reader.items(entry.get("fields", []), f"{path}[{at}].fields", MOST_ENTRIES)
        names = tuple(field for field in fields if isinstance(field, str) and FIELD.fullmatch(field))
        found[entry["id"]] = Happening(entry["id"], str(entry["words"]), names)
    return found


_EMPTY = System("", "")
