"""What editors are given: pickers that offer only what a system has, and schemas of cards and systems."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from cards_table import CLASSIC, EXAMPLE, NIGHT, PLUGIN, SHIPPED, Json, refused
from weighbridge_delvetown import RULES as DELVETOWN
from weighbridge_rulecards import CARDS_SCHEMA, SYSTEM_SCHEMA, options_at
from weighbridge_rulecards.attached import read_attached
from weighbridge_rulecards.documents import COLLECTIONS

REST = {"when": {"on": "rest"}, "then": [{"kind": "xp", "amount": "1"}]}
VALUES: list[tuple[str, Json, list[Any]]] = [
    (
        "when.check",
        {"when": {"on": "roll"}, "then": []},
        ["ability_check", "saving_throw", "attack", "death_save"],
    ),
    (
        "when.band",
        {"when": {"on": "roll", "check": "attack"}, "then": []},
        ["critical", "fumble", "success", "failure"],
    ),
    ("when.outcome", {"when": {"on": "roll"}, "then": []}, ["critical", "success", "failure", "fumble"]),
    ("when.track", {"when": {"on": "track"}, "then": []}, ["hp", "inspiration", "exhaustion", "nerve"]),
    ("when.track", {"when": {"on": "track", "of": "ship"}, "then": []}, ["hull"]),
    ("when.of", {"when": {"on": "track"}, "then": []}, ["ship"]),
    ("when.cross", {"when": {"on": "track"}, "then": []}, ["out", "full", "half", "reach"]),
    ("when.clock", {"when": {"on": "clock"}, "then": []}, ["renown"]),
    (
        "when.place",
        {"when": {"on": "place"}, "then": []},
        ["witchwood", "sunken_chapel", "temple_of_quiet", "bridgeford"],
    ),
    ("when.kind", {"when": {"on": "place"}, "then": []}, ["settlement"]),
    ("when.kind", {"when": {"on": "meet"}, "then": []}, ["priest"]),
    ("when.person", {"when": {"on": "meet"}, "then": []}, ["odile", "anselm"]),
    ("when.item", {"when": {"on": "item"}, "then": []}, ["moonsilver_blade", "ship"]),
    ("when.is", {"when": {"on": "item"}, "then": []}, ["gain", "lose"]),
    ("when.is", {"when": {"on": "fight"}, "then": []}, ["start", "end"]),
    ("when.foe", {"when": {"on": "defeat"}, "then": []}, ["ghoul", "bridge_raider"]),
    ("when.dir", {"when": {"on": "damage"}, "then": []}, ["dealt", "taken"]),
    ("when.place", {"when": {"on": "damage"}, "then": []}, []),
    (
        "when.place",
        {"when": {"on": "damage"}, "stage": "before", "then": []},
        ["witchwood", "sunken_chapel", "temple_of_quiet", "bridgeford"],
    ),
    ("when.on", {"when": {"on": "roll"}, "stage": "before", "then": []}, ["roll", "damage"]),
    ("stage", {"when": {"on": "roll"}, "then": []}, ["before"]),
    ("stage", REST, []),
    ("then.0.kind", REST, ["track", "condition", "clock", "xp", "pool", "roll", "tell"]),
    (
        "then.0.kind",
        {"when": {"on": "roll"}, "stage": "before", "then": [{}]},
        ["track", "condition", "clock", "xp", "pool", "modify", "tell", "block"],
    ),
    (
        "then.0.condition",
        {**REST, "then": [{"kind": "condition"}]},
        [each["id"] for each in SHIPPED["classic-d20"]["conditions"]],
    ),
    ("then.0.op", {**REST, "then": [{"kind": "condition", "condition": "blessed"}]}, ["lose"]),
    ("then.0.op", {**REST, "then": [{"kind": "condition", "condition": "dying"}]}, ["lose", "rise", "fall"]),
    ("then.0.level", {**REST, "then": [{"kind": "condition", "condition": "dying"}]}, [1, 2, 3]),
    ("then.0.level", {**REST, "then": [{"kind": "condition", "condition": "prone"}]}, []),
    ("then.0.track", {**REST, "then": [{"kind": "track", "of": "ship"}]}, ["hull"]),
    ("then.0.pool", {**REST, "then": [{"kind": "pool"}]}, ["doom", "fear"]),
    ("then.0.check", {**REST, "then": [{"kind": "roll"}]}, ["death_save"]),
    ("then.0.clock", {**REST, "then": [{"kind": "clock"}]}, ["renown"]),
    (
        "then.0.edge",
        {"when": {"on": "roll"}, "stage": "before", "then": [{"kind": "modify"}]},
        ["advantage", "disadvantage"],
    ),
    ("then.0.edge", {"when": {"on": "damage"}, "stage": "before", "then": [{"kind": "modify"}]}, []),
    ("then.1.kind", REST, []),
    ("then.x.kind", REST, []),
    ("note", REST, []),
]


@pytest.mark.parametrize(
    ("position", "card", "values"), VALUES, ids=[f"{at} {each[0]}" for at, each in enumerate(VALUES)]
)
def test_a_picker_offers_what_the_system_has(position: str, card: Json, values: list[Any]) -> None:
    assert [option.value for option in options_at(card, position, CLASSIC.system)] == values


def test_a_system_without_places_offers_no_card_about_places() -> None:
    offered = [option.value for option in options_at({"when": {}, "then": []}, "when.on", NIGHT.system)]
    assert offered == ["roll", "track", "clock", "fight", "rest", "turn", "damage", "quest", "story"]
    kinds = [
        option.value
        for option in options_at({"when": {"on": "roll"}, "then": [{}]}, "then.0.kind", NIGHT.system)
    ]
    assert kinds == ["track", "condition", "clock", "pool", "tell", "mark"]


def test_options_have_the_words_of_sentences() -> None:
    found = options_at({"when": {"on": "place"}, "then": []}, "when.place", CLASSIC.system)
    assert found[1] == ("sunken_chapel", "the Sunken Chapel")


def test_every_condition_offered_is_one_a_card_may_have() -> None:
    for when in (
        {"on": "rest"},
        {"on": "damage", "dir": "taken"},
        {"on": "roll", "check": "attack"},
        {"on": "roll"},
    ):
        for option in options_at({"when": when, "then": []}, "if", CLASSIC.system):
            assert refused({"when": when, "if": option.value, "then": REST["then"]}) == {}, option


def test_attached_cards_are_offered_the_owner_s_events_and_effects() -> None:
    system = read_attached(DELVETOWN.vocabulary(), {"cards": []})[0].system
    card = {"when": {"on": "event"}, "then": [{"kind": "track"}]}
    offered = {
        at: [option.value for option in options_at(card, at, system)]
        for at in ("when.on", "when.event", "then.0.kind", "then.0.track", "stage")
    }
    assert offered == {
        "when.on": ["event"],
        "when.event": ["lost-thread", "clock-full", "heat", "roll"],
        "then.0.kind": ["track", "clock", "report"],
        "then.0.track": ["drift", "heat"],
        "stage": [],
    }


# --- schemas -----------------------------------------------------------------------------------------------


def fits(schema: Json, value: Any, root: Json) -> bool:
    """Whether a value fits a schema, as far as these schemas use the language."""
    if "$ref" in schema:
        return fits(root["$defs"][schema["$ref"].rsplit("/", 1)[1]], value, root)
    if "if" in schema:
        branch = "then" if fits(schema["if"], value, root) else "else"
        if not fits(schema[branch], value, root):
            return False
    checks = {
        "const": lambda want: value == want and type(value) is type(want),
        "enum": lambda want: value in want,
        "type": lambda want: (
            {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int}[want]
            is type(value)
        ),
        "oneOf": lambda want: sum(fits(each, value, root) for each in want) == 1,
        "anyOf": lambda want: any(fits(each, value, root) for each in want),
        "minimum": lambda want: value >= want,
        "maximum": lambda want: value <= want,
        "minLength": lambda want: len(value) >= want,
        "maxLength": lambda want: len(value) <= want,
        "minItems": lambda want: len(value) >= want,
        "maxItems": lambda want: len(value) <= want,
        "pattern": lambda want: re.search(want, value) is not None,
        "uniqueItems": lambda want: len({json.dumps(each) for each in value}) == len(value),
        "items": lambda want: all(fits(want, each, root) for each in value),
        "required": lambda want: set(want) <= set(value),
        "additionalProperties": lambda want: set(value) <= set(schema["properties"]),
        "properties": lambda want: all(
            fits(each, value[name], root) for name, each in want.items() if name in value
        ),
    }
    known = ("$schema", "title", "$defs", "if", "then", "else")
    if "type" in schema and not checks["type"](schema["type"]):
        return False
    return all(checks[word](want) for word, want in schema.items() if word not in known)


def test_the_shipped_files_are_the_schemas_and_the_lexicons() -> None:
    for name, schema in (("cards", CARDS_SCHEMA), ("system", SYSTEM_SCHEMA)):
        assert json.loads((PLUGIN / "schemas" / f"{name}.schema.json").read_text("utf-8")) == schema
    assert {path.stem for path in (PLUGIN / "lexicons").glob("*.json")} == set(COLLECTIONS)
    for nsid, document in COLLECTIONS.items():
        assert json.loads((PLUGIN / "lexicons" / f"{nsid}.json").read_text("utf-8")) == document


def test_the_schemas_fit_what_is_well_formed() -> None:
    for system in (*SHIPPED, *SHIPPED.values(), {"base": "night-pool"}):
        assert fits(SYSTEM_SCHEMA, system, SYSTEM_SCHEMA)
    assert fits(CARDS_SCHEMA, json.loads(EXAMPLE.read_text("utf-8"))["cards"], CARDS_SCHEMA)


@pytest.mark.parametrize(
    "change",
    [
        {"iff": "x"},
        {"when": {"on": "rest", "often": True}},
        {"when": {"on": "rset"}},
        {"stage": "before"},
        {"stage": "after"},
        {"then": []},
        {"then": [{"kind": "xp", "amount": 1}]},
        {"then": [{"kind": "xpp", "amount": "1"}]},
        {"id": "A"},
        {"then": [{"kind": "tell", "text": "a; b"}]},
        {"then": [{"kind": "clock", "clock": "a", "amount": "1", "size": 25}]},
    ],
)
def test_the_schema_of_cards_refuses_what_is_not(change: Json) -> None:
    card = {"id": "a", "name": "A", **REST}
    assert fits(CARDS_SCHEMA, [card], CARDS_SCHEMA)
    assert not fits(CARDS_SCHEMA, [{**card, **change}], CARDS_SCHEMA)


def test_the_schema_of_systems_refuses_unknown_fields() -> None:
    assert not fits(SYSTEM_SCHEMA, {"base": "night-pool", "stat": []}, SYSTEM_SCHEMA)
    assert not fits(SYSTEM_SCHEMA, {"base": "nite-pool"}, SYSTEM_SCHEMA)
    assert not fits(
        SYSTEM_SCHEMA,
        {"base": "night-pool", "tracks": [{"id": "a", "name": "A", "max": 3, "start": "min"}]},
        SYSTEM_SCHEMA,
    )
