"""The few operations on the curve BLS12-381 that beacons need, over the library blst (through pyblst).

Signatures are points of G1 (48 bytes, compressed), keys points of G2 (96 bytes). `read_*` take nothing but
the one canonical encoding of a point of the prime-order subgroup: blst checks flags, field, curve and
subgroup; infinity it lets pass, so that it is refused here.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final, Literal, Protocol, Self, cast

import pyblst as _untyped  # type: ignore[import-untyped]

_blst: Any = _untyped

DST: Final = b"BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_"
"""The domain tag of hashing to G1 (RFC 9380; drand, crypto/schemes.go). The retired fastnet used G2's by
mistake."""

ORDER: Final = 0x73EDA753299D7D483339D80809A1D80553BDA402FFFE5BFEFFFFFFFF00000001
"""The order of both groups."""

G1_LENGTH: Final = 48
G2_LENGTH: Final = 96

Fault = Literal["length", "not-a-point", "infinity", "subgroup"]


class PointError(Exception):
    """Bytes that are no point of the group; `fault` says in which way. Callers turn it into a refusal."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault)
        self.fault: Fault = fault


class _Group(Protocol):
    def uncompress(self, data: bytes, /) -> object: ...


class G1(Protocol):
    """A point of G1."""

    def __add__(self, other: Self) -> Self: ...

    def __neg__(self) -> Self: ...

    def scalar_mul(self, scalar: int) -> Self:
        """Return the point `scalar` times."""
        ...

    def compress(self) -> bytes:
        """Return the 48 bytes of the point."""
        ...


class G2(Protocol):
    """A point of G2."""

    def scalar_mul(self, scalar: int) -> Self:
        """Return the point `scalar` times."""
        ...

    def compress(self) -> bytes:
        """Return the 96 bytes of the point."""
        ...


def read_g1(data: bytes) -> G1:
    """Return the point that 48 bytes encode. Raises PointError."""
    return cast(G1, _read(cast(_Group, _blst.BlstP1Element), data, G1_LENGTH))


@lru_cache(maxsize=64)
def read_g2(data: bytes) -> G2:
    """Return the point that 96 bytes encode; a chain's key is read once. Raises PointError."""
    return cast(G2, _read(cast(_Group, _blst.BlstP2Element), data, G2_LENGTH))


def _read(group: _Group, data: bytes, length: int) -> object:
    if type(data) is not bytes or len(data) != length:
        raise PointError("length")
    if data[0] in (0xC0, 0xE0) and not any(data[1:]):
        raise PointError("infinity")
    try:
        return group.uncompress(data)
    except ValueError as error:
        raise PointError("subgroup" if "NOT_IN_GROUP" in str(error) else "not-a-point") from error


def hash_to_g1(message: bytes) -> G1:
    """Return the point of G1 that a message hashes to (RFC 9380, BLS12381G1_XMD:SHA-256_SSWU_RO_)."""
    return cast(G1, _blst.BlstP1Element.hash_to_group(message, DST))


G2_GENERATOR: Final = read_g2(
    bytes.fromhex(
        "93e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e"
        "024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8"
    )
)


def signed(signature: G1, hashed: G1, key: G2) -> bool:
    """Say whether e(signature, generator) = e(hashed, key): two pairings."""
    left = _blst.miller_loop(signature, G2_GENERATOR)
    return bool(_blst.final_verify(left, _blst.miller_loop(hashed, key)))


def combine(points: Sequence[G1], scalars: Sequence[int], bits: int) -> G1:
    """Return the sum of scalar times point, for one point or more and scalars from 1 below 2^bits.

    Pippenger's buckets: blst's own multiplication costs about a hundred additions whatever the scalar, and
    here a point costs one addition for each window of the scalar.
    """
    width = _window(len(points), bits)
    total: G1 | None = None
    for shift in range((bits - 1) // width * width, -1, -width):
        if total is not None:
            for _ in range(width):
                total += total
        total = _plus(total, _window_sum(points, scalars, shift, width))
    if total is None:
        raise PointError("infinity")
    return total


def _window(count: int, bits: int) -> int:
    return min(range(2, 14), key=lambda width: -(-bits // width) * (count + 2 * 2**width))


def _window_sum(points: Sequence[G1], scalars: Sequence[int], shift: int, width: int) -> G1 | None:
    """Sum digit times point, the digit being `width` bits of the scalar from bit `shift` up."""
    mask = 2**width - 1
    buckets: list[G1 | None] = [None] * (mask + 1)
    for point, scalar in zip(points, scalars, strict=True):
        digit = scalar >> shift & mask
        if digit:
            held = buckets[digit]
            buckets[digit] = point if held is None else held + point
    running: G1 | None = None
    total: G1 | None = None
    for bucket in reversed(buckets[1:]):
        running = _plus(running, bucket)
        total = _plus(total, running)
    return total


def _plus(a: G1 | None, b: G1 | None) -> G1 | None:
    if a is None or b is None:
        return a if b is None else b
    return a + b
