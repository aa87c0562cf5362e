"""JSON Schemas (2020-12) of systems and cards, for editors. `schemas/*.json` hold the same; a test keeps them equal.

A schema knows the form of everything and no system: that a name exists only the loading of a root can tell.
"""

from __future__ import annotations

from typing import Any

from weighbridge_rulecards.card_reading import AFTER_FIELDS, BEFORE_FIELDS, CROSSINGS, OPTIONS
from weighbridge_rulecards.effect_reading import BANDED, GRANTED
from weighbridge_rulecards.entry_reading import FIELDS
from weighbridge_rulecards.formulas import MOST_CHARACTERS
from weighbridge_rulecards.names import (
    EDGES,
    MOST,
    MOST_CARDS,
    MOST_EFFECTS,
    MOST_ENTRIES,
    MOST_SEGMENTS,
    MOST_SIDES,
    OUTCOMES,
)
from weighbridge_rulecards.shipped import SHIPPED
from weighbridge_rulecards.system_reading import LISTS

Json = dict[str, Any]
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def _ref(name: str) -> Json:
    return {"$ref": f"#/$defs/{name}"}


def _whole(least: int = -MOST, most: int = MOST) -> Json:
    return {"type": "integer", "minimum": least, "maximum": most}


def _word(*options: str) -> Json:
    return {"enum": list(options)}


def _list(items: Json, most: int = MOST_ENTRIES, least: int = 0) -> Json:
    return {"type": "array", "items": items, "minItems": least, "maxItems": most}


def _object(needed: Json, may: Json | None = None) -> Json:
    fields = {**needed, **(may or {})}
    return {"type": "object", "properties": fields, "required": list(needed), "additionalProperties": False}


_DEFS: Json = {
    "id": {"type": "string", "pattern": "^[a-z][a-z0-9_]{0,31}$"},
    "name": {"type": "string", "minLength": 1, "maxLength": 48, "pattern": '^[^→;:()“”"@+−<>=,]+$'},
    "text": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[^→;()“”]+$"},
    "formula": {"type": "string", "minLength": 1, "maxLength": MOST_CHARACTERS},
    "group": {"type": "string", "pattern": "^[A-Z][A-Za-z0-9]{0,31}$"},
}
"""What systems and cards have in common."""

# --- effects -----------------------------------------------------------------------------------------------


def _effect(kind: str, needed: Json, may: Json | None = None) -> Json:
    return _object({"kind": {"const": kind}, **needed}, may)


_EFFECTS: dict[str, Json] = {
    "track": _effect(
        "track",
        {"track": _ref("id"), "amount": _ref("formula")},
        {"of": _ref("id"), "part": _word("max"), "op": _word("set")},
    ),
    "condition": _effect(
        "condition",
        {"condition": _ref("id")},
        {"op": _word("lose", "rise", "fall"), "level": _whole(1), "turns": _whole(1)},
    ),
    "clock": _effect(
        "clock", {"clock": _ref("id"), "amount": _ref("formula")}, {"size": _whole(1, MOST_SEGMENTS)}
    ),
    "xp": _effect("xp", {"amount": _ref("formula")}),
    "pool": _effect("pool", {"pool": _ref("id"), "amount": _ref("formula")}),
    "roll": _effect("roll", {"check": _ref("id")}),
    "mark": _effect("mark", {}),
    "modify": {
        "oneOf": [_effect("modify", {"amount": _ref("formula")}), _effect("modify", {"edge": _word(*EDGES)})]
    },
    "tell": _effect("tell", {"text": _ref("text")}),
    "block": _effect("block", {"text": _ref("text")}),
    "report": _effect("report", {"text": _ref("text")}),
}


def _effects(kinds: tuple[str, ...], least: int = 0) -> Json:
    return _list({"oneOf": [_EFFECTS[each] for each in kinds]}, MOST_EFFECTS, least)


# --- cards -------------------------------------------------------------------------------------------------

_WHEN_FIELDS: Json = {
    "cross": _word(*CROSSINGS),
    "at": _whole(0),
    "min": _whole(1),
    "dir": _word("dealt", "taken"),
    "outcome": {**_list(_word(*OUTCOMES), 4, 1), "uniqueItems": True},
    "ask": _ref("text"),
    "kind": _ref("name"),
    "event": {"type": "string", "pattern": "^[a-z][a-z0-9_-]{0,31}$"},
}


