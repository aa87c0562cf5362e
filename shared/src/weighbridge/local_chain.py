"""A chain of one's own: a real BLS key from a seed, the scheme of quicknet, its own hash and period.

It is for development and tests. Whoever has the seed knows every round in advance, so that a game on such a
chain is marked `private chain` wherever a roll is shown.
"""

from __future__ import annotations

import hashlib
from typing import Final

from weighbridge import bls
from weighbridge.beacon import message_of
from weighbridge.chain import MAX_GENESIS, MAX_PERIOD, Chain
from weighbridge.errors import Refused

BEACON_ID: Final = "weighbridge-local"
MIN_SEED: Final = 16
_KEY_DOMAIN: Final = b"weighbridge/local-chain/key/v1"
_GROUP_DOMAIN: Final = b"weighbridge/local-chain/group/v1"


class BadLocalChain(Refused):
    """A local chain cannot be made of this: a seed under 16 bytes, or a period or genesis out of bounds."""

    code = "local-chain"


class LocalChain:
    """A chain whose rounds can be signed: `chain` is what a root names."""

    def __init__(self, seed: bytes, genesis: int, period: int = 3) -> None:
        if len(seed) < MIN_SEED:
            raise BadLocalChain(f"a seed is {MIN_SEED} bytes or more, not {len(seed)}")
        if not 1 <= period <= MAX_PERIOD:
            raise BadLocalChain(f"a period is 1 to {MAX_PERIOD} seconds, not {period}")
        if not 0 <= genesis <= MAX_GENESIS:
            raise BadLocalChain(f"a genesis is 0 to {MAX_GENESIS}, not {genesis}")
        self._secret = _secret(seed)
        key = bls.G2_GENERATOR.scalar_mul(self._secret).compress()
        self.group_hash = hashlib.sha256(_GROUP_DOMAIN + key).digest()
        self.beacon_id = BEACON_ID
        self.chain = Chain(chain_hash(key, period, genesis, self.group_hash, BEACON_ID), key, period, genesis)

    def sign(self, round: int) -> bytes:
        """Return the signature (48 bytes) of a round, whether it is due or not."""
        return bls.hash_to_g1(message_of(round)).scalar_mul(self._secret).compress()


def chain_hash(key: bytes, period: int, genesis: int, group_hash: bytes, beacon_id: str) -> str:
    """Return a chain's hash as drand makes it (common/chain/info.go): SHA-256 over its lasting facts."""
    named = b"" if beacon_id in ("", "default") else beacon_id.encode()
    facts = period.to_bytes(4, "big") + genesis.to_bytes(8, "big") + key + group_hash + named
    return hashlib.sha256(facts).hexdigest()


def _secret(seed: bytes) -> int:
    """Return a scalar from 1 below the group's order; 512 bits of hash leave no bias that counts."""
    return 1 + int.from_bytes(hashlib.sha512(_KEY_DOMAIN + seed).digest(), "big") % (bls.ORDER - 1)
