"""A key that signs: the seed stays inside, what goes out are the public key, its did:key and signatures."""

from __future__ import annotations

from typing import ClassVar

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from weighbridge.errors import Refused
from weighbridge.identity.didkey import did_key

SEED_BYTES = 32


class BadSeed(Refused):
    """The seed of a signing key is not 32 bytes."""

    code: ClassVar[str] = "bad-seed"


class Signer:
    """An Ed25519 key made from a seed of 32 bytes. It never shows the seed, in no representation."""

    __slots__ = ("_did", "_key", "_public")

    def __init__(self, seed: bytes) -> None:
        """Make the signer of a seed. Raises BadSeed."""
        if len(seed) != SEED_BYTES:
            raise BadSeed(f"the seed of a signing key has 32 bytes, not {len(seed)}", length=len(seed))
        self._key = Ed25519PrivateKey.from_private_bytes(seed)
        self._public = self._key.public_key().public_bytes_raw()
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
        return self._key.sign(message)

    def __repr__(self) -> str:
        return f"Signer({self._did})"
