"""What a relay's answer comes to: the beacon, verified, or the one word for what is wrong with it."""

from __future__ import annotations

from typing import Any

import msgspec
from weighbridge.ports import (
    SECOND,
    Beacon,
    BeaconNotYet,
    Chain,
    Clock,
    Refused,
    parse_signature,
    round_time,
    verify,
)

MAX_ANSWER = 4096
"""Bytes of an answer that are read; a beacon takes about 250."""

NOT_YET = "not-yet"


class Fault(msgspec.Struct, frozen=True):
    """Why an answer is no beacon: a `word` to count by and a sentence."""

    word: str
    says: str


class _Wire(msgspec.Struct):
    """The body of both HTTP interfaces; v2 leaves the randomness out. Other fields are let pass."""

    round: int
    signature: str
    randomness: str | msgspec.UnsetType = msgspec.UNSET
    previous_signature: Any = msgspec.UNSET


def read(chain: Chain, round: int | None, status: int, body: bytes) -> Beacon | Fault:
    """Return the beacon of an answer to a question for `round` (None: for the latest).

    A server without the round yet says 425 or 404 with any body, a broken one 5xx: of a round that is due,
    all of these mean to try again. No body but that of a 200 is read.
    """
    if status in (404, 425) or status >= 500:
        return Fault(NOT_YET, f"answered {status}")
    if 300 <= status < 400:
        return Fault("redirect", f"answered {status}; redirects are not followed")
    if status != 200:
        return Fault("status", f"answered {status}")
    if len(body) > MAX_ANSWER:
        return Fault("too-long", f"the answer is longer than {MAX_ANSWER} bytes")
    try:
        wire = msgspec.json.decode(body, type=_Wire)
    except (ValueError, RecursionError) as error:
        return Fault("no-beacon", f"the answer is no beacon in JSON: {error}")
    return _checked(chain, round, wire)


def _checked(chain: Chain, round: int | None, wire: _Wire) -> Beacon | Fault:
    if wire.previous_signature is not msgspec.UNSET:
        return Fault("other-scheme", "the answer has a previous signature, which this scheme has not")
    if round is not None and wire.round != round:
        return Fault("other-round", f"the answer is round {wire.round}, not {round}")
    try:
        beacon = verified(chain, wire.round, parse_signature(wire.signature))
    except Refused as refusal:
        return Fault(refusal.code, refusal.message)
    if wire.randomness is not msgspec.UNSET and wire.randomness != beacon.randomness.hex():
        return Fault("other-randomness", "the answer's randomness is not the hash of its signature")
    return beacon


def verified(chain: Chain, round: int, signature: bytes) -> Beacon:
    """Return a beacon whose signature is the chain's own. Refused otherwise, by the code of what is wrong."""
    return Beacon(chain.hash, round, signature, verify(chain, round, signature))


def not_before(chain: Chain, round: int, clock: Clock, wait: float = 0) -> None:
    """Raise BeaconNotYet until `wait` seconds after a round is due."""
    due = round_time(chain, round)
    if clock() < due * SECOND + int(wait * SECOND):
        raise BeaconNotYet(f"round {round} is due at {due} (seconds since 1970 UTC)", round=round, due=due)
