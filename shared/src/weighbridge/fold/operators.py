"""Operators and their receipts, as a fold reads them out of the log."""

from __future__ import annotations

from typing import Any

import msgspec

from weighbridge.errors import Refused
from weighbridge.fold import answers, grades
from weighbridge.fold.records import ReceiptRecord
from weighbridge.fold.world import World
from weighbridge.identity import OperatorRecord, check_operator, cosigners
from weighbridge.log.checkpoint import Checkpoint
from weighbridge.log.entries import Listed

SECOND = 1_000_000
MAX_AHEAD = 5 * SECOND
"""How much later than a receipt that holds it an entry may be listed, in µs: clocks differ a little."""


class Receipt(msgspec.Struct, frozen=True):
    """A receipt that verified: this operator held the first `size` entries at `time` (seconds).

    Of those in the spans of `unproved` it had not found out itself whose key had signed them.
    """

    operator: str
    size: int
    time: int
    unproved: tuple[grades.Span, ...] = ()

    def cell(self) -> dict[str, Any]:
        """Return what its operator's cell holds."""
        unproved = {"unproved": [list(each) for each in self.unproved]} if self.unproved else {}
        return {"size": self.size, "time": self.time, **unproved}


def listing_origin(game: str) -> str:
    """Return the origin of a game's listing log."""
    return f"{game}/log"


def read_operator(world: World, listed: Listed) -> None:
    """Keep an operator's keys: of each author, the latest well-formed record of its own."""
    author, uri = listed.entry.author or "", listed.entry.uri or ""
    value = world.value_of(listed)
    record, problems = check_operator(author, value)
    if record is None or record.game != world.game:
        says = answers.told(problems) or "$.game: another game"
        world.report("bad-operator", uri, f"This operator record counts for nothing: {says}.")
        return
    world.cells.set(f"_/operator/{author}", value)


def operator_of(world: World, did: str) -> OperatorRecord | None:
    """Return an operator's keys, if its record is in the log."""
    value: Any = world.cells.value(f"_/operator/{did}")
    return None if value is None else check_operator(did, value)[0]


def read_receipt(world: World, listed: Listed, record: ReceiptRecord) -> Receipt | None:
    """Verify a receipt against the operator's key and the log itself; None, with a report, if it is none."""
    author, uri = listed.entry.author or "", listed.entry.uri or ""
    held = world.root_at(world.seq)
    named = held[0].policy.members() if held is not None and held[0].policy is not None else ()
    operator = operator_of(world, author)
    if author not in named or operator is None:
        world.report(
            "bad-receipt",
            uri,
            "This receipt is not by an operator that the root names and whose keys are listed.",
        )
        return None
    try:
        receipt = _verify(world, operator, record)
    except Refused as refusal:
        world.report("bad-receipt", uri, f"This receipt does not verify ({refusal.code}).")
        return None
    if receipt is None:
        world.report("bad-receipt", uri, "This receipt is of another log than this one.")
        return None
    # Nothing is listed in the future: a clock that stands behind what it holds would make every roll look timely.
    if world.history.listed(receipt.size - 1).entry.at > receipt.time * SECOND + MAX_AHEAD:
        world.report("bad-receipt", uri, "This receipt is dated more than 5 s before an entry that it holds.")
        return None
    if not grades.are_in_order(receipt.unproved, receipt.size):
        says = f"at most {grades.MOST_SPANS} spans of entries that it holds, in order"
        world.report("bad-receipt", uri, f"What this receipt names as unproved is not {says}.")
        return None
    held_before: Any = world.cells.value(f"_/receipt/{author}", {"size": 0})
    if receipt.size >= held_before["size"]:
        world.cells.set(f"_/receipt/{author}", receipt.cell())
    return receipt


def _verify(world: World, operator: OperatorRecord, record: ReceiptRecord) -> Receipt | None:
    note = record.checkpoint
    # Decided from the note's own text: its checkpoint must be one of this very log, at a size already listed.
    times = cosigners(note.encode(), {operator.did: operator.cosigner})
    text = note.split("\n\n", 1)[0] + "\n"
    checkpoint = Checkpoint.parse(text, listing_origin(world.game))
    if operator.did not in times or not 0 < checkpoint.size <= world.seq:
        return None
    if world.history.root(checkpoint.size) != checkpoint.root:
        return None
    return Receipt(operator.did, checkpoint.size, times[operator.did], record.unproved)