def _trigger(on: str, needed: tuple[str, ...], may: tuple[str, ...]) -> Json:
    def schema(field: str) -> Json:
        return _word(*OPTIONS[on]) if field == "is" else _WHEN_FIELDS.get(field, _ref("id"))

    return _object(
        {"on": {"const": on}, **{each: schema(each) for each in needed}}, {each: schema(each) for each in may}
    )


def _card() -> Json:
    after = [_trigger(on, *fields) for on, fields in AFTER_FIELDS.items()]
    after.append(_trigger("event", ("event",), ()))
    before = [_trigger(on, *fields) for on, fields in BEFORE_FIELDS.items()]
    card = _object(
        {
            "id": _ref("id"),
            "name": {"type": "string", "minLength": 1, "maxLength": 100},
            "when": {"type": "object"},
            "then": _effects(tuple(_EFFECTS), 1),
        },
        {
            "stage": {"const": "before"},
            "if": _ref("formula"),
            "note": {"type": "string", "minLength": 1, "maxLength": 1000},
        },
    )
    is_before: Json = {"required": ["stage"]}
    then: Json = {"properties": {"when": {"oneOf": before}}}
    return {**card, "if": is_before, "then": then, "else": {"properties": {"when": {"oneOf": after}}}}


# --- systems -----------------------------------------------------------------------------------------------

_ENTRY_FIELDS: Json = {
    "from": _whole(),
    "to": _whole(),
    "max": _whole(1),
    "start": {"anyOf": [_whole(0), {"const": "max"}]},
    "sheet": _list(_whole(1), 2, 2),
    "plural": {"type": "boolean"},
    "spend": _word("advantage"),
    "levels": _whole(1),
    "edge": _word(*EDGES),
    "tracks": {**_list(_ref("id")), "uniqueItems": True},
    "kind": _ref("name"),
    "hp": _whole(1),
    "dice": _list(
        _object({"group": _ref("group"), "n": _ref("formula"), "sides": _whole(2, MOST_SIDES)}), 26, 1
    ),
    "read": _word("keep", "hits"),
    "hit": _whole(1, MOST_SIDES),
    "add": {"type": "boolean"},
    "target": {"anyOf": [_whole(), {"const": "given"}]},
    "bands": _list(
        _object(
            {"id": _ref("id"), "name": _ref("name"), "outcome": _word(*OUTCOMES)},
            {"if": _ref("formula"), "then": _effects(BANDED)},
        ),
        least=1,
    ),
}


def _entry(name: str) -> Json:
    needed, may = FIELDS[name]
    fields = {**_ENTRY_FIELDS, "start": _whole(0)} if name == "pools" else _ENTRY_FIELDS
    begin = {"id": _ref("id"), "name": _ref("name")}
    return _object({**begin, **{each: fields[each] for each in needed}}, {each: fields[each] for each in may})


def _system() -> Json:
    lists = {name: _list(_entry(name)) for name in LISTS}
    own: Json = {
        "id": {"type": "string", "pattern": "^[a-z][a-z0-9_-]{0,31}$"},
        "name": {"type": "string", "minLength": 1, "maxLength": 48},
        "damage": _ref("id"),
    }
    more: Json = {
        "rest": _effects(GRANTED),
        "levels": _list(_whole(0)),
        "improve": _object({"sides": _whole(2, MOST_SIDES)}),
    }
    based = _object({"base": _word(*SHIPPED)}, {**own, **lists, **more})
    return {"anyOf": [_word(*SHIPPED), _object(own, {**lists, **more}), based]}


SYSTEM_SCHEMA: Json = {"$schema": _DIALECT, "title": "A system", **_system(), "$defs": _DEFS}
"""A system: a shipped name, a whole one, or changes to a shipped one."""

CARDS_SCHEMA: Json = {
    "$schema": _DIALECT,
    "title": "Rule cards",
    **_list(_card(), MOST_CARDS),
    "$defs": _DEFS,
}
"""A list of cards."""
