"""Public keys of repositories: K-256 and P-256, as did:key and as older DID documents write them.

A did:key is `did:key:z` and the base58btc of a multicodec prefix and the compressed point; the older
`publicKeyMultibase` is `z` and the base58btc of the bare point, in either form. Sources: AT Protocol,
"Cryptography" and "DID".
"""

from __future__ import annotations

from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from weighbridge.repos.errors import RepoKey, SignatureForm, SignatureHighS, SignatureWrong

K256: Final = "K-256"
P256: Final = "P-256"

_CURVES: Final[dict[str, ec.EllipticCurve]] = {K256: ec.SECP256K1(), P256: ec.SECP256R1()}
_ORDERS: Final = {
    K256: 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141,
    P256: 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551,
}
_PREFIXES: Final = {b"\xe7\x01": K256, b"\x80\x24": P256}
_LEGACY: Final = {"EcdsaSecp256k1VerificationKey2019": K256, "EcdsaSecp256r1VerificationKey2019": P256}
_HASH: Final = ec.ECDSA(SHA256())
_DID_KEY: Final = "did:key:"
_COMPRESSED: Final = 33
_UNCOMPRESSED: Final = 65
_MAX_TEXT: Final = 128
_ALPHABET: Final = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_DIGIT: Final = {letter: value for value, letter in enumerate(_ALPHABET)}


class RepoPublicKey:
    """A key that repositories are signed with: its `curve` (`K-256` or `P-256`), its did:key, and `verify`."""

    __slots__ = ("_public", "curve", "did_key")

    def __init__(self, curve: str, point: bytes) -> None:
        """Take a point of 33 or 65 bytes. Raises RepoKey."""
        if len(point) not in (_COMPRESSED, _UNCOMPRESSED):
            raise RepoKey(f"a point of {curve} has 33 bytes or 65, not {len(point)}")
        try:
            self._public = ec.EllipticCurvePublicKey.from_encoded_point(_CURVES[curve], point)
        except ValueError as error:
            raise RepoKey(f"the bytes are no point of {curve}: {error}") from error
        self.curve = curve
        short = self._public.public_bytes(Encoding.X962, PublicFormat.CompressedPoint)
        prefix = next(prefix for prefix, name in _PREFIXES.items() if name == curve)
        self.did_key = f"{_DID_KEY}z{to_base58(prefix + short)}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RepoPublicKey) and self.did_key == other.did_key

    def __hash__(self) -> int:
        return hash(self.did_key)

    def __repr__(self) -> str:
        return f"RepoPublicKey({self.did_key})"

    def verify(self, message: bytes, signature: bytes) -> None:
        """Check a signature (64 bytes, r and s) over a message's SHA-256.

        Raises SignatureForm, SignatureHighS and SignatureWrong.
        """
        if len(signature) != 64:
            raise SignatureForm(f"a signature is r and s, 64 bytes, not {len(signature)}")
        r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
        order = _ORDERS[self.curve]
        if not (0 < r < order and 0 < s < order):
            raise SignatureForm(f"r and s lie between 0 and the order of {self.curve}")
        if s > order >> 1:
            raise SignatureHighS(f"s lies in the upper half of the order of {self.curve}")
        try:
            self._public.verify(encode_dss_signature(r, s), message, _HASH)
        except InvalidSignature:
            raise SignatureWrong(f"the signature is not one of {self.did_key} over these bytes") from None


def parse_did_key(text: str) -> RepoPublicKey:
    """Return the key that a did:key names. Raises RepoKey."""
    if not text.startswith(_DID_KEY):
        raise RepoKey(f"a did:key begins with did:key:z, not {text[:16]!r}", key=text)
    return parse_multikey(text[len(_DID_KEY) :])


def parse_multikey(text: str) -> RepoPublicKey:
    """Return the key of a multibase text with a multicodec prefix, as `Multikey` has it. Raises RepoKey."""
    data = _unmultibase(text)
    curve = _PREFIXES.get(data[:2])
    if curve is None:
        raise RepoKey(f"{text!r} is a key of another kind than K-256 and P-256", key=text)
    if len(data) != 2 + _COMPRESSED:
        raise RepoKey(f"{text!r} does not hold a compressed point", key=text)
    return RepoPublicKey(curve, data[2:])


def parse_document_key(kind: str, text: str) -> RepoPublicKey:
    """Return the key of a DID document's verification method, from its `type` and `publicKeyMultibase`.

    Raises RepoKey.
    """
    if kind == "Multikey":
        return parse_multikey(text)
    if kind not in _LEGACY:
        raise RepoKey(f"a key of type {kind!r} is none of K-256 or P-256", type=kind)
    return RepoPublicKey(_LEGACY[kind], _unmultibase(text))


def _unmultibase(text: str) -> bytes:
    if not text.startswith("z") or not 1 < len(text) <= _MAX_TEXT:
        raise RepoKey(f"{text[:_MAX_TEXT]!r} is no key in base58btc: z and up to {_MAX_TEXT - 1} characters")
    number = 0
    for letter in text[1:]:
        if letter not in _DIGIT:
            raise RepoKey(f"{letter!r} is no character of base58btc", key=text)
        number = number * 58 + _DIGIT[letter]
    zeros = len(text) - 1 - len(text[1:].lstrip("1"))
    return b"\0" * zeros + number.to_bytes((number.bit_length() + 7) // 8, "big")


def to_base58(data: bytes) -> str:
    """Return bytes in base58btc."""
    number, letters = int.from_bytes(data, "big"), ""
    while number:
        number, digit = divmod(number, 58)
        letters = _ALPHABET[digit] + letters
    return "1" * (len(data) - len(data.lstrip(b"\0"))) + letters
