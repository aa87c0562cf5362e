"""The root's `rules`: every option, its default, and what may stand there instead."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Literal

from weighbridge.contract import Frozen, Problem

from weighbridge_delvetown.actions import DELVETOWN, NAMED
from weighbridge_delvetown.names import DID, PLACE

_ACTION = re.compile(r"[a-z][a-z0-9-]{0,31}", re.ASCII)


class Place(Frozen, frozen=True):
    """A named place of the town: its name, who named it (the landlord) and its title."""

    name: str
    namer: str
    title: str | None = None


class Price(Frozen, frozen=True):
    """What an advance costs in XP, the most XP a sheet can hold, and what may be bought."""

    track: int
    cost: int
    buys: tuple[str, ...]


class Options(Frozen, frozen=True):
    """A root's options with defaults filled in, under the names of the specification in snake case.

    `gm` and `house` are the root's own fields; `void_days` is the kernel's.
    """

    gm: str = ""
    house: tuple[str, ...] = ()
    void_days: int = 14
    per_action: int = 1
    per_between: int = 1
    actions: tuple[str, ...] = DELVETOWN
    dots: int = 7
    dots_create: int = 2
    dots_max: int = 3
    abilities_create: int = 1
    abilities_max: int = 300
    guide: str | None = None
    drift: int = 9
    heat: int = 9
    scars: int = 4
    push: int = 2
    rest: int = 2
    vouch: int = 2
    heat_worse: int = 4
    gate: int = 3
    clocks: tuple[int, ...] = (4, 6, 8)
    limited: int = 1
    standard: int = 2
    great: int = 3
    crit_effect: int = 1
    places: tuple[Place, ...] = ()
    advance: Price | None = None
    consequence_default: Literal["first", "none"] = "first"
    roll_after: Literal["listing", "trace"] = "listing"
    unsettled_trace: Literal["ok", "no-dots"] = "ok"
    clock_kind: Literal["listing", "pds"] = "listing"
    clock_skew: int = 300
    assist_cost: Literal["action", "between"] = "action"
    crew_signing: Literal["join", "record"] = "join"
    absent_landlord: Literal["open", "barred"] = "open"


class _Reader:
    """Reads one map of options, and remembers everything that is wrong with it."""

    def __init__(self) -> None:
        self.fields: dict[str, Any] = {}
        self.problems: list[Problem] = []

    def wrong(self, path: str, says: str) -> None:
        self.problems.append(Problem(path, says))

    def map(self, value: Any, path: str, known: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return `value` if it is a map, and note each key that is no option."""
        if not isinstance(value, Mapping):
            self.wrong(path, "a map of options")
            return {}
        for key in sorted(k for k in value if k not in known):
            self.wrong(f"{path}.{key}", "no such option")
        return value

    def number(self, value: Any, path: str, low: int, high: int, field: str) -> None:
        if type(value) is not int or not low <= value <= high:
            self.wrong(path, f"a whole number from {low} to {high}")
        else:
            self.fields[field] = value

    def text(self, value: Any, path: str, field: str) -> None:
        if not isinstance(value, str):
            self.wrong(path, "a text")
        else:
            self.fields[field] = value

    def choice(self, value: Any, path: str, options: tuple[str, ...], field: str) -> None:
        if not isinstance(value, str) or value not in options:
            self.wrong(path, f"one of {', '.join(options)}")
        else:
            self.fields[field] = value


