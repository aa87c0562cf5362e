"""Chi-square over a million dice of each size, drawn over many streams."""

from __future__ import annotations

import hashlib
from collections import Counter
from itertools import permutations

import pytest
from weighbridge.cid import Cid
from weighbridge.dice import Stream

DICE = 1_000_000
CID = Cid.of(b"\xa0")


def stream(name: str) -> Stream:
    return Stream(
        hashlib.sha256(name.encode()).digest(), "at://did:plc:g/g.g.g/1", "at://did:plc:a/m.m.m/1", CID, name
    )


def z_of(counts: list[int], total: int) -> float:
    """Return how far chi-square lies from its mean, in standard deviations (Wilson and Hilferty)."""
    expected = total / len(counts)
    chi = sum((count - expected) ** 2 for count in counts) / expected
    free = len(counts) - 1
    return float(((chi / free) ** (1 / 3) - (1 - 2 / (9 * free))) / (2 / (9 * free)) ** 0.5)


@pytest.mark.slow
@pytest.mark.parametrize("sides", [2, 6, 10, 20, 28, 100, 1_000_003])
def test_a_million_dice_are_uniform(sides: int) -> None:
    counts: Counter[int] = Counter()
    for part in range(100):
        counts.update(stream(f"{sides}/{part}").roll(DICE // 100, sides))
    faces = [counts[face] for face in range(1, sides + 1)]

    assert sum(faces) == DICE
    # Fixed streams, so this cannot flicker; as drawn, all seven lie within 1.6.
    assert abs(z_of(faces, DICE)) < 3.5


@pytest.mark.slow
def test_every_order_of_five_is_as_likely() -> None:
    dice = stream("orders")
    counts = Counter(tuple(dice.shuffle(range(5))) for _ in range(120_000))

    assert abs(z_of([counts[order] for order in permutations(range(5))], 120_000)) < 3.5


@pytest.mark.slow
def test_weights_are_met() -> None:
    dice = stream("weights")
    weights = [("a", 1), ("b", 0), ("c", 2), ("d", 97)]
    counts = Counter(dice.weighted(weights) for _ in range(200_000))
    spread = [counts["a"] * 97, counts["c"] * 97 / 2, counts["d"]]

    assert counts["b"] == 0
    assert max(spread) / min(spread) < 1.1
