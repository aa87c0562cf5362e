"""From bytes that were handed in to a verified record, and back from an entry to the envelope that proves it."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import msgspec
from weighbridge import codec
from weighbridge.cid import Cid
from weighbridge.errors import Refused
from weighbridge.identity import Envelope, encode_envelope, open_envelope
from weighbridge.identity.envelope_errors import OtherGame
from weighbridge.log.entries import Entry, Listed

SIGNATURE: Final = "sig"
"""In an entry's `prov`: the signature (64 bytes) of the envelope. Entry and record hold the rest of it."""


class Opened(NamedTuple):
    """A verified record: its envelope, the record's own bytes and their CID, and the envelope's bytes."""

    envelope: Envelope
    record: bytes
    cid: Cid
    proof: bytes

    @property
    def uri(self) -> str:
        """The at-uri of the record."""
        return self.envelope.uri

    @property
    def author(self) -> str:
        """The DID that signed it."""
        return self.envelope.author

    @property
    def value(self) -> dict[str, Any]:
        """The record."""
        return self.envelope.value

    @property
    def prov(self) -> dict[str, Any]:
        """What an entry keeps of the envelope."""
        return {SIGNATURE: self.envelope.sig}


class Refusal(NamedTuple):
    """Why something is not listed: a code, and a sentence."""

    code: str
    says: str


def open_record(data: bytes, game: str) -> Opened | Refusal:
    """Open an envelope of a game. Whatever the bytes are, the answer is one of the two."""
    try:
        envelope = open_envelope(data)
        if envelope.game != game:
            raise OtherGame(f"{envelope.uri} is of the game {envelope.game}, and this log is of {game}")
    except Refused as refused:
        return Refusal(refused.code, refused.message)
    except (
        Exception
    ) as error:  # a record that makes our code fail costs its sender an answer and nobody else anything
        return Refusal(
            "unreadable", f"this node fails to read it ({type(error).__name__}); please report that"
        )
    record = envelope.record
    return Opened(envelope, record, Cid.of(record), data)


def proof_of(listed: Listed) -> bytes | None:
    """Return the envelope's bytes of a listed record, put together again; None where an entry has none."""
    entry, record = listed.entry, listed.record
    signature = (entry.prov or {}).get(SIGNATURE)
    if record is None or entry.uri is None or type(signature) is not bytes:
        return None
    author, collection, rkey = entry.uri.removeprefix("at://").split("/")
    value = codec.decode_own(record)
    return encode_envelope(Envelope(author, entry.game, collection, rkey, value, signature))


def is_of(opened: Opened, entry: Entry) -> bool:
    """Whether an entry lists this very record, as its author signed it."""
    return (entry.uri, entry.author, entry.record, entry.game, entry.prov) == (
        opened.uri, opened.author, opened.cid, opened.envelope.game, opened.prov,
    )  # fmt: skip


class LogMessage(msgspec.Struct, frozen=True):
    """One message of a log stream: the entry's bytes, its record's, and the envelope that proves the record."""

    entry: bytes
    record: bytes | None = None
    proof: bytes | None = None


def log_message(listed: Listed, proof: bytes | None = None) -> bytes:
    """Return the message of an entry; without `proof`, what the entry itself holds of it."""
    proof = proof_of(listed) if proof is None else proof
    return codec.encode({"entry": listed.data, "record": listed.record, "proof": proof})


def read_log_message(data: bytes) -> LogMessage:
    """Return the parts of a log message, nothing verified. Raises Refused."""
    return codec.decode_as(data, LogMessage)
