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
from weighbridge.repos import carry_again, is_carried, open_carried

from weighbridge_services.ingest.errors import Unreadable
from weighbridge_services.ingest.verifying import Claim

SIGNATURE: Final = "sig"
"""In an entry's `prov`: the signature (64 bytes) of the envelope. Entry and record hold the rest of it."""


class Opened(NamedTuple):
    """A record, verified or about to be: its envelope, its own bytes and their CID, and the bytes that prove it.

    One of a repository is carried with its proof instead: its envelope has no signature of its own, `repo` is
    what an entry keeps of the proof, and without a record it is the end of one.
    """

    envelope: Envelope
    record: bytes | None
    cid: Cid | None
    proof: bytes
    repo: dict[str, Any] | None = None

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
        """What an entry keeps of the envelope, or of the proof."""
        return {SIGNATURE: self.envelope.sig} if self.repo is None else self.repo

    @property
    def is_stray(self) -> bool:
        """Whether it is a repository's record that names another game than this log's, or none.

        It is listed only as a later version of a record that is of the game: the uri is, whatever stands there now.
        """
        if self.repo is None or self.record is None or self.uri == self.envelope.game:
            return False
        return bool(self.value.get("game") != self.envelope.game)

    @property
    def rev(self) -> str | None:
        """The rev of the repository's commit that proves it."""
        return None if self.repo is None else self.repo["rev"]


class Refusal(NamedTuple):
    """Why something is not listed: a code, and a sentence."""

    code: str
    says: str


def read_record(data: bytes, game: str, *, carried: bool = False) -> Opened | Refusal:
    """Read an envelope of a game, everything about it checked but the signature: see `claim_of`.

    `carried`: whether it may be a record of a repository with its proof, which is checked whole; the key in it
    is the word of whoever gives it, and whether a stray may be listed only the log can say. Whatever the bytes are,
    the answer is one of the two.
    """
    try:
        if carried and is_carried(data):
            return _read_carried(data, game)
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


def _read_carried(data: bytes, game: str) -> Opened:
    """Return a record of a repository, or the end of one, whose proof holds. Raises Refused."""
    found = open_carried(data)
    author, collection, rkey = found.uri.authority, found.uri.collection or "", found.uri.rkey or ""
    envelope = Envelope(author, game, collection, rkey, found.value, b"")
    return Opened(envelope, found.record, found.cid, data, found.prov)


def other_game(opened: Opened) -> Refusal:
    """Return why a stray is refused of which the log lists no version before."""
    named = opened.value.get("game")
    says = f"{opened.uri} is of the game {named!r:.200}, and this log is of {opened.envelope.game}"
    return Refusal(OtherGame.code, says)


def claim_of(opened: Opened) -> Claim:
    """Return what an envelope's signature claims."""
    envelope = opened.envelope
    return Claim(public_key(envelope.author), signed_bytes(envelope), envelope.sig)


def bad_signature(opened: Opened) -> Refusal:
    """Return why an envelope is refused whose claim does not hold."""
    says = f"the signature of {opened.uri} is not that of its author over this envelope"
    return Refusal(BadSignature.code, says)


def proof_of(listed: Listed) -> bytes | None:
    """Return the bytes that prove a listed record, put together again; None where an entry has none."""
    entry, record = listed.entry, listed.record
    if entry.prov and entry.uri is not None and "blocks" in entry.prov:
        return carry_again(entry.uri, entry.prov, record)
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
