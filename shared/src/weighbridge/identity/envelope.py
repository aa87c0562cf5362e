"""Envelopes: signed records for games without repos.

An envelope is the DAG-CBOR map {v, author, game, collection, rkey, value, sig}. Its uri is
`at://<author>/<collection>/<rkey>`, its CID is over `value` alone, and `sig` is the author's Ed25519
signature over

    b"weighbridge/record/v1" + DAG-CBOR({v, author, game, collection, rkey, value})

Those bytes are never the text of a signed note (the byte after the prefix, 0xa6, begins no UTF-8), so that a
signature of one is never one of the other. An author is a did:key: the envelope alone says who signed it.
"""

from __future__ import annotations

from typing import Any

import msgspec

from weighbridge import codec
from weighbridge.cid import Cid
from weighbridge.errors import Refused
from weighbridge.identity import ed25519, syntax
from weighbridge.identity import envelope_errors as errors
from weighbridge.identity.didkey import public_key
from weighbridge.identity.keys import Signer
from weighbridge.limits import MAX_ENVELOPE, MAX_RECORD

VERSION = 1
DOMAIN = b"weighbridge/record/v1"

_FIELDS = ("v", "author", "game", "collection", "rkey", "value", "sig")
_TEXTS = ("author", "game", "collection", "rkey")


class Envelope(msgspec.Struct, frozen=True):
    """A record with who signed it and what it belongs to. `sig` is 64 bytes; `value` is not to be changed."""

    author: str
    game: str
    collection: str
    rkey: str
    value: dict[str, Any]
    sig: bytes
    v: int = VERSION

    @property
    def uri(self) -> str:
        """The at-uri of the record."""
        return _uri(self.author, self.collection, self.rkey)

    @property
    def record(self) -> bytes:
        """The DAG-CBOR of `value`: what is listed as the record's bytes."""
        return codec.encode(self.value)

    @property
    def cid(self) -> Cid:
        """The CID of `value`."""
        return Cid.of(self.record)

    @property
    def is_root(self) -> bool:
        """Whether this is the root of its game: the record that the game is named by."""
        return self.game == self.uri


def sign_record(
    signer: Signer, game: str | None, collection: str, rkey: str, value: dict[str, Any]
) -> Envelope:
    """Sign a record of a game and return its envelope; `game` None signs the game's root itself.

    Raises what `open_envelope` would: nothing is signed that would be refused.
    """
    game = _uri(signer.did, collection, rkey) if game is None else game
    unsigned = Envelope(signer.did, game, collection, rkey, value, b"")
    check_form(unsigned)
    return msgspec.structs.replace(unsigned, sig=signer.sign(signed_bytes(unsigned)))


def open_envelope(data: bytes) -> Envelope:
    """Return the envelope that bytes hold, everything about it verified.

    Raises a `CodecRefused` where the bytes are no strict DAG-CBOR, or one of `envelope_errors`.
    """
    envelope = decode_envelope(data)
    verify_envelope(envelope)
    return envelope


def verify_envelope(envelope: Envelope) -> None:
    """Check the form of an envelope and its signature. Raises one of `envelope_errors`."""
    check_form(envelope)
    if not ed25519.verify(public_key(envelope.author), signed_bytes(envelope), envelope.sig):
        raise errors.BadSignature(
            f"the signature of {envelope.uri} is not that of its author over this envelope", uri=envelope.uri
        )


def signed_bytes(envelope: Envelope) -> bytes:
    """Return the bytes that `sig` is over."""
    fields = _as_map(envelope)
    del fields["sig"]
    return DOMAIN + codec.encode(fields)


def encode_envelope(envelope: Envelope) -> bytes:
    """Return the DAG-CBOR of an envelope."""
    return codec.encode(_as_map(envelope))


def decode_envelope(data: bytes) -> Envelope:
    """Return the envelope that bytes hold, its fields in place but nothing verified: see `open_envelope`."""
    if len(data) > MAX_ENVELOPE:
        raise errors.EnvelopeTooLarge(
            f"an envelope has at most {MAX_ENVELOPE} bytes, not {len(data)}",
            size=len(data),
            limit=MAX_ENVELOPE,
        )
    return _from_map(codec.decode(data))


