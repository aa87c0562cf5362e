"""The scenario files: every report code is provoked, and the specification's own eight hold unchanged."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from cards_table import SCENARIOS, handed
from weighbridge.fold.records import CODES as KERNEL_CODES
from weighbridge_rulecards import RULES
from weighbridge_rulecards.shipped import SHIPPED

CODES = [
    "bad-root",
    "no-rules",
    "bad-shape",
    "unknown-field",
    "bad-sheet",
    "second-sheet",
    "no-sheet",
    "not-gm",
    "not-yours",
    "unknown-name",
    "bad-move",
    "no-call",
    "not-paid",
    "already",
    "not-owned",
    "chain-stopped",
    "untimely",
    "lister-timed",
    "overtaken",
    "struck",
    "too-late",
    "bad-ruling",
    "edited",
    "deleted",
]


def given() -> Path:
    folder = handed()
    if not (folder / "scenarios" / "rulecards").is_dir():
        reason = "the specification's scenarios are not beside this checkout"
        (pytest.fail if os.environ.get("WEIGHBRIDGE_REQUIRE_VECTORS") else pytest.skip)(reason)
    return folder


def test_every_code_is_provoked_by_a_scenario() -> None:
    seen: set[str] = set()
    for path in SCENARIOS.glob("**/*.json"):
        for said in json.loads(path.read_text("utf-8"))["expect"].get("reports", {}).values():
            seen |= set(said)
    assert [code for code in CODES if code not in seen] == []


def test_the_codes_are_those_of_the_specification() -> None:
    assert set(RULES.codes) < set(CODES)
    assert set(CODES) <= set(RULES.codes) | set(KERNEL_CODES)


def test_the_eight_of_the_specification_are_here_unchanged() -> None:
    folder = given() / "scenarios" / "rulecards"
    files = {path.name: path.read_bytes() for path in sorted(folder.glob("*.json"))}
    assert len(files) == 8
    assert {path.name: path.read_bytes() for path in sorted((SCENARIOS / "given").glob("*.json"))} == files


def test_the_shipped_systems_are_exactly_the_specification_s() -> None:
    assert json.loads((given() / "specs" / "rulecards-systems.json").read_text("utf-8")) == SHIPPED


def test_each_scenario_says_what_it_shows() -> None:
    for path in SCENARIOS.glob("*.json"):
        assert len(json.loads(path.read_text("utf-8"))["about"]) > 30, path.stem
