"""A key that signs: the seed stays inside, what goes out are the public key, its did:key and signatures."""

from __future__ import annotations

from typing import ClassVar

from weighbridge.errors import Refused
from weighbridge.identity import ed25519
from weighbridge.identity.didkey import did_key


class BadSeed(Refused):
    """The seed of a signing key is not 32 bytes."""

    code: ClassVar[str] = "bad-seed"


class Signer:
    """An Ed25519 key made from a seed of 32 bytes. It never shows the seed, in no representation."""

    __slots__ = ("_did", "_public", "_seed")

    def __init__(self, seed: bytes) -> None:
        """Make the signer of a seed. Raises BadSeed."""
        if len(seed) != ed25519.SEED_BYTES:
            raise BadSeed(f"the seed of a signing key has 32 bytes, not {len(seed)}", length=len(seed))
        self._seed = bytes(seed)
        self._public = ed25519.public_of(self._seed)
        self._did = did_key(self._public)

    @property
    def public(self) -> bytes:
        """The public key, 32 bytes."""
        return self._public

    @property
    def did(self) -> str:
        """The did:key of the public key."""
        return self._did

    def sign(self, message: bytes) -> bytes:
        """Return the signature (64 bytes) of a message, by RFC 8032: the same every time."""
        return ed25519.sign(self._seed, message)

    def __repr__(self) -> str:
        return f"Signer({self._did})"
