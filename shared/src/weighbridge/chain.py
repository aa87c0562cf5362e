"""A drand chain as a root fixes it, and the exact arithmetic between its rounds and time.

Round r of a chain is published at `genesis + (r - 1) * period` seconds (drand, common/time.go, TimeOfRound:
the first round is due at the genesis itself). There is no round 0. All times here are integers: listed times
in microseconds since 1970 UTC, a chain's own in seconds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from weighbridge import bls
from weighbridge.contract import Problem

SCHEME: Final = "bls-unchained-g1-rfc9380"
"""The one scheme that is verified here; others are refused by name."""

MAX_ROUND: Final = 2**64 - 1
"""A round is signed as eight bytes."""

SECOND: Final = 1_000_000


class Chain(msgspec.Struct, frozen=True):
    """A chain: `hash` (64 hex digits), `public_key` (96 bytes, in G2), `period` and `genesis` in seconds."""

    hash: str
    public_key: bytes
    period: int
    genesis: int
    scheme: str = SCHEME

    @property
    def private(self) -> bool:
        """Whether this is any chain but quicknet."""
        return self != QUICKNET

    @property
    def label(self) -> str:
        """How the chain is called wherever a roll or a statement is shown."""
        return "private chain" if self.private else "quicknet"


QUICKNET: Final = Chain(
    hash="52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971",
    public_key=bytes.fromhex(
        "83cf0f2896adee7eb8b5f01fcad3912212c437e0073e911fb90022d3e760183c8c4b450b6a0a6c3ac6a5776a2d106451"
        "0d1fec758c921cc22b0e17e63aaf4bcb5ed66304de9cf809bd274ca73bab4af5a6e9c76a4bc09e76eae8991ef5ece45a"
    ),
    period=3,
    genesis=1_692_803_367,
)
"""drand's quicknet, as its launch announcement gives it (drand-docs, blog/2023-10-16-quicknet-is-live) and
drand-client repeats it (lib/defaults.ts). Written here because whoever could change the key
could choose the dice."""


def round_time(chain: Chain, round: int) -> int:
    """Return the second (since 1970 UTC) at which a round (1 and up) is due."""
    return chain.genesis + (round - 1) * chain.period


def round_at(chain: Chain, at_us: int) -> int:
    """Return the newest round that is due at a time in µs, or 0 before the chain's genesis.

    At exactly `round_time(r)` it is r, which is only then being made.
    """
    since = at_us - chain.genesis * SECOND
    return since // (chain.period * SECOND) + 1 if since >= 0 else 0


def round_after(chain: Chain, at_us: int, margin_s: int) -> int:
    """Return the first round due strictly after `at_us` (µs) plus `margin_s` (seconds)."""
    return round_at(chain, at_us + margin_s * SECOND) + 1


DEFAULT_MARGIN: Final = 15
MIN_MARGIN: Final = 3
MAX_MARGIN: Final = 600
MAX_PERIOD: Final = 86_400
MAX_GENESIS: Final = 2**40
"""Far enough for any chain, near enough that its times in µs stay within 64 bits."""


class BeaconRule(msgspec.Struct, frozen=True):
    """What a root's `beacon` comes to: the chain its dice come from, and the margin in seconds."""

    chain: Chain = QUICKNET
    margin: int = DEFAULT_MARGIN


def chain_of(value: object, path: str = "$.beacon") -> tuple[BeaconRule, tuple[Problem, ...]]:
    """Read a root's `beacon` {chain?: {hash, publicKey, period, genesis, scheme}, margin?} (None: absent).

    Return what it comes to and every problem at once, each with its path under `path`. With problems the
    rule returned is the default one and must not be used for the root.
    """
    problems: list[Problem] = []
    fields = _object({} if value is None else value, path, (), ("chain", "margin"), problems)
    margin = fields.get("margin", DEFAULT_MARGIN)
    _integer(margin, f"{path}.margin", MIN_MARGIN, MAX_MARGIN, problems)
    chain = _chain(fields["chain"], f"{path}.chain", problems) if "chain" in fields else QUICKNET
    if problems or chain is None:
        return BeaconRule(), tuple(problems)
    return BeaconRule(chain, margin), ()


def chain_value(chain: Chain) -> dict[str, Any]:
    """Return a chain as a root's `beacon.chain` names it in full."""
    return {
        "hash": chain.hash,
        "publicKey": chain.public_key.hex(),
        "period": chain.period,
        "genesis": chain.genesis,
        "scheme": chain.scheme,
    }


_CHAIN_FIELDS = ("hash", "publicKey", "period", "genesis", "scheme")


def _chain(value: object, path: str, problems: list[Problem]) -> Chain | None:
    before = len(problems)
    fields = _object(value, path, _CHAIN_FIELDS, (), problems)
    if "hash" in fields:
        _hex(fields["hash"], f"{path}.hash", 64, problems)
    if "publicKey" in fields:
        _public_key(fields["publicKey"], f"{path}.publicKey", problems)
    if "period" in fields:
        _integer(fields["period"], f"{path}.period", 1, MAX_PERIOD, problems)
    if "genesis" in fields:
        _integer(fields["genesis"], f"{path}.genesis", 0, MAX_GENESIS, problems)
    if fields.get("scheme", SCHEME) != SCHEME:
        says = f"scheme {str(fields['scheme'])[:60]!r} is not verified here; the one that is, is {SCHEME!r}"
        problems.append(Problem(f"{path}.scheme", says))
    if len(problems) > before:
        return None
    key = bytes.fromhex(fields["publicKey"])
    chain = Chain(fields["hash"], key, fields["period"], fields["genesis"])
    if chain.private and chain.hash == QUICKNET.hash:
        says = "is quicknet's, and the rest is not; leave `chain` out for quicknet"
        problems.append(Problem(f"{path}.hash", says))
    return chain


def _object(
    value: object, path: str, required: tuple[str, ...], optional: tuple[str, ...], problems: list[Problem]
) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        problems.append(Problem(path, "must be an object"))
        return {}
    known = required + optional
    problems += [Problem(f"{path}.{name}", "is missing") for name in required if name not in value]
    unknown = sorted(str(name) for name in value if name not in known)
    problems += [Problem(f"{path}.{name}", f"is unknown; known here: {', '.join(known)}") for name in unknown]
    return value


def _integer(value: object, path: str, least: int, most: int, problems: list[Problem]) -> None:
    if type(value) is not int or not least <= value <= most:
        problems.append(Problem(path, f"must be an integer from {least} to {most}"))


def _hex(value: object, path: str, digits: int, problems: list[Problem]) -> bool:
    if isinstance(value, str) and re.fullmatch(f"[0-9a-f]{{{digits}}}", value):
        return True
    problems.append(Problem(path, f"must be {digits} lower-case hex digits"))
    return False


def _public_key(value: object, path: str, problems: list[Problem]) -> None:
    if not _hex(value, path, 2 * bls.G2_LENGTH, problems):
        return
    try:
        bls.read_g2(bytes.fromhex(str(value)))
    except bls.PointError as error:
        problems.append(Problem(path, f"is no public key: not a point of G2 ({error.fault})"))
