from __future__ import annotations

import json

import pytest
from coin import RULES
from weighbridge.scenario import account, differences, load, run, trace_lines

ANN = account("ann")
STEPS = [
    {"at": "2026-10-18T08:00:00Z", "by": "@ann", "put": "flip", "as": "f1", "value": {"call": "heads"}},
    {"at": "2026-10-18T08:00:20Z", "dice": "f1", "values": [1, 2, 3]},
    {"at": "2026-10-18T08:01:00Z", "by": "@ann", "put": "flip", "as": "f2", "value": {"call": "heads"}},
    {"at": "2026-10-18T08:01:20Z", "dice": "f2", "values": [2]},
    {"at": "2026-10-18T08:02:00Z", "by": "@ann", "put": "move", "as": "m1", "value": {"kind": "strike"}},
    {"at": "2026-10-18T08:03:00Z", "by": "@ann", "put": "note", "value": {"text": "x", "more": 1}},
]


def outcome(expect=None, steps=STEPS, **more):
    document = {"ruleset": "coin", "root": {"gm": "@gm"}, "steps": steps, "expect": expect or {}, **more}
    scenario = load(json.dumps(document))
    result = run(scenario, RULES)
    return result, [(each.path, str(each)) for each in differences(result, scenario.expect)]


HOLDS = {
    "nothing": {},
    "a subset of a map": {"cells": {"flip/id:f1": {"status": "flipped"}}},
    "a name in a key": {"cells": {"purse/@ann": {"score": 1}}},
    "a null": {"cells": {"flip/id:f1": {"harm": None}, "flip/none": None}},
    "no cell": {"noCells": ["flip/@ann", "flip/id:m1"]},
    "reports in any order": {"reports": {"f1": [], "m1": ["not-gm"], "root": []}},
    "a question": {
        "questions": [
            {"about": "f2", "kind": "mercy", "options": ["yes", "no"], "due": 1_792_418_480_000_000}
        ]
    },
    "a kernel's cell": {
        "cells": {"_/report/example.coin.move/id:m1": {"not-gm": "This is for the GM to do."}}
    },
}


@pytest.mark.parametrize("expect", HOLDS.values(), ids=HOLDS)
def test_what_came_out_holds(expect):
    assert outcome(expect)[1] == []


DIFFERS = {
    "another value": (
        {"cells": {"purse/@ann": {"score": 2}}},
        '$.expect.cells["purse/@ann"].score',
        "expected 2, found 1",
    ),
    "true for 1": (
        {"cells": {"purse/@ann": {"score": True}}},
        '$.expect.cells["purse/@ann"].score',
        "expected true, found 1",
    ),
    "no such cell": (
        {"cells": {"purse/@bob": {}}},
        '$.expect.cells["purse/@bob"]',
        "expected {}, found nothing",
    ),
    "no such key": (
        {"cells": {"flip/id:f1": {"x": 1}}},
        '$.expect.cells["flip/id:f1"].x',
        "expected 1, found nothing",
    ),
    "a null": (
        {"cells": {"flip/id:f1": {"won": None}}},
        '$.expect.cells["flip/id:f1"].won',
        "expected nothing, found true",
    ),
    "a map for a text": (
        {"cells": {"flip/id:f1": {"call": {}}}},
        '$.expect.cells["flip/id:f1"].call',
        "expected {}, found",
    ),
    "a cell that exists": (
        {"noCells": ["x", "purse/@ann"]},
        "$.expect.noCells[1]",
        "expected nothing, found {",
    ),
    "too few reports": ({"reports": {"m1": []}}, "$.expect.reports.m1", 'expected [], found ["not-gm"]'),
    "too many reports": (
        {"reports": {"m1": ["a", "not-gm"]}},
        "$.expect.reports.m1",
        'expected ["a", "not-gm"], found ["not-gm"]',
    ),
    "no such question": (
        {"questions": [{"about": "f1"}]},
        "$.expect.questions[0]",
        'expected {"about": "f1"}, found []',
    ),
    "another question": (
        {"questions": [{"about": "f2", "kind": "tie"}]},
        "$.expect.questions[0]",
        '"kind": "mercy"',
    ),
    "options in another order": (
        {"questions": [{"options": ["no", "yes"]}]},
        "$.expect.questions[0]",
        "expected",
    ),
}


