"""Why an envelope is refused: one class and one code each. Bytes that are no DAG-CBOR: `codec.errors`."""

from __future__ import annotations

from typing import ClassVar

from weighbridge.errors import Refused


class EnvelopeRefused(Refused):
    """What every refusal of an envelope is; it is never raised itself."""


class EnvelopeTooLarge(EnvelopeRefused):
    """The envelope has more than `limits.MAX_ENVELOPE` bytes."""

    code: ClassVar[str] = "envelope-too-large"


class RecordTooLarge(EnvelopeRefused):
    """The record has more than `limits.MAX_RECORD` bytes."""

    code: ClassVar[str] = "record-too-large"


class BadEnvelope(EnvelopeRefused):
    """A field is missing, unknown or of another type; `detail["path"]` says which."""

    code: ClassVar[str] = "bad-envelope"


class UnknownVersion(EnvelopeRefused):
    """The envelope has another version than 1."""

    code: ClassVar[str] = "unknown-envelope-version"


class ValueNotMap(EnvelopeRefused):
    """The record is not a map."""

    code: ClassVar[str] = "value-not-map"


class BadAuthor(EnvelopeRefused):
    """The author is not the did:key of an Ed25519 key; `detail["reason"]` is the code of why."""

    code: ClassVar[str] = "bad-author"


class BadCollection(EnvelopeRefused):
    """The collection is no NSID."""

    code: ClassVar[str] = "bad-collection"


class BadRecordKey(EnvelopeRefused):
    """The rkey is no AT Protocol record key."""

    code: ClassVar[str] = "bad-rkey"


class BadGame(EnvelopeRefused):
    """The game is not the at-uri of a record of a DID."""

    code: ClassVar[str] = "bad-game"


class NoGame(EnvelopeRefused):
    """The record names no game, and is no root."""

    code: ClassVar[str] = "no-game"


class OtherGame(EnvelopeRefused):
    """The record names another game than its envelope."""

    code: ClassVar[str] = "other-game"


class BadSignature(EnvelopeRefused):
    """The signature is not that of the author over this envelope."""

    code: ClassVar[str] = "bad-signature"
