"""Signed notes over the listing log: the lister's checkpoints, and followers' receipts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weighbridge import codec
from weighbridge.errors import Refused
from weighbridge.fold.grades import Span
from weighbridge.fold.operators import listing_origin
from weighbridge.fold.records import RECEIPT
from weighbridge.identity import (
    Envelope,
    OperatorRecord,
    Signer,
    cosign,
    format_note,
    open_note,
    parse_note,
    sign_note,
    sign_record,
)
from weighbridge.log.checkpoint import Checkpoint

from weighbridge_services.ingest.opening import Refusal


def sign_checkpoint(signer: Signer, name: str, game: str, size: int, root: bytes) -> bytes:
    """Return the lister's signed note over the first `size` entries."""
    text = Checkpoint(listing_origin(game), size, root).text()
    return format_note(text, [sign_note(signer, name, text)])


def checkpoint_message(note: bytes) -> bytes:
    """Return the message that publishes the lister's checkpoint."""
    return codec.encode({"note": note.decode()})


def read_checkpoint(data: bytes, game: str, lister: OperatorRecord) -> tuple[Checkpoint, bytes] | Refusal:
    """Return a checkpoint that the lister signed, and its note; or why these bytes are none."""
    try:
        value: Any = codec.decode(data)
        note = (
            value["note"].encode() if isinstance(value, dict) and isinstance(value.get("note"), str) else b""
        )
        opened = open_note(note, [lister.log])
        return Checkpoint.parse(opened.text, listing_origin(game)), note
    except Refused as refused:
        return Refusal(refused.code, refused.message)


def make_receipt(
    records: Signer, log: Signer, name: str, game: str, note: bytes, time: int, unproved: Sequence[Span] = ()
) -> Envelope:
    """Return the receipt (a signed record) of a lister's checkpoint: its note with our cosignature, at a time (s).

    `unproved`: spans of entries of which this node has not found out itself whose key signed them.
    """
    parsed = parse_note(note)
    cosigned = format_note(parsed.text, [*parsed.signatures, cosign(log, name, parsed.text, time)])
    size = Checkpoint.parse(parsed.text).size
    more = {"unproved": [list(each) for each in unproved]} if unproved else {}
    value = {"game": game, "checkpoint": cosigned.decode(), **more}
    return sign_record(records, game, RECEIPT, str(size), value)
