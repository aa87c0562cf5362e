"""What a follower takes from a lister, and what it holds against it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from weighbridge.errors import Refused
from weighbridge.log.chain import check_next
from weighbridge.log.entries import Listed, read_listed

from weighbridge_services.ingest.opening import Opened, Refusal, is_of, read_log_message, read_record

AHEAD: Final = 5_000_000
"""How far (µs) a listed time may be ahead of a follower's clock when it cosigns."""


class Taken(NamedTuple):
    """An entry whose own parts hold together, and the record that its author signed; a tick or a flood has none."""

    listed: Listed
    opened: Opened | None

    @property
    def proof(self) -> bytes | None:
        """The bytes of the envelope that proves it."""
        return self.opened.proof if self.opened is not None else None


class Fault(NamedTuple):
    """What is wrong with a log, by whose fault, and the evidence."""

    code: str
    about: str
    says: str
    detail: Mapping[str, Any]


class Reached(NamedTuple):
    """A checkpoint that the lister signed: its size, root and note."""

    size: int
    root: bytes
    note: bytes


def take_entry(data: bytes, game: str) -> Taken | Fault:
    """Verify one message of a lister's log by itself: encoding, record, and the envelope that is to prove it.

    What is left is the envelope's signature: see `opening.claim_of`.
    """
    try:
        message = read_log_message(data)
        listed = read_listed(message.entry, message.record)
    except Refused as refused:
        says = f"a message of the log is no entry: {refused.message} ({refused.code})"
        return Fault("malformed-log", game, says, {"message": data[:4096]})
    if listed.entry.uri is None:
        return Taken(listed, None)
    opened = read_record(message.proof or b"", game, carried=True)
    if isinstance(opened, Refusal):
        return bad_proof(listed, f"comes with no envelope that holds ({opened.code})")
    if not is_of(opened, listed.entry):
        return bad_proof(listed, "comes with the envelope of something else")
    return Taken(listed, opened)


def bad_proof(listed: Listed, says: str) -> Fault:
    """Return the fault of an entry that its author did not sign."""
    entry = listed.entry
    sentence = f"entry {entry.seq}, {entry.uri}, {says}: its author did not sign it so"
    return Fault("bad-proof", entry.uri or "", sentence, {"seq": entry.seq, "entry": listed.data})


def stray(listed: Listed) -> Fault:
    """Return the fault of an entry that lists a record of another game, none of whose versions was of this one."""
    entry = listed.entry
    says = f"entry {entry.seq}, {entry.uri}, is of another game, and the log lists no version of it before"
    return Fault("malformed-log", entry.uri or "", says, {"seq": entry.seq, "entry": listed.data})


def check_follows(last: Listed | None, listed: Listed, game: str) -> Fault | None:
    """Check that an entry may follow the last one."""
    try:
        check_next(last.entry if last else None, last.cid if last else None, listed.entry, game)
    except Refused as refused:
        detail = {"seq": listed.entry.seq, "entry": listed.data, **({"before": last.data} if last else {})}
        return Fault("malformed-log", game, f"{refused.message} ({refused.code})", detail)
    return None


def forked(own: Listed, other: Listed) -> Fault:
    """Return the fault of a log that says something else than before."""
    says = f"entry {own.entry.seq} is another one now than it was when this node took it"
    return Fault(
        "forked-log", own.entry.game, says, {"seq": own.entry.seq, "held": own.data, "entry": other.data}
    )


def forged(game: str, reached: Reached, root: bytes, known: bytes | None) -> Fault:
    """Return the fault of a checkpoint that is not of the log this node has verified; both notes, if there are two."""
    says = f"the lister signed {reached.root.hex()} at size {reached.size}, and the log it published has {root.hex()}"
    detail: dict[str, Any] = {
        "size": reached.size,
        "root": root,
        "note": reached.note.decode(errors="replace"),
    }
    if known is not None:
        detail["other"] = known.decode(errors="replace")
    return Fault("forged-checkpoint", game, says, detail)


def may_cosign(listed_at: int, now: int) -> bool:
    """Whether a follower may cosign a log whose newest entry is listed at a time (µs): nothing is of the future."""
    return listed_at <= now + AHEAD
