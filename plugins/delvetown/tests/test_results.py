"""Pools, results, positions and effects, as pure functions (§4, §7)."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from weighbridge_delvetown.options import Options
from weighbridge_delvetown.results import (
    CONSEQUENCES,
    chances,
    dice_count,
    effect_at,
    outcome_of,
    pool_of,
    resist_cost,
    segments,
    stepped,
    worse,
    worst,
)


@pytest.mark.parametrize(
    ("dots", "harm", "extra", "pool"),
    [
        pytest.param(2, 0, 0, 2, id="dots alone"),
        pytest.param(2, 0, 2, 4, id="assist and push"),
        pytest.param(0, 0, 0, 0, id="no dots"),
        pytest.param(1, 1, 0, 0, id="one dot, harm 1"),
        pytest.param(0, 1, 0, 0, id="not below 0"),
        pytest.param(0, 1, 1, 0, id="harm 1 takes the push's die"),
        pytest.param(3, 2, 0, 0, id="harm 2 is no dots"),
        pytest.param(3, 2, 2, 2, id="harm 2, assist and push still add"),
    ],
)
def test_a_pool_is_dots_and_help_less_harm(dots: int, harm: int, extra: int, pool: int) -> None:
    assert pool_of(dots, harm, extra) == pool


@pytest.mark.parametrize(
    ("pool", "faces", "kept", "result", "crit"),
    [
        pytest.param(0, [5, 2], 2, "failed", False, id="a zero pool keeps the lower"),
        pytest.param(0, [6, 6], 6, "clean", False, id="a zero pool is never a crit"),
        pytest.param(0, [4, 6], 4, "mixed", False, id="a zero pool may be mixed"),
        pytest.param(1, [6], 6, "clean", False, id="one six is no crit"),
        pytest.param(3, [6, 1, 6], 6, "clean", True, id="two sixes are a crit"),
        pytest.param(3, [6, 6, 6], 6, "clean", True, id="three sixes are one crit"),
        pytest.param(2, [5, 5], 5, "mixed", False, id="five is mixed"),
        pytest.param(2, [4, 1], 4, "mixed", False, id="four is mixed"),
        pytest.param(2, [3, 3], 3, "failed", False, id="three fails"),
        pytest.param(1, [1], 1, "failed", False, id="one fails"),
    ],
)
def test_a_roll_is_read_by_its_bands(pool: int, faces: list[int], kept: int, result: str, crit: bool) -> None:
    outcome = outcome_of(pool, faces)
    assert (outcome.kept, outcome.result, outcome.crit) == (kept, result, crit)


@pytest.mark.parametrize("pool", range(6))
def test_the_chances_are_those_of_every_roll_there_is(pool: int) -> None:
    rolls = list(product(range(1, 7), repeat=dice_count(pool)))
    counted = dict.fromkeys(("failed", "mixed", "clean", "crit"), 0)
    for faces in rolls:
        outcome = outcome_of(pool, faces)
        counted["crit" if outcome.crit else outcome.result] += 1
    found = {name: Fraction(*chance) for name, chance in chances(pool).items()}
    assert found == {name: Fraction(n, len(rolls)) for name, n in counted.items()}
    assert sum(found.values()) == 1


def test_resisting_costs_six_less_the_best_and_never_refunds() -> None:
    costs = {faces: resist_cost(faces) for faces in product(range(1, 7), repeat=2)}
    assert costs[1, 4] == 2
    assert costs[6, 6] == 0
    assert all(cost == 6 - max(faces) and cost >= 0 for faces, cost in costs.items())


def test_each_position_owes_one_of_two() -> None:
    assert CONSEQUENCES == {
        "held": ("drift", "heat"),
        "open": ("harm", "tick"),
        "exposed": ("harm+tick", "harm2"),
    }


def test_positions_and_effects_stay_within_their_ends() -> None:
    assert [worse(p) for p in ("held", "open", "exposed")] == ["open", "exposed", "exposed"]
    assert worst("open", "held") == worst("held", "open") == "open"
    assert [effect_at(n) for n in (-2, -1, 0, 1, 2)] == ["limited", "limited", "standard", "great", "great"]
    assert [stepped(e, 1) for e in ("limited", "standard", "great")] == ["standard", "great", "great"]
    assert [segments(Options(), e) for e in ("limited", "standard", "great")] == [1, 2, 3]
