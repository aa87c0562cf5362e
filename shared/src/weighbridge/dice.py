"""Dice that nobody can choose: from one beacon's randomness to faces, orders and picks.

A record rolls on a beacon round that was fixed before it existed (`round_after`). Each purpose of each record
has a stream of its own: block c is

    SHA-256(DAG-CBOR(["weighbridge/dice/v1", randomness, game, record uri, record CID, purpose, c]))

for c = 0, 1, ..., read on end. A die of n sides takes the fewest bytes w with 256^w >= n as one big-endian
number v, skips v >= n * floor(256^w / n), and shows 1 + v mod n: no face is likelier than another.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import TypeVar

from weighbridge.chain import (
    MAX_ROUND,
    QUICKNET,
    SCHEME,
    BeaconRule,
    Chain,
    chain_of,
    round_after,
    round_at,
    round_time,
)
from weighbridge.cid import Cid
from weighbridge.codec import encode
from weighbridge.contract import Opened
from weighbridge.errors import Refused

__all__ = [
    "MAX_ROUND",
    "MAX_SIDES",
    "QUICKNET",
    "SCHEME",
    "BadDice",
    "BeaconRule",
    "Chain",
    "DiceRanOut",
    "Draws",
    "Given",
    "GivenOutOfRange",
    "Stream",
    "chain_of",
    "round_after",
    "round_at",
    "round_time",
    "sealed_randomness",
]

DOMAIN = "weighbridge/dice/v1"
SEALED_DOMAIN = "weighbridge/dice-sealed/v1"
MAX_SIDES = 2**63 - 1

T = TypeVar("T")


class BadDice(Refused):
    """Dice that there are not: sides out of 2 to 2^63 - 1, nothing to pick from, a negative weight."""

    code = "bad-dice"


class DiceRanOut(Refused):
    """A scenario gave fewer dice than the rule set asks for."""

    code = "dice-ran-out"


class GivenOutOfRange(Refused):
    """A scenario gave a face that the die asked for does not have."""

    code = "given-out-of-range"


class Draws:
    """Everything that is drawn with dice, once a die can be rolled."""

    def die(self, sides: int) -> int:
        """Return a face from 1 to `sides` (2 to 2^63 - 1), each equally likely."""
        raise NotImplementedError

    def roll(self, n: int, sides: int) -> list[int]:
        """Return `n` faces (0 and up), in the order they were drawn."""
        if n < 0:
            raise BadDice(f"{n} dice cannot be rolled; ask for 0 or more")
        return [self.die(sides) for _ in range(n)]

    def named(self, names: Iterable[str], sides: int) -> dict[str, int]:
        """Return a face for each name, drawn in ascending order of the names. No name comes twice."""
        ordered = sorted(names)
        if len(set(ordered)) != len(ordered):
            raise BadDice("two dice of one roll bear the same name; name each die once")
        return {name: self.die(sides) for name in ordered}

    def shuffle(self, items: Sequence[T]) -> list[T]:
        """Return the items in a new order: for i = n - 1 down to 1, items i and die(i + 1) - 1 swap."""
        order = list(items)
        for i in range(len(order) - 1, 0, -1):
            j = self.die(i + 1) - 1
            order[i], order[j] = order[j], order[i]
        return order

    def pick(self, items: Sequence[T]) -> T:
        """Return the item at die(n) - 1. Of one item nothing is drawn."""
        if not items:
            raise BadDice("there is nothing to pick from; ask only with one item or more")
        return items[self._below(len(items))]

    def weighted(self, items: Sequence[tuple[T, int]]) -> T:
        """Return the item in whose band die(sum of weights) - 1 falls.

        The bands [from, to) lie in the order given; a weight of 0 is an empty band. With a sum of 1 nothing
        is drawn.
        """
        total = _total(items)
        left = self._below(total)
        for item, weight in items:
            if left < weight:
                return item
            left -= weight
        raise AssertionError("the bands cover every face")

    def _below(self, n: int) -> int:
        return self.die(n) - 1 if n > 1 else 0


class Stream(Draws):
    """The dice of one record for one purpose. Each draw takes up where the last ended."""

    def __init__(self, randomness: bytes, game: str, uri: str, cid: Cid, purpose: str) -> None:
        self.randomness = randomness
        # The counter is the last item of the array: what stands before it is the same for every block.
        self._prefix = encode([DOMAIN, randomness, game, uri, cid, purpose, 0])[:-1]
        self._buffer = b""
        self._at = 0
        self._next = 0

    def block(self, c: int) -> bytes:
        """Return block `c` (0 and up) of the stream: 32 bytes."""
        return hashlib.sha256(self._prefix + encode(c)).digest()

    @property
    def blocks_read(self) -> int:
        """How many blocks have been begun so far."""
        return self._next

    def die(self, sides: int) -> int:
        """Return a face from 1 to `sides` (2 to 2^63 - 1), each equally likely."""
        _check_sides(sides)
        width = ((sides - 1).bit_length() + 7) // 8
        limit = 256**width // sides * sides
        while True:
            value = int.from_bytes(self._take(width), "big")
            if value < limit:
                return 1 + value % sides

    def _take(self, width: int) -> bytes:
        end = self._at + width
        if end > len(self._buffer):
            self._buffer = self._buffer[self._at :] + self.block(self._next)
            self._next += 1
            self._at, end = 0, width
        taken = self._buffer[self._at : end]
        self._at = end
        return taken


class Given(Draws):
    """Dice whose faces are given, in the order they are asked for, for scenarios. Some may be left over."""

    def __init__(self, values: Sequence[int]) -> None:
        self._values = list(values)
        self._at = 0

    def die(self, sides: int) -> int:
        """Return the next given face; refused when there is none left or it is not on the die."""
        _check_sides(sides)
        if self._at == len(self._values):
            raise DiceRanOut(f"{self._at} dice were given and one more was asked for; give more values")
        value = self._values[self._at]
        if type(value) is not int or not 1 <= value <= sides:
            raise GivenOutOfRange(f"value {self._at} is {value!r}, and a die of {sides} sides was asked for")
        self._at += 1
        return value


def sealed_randomness(randomness: bytes, opened: Opened) -> bytes:
    """Return the randomness of a secret roll, drawn from the beacon (32 bytes) together with an opened seal.

    It is SHA-256 of DAG-CBOR ["weighbridge/dice-sealed/v1", randomness, salt, value]. Nobody chooses it: the
    seal was made before the beacon existed. Nobody else can compute it before the seal is opened, and then
    everyone can.
    """
    return hashlib.sha256(encode([SEALED_DOMAIN, randomness, opened.salt, opened.value])).digest()


def _check_sides(sides: int) -> None:
    if type(sides) is not int or not 2 <= sides <= MAX_SIDES:
        raise BadDice(f"a die has 2 to 2^63 - 1 sides, not {sides!r}")


def _total(items: Sequence[tuple[object, int]]) -> int:
    if any(type(weight) is not int or weight < 0 for _, weight in items):
        raise BadDice("a weight is an integer of 0 or more")
    total = sum(weight for _, weight in items)
    if not 1 <= total <= MAX_SIDES:
        raise BadDice(f"the weights sum to {total}; they must sum to 1 up to 2^63 - 1")
    return total
