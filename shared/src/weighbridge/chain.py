"""A drand chain as a root fixes it, and the exact arithmetic between its rounds and time.

Round r of a chain is published at `genesis + (r - 1) * period` seconds (drand, common/time.go, TimeOfRound: the
first round is due at the genesis itself). There is no round 0. All times here are integers: listed times in
microseconds since 1970 UTC, a chain's own in seconds.
"""

from __future__ import annotations

from typing import Final

import msgspec

SCHEME: Final = "bls-unchained-g1-rfc9380"
"""The one scheme that is verified here; others are refused by name."""

MAX_ROUND: Final = 2**64 - 1
"""A round is signed as eight bytes."""

SECOND: Final = 1_000_000


class Chain(msgspec.Struct, frozen=True):
    """One drand chain: `hash` (64 hex digits), `public_key` (96 bytes, in G2), `period` and `genesis` in seconds."""

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
drand-client repeats it (lib/defaults.ts). Written here because whoever could change the key could choose the dice."""


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
