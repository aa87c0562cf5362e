"""Statements: what an operator says, signed, of a transcript; and findings, what a service or an audit found."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, ClassVar, Final, Literal, NamedTuple

import msgspec
from weighbridge import codec
from weighbridge.cid import Cid
from weighbridge.errors import Refused
from weighbridge.identity import (
    Envelope,
    OperatorRecord,
    Signer,
    cosign,
    cosigners,
    encode_envelope,
    format_note,
    open_envelope,
    sign_record,
)
from weighbridge.log.checkpoint import Checkpoint

STATEMENT: Final = "network.weighbridge.statement"
FINDING: Final = "network.weighbridge.finding"

Verdict = Literal["ok", "disagree", "abstain", "cannot-run"]


class NoStatement(Refused):
    """The bytes are no statement of that operator on that game, or its note does not bear it out."""

    code: ClassVar[str] = "no-statement"


class Statement(msgspec.Struct, frozen=True, omit_defaults=True):
    """What an operator says of the first `size` leaves of the transcript `origin`, whose root (32 bytes) it gives.

    `entries`: how many entries of the log that is. `note`: the transcript's checkpoint, cosigned with the
    recompute key; an `ok` has one. `state`: the state root, where the delta of the last entry holds it.
    `reason`: a code; `says`: what goes with it, for people, among it what weakens the game itself (a private
    chain, no operators but the lister, no witnesses). `evidence`: the CID of an evidence bundle's manifest.
    """

    game: str
    verdict: Verdict
    origin: str
    size: int
    root: bytes
    entries: int | None = None
    state: Cid | None = None
    note: str | None = None
    reason: str | None = None
    says: list[str] = []
    evidence: Cid | None = None


class Said(NamedTuple):
    """A verified statement: who said it, when it was cosigned (s; None without a note), and its CID."""

    operator: str
    statement: Statement
    time: int | None
    cid: Cid


def cosigned(signer: Signer, name: str, origin: str, size: int, root: bytes, time: int) -> str:
    """Return a transcript's checkpoint, cosigned with an operator's recompute key at a time (s)."""
    text = Checkpoint(origin, size, root).text()
    return format_note(text, [cosign(signer, name, text, time)]).decode()


def sign_statement(records: Signer, statement: Statement) -> Envelope:
    """Return a statement as a record signed with an operator's records key."""
    value = _value(statement)
    return sign_record(records, statement.game, STATEMENT, _rkey(value), value)


def sign_finding(
    records: Signer, game: str, audit: str, code: str, about: str, says: str, **more: Any
) -> Envelope:
    """Return a finding as a signed record. The same finding is the same record, whenever it is found."""
    value = {"game": game, "audit": audit, "code": code, "about": about, "says": says, **more}
    return sign_record(records, game, FINDING, _rkey(value), value)


def open_statement(data: bytes, game: str, operator: OperatorRecord) -> Said:
    """Return a statement, its signature and its note verified. Raises Refused."""
    envelope = open_envelope(data)
    if (envelope.author, envelope.game, envelope.collection) != (operator.did, game, STATEMENT):
        raise NoStatement(f"{envelope.uri} is no statement of {operator.did} on {game}")
    statement = codec.decode_as(envelope.record, Statement)
    time = None if statement.note is None else _time_of(statement, operator)
    if time is None and statement.verdict == "ok":
        raise NoStatement(
            f"{envelope.uri} says ok and has no note that {operator.did} cosigned", uri=envelope.uri
        )
    return Said(operator.did, statement, time, envelope.cid)


def _time_of(statement: Statement, operator: OperatorRecord) -> int | None:
    note = (statement.note or "").encode()
    times = cosigners(note, {operator.did: operator.recompute})
    checkpoint = Checkpoint.parse((statement.note or "").split("\n\n", 1)[0] + "\n", statement.origin)
    if (checkpoint.size, checkpoint.root) != (statement.size, statement.root):
        raise NoStatement(f"a statement of {operator.did} gives another size or root than the note in it")
    return times.get(operator.did)


def _value(statement: Statement) -> dict[str, Any]:
    value: dict[str, Any] = codec.decode_own(codec.encode(statement))
    return value


def _rkey(value: dict[str, Any]) -> str:
    return hashlib.sha256(codec.encode(value)).hexdigest()[:24]


def in_bytes(envelopes: Sequence[Envelope]) -> list[bytes]:
    """Return the bytes of envelopes."""
    return [encode_envelope(each) for each in envelopes]
