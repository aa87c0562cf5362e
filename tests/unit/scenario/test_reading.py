from __future__ import annotations

import copy
import json

import pytest
from weighbridge.scenario import ScenarioWrong, load

FLIP = {"at": "2026-10-18T08:00:00Z", "by": "@ann", "put": "flip", "as": "f1", "value": {"call": "heads"}}
NOTE = {"at": "2026-10-18T08:00:00Z", "by": "@ann", "put": "note", "value": {"text": "x"}}
FILE = {"ruleset": "coin", "root": {"gm": "@gm"}, "steps": [FLIP]}


def file(*steps, **more):
    return {**copy.deepcopy(FILE), "steps": [copy.deepcopy(FLIP), *steps], **more}


def step(**fields):
    return file({"at": "2026-10-18T08:00:00Z", **fields})


WRONG = {
    "no map": ([], "$"),
    "no rule set": ({"root": {}, "steps": [FLIP]}, "$"),
    "an unknown key at the top": ({**FILE, "ruels": {}}, "$.ruels"),
    "a number as the rule set": ({**FILE, "ruleset": 5}, "$.ruleset"),
    "no steps": ({**FILE, "steps": []}, "$.steps"),
    "steps that are no list": ({**FILE, "steps": {}}, "$.steps"),
    "a float in the root": ({**FILE, "root": {"gm": "@gm", "rules": [1, 0.5]}}, "$.root.rules[1]"),
    "a float in a value": (step(by="@a", put="note", value={"n": 1.0}), "$.steps[1].value.n"),
    "no such day": (file({**NOTE, "at": "2026-02-30T08:00:00Z"}), "$.steps[1].at"),
    "no time zone": (file({**NOTE, "at": "2026-10-18T08:00:00"}), "$.steps[1].at"),
    "another time zone": (file({**NOTE, "at": "2026-10-18T08:00:00+02:00"}), "$.steps[1].at"),
    "nanoseconds": (file({**NOTE, "at": "2026-10-18T08:00:00.1234567Z"}), "$.steps[1].at"),
    "a leap second": (file({**NOTE, "at": "2026-10-18T23:59:60Z"}), "$.steps[1].at"),
    "before 1970": ({**FILE, "steps": [{**FLIP, "at": "1969-12-31T23:59:59Z"}]}, "$.steps[0].at"),
    "going back in time": (file({**NOTE, "at": "2026-10-18T07:59:59.999999Z"}), "$.steps[1].at"),
    "silence of 401 days": (file({**NOTE, "at": "2027-11-23T08:00:01Z"}), "$.steps[1].at"),
    "no time": (file({"tick": True}), "$.steps[1]"),
    "no form": (step(by="@ann"), "$.steps[1]"),
    "two forms": (step(tick=True, dice="f1", values=[]), "$.steps[1]"),
    "an unknown key in a step": (step(tick=True, note="x"), "$.steps[1].note"),
    "a name of an update": (step(by="@ann", update="f1", value={}, **{"as": "f2"}), "$.steps[1].as"),
    "no value": (step(by="@ann", put="note"), "$.steps[1]"),
    "no author": (step(put="note", value={}), "$.steps[1]"),
    "an author without @": (step(by="ann", put="note", value={}), "$.steps[1].by"),
    "a name with a space": (step(by="@ann", put="note", value={}, **{"as": "a b"}), "$.steps[1].as"),
    "the name root": (step(by="@ann", put="note", value={}, **{"as": "root"}), "$.steps[1].as"),
    "a name twice": (step(by="@ann", put="note", value={}, **{"as": "f1"}), "$.steps[1].as"),
    "an update of nothing": (step(by="@ann", update="f9", value={}), "$.steps[1]"),
    "an update by another": (step(by="@bob", update="f1", value={}), "$.steps[1].by"),
    "a deletion of nothing": (step(by="@ann", delete="f9"), "$.steps[1]"),
    "an update before the put": ({**FILE, "steps": [{**NOTE, "update": "f1"}, FLIP]}, "$.steps[0]"),
    "a verdict of none": (step(trace="f1", verdict="fine"), "$.steps[1].verdict"),
    "a date that is none": (step(trace="f1", verdict="ok", dated="today"), "$.steps[1].dated"),
    "a trace of nothing": (step(trace="f9", verdict="ok"), "$.steps[1]"),
    "neither values nor beacon": (step(dice="f1"), "$.steps[1]"),
    "values and beacon": (
        step(dice="f1", values=[], beacon={"round": 1, "signature": ""}),
        "$.steps[1]",
    ),
    "a face below 1": (step(dice="f1", values=[1, 0]), "$.steps[1].values[1]"),
    "true as a face": (step(dice="f1", values=[True]), "$.steps[1].values[0]"),
    "a round that is a text": (
        step(dice="f1", beacon={"round": "1", "signature": ""}),
        "$.steps[1].beacon.round",
    ),
    "a signature that is no hex": (
        step(dice="f1", beacon={"round": 1, "signature": "xy"}),
        "$.steps[1].beacon.signature",
    ),
    "an unknown key in a beacon": (
        step(dice="f1", beacon={"round": 1, "signature": "", "chain": ""}),
        "$.steps[1].beacon.chain",
    ),
    "a receipt of an odd name": (step(receipt=["op"], **{"for": "f1"}), "$.steps[1].receipt[0]"),
    "a receipt for nothing": (step(receipt=[], **{"for": "f9"}), "$.steps[1]"),
    "a tick that does not": (step(tick=False), "$.steps[1].tick"),
    "an unknown uri": (step(by="@ann", put="note", value={"a": ["uri:f9"]}), "$.steps[1].value.a[0]"),
    "an unknown cid": (file(root={"gm": "@gm", "x": "cid:f9"}), "$.root.x"),
    "an unknown seal": (step(by="@ann", put="note", value={"seal": "seal:s"}), "$.steps[1].value.seal"),
    "an unknown name as a key": (
        step(by="@ann", put="note", value={"ref:f9": 1}),
        '$.steps[1].value["ref:f9"]',
    ),
    "a seal without a slot": (file(seals={"s": {"by": "@ann", "salt": "", "value": 1}}), "$.seals.s"),
    "a salt in capitals": (
        file(seals={"s": {"by": "@ann", "slot": [], "salt": "AB", "value": 1}}),
        "$.seals.s.salt",
    ),
    "an unknown key in expect": (file(expect={"cell": {}}), "$.expect.cell"),
    "a cell of an unknown id": (file(expect={"cells": {"flip/id:f9": {}}}), '$.expect.cells["flip/id:f9"]'),
    "a cell that is not there, of an unknown id": (
        file(expect={"noCells": ["id:f9"]}),
        "$.expect.noCells[0]",
    ),
    "reports on nothing": (file(expect={"reports": {"f9": []}}), "$.expect.reports.f9"),
    "a report that is no list": (file(expect={"reports": {"f1": "edited"}}), "$.expect.reports.f1"),
    "a question about nothing": (
        file(expect={"questions": [{"about": "f9"}]}),
        "$.expect.questions[0].about",
    ),
}