_Bounds = tuple[int, int, str]
_NUMBERS: dict[str, _Bounds] = {
    "dots": (0, 1000, "dots"),
    "dotsCreate": (0, 100, "dots_create"),
    "dotsMax": (0, 100, "dots_max"),
    "gate": (0, 10_000, "gate"),
    "critEffect": (0, 2, "crit_effect"),
}
_GROUPS: dict[str, dict[str, _Bounds]] = {
    "perDay": {"action": (0, 1000, "per_action"), "between": (0, 1000, "per_between")},
    "tracks": {"drift": (1, 1000, "drift"), "heat": (1, 1000, "heat"), "scars": (1, 1000, "scars")},
    "amounts": {
        "push": (0, 1000, "push"),
        "rest": (0, 1000, "rest"),
        "vouch": (0, 1000, "vouch"),
        "heatWorse": (0, 1001, "heat_worse"),
    },
    "effect": {
        "limited": (0, 1000, "limited"),
        "standard": (0, 1000, "standard"),
        "great": (0, 1000, "great"),
    },
}
_CHOICES: dict[str, tuple[tuple[str, ...], str]] = {
    "consequenceDefault": (("first", "none"), "consequence_default"),
    "rollAfter": (("listing", "trace"), "roll_after"),
    "unsettledTrace": (("ok", "no-dots"), "unsettled_trace"),
    "assistCost": (("action", "between"), "assist_cost"),
    "crewSigning": (("join", "record"), "crew_signing"),
    "absentLandlord": (("open", "barred"), "absent_landlord"),
}


def read_options(root: Mapping[str, Any]) -> tuple[Options, tuple[Problem, ...]]:
    """Return a root's options, and every problem at once, each with its path."""
    reader = _Reader()
    _read_people(reader, root)
    rules = reader.map(root.get("rules", {}), "$.rules", _READERS)
    for key, read in _READERS.items():
        if key in rules:
            read(reader, key, rules[key])
    _cross_check(reader, rules)
    if reader.problems:
        return Options(), tuple(reader.problems)
    return Options(**reader.fields), ()


def _read_people(reader: _Reader, root: Mapping[str, Any]) -> None:
    gm, house, days = root.get("gm"), root.get("house", []), root.get("voidDays", 14)
    reader.fields["gm"] = gm if isinstance(gm, str) else ""
    reader.fields["void_days"] = days if type(days) is int else 14
    if not isinstance(house, list):
        reader.wrong("$.house", "a list of DIDs")
        return
    for place, seat in enumerate(house):
        if not isinstance(seat, str) or DID.fullmatch(seat) is None:
            reader.wrong(f"$.house[{place}]", "a DID")
        elif seat == gm:
            reader.wrong(f"$.house[{place}]", "the house may play, and may not be the GM")
    reader.fields["house"] = tuple(seat for seat in house if isinstance(seat, str))


def _cross_check(reader: _Reader, rules: Mapping[str, Any]) -> None:
    found = reader.fields
    create, most = found.get("dots_create", 2), found.get("dots_max", 3)
    if "dotsMax" in rules and "dots_max" in found and most < create:
        reader.wrong("$.rules.dotsMax", f"no less than the cap at creation, {create}")


def _number(reader: _Reader, key: str, value: Any) -> None:
    low, high, field = _NUMBERS[key]
    reader.number(value, f"$.rules.{key}", low, high, field)


def _group(reader: _Reader, key: str, value: Any) -> None:
    bounds = _GROUPS[key]
    given = reader.map(value, f"$.rules.{key}", bounds)
    for name, (low, high, field) in bounds.items():
        if name in given:
            reader.number(given[name], f"$.rules.{key}.{name}", low, high, field)


def _choice(reader: _Reader, key: str, value: Any) -> None:
    options, field = _CHOICES[key]
    reader.choice(value, f"$.rules.{key}", options, field)


def _day(reader: _Reader, key: str, value: Any) -> None:
    if value != "UTC":
        reader.wrong("$.rules.day", "UTC: a game day is a UTC day")


def _actions(reader: _Reader, key: str, value: Any) -> None:
    if isinstance(value, str) and value in NAMED:
        reader.fields["actions"] = NAMED[value]
        return
    fine = isinstance(value, list) and 1 <= len(value) <= 64
    if not fine or any(not isinstance(a, str) or _ACTION.fullmatch(a) is None for a in value):
        reader.wrong("$.rules.actions", "delvetown, blades, or a list of 1 to 64 names like fetch")
    elif any(name in value[:place] for place, name in enumerate(value)):
        reader.wrong("$.rules.actions", "a list that names each action once")
    else:
        reader.fields["actions"] = tuple(value)


