"""From bytes that were handed in to a verified record, and back from an entry to the envelope that proves it."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import msgspec
from weighbridge import codec
from weighbridge.cid import Cid
from weighbridge.errors import Refused
from weighbridge.identity import Envelope, check_form, decode_envelope, encode_envelope, public_key
from weighbridge.identity.envelope import signed_bytes
from weighbridge.identity.envelope_errors import BadSignature, OtherGame
from weighbridge.log.entries import Entry, Listed

from weighbridge_services.ingest.errors import Unreadable
from weighbridge_services.ingest.verifying import Claim

SIGNATURE: Final = "sig"
"""In an entry's `prov`: the signature (64 bytes) of the envelope. Entry and record hold the rest of it."""


class Opened(NamedTuple):
    """A record, verified or about to be: its envelope, its own bytes and their CID, and the envelope's bytes."""

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


def read_record(data: bytes, game: str) -> Opened | Refusal:
    """Read an envelope of a game, everything about it checked but the signature: see `claim_of`.

    Whatever the bytes are, the answer is one of the two.
    """
    try:
        envelope = decode_envelope(data)
        check_form(envelope)
        if envelope.game != game:
            raise OtherGame(f"{envelope.uri} is of the game {envelope.game}, and this log is of {game}")
        record = envelope.record
        return Opened(envelope, record, Cid.of(record), data)
    except Refused as refused:
        return Refusal(refused.code, refused.message)
    except (
        Exception
    ) as error:  # what makes our code fail costs its sender an answer, and nobody else anything
        says = f"this node fails to read it ({type(error).__name__}); please report that"
        return Refusal(Unreadable.code, says)


def claim_of(opened: Opened) -> Claim:
    """Return what an envelope's signature claims."""
    envelope = opened.envelope
    return Claim(public_key(envelope.author), signed_bytes(envelope), envelope.sig)


def bad_signature(opened: Opened) -> Refusal:
    """Return why an envelope is refused whose claim does not hold."""
    says = f"the signature of {opened.uri} is not that of its author over this envelope"
    return Refusal(BadSignature.code, says)


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
