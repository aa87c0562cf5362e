"""Ed25519 as RFC 8032 has it, strict: every node accepts exactly the same signatures.

Libraries differ at the edges of the curve, and two nodes that differ on one signature hold two different
logs. So the edges are settled here, before the arithmetic of `cryptography` is asked:

- S < L (RFC 8032 5.1.7: otherwise anyone can turn a signature into a second one);
- A and R are canonical encodings (y < p, and no sign bit where x is 0; RFC 8032 5.1.3);
- A and R are not of small order (under such a key one signature fits many messages).

What is left is the equation without the cofactor, R = S·B - k·A, compared as bytes.
"""

from __future__ import annotations

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

PUBLIC_BYTES = 32
SIGNATURE_BYTES = 64

_P = 2**255 - 19
_L = 2**252 + 27742317777372353535851937790883648493
_SIGN_BIT = 1 << 255

# y of the eight points of small order: 0 (order 4), 1 (order 1), -1 (order 2) and the two y of order 8.
# With x = 0 for y = 1 and y = -1, this also covers each encoding whose sign bit stands where x is 0.
_Y8 = int.from_bytes(
    bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"), "little"
)
_SMALL_ORDER_Y = frozenset((0, 1, _P - 1, _Y8, _P - _Y8))


def is_sound_point(encoded: bytes) -> bool:
    """Whether 32 bytes are a canonical encoding of no point of small order (on the curve or not)."""
    if len(encoded) != PUBLIC_BYTES:
        return False
    y = int.from_bytes(encoded, "little") & (_SIGN_BIT - 1)
    return y < _P and y not in _SMALL_ORDER_Y


def verify(public: bytes, message: bytes, signature: bytes) -> bool:
    """Whether `signature` (64 bytes) of `message` is that of the key `public` (32 bytes), strictly."""
    if len(signature) != SIGNATURE_BYTES or not is_sound_point(public) or not is_sound_point(signature[:32]):
        return False
    if int.from_bytes(signature[32:], "little") >= _L:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except (InvalidSignature, ValueError):  # ValueError: a library that looks for the point at once
        return False
    return True
