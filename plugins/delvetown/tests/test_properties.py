"""What holds in every game: properties over random seasons."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from weighbridge.conformance.folding import differing_from_plain
from weighbridge.conformance.games import Game, struck
from weighbridge.fold import Fold
from weighbridge_delvetown import RULES
from weighbridge_delvetown.generate import Season

SEEDS = st.integers(0, 100_000)
FEW = settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
UNDOES = ("strike", "rule", "consequence", "between")
"""Kinds of moves by which a clock may lose what a void, or a resist, takes back."""


def season(
    seed: int, moves: int = 40, *, without: tuple[str, ...] = (), rules: dict[str, Any] | None = None
) -> dict[str, Any]:
    document = Season(Random(seed), players=5, moves=moves).document()
    document["root"]["rules"] |= rules or {}
    kept = [step for step in document["steps"] if step.get("value", {}).get("kind") not in without]
    names = {step["as"] for step in kept if "as" in step}
    evident = [
        step
        for step in kept
        if not {"trace", "dice"} & step.keys() or step.get("trace", step.get("dice")) in names
    ]
    return {**document, "steps": [step for step in evident if not mentions(step, names)]}


def mentions(step: dict[str, Any], names: set[str]) -> bool:
    """Whether a step speaks of a record that was left out."""
    words = json.dumps(step.get("value", {})).split('"')
    return any(word.removeprefix("uri:") not in names for word in words if word.startswith("uri:"))


def folding(document: dict[str, Any]) -> Iterator[tuple[Fold, dict[str, Any]]]:
    """Fold a season, yielding the fold and the value of the record after each entry."""
    game = Game(RULES, document)
    fold = game.fold()
    for listed in game.entries:
        fold.fold(listed)
        value = fold.world.value_of(listed)
        yield fold, value if isinstance(value, dict) else {}


@FEW
@given(SEEDS)
def test_no_clock_passes_its_size_or_falls_but_by_what_is_taken_back(seed: int) -> None:
    before: dict[str, int] = {}
    for fold, value in folding(season(seed)):
        after = {key: clock["filled"] for key, clock in fold.table.items("clock/")}
        sizes = {key: clock["size"] for key, clock in fold.table.items("clock/")}
        assert all(0 <= filled <= sizes[key] for key, filled in after.items())
        if value.get("kind") not in UNDOES and "values" not in value:
            assert all(after.get(key, 0) >= filled for key, filled in before.items())
        before = after


@FEW
@given(SEEDS)
def test_a_full_clock_stays_full(seed: int) -> None:
    full: set[str] = set()
    for fold, _ in folding(season(seed, without=("strike", "rule", "consequence"))):
        clocks = dict(fold.table.items("clock/"))
        assert all(clocks[key]["filled"] == clocks[key]["size"] for key in full)
        full |= {key for key, clock in clocks.items() if clock["filled"] == clock["size"]}


@FEW
@given(SEEDS)
def test_no_sheet_exceeds_its_ration(seed: int) -> None:
    document = season(seed, without=("outage",))
    allowed = document["root"]["rules"].get("perDay", {"action": 1, "between": 1})
    for fold, _ in folding(document):
        for _, ration in fold.table.items("ration/"):
            assert ration["action"] <= allowed["action"]
            assert ration["between"] <= allowed["between"]


@FEW
@given(SEEDS)
def test_drift_heat_and_harm_stay_in_range(seed: int) -> None:
    for fold, _ in folding(season(seed, rules={"tracks": {"drift": 4, "heat": 3, "scars": 2}})):
        for _, sheet in fold.table.items("sheet/"):
            assert 0 <= sheet["drift"] < 4
            assert sheet["xp"] >= 0
            assert all(1 <= level <= 3 for level in sheet["harm"].values())
            assert sheet["retired"] or len(sheet["scars"]) < 2
        for _, crew in fold.table.items("crew/"):
            assert 0 <= crew["heat"] <= 3


@FEW
@given(SEEDS)
def test_xp_never_rises_twice_for_one_kind_and_day(seed: int) -> None:
    paid: set[tuple[str, str, str]] = set()
    held: dict[str, int] = {}
    document = season(seed, without=("strike", "rule", "advance"))
    for fold, value in folding(document):
        xp = {key: sheet["xp"] for key, sheet in fold.table.items("sheet/")}
        risen = [key for key, now in xp.items() if now > held.get(key, 0)]
        for key in risen:
            claim = (key, str(value.get("xp")), fold.table["game/-"]["day"])
            assert value.get("kind") == "claim"
            assert claim not in paid
            assert xp[key] == held.get(key, 0) + 1
            paid.add(claim)
        held = xp


@FEW
@given(SEEDS)
def test_a_crew_s_size_is_its_operators(seed: int) -> None:
    for fold, _ in folding(season(seed)):
        for _, crew in fold.table.items("crew/"):
            active = [
                did
                for did in crew["members"]
                if not fold.table.get(f"sheet/{did}", {"retired": True})["retired"]
            ]
            assert crew["size"] == len({fold.table[f"who/{did}"]["operator"] for did in active})


@FEW
@given(SEEDS, st.integers(0, 200))
def test_folding_a_prefix_and_then_the_rest_is_folding_the_whole(seed: int, cut: int) -> None:
    # A void may reach behind the cut, for which a fold takes an older snapshot: without voids here.
    game = Game(RULES, season(seed, without=("strike", "rule", "consequence")))
    whole, part = game.fold(), game.fold()
    for listed in game.entries:
        whole.fold(listed)
    cut = min(cut, len(game.entries) - 1)
    for listed in game.entries[:cut]:
        part.fold(listed)
    rest = game.fold(game.history())
    if cut:
        rest.restore(part.snapshot())
    for listed in game.entries[cut:]:
        rest.fold(listed)
    assert rest.state_root() == whole.state_root()


REMAINS = ("_/", "ask/", "ration/", "used/")
"""What the rule book leaves of a struck ask: its cell, its reports, its use of the ration (`_/` is the kernel's)."""


@FEW
@given(SEEDS, st.integers(0, 30))
def test_a_struck_ask_leaves_the_table_as_if_it_had_never_been(seed: int, which: int) -> None:
    document = season(seed, without=("strike", "rule"), rules={"perDay": {"action": 99, "between": 99}})
    asks = [n for n, step in enumerate(document["steps"]) if step.get("value", {}).get("kind") == "ask"]
    if not asks:
        return
    place = asks[which % len(asks)]
    steps, name = document["steps"], document["steps"][place]["as"]
    end = place + 1
    while end < len(steps) and name in (steps[end].get("trace"), steps[end].get("dice")):
        end += 1
    value = {"kind": "strike", "subject": f"uri:{name}", "why": "It does not fit."}
    strike = {"at": steps[end - 1]["at"], "by": "@gm", "put": "move", "value": value}
    told = {**document, "steps": [*steps[:end], strike, *steps[end:]]}
    never = json.loads(json.dumps(told))
    never["steps"][place]["value"] = {"kind": "say"}
    one, other = (_cells(each) for each in (told, never))
    assert one == other


def _cells(document: dict[str, Any]) -> dict[str, Any]:
    *_, (fold, _) = folding(document)
    everything = fold.snapshot().cells
    return {key: data for key, data in everything.items() if not key.startswith(REMAINS)}


@pytest.mark.parametrize("seed", [288, 340, 358, 412, 456])
def test_a_ruling_that_loses_its_force_gives_back_what_it_had_voided(seed: int) -> None:
    """Seasons in which the GM strikes a strike, or a pick that had replaced another."""
    document = RULES.generate(Random(seed))
    game = struck(Game(RULES, document), document, seed)
    assert list(differing_from_plain(game)) == []
