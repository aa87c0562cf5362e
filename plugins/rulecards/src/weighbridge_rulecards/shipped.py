"""The two systems that ship, as data."""

from __future__ import annotations

from typing import Any

SHIPPED: dict[str, dict[str, Any]] = {
    "classic-d20": {
        "id": "classic-d20",
        "name": "Classic d20",
        "stats": [
            {"id": "strength", "name": "Strength", "from": -5, "to": 10},
            {"id": "dexterity", "name": "Dexterity", "from": -5, "to": 10},
            {"id": "constitution", "name": "Constitution", "from": -5, "to": 10},
            {"id": "intelligence", "name": "Intelligence", "from": -5, "to": 10},
            {"id": "wisdom", "name": "Wisdom", "from": -5, "to": 10},
            {"id": "charisma", "name": "Charisma", "from": -5, "to": 10},
        ],
        "checks": [
            {
                "id": "ability_check",
                "name": "Ability check",
                "dice": [{"group": "Main", "n": "1", "sides": 20}],
                "read": "keep",
                "target": "given",
                "add": True,
                "bands": [
                    {
                        "id": "critical",
                        "name": "Critical",
                        "outcome": "critical",
                        "if": "@event.natural == 20",
                    },
                    {"id": "fumble", "name": "Fumble", "outcome": "fumble", "if": "@event.natural == 1"},
                    {
                        "id": "success",
                        "name": "Success",
                        "outcome": "success",
                        "if": "@event.total >= @event.target",
                    },
                    {"id": "failure", "name": "Failure", "outcome": "failure"},
                ],
            },
            {
                "id": "saving_throw",
                "name": "Saving throw",
                "dice": [{"group": "Main", "n": "1", "sides": 20}],
                "read": "keep",
                "target": "given",
                "add": True,
                "bands": [
                    {
                        "id": "critical",
                        "name": "Critical",
                        "outcome": "critical",
                        "if": "@event.natural == 20",
                    },
                    {"id": "fumble", "name": "Fumble", "outcome": "fumble", "if": "@event.natural == 1"},
                    {
                        "id": "success",
                        "name": "Success",
                        "outcome": "success",
                        "if": "@event.total >= @event.target",
                    },
                    {"id": "failure", "name": "Failure", "outcome": "failure"},
                ],
            },
            {
                "id": "attack",
                "name": "Attack",
                "dice": [{"group": "Main", "n": "1", "sides": 20}],
                "read": "keep",
                "target": "given",
                "add": True,
                "bands": [
                    {
                        "id": "critical",
                        "name": "Critical",
                        "outcome": "critical",
                        "if": "@event.natural == 20",
                    },
                    {"id": "fumble", "name": "Fumble", "outcome": "fumble", "if": "@event.natural == 1"},
                    {
                        "id": "success",
                        "name": "Success",
                        "outcome": "success",
                        "if": "@event.total >= @event.target",
                    },
                    {"id": "failure", "name": "Failure", "outcome": "failure"},
                ],
            },
            {
                "id": "death_save",
                "name": "Death save",
                "dice": [{"group": "Main", "n": "1", "sides": 20}],
                "read": "keep",
                "target": 10,
                "bands": [
                    {
                        "id": "critical",
                        "name": "Critical",
                        "outcome": "critical",
                        "if": "@event.natural == 20",
                        "then": [
                            {"kind": "track", "track": "hp", "amount": "1", "op": "set"},
                            {"kind": "condition", "condition": "dying", "op": "lose"},
                        ],
                    },
                    {
                        "id": "fumble",
                        "name": "Fumble",
                        "outcome": "fumble",
                        "if": "@event.natural == 1",
                        "then": [
                            {"kind": "condition", "condition": "dying", "op": "rise"},
                            {"kind": "condition", "condition": "dying", "op": "rise"},
                        ],
                    },
                    {
                        "id": "success",
                        "name": "Success",
                        "outcome": "success",
                        "if": "@event.total >= @event.target",
                        "then": [
                            {"kind": "condition", "condition": "stable"},
                            {"kind": "condition", "condition": "dying", "op": "lose"},
                        ],
                    },
                    {
                        "id": "failure",
                        "name": "Failure",
                        "outcome": "failure",
                        "then": [{"kind": "condition", "condition": "dying", "op": "rise"}],
                    },
                ],
            },
        ],
        "tracks": [
            {"id": "hp", "name": "Hit points", "plural": True, "max": 10, "start": "max", "sheet": [1, 999]},
            {"id": "inspiration", "name": "Inspiration", "max": 3, "start": 0, "spend": "advantage"},
            {"id": "exhaustion", "name": "Exhaustion", "max": 6, "start": 0},
            {"id": "nerve", "name": "Nerve", "max": 5, "start": 3},
            {"id": "hull", "name": "Hull", "max": 30, "start": "max"},
        ],
        "conditions": [
            {"id": "blessed", "name": "Blessed"},
            {"id": "bloodied", "name": "Bloodied"},
            {"id": "frightened", "name": "Frightened", "levels": 3, "edge": "disadvantage"},
            {"id": "dying", "name": "Dying", "levels": 3},
            {"id": "stable", "name": "Stable"},
            {"id": "poisoned", "name": "Poisoned", "edge": "disadvantage"},
            {"id": "prone", "name": "Prone"},
            {"id": "blood_sworn", "name": "Blood-sworn"},
            {"id": "known_in_the_capital", "name": "Known in the capital"},
        ],
        "clocks": [{"id": "renown", "name": "Renown"}],
        "pools": [{"id": "doom", "name": "Doom", "max": 6}, {"id": "fear", "name": "Fear", "max": 12}],
        "items": [
            {"id": "moonsilver_blade", "name": "Moonsilver Blade"},
            {"id": "ship", "name": "ship", "tracks": ["hull"]},
        ],
        "places": [
            {"id": "witchwood", "name": "the Witchwood"},
            {"id": "sunken_chapel", "name": "the Sunken Chapel"},
            {"id": "temple_of_quiet", "name": "the Temple of Quiet"},
            {"id": "bridgeford", "name": "Bridgeford", "kind": "settlement"},
        ],
        "people": [{"id": "odile", "name": "Odile"}, {"id": "anselm", "name": "Anselm", "kind": "priest"}],
        "foes": [
            {"id": "ghoul", "name": "Ghoul", "hp": 22},
            {"id": "bridge_raider", "name": "Bridge raider", "hp": 11},
        ],
        "damage": "hp",
        "rest": [
            {"kind": "track", "track": "hp", "amount": "@hp.max", "op": "set"},
            {"kind": "track", "track": "exhaustion", "amount": "-1"},
        ],
        "levels": [0, 300, 900, 2700, 6500, 14000, 23000, 34000, 48000, 64000],
    },
    "night-pool": {
        "id": "night-pool",
        "name": "Night pool",
        "stats": [
            {"id": "body", "name": "Body", "from": 0, "to": 6},
            {"id": "mind", "name": "Mind", "from": 0, "to": 6},
        ],
        "checks": [
            {
                "id": "test",
                "name": "Test",
                "dice": [
                    {"group": "Current", "n": "@stat", "sides": 6},
                    {"group": "Hunger", "n": "@hunger", "sides": 6},
                ],
                "read": "hits",
                "hit": 5,
                "target": "given",
                "bands": [
                    {
                        "id": "critical",
                        "name": "Critical",
                        "outcome": "critical",
                        "if": "@event.total >= @event.target + 2",
                    },
                    {
                        "id": "success",
                        "name": "Success",
                        "outcome": "success",
                        "if": "@event.total >= @event.target",
                    },
                    {"id": "fumble", "name": "Fumble", "outcome": "fumble", "if": "@group.Hunger.ones > 0"},
                    {"id": "failure", "name": "Failure", "outcome": "failure"},
                ],
            }
        ],
        "tracks": [
            {"id": "health", "name": "Health", "max": 10, "start": "max"},
            {"id": "hunger", "name": "Hunger", "max": 5, "start": 1},
            {"id": "nerve", "name": "Nerve", "max": 5, "start": 3},
        ],
        "conditions": [
            {"id": "shaken", "name": "Shaken", "levels": 3},
            {"id": "stable", "name": "Stable"},
            {"id": "frenzied", "name": "Frenzied"},
        ],
        "clocks": [{"id": "omen", "name": "Omen"}],
        "pools": [{"id": "fear", "name": "Fear", "max": 12}],
        "items": [],
        "places": [],
        "people": [],
        "foes": [],
        "damage": "health",
        "rest": [{"kind": "track", "track": "health", "amount": "@health.max", "op": "set"}],
        "improve": {"sides": 6},
    },
}
