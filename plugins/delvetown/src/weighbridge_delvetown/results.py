"""The roll (§4) and effect (§7) as pure functions: pool, dice, results, and the chance of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from weighbridge.contract import Frozen

from weighbridge_delvetown.options import Options

Result = Literal["clean", "mixed", "failed"]
POSITIONS = ("held", "open", "exposed")
EFFECTS = ("limited", "standard", "great")
CONSEQUENCES = {"held": ("drift", "heat"), "open": ("harm", "tick"), "exposed": ("harm+tick", "harm2")}
"""What a mixed or failed roll owes one of, by position; the first is the default."""


class Outcome(Frozen, frozen=True):
    """What a roll came to: the face that was kept, the result, and whether it is a crit."""

    kept: int
    result: Result
    crit: bool


def pool_of(dots: int, harm: int, extra: int) -> int:
    """Return the dice of a pool: dots (0 at harm 2), assist and push, one less at harm 1, never below 0."""
    base = 0 if harm >= 2 else dots
    return max(0, base + extra - (1 if harm == 1 else 0))


def dice_count(pool: int) -> int:
    """Return how many dice a pool rolls: a zero pool rolls two and keeps the lower."""
    return pool if pool > 0 else 2


def outcome_of(pool: int, faces: Sequence[int]) -> Outcome:
    """Read a roll: the highest die, or of a zero pool the lower; two 6s are a crit, though never of a zero pool."""
    if pool <= 0:
        return Outcome(min(faces), _band(min(faces)), False)
    kept = max(faces)
    return Outcome(kept, _band(kept), sum(face == 6 for face in faces) >= 2)


def _band(kept: int) -> Result:
    return "clean" if kept == 6 else "mixed" if kept >= 4 else "failed"


def chances(pool: int) -> dict[str, tuple[int, int]]:
    """Return the chance of each result of a pool, exactly, as (numerator, denominator)."""
    n = dice_count(pool)
    if pool <= 0:
        return {"failed": (27, 36), "mixed": (8, 36), "clean": (1, 36), "crit": (0, 36)}
    whole, crit = 6**n, 6**n - 5**n - n * 5 ** (n - 1)
    return {
        "failed": (3**n, whole),
        "mixed": (5**n - 3**n, whole),
        "clean": (whole - 5**n - crit, whole),
        "crit": (crit, whole),
    }


def worse(position: str, steps: int = 1) -> str:
    """Return a position some steps worse; exposed is the worst."""
    return POSITIONS[min(len(POSITIONS) - 1, POSITIONS.index(position) + steps)]


def worst(one: str, other: str) -> str:
    """Return the worse of two positions."""
    return POSITIONS[max(POSITIONS.index(one), POSITIONS.index(other))]


def effect_at(steps: int) -> str:
    """Return the effect so many steps above standard, within limited and great."""
    return EFFECTS[max(0, min(len(EFFECTS) - 1, EFFECTS.index("standard") + steps))]


def stepped(effect: str, steps: int) -> str:
    """Return an effect some steps greater, within great."""
    return EFFECTS[min(len(EFFECTS) - 1, EFFECTS.index(effect) + steps)]


def segments(rules: Options, effect: str) -> int:
    """Return the segments that a success of an effect fills."""
    return {"limited": rules.limited, "standard": rules.standard, "great": rules.great}[effect]


def resist_cost(faces: Sequence[int]) -> int:
    """Return the drift that resisting costs: 6 minus the best die, never a refund."""
    return max(0, 6 - max(faces))
