from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from weighbridge.dice import QUICKNET, Chain, round_after, round_at, round_time

SECOND = 1_000_000


def micros(text: str) -> int:
    moment = datetime.fromisoformat(text)
    return int(moment.timestamp()) * SECOND + moment.microsecond


@pytest.mark.parametrize(
    ("round", "second"),
    [
        (1, 1692803367),
        (2, 1692803370),
        (1000, 1692806364),
        (32200000, 1789403364),
        (32281510, 1789647894),
    ],
)
def test_quicknet_rounds_are_due_when_drand_says(round: int, second: int) -> None:
    assert round_time(QUICKNET, round) == second
    assert round_at(QUICKNET, second * SECOND) == round
    assert round_at(QUICKNET, second * SECOND - 1) == round - 1


@pytest.mark.parametrize(("margin", "round"), [(15, 33173818), (3, 33173814), (0, 33173813)])
def test_an_ask_at_a_publishing_instant_rolls_on_the_first_round_strictly_after(
    margin: int, round: int
) -> None:
    at = micros("2026-10-18T12:00:00+00:00")

    assert round_at(QUICKNET, at) == 33173812
    assert round_after(QUICKNET, at, margin) == round


def test_the_round_that_is_due_exactly_at_the_margin_is_not_after() -> None:
    at = micros("2026-10-18T12:00:00+00:00")

    assert round_time(QUICKNET, 33173817) * SECOND == at + 15 * SECOND
    assert round_after(QUICKNET, at - 1, 15) == 33173817


@pytest.mark.parametrize("early", [1, SECOND, 400 * 86_400 * SECOND])
def test_before_the_genesis_no_round_is_out_and_the_next_is_round_1(early: int) -> None:
    at = QUICKNET.genesis * SECOND - early

    assert round_at(QUICKNET, at) == 0
    assert round_after(QUICKNET, at, 0) == 1


@given(
    at=st.integers(-(2**50), 2**52),
    margin=st.integers(3, 600),
    period=st.integers(1, 86_400),
    genesis=st.integers(0, 2**33),
)
def test_round_after_is_the_first_round_due_after_time_and_margin(
    at: int, margin: int, period: int, genesis: int
) -> None:
    chain = Chain("00" * 32, b"", period, genesis)
    round = round_after(chain, at, margin)

    assert round >= 1
    assert round_time(chain, round) * SECOND > at + margin * SECOND
    assert round == 1 or round_time(chain, round - 1) * SECOND <= at + margin * SECOND