def _abilities(reader: _Reader, key: str, value: Any) -> None:
    given = reader.map(value, "$.rules.abilities", {"create": 0, "max": 0, "guide": 0})
    if "create" in given:
        reader.number(given["create"], "$.rules.abilities.create", 0, 16, "abilities_create")
    if "max" in given:
        reader.number(given["max"], "$.rules.abilities.max", 1, 3000, "abilities_max")
    if "guide" in given:
        reader.text(given["guide"], "$.rules.abilities.guide", "guide")


def _clocks(reader: _Reader, key: str, value: Any) -> None:
    fine = isinstance(value, list) and 1 <= len(value) <= 64
    if not fine or any(type(size) is not int or not 1 <= size <= 1000 for size in value):
        reader.wrong("$.rules.clocks", "a list of sizes, each a whole number from 1 to 1000")
    else:
        reader.fields["clocks"] = tuple(value)


def _places(reader: _Reader, key: str, value: Any) -> None:
    if not isinstance(value, list) or len(value) > 1000:
        reader.wrong("$.rules.places", "a list of places")
        return
    places = [_place(reader, f"$.rules.places[{n}]", place) for n, place in enumerate(value)]
    names = [place.name if place else "" for place in places]
    for n, name in enumerate(names):
        if name and name in names[:n]:
            reader.wrong(f"$.rules.places[{n}].name", "a name that no other place has")
    reader.fields["places"] = tuple(place for place in places if place is not None)


def _place(reader: _Reader, path: str, value: Any) -> Place | None:
    given = reader.map(value, path, {"name": 0, "namer": 0, "title": 0})
    before = len(reader.problems)
    name, namer, title = given.get("name"), given.get("namer"), given.get("title")
    if not isinstance(name, str) or PLACE.fullmatch(name) is None:
        reader.wrong(f"{path}.name", "1 to 32 of a-z, 0-9 and -")
    if not isinstance(namer, str) or DID.fullmatch(namer) is None:
        reader.wrong(f"{path}.namer", "a DID")
    if title is not None and not isinstance(title, str):
        reader.wrong(f"{path}.title", "a text")
    return Place(str(name), str(namer), title) if len(reader.problems) == before else None


def _advance(reader: _Reader, key: str, value: Any) -> None:
    path = "$.rules.advance"
    given = reader.map(value, path, {"track": 0, "cost": 0, "buys": 0})
    found = _Reader()
    found.number(given.get("track"), f"{path}.track", 1, 1000, "track")
    found.number(given.get("cost"), f"{path}.cost", 0, 1000, "cost")
    buys = given.get("buys")
    if not isinstance(buys, list) or not buys or any(b not in ("dot", "ability") for b in buys):
        found.wrong(f"{path}.buys", "a list of dot, ability or both")
    reader.problems += found.problems
    if not found.problems:
        reader.fields["advance"] = Price(buys=tuple(buys or ()), **found.fields)


def _clock(reader: _Reader, key: str, value: Any) -> None:
    given = reader.map(value, "$.rules.clock", {"kind": 0, "skewSeconds": 0})
    if "kind" in given:
        reader.choice(given["kind"], "$.rules.clock.kind", ("listing", "pds"), "clock_kind")
    if "skewSeconds" in given:
        reader.number(given["skewSeconds"], "$.rules.clock.skewSeconds", 0, 86_400, "clock_skew")


_READERS: dict[str, Callable[[_Reader, str, Any], None]] = {
    "day": _day,
    "actions": _actions,
    "abilities": _abilities,
    "clocks": _clocks,
    "places": _places,
    "advance": _advance,
    "clock": _clock,
    **dict.fromkeys(_NUMBERS, _number),
    **dict.fromkeys(_GROUPS, _group),
    **dict.fromkeys(_CHOICES, _choice),
}