@pytest.mark.parametrize(("document", "path"), WRONG.values(), ids=WRONG)
def test_a_wrong_file_is_refused_with_the_path(document, path):
    with pytest.raises(ScenarioWrong) as caught:
        load(json.dumps(document))
    assert (caught.value.detail["path"], caught.value.code) == (path, "scenario-wrong")
    assert str(caught.value).startswith(f"scenario-wrong: {path} ")


TEXTS = {
    "nothing": "",
    "no JSON": "{",
    "not a number": '{"ruleset": NaN}',
    "a key twice": '{"ruleset": "coin", "ruleset": "coin"}',
    "too deep to read": "[" * 100_000,
    "too deep": '{"root": ' + "[" * 80 + "]" * 80 + "}",
    "a number of 5000 digits": '{"root": ' + "9" * 5000 + "}",
    "no UTF-8": b'{"about": "\xff"}',
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_text_that_is_no_scenario_is_refused(text):
    with pytest.raises(ScenarioWrong):
        load(text)


def test_times_are_read_to_the_microsecond():
    at = load(json.dumps(file({**NOTE, "at": "2026-10-18T08:00:00.000001Z"}))).steps[1].at
    assert at == 1_792_310_400_000_001


def test_a_salt_may_be_of_any_length():
    seals = {"s": {"by": "@ann", "slot": [], "salt": "", "value": None}}
    assert load(json.dumps(file(seals=seals))).seals["s"].salt == b""


def test_every_scenario_at_hand_is_read(vectors):
    folder = vectors.parent / "scenarios"
    if not folder.is_dir():
        pytest.skip("the handed scenarios are not beside the handed vectors")
    names = [load(path.read_bytes()).ruleset for path in sorted(folder.glob("*/*.json"))]
    assert len(names) == 104