def envelope_to_json(envelope: Envelope) -> dict[str, Any]:
    """Return an envelope as AT Protocol JSON (`sig` as `{"$bytes": …}`), for files."""
    found: dict[str, Any] = codec.to_json(_as_map(envelope))
    return found


def envelope_from_json(obj: object) -> Envelope:
    """Return the envelope of AT Protocol JSON, with its fields in place but nothing verified."""
    return _from_map(codec.from_json(obj))


def check_form(envelope: Envelope) -> None:
    """Check everything about an envelope but its signature. Raises one of `envelope_errors`."""
    if type(envelope.value) is not dict:
        raise errors.ValueNotMap("the value of an envelope, the record, is a map", path="$.value")
    _check_author(envelope.author)
    if not syntax.is_nsid(envelope.collection):
        raise errors.BadCollection(
            f"the collection {envelope.collection!r} is no NSID", collection=envelope.collection
        )
    if not syntax.is_rkey(envelope.rkey):
        raise errors.BadRecordKey(f"{envelope.rkey!r} is no AT Protocol record key", rkey=envelope.rkey)
    _check_game(envelope)
    size = len(envelope.record)
    if size > MAX_RECORD:
        raise errors.RecordTooLarge(
            f"a record has at most {MAX_RECORD} bytes, not {size}", size=size, limit=MAX_RECORD
        )


def _check_author(author: str) -> None:
    try:
        public_key(author)
    except Refused as refused:
        raise errors.BadAuthor(
            f"the author of an envelope is an Ed25519 did:key: {refused.message}",
            author=author,
            reason=refused.code,
        ) from refused


def _check_game(envelope: Envelope) -> None:
    if not syntax.is_record_uri(envelope.game):
        raise errors.BadGame(
            f"the game is named by its root's at-uri, not {envelope.game!r}", game=envelope.game
        )
    named = envelope.value.get("game")
    if named == envelope.game or (named is None and _is_a_root(envelope)):
        return
    if "game" not in envelope.value:
        raise errors.NoGame(f"the record {envelope.uri} names no game", uri=envelope.uri)
    raise errors.OtherGame(
        f"the record {envelope.uri} names the game {named!r}, its envelope {envelope.game!r}",
        uri=envelope.uri,
        game=envelope.game,
    )


def _is_a_root(envelope: Envelope) -> bool:
    """Whether a record need not name its game: the game's root, or a root that succeeds it under a new GM."""
    if "game" in envelope.value:
        return False
    return envelope.is_root or envelope.value.get("succeeds") == envelope.game


def _from_map(value: object) -> Envelope:
    if not isinstance(value, dict):
        raise errors.BadEnvelope(f"an envelope is a map, not {type(value).__name__}")
    version = value.get("v")
    if type(version) is not int:
        raise errors.BadEnvelope("an envelope has its version under v, an integer", path="$.v")
    if version != VERSION:
        raise errors.UnknownVersion(
            f"envelope version {version} is not known here, {VERSION} is", version=version
        )
    for name in _FIELDS:
        if name not in value:
            raise errors.BadEnvelope(f"the envelope lacks {name}", path=f"$.{name}")
    for name in value:
        if name not in _FIELDS:
            raise errors.BadEnvelope(f"an envelope has no field {name!r}", path=f"$.{name}")
    for name in _TEXTS:
        if type(value[name]) is not str:
            raise errors.BadEnvelope(f"{name} is text", path=f"$.{name}")
    if type(value["sig"]) is not bytes or len(value["sig"]) != ed25519.SIGNATURE_BYTES:
        raise errors.BadEnvelope("sig is 64 bytes", path="$.sig")
    if type(value["value"]) is not dict:
        raise errors.ValueNotMap("the value of an envelope, the record, is a map", path="$.value")
    return Envelope(**value)


def _as_map(envelope: Envelope) -> dict[str, Any]:
    return {name: getattr(envelope, name) for name in _FIELDS}


def _uri(author: str, collection: str, rkey: str) -> str:
    return f"at://{author}/{collection}/{rkey}"
