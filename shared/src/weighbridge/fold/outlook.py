"""What a record that waits for its dice may still come to: every way they can fall, weighed exactly.

The rule set applies the docket once for each way, on cells that are then put back. So a chance is a count and
never an estimate, for any rule set and any dice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import lcm

import msgspec

from weighbridge.dice import BadDice, Draws
from weighbridge.fold.engine import Fold
from weighbridge.fold.judging import complete
from weighbridge.fold.records import DAY, Pending, place_of

MAX_WAYS = 10_000
"""Ways for dice to fall that are weighed: six dice of six sides are too many, five are not."""
MAX_SIDES = 10_000
"""Sides of a die whose faces are all looked at."""

Cells = Mapping[str, tuple[bytes | None, bytes | None]]


class Way(msgspec.Struct, frozen=True):
    """One way for the dice to fall: the faces, its `weight` out of the whole, and the cells it changes."""

    faces: tuple[int, ...]
    weight: int
    cells: dict[str, tuple[bytes | None, bytes | None]]


class Ways(msgspec.Struct, frozen=True):
    """Every way for a record's dice to fall; the weights sum to `whole`. None there: too many to look at."""

    whole: int
    ways: tuple[Way, ...] | None


class TooMany(Exception):
    """More ways than are looked at. It never leaves this module."""


def ways_of(fold: Fold, uri: str) -> Ways | None:
    """Return every way in which a pending record's dice can fall, as if its roll were timely; None: none awaited.

    The fold stays as it is. Each way is weighed from the table as it stands, and a trace still out counts as `ok`.
    """
    world, place = fold.world, place_of(uri)
    pending = world.pendings.get(place)
    if pending is None or not pending.dice or pending.beacon is not None or pending.values is not None:
        return None
    try:
        found = list(_ways(fold, place, pending))
    except TooMany:
        return Ways(0, None)
    finally:
        world.dice, world.wanted, world.alerts = None, {}, []
        world.forget()
    whole = lcm(*(chance.denominator for _, chance, _ in found))
    ways = tuple(Way(faces, int(chance * whole), cells) for faces, chance, cells in found)
    return Ways(whole, ways)


def _ways(
    fold: Fold, place: str, pending: Pending
) -> Iterator[tuple[tuple[int, ...], Fraction, dict[str, tuple[bytes | None, bytes | None]]]]:
    world, dice = fold.world, _Odometer()
    world.cells.commit()
    for count in range(MAX_WAYS + 1):
        if count == MAX_WAYS:
            raise TooMany
        world.dice = dice
        complete(world, place, _as_if_complete(pending), world.at, world.at // DAY)
        if dice.sides_over:
            raise TooMany
        before = world.cells.commit()
        after = {key: (old, world.cells.raw(key)) for key, old in before.items()}
        yield dice.faces, dice.chance, {key: pair for key, pair in after.items() if pair[0] != pair[1]}
        world.cells.restore(before, keep=())
        world.pendings[place] = pending
        if not dice.turn():
            return


def _as_if_complete(pending: Pending) -> Pending:
    verdict = pending.verdict or ("ok" if pending.trace else None)
    return msgspec.structs.replace(pending, values=[], roll=pending.roll or "timely", verdict=verdict)


class _Odometer(Draws):
    """Dice that fall in every way, one after the other: the last die turns first, as the wheels of a counter."""

    def __init__(self) -> None:
        self._dice: list[tuple[int, int]] = []  # sides, face
        self._at = 0
        self.sides_over = False

    @property
    def faces(self) -> tuple[int, ...]:
        """What the dice showed this time."""
        return tuple(face for _, face in self._dice[: self._at])

    @property
    def chance(self) -> Fraction:
        """How likely that is."""
        found = Fraction(1)
        for sides, _ in self._dice[: self._at]:
            found *= Fraction(1, sides)
        return found

    def die(self, sides: int) -> int:
        """Return a face, the next in its turn."""
        if type(sides) is not int or sides < 2:
            raise BadDice(f"a die has 2 sides or more, not {sides!r}")
        self.sides_over = self.sides_over or sides > MAX_SIDES
        if self._at == len(self._dice):
            self._dice.append((sides, 1))
        face = self._dice[self._at][1]
        self._at += 1
        return face

    def turn(self) -> bool:
        """Turn on to the next way; False once all have been."""
        del self._dice[self._at :]
        self._at = 0
        while self._dice:
            sides, face = self._dice.pop()
            if face < sides:
                self._dice.append((sides, face + 1))
                return True
        return False
