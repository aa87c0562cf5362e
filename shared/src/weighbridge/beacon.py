"""Beacons: is this signature the one that a chain's round has, and what is its randomness?

A chain of the scheme `bls-unchained-g1-rfc9380` signs SHA-256 of the round (eight bytes, big-endian) and
nothing else; a round has one signature, and its randomness is the SHA-256 of that (drand, crypto/schemes.go).
Whatever a relay says the randomness is, it is computed here.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

from weighbridge import bls
from weighbridge.chain import MAX_ROUND, SCHEME, Chain
from weighbridge.errors import Refused

COEFFICIENT_BITS = 128
_BATCH_DOMAIN = b"weighbridge/beacon-batch/v1"
_SIGNATURE_TEXT = re.compile(r"[0-9a-f]{96}", re.ASCII)


class BadSignatureText(Refused):
    """A signature in text is exactly 96 lower-case hex digits."""

    code = "signature-text"


class BadSignatureLength(Refused):
    """A signature is exactly 48 bytes."""

    code = "signature-length"


class NotAPoint(Refused):
    """The bytes are no compressed point: wrong flags, a number beyond the field, or off the curve."""

    code = "signature-not-a-point"


class PointAtInfinity(Refused):
    """The point at infinity signs nothing."""

    code = "signature-infinity"


class WrongSubgroup(Refused):
    """The point is on the curve and outside the group of signatures."""

    code = "signature-subgroup"


class WrongSignature(Refused):
    """A point of the group, and not this chain's signature of this round."""

    code = "signature-wrong"


class UnknownScheme(Refused):
    """The chain signs by a scheme that is not verified here."""

    code = "unknown-scheme"


class BadChainKey(Refused):
    """The chain's public key is no point of G2."""

    code = "chain-key"


class RoundOutOfRange(Refused):
    """Rounds count from 1 and fit eight bytes."""

    code = "round-out-of-range"


_POINT_REFUSALS: dict[bls.Fault, type[Refused]] = {
    "length": BadSignatureLength,
    "not-a-point": NotAPoint,
    "infinity": PointAtInfinity,
    "subgroup": WrongSubgroup,
}


def parse_signature(text: object) -> bytes:
    """Return the 48 bytes of a signature in text: 96 lower-case hex digits, no prefix, no space."""
    if not isinstance(text, str) or not _SIGNATURE_TEXT.fullmatch(text):
        raise BadSignatureText(f"a signature is 96 lower-case hex digits, not {str(text)[:100]!r}")
    return bytes.fromhex(text)


def randomness_of(signature: bytes) -> bytes:
    """Return the randomness of a verified signature: its SHA-256."""
    return hashlib.sha256(signature).digest()


def message_of(round: int) -> bytes:
    """Return what a chain signs for a round (1 to 2^64 - 1): 32 bytes."""
    if type(round) is not int or not 1 <= round <= MAX_ROUND:
        raise RoundOutOfRange(f"a round is 1 to 2^64 - 1, not {round!r}")
    return hashlib.sha256(round.to_bytes(8, "big")).digest()


def verify(chain: Chain, round: int, signature: bytes) -> bytes:
    """Return the randomness (32 bytes) of a round, if the signature (48 bytes) is the chain's own."""
    key = _key(chain)
    message = message_of(round)
    point = _read(signature, round)
    if not bls.signed(point, bls.hash_to_g1(message), key):
        raise _wrong(chain, round)
    return randomness_of(signature)


def verify_many(chain: Chain, beacons: Sequence[tuple[int, bytes]]) -> list[bytes | Refused]:
    """Verify (round, signature) pairs at once; return for each its randomness, or the refusal of `verify`.

    All that are points are checked together: with a coefficient c for each, e(sum c*S, generator) = e(sum
    c*H, key) costs two pairings for the lot. Only if that fails are halves checked, down to the bad ones.

    The coefficients are 128 bits of a hash over the chain's key and every round and signature of the batch,
    so that two runs agree. That is sound: a false signature leaves a sum of c*D with some D other than zero,
    in a group of prime order, which is zero for at most one value of that D's c among 2^128. Whoever tries
    batches until one passes changes every coefficient with each try, and expects to hash 2^128 times.
    """
    key = _key(chain)
    results: list[bytes | Refused] = []
    items: list[_Item] = []
    for place, (round, signature) in enumerate(beacons):
        try:
            hashed = bls.hash_to_g1(message_of(round))
            items.append(_Item(place, _read(signature, round), hashed))
            results.append(randomness_of(signature))
        except Refused as refusal:
            results.append(refusal)
    _weigh(items, chain, beacons)
    for bad in _bad(items, key):
        results[bad.place] = _wrong(chain, beacons[bad.place][0])
    return results


class _Item:
    """One beacon of a batch: its place, its point, the point of its message and its coefficient."""

    __slots__ = ("coefficient", "hashed", "place", "point")

    def __init__(self, place: int, point: bls.G1, hashed: bls.G1) -> None:
        self.place = place
        self.point = point
        self.hashed = hashed
        self.coefficient = 1


def _bad(items: Sequence[_Item], key: bls.G2) -> list[_Item]:
    """Return the items that do not verify, by halving."""
    if not items or _all_signed(items, key):
        return []
    if len(items) == 1:
        return list(items)
    half = len(items) // 2
    return _bad(items[:half], key) + _bad(items[half:], key)


def _all_signed(items: Sequence[_Item], key: bls.G2) -> bool:
    if len(items) == 1:
        return bls.signed(items[0].point, items[0].hashed, key)
    scalars = [item.coefficient for item in items]
    points = bls.combine([item.point for item in items], scalars, COEFFICIENT_BITS)
    hashes = bls.combine([item.hashed for item in items], scalars, COEFFICIENT_BITS)
    return bls.signed(points, hashes, key)


def _weigh(items: Sequence[_Item], chain: Chain, beacons: Sequence[tuple[int, bytes]]) -> None:
    """Give each item a coefficient from 1 to 2^128 - 1: a hash of the key, the whole batch and its place."""
    whole = hashlib.sha256(_BATCH_DOMAIN + chain.public_key)
    for item in items:
        round, signature = beacons[item.place]
        whole.update(round.to_bytes(8, "big") + signature)
    seed = whole.digest()
    for item in items:
        digest = hashlib.sha256(seed + item.place.to_bytes(8, "big")).digest()
        item.coefficient = int.from_bytes(digest[:16], "big") or 1


def _key(chain: Chain) -> bls.G2:
    if chain.scheme != SCHEME:
        raise UnknownScheme(f"chain {chain.hash} signs by {chain.scheme!r}; only {SCHEME!r} is verified here")
    try:
        return bls.read_g2(chain.public_key)
    except bls.PointError as error:
        raise BadChainKey(f"the key of chain {chain.hash} is no point of G2 ({error.fault})") from error


def _read(signature: bytes, round: int) -> bls.G1:
    try:
        return bls.read_g1(signature)
    except bls.PointError as error:
        words = f"the signature of round {round} ({len(signature)} bytes) is no point of G1: {error.fault}"
        raise _POINT_REFUSALS[error.fault](words, round=round) from error


def _wrong(chain: Chain, round: int) -> WrongSignature:
    return WrongSignature(
        f"this is not the signature that chain {chain.hash} gives round {round}", round=round
    )