@pytest.mark.parametrize(("expect", "path", "says"), DIFFERS.values(), ids=DIFFERS)
def test_what_did_not_is_named_by_its_path(expect, path, says):
    ((found, sentence),) = outcome(expect)[1]
    assert found == path
    assert sentence.startswith(f"{path}: ")
    assert says in sentence


def test_every_difference_is_named():
    expect = {"cells": {"purse/@ann": {"score": 2, "used": 9}}, "reports": {"f1": ["x"], "m1": []}}
    assert len(outcome(expect)[1]) == 4


def test_a_list_is_compared_exactly_with_the_maps_in_it():
    value = {"gm": "@gm", "rules": {"perDay": 1}}
    steps = [*STEPS, {"at": "2026-10-18T09:00:00Z", "by": "@gm", "update": "root", "value": value}]
    expect = {"cells": {"_/root/-": {"versions": [[0, 0], [7, 7]]}}}
    assert outcome(expect, steps)[1] == []
    expect = {"cells": {"_/root/-": {"versions": [[0, 0]]}}}
    assert len(outcome(expect, steps)[1]) == 1


def test_the_result_is_an_object_of_json():
    result, _ = outcome()
    found = json.loads(json.dumps(result.to_json()))
    assert found["game"] == f"at://{account('gm')}/example.coin.root/root"
    assert found["size"] == 7
    assert found["names"]["@ann"] == ANN
    assert found["names"]["f1"] == f"at://{ANN}/example.coin.flip/f1"
    nameless = f"at://{ANN}/example.coin.note/step.6"
    assert {name: sorted(codes) for name, codes in found["reports"].items()} == {
        "m1": ["not-gm"],
        nameless: ["unknown-field"],
    }
    assert [each["about"] for each in found["questions"]] == ["f2"]
    assert found["cells"][f"purse/{ANN}"] == {"score": 1, "day": 20_744, "used": 2}


def test_the_trace_has_a_line_for_every_step_with_the_root_of_all_cells():
    result, _ = outcome()
    lines = [json.loads(line) for line in trace_lines(result)]
    assert [line["step"] for line in lines] == [line["seq"] for line in lines] == [1, 2, 3, 4, 5, 6]
    assert list(lines[0]) == ["step", "seq", "entry", "delta", "stateRoot", "reports", "questions"]
    assert lines[-1]["stateRoot"] == result.state_root
    assert [len(line["questions"]) for line in lines] == [0, 0, 0, 1, 1, 1]
    assert [line["reports"].get("m1") for line in lines] == [None] * 4 + [["not-gm"]] * 2


def test_the_same_file_gives_the_same_lines():
    assert list(trace_lines(outcome()[0])) == list(trace_lines(outcome()[0]))


def test_dice_in_a_scenario_are_timely_and_receipts_decide_where_there_are_any():
    dids = {"dids": ["@op"], "quorum": 1}
    root = {"gm": "@gm", "lister": "@list", "policy": dids}
    late = [*STEPS[:2], {"at": "2026-10-18T09:00:00Z", "receipt": ["@op"], "for": "f1"}]
    early = [STEPS[0], {"at": "2026-10-18T08:00:05Z", "receipt": ["@op"], "for": "f1"}, STEPS[1]]
    for steps, expected in ((STEPS[:2], "flipped"), (early, "flipped"), (late, "pending")):
        result, _ = outcome(steps=steps, root=root)
        cells = {key: value for key, value in result.cells.items() if key.startswith("flip/")}
        assert [cell["status"] for cell in cells.values()] == [expected]
        assert "f1" not in result.reports
