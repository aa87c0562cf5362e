"""Deletions of repositories' records: informational while only the lister says so, in force once a quorum does.

The entry of such a deletion changes no cell. The first receipt that holds it opens its cell,
`_/deletion/<entry>`, in which those who have seen it gather; the receipt with which they are a majority of the
operators named beside the lister closes the cell and lets the deletion take effect there. In a game that names
no such operator the lister's proof is all there is, and counts at once, as its dice and its traces do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from weighbridge.fold import grades
from weighbridge.fold.operators import Receipt
from weighbridge.fold.records import collection_of
from weighbridge.fold.world import World
from weighbridge.log.entries import Entry, Listed

CELLS: Final = "_/deletion/"


class Deletion(msgspec.Struct, frozen=True):
    """A deletion that waits, as its cell holds it: its entry, and the operators who have seen it, sorted."""

    seq: int
    seen: tuple[str, ...] = ()


def is_proved_deletion(entry: Entry) -> bool:
    """Whether an entry lists the end of a repository's record. (What a scenario states comes without a proof.)"""
    return entry.op == "delete" and grades.is_carried(entry)


def is_informational(world: World, listed: Listed) -> bool:
    """Whether an entry is a deletion that changes nothing at its listing; it is noted for the receipts to come."""
    entry = listed.entry
    if not is_proved_deletion(entry) or entry.prov is None:
        return False
    world.note_end(entry.seq)
    return bool(grades.operators_at(world, entry.seq)) or entry.prov.get("grade") == "lister-says"


def is_of_lister_alone(world: World, listed: Listed) -> bool:
    """Whether nobody but the lister can have seen a deletion."""
    return is_proved_deletion(listed.entry) and not grades.operators_at(world, listed.entry.seq)


def held_before(world: World) -> int:
    """Return how many entries the receipts so far hold, the furthest of them."""
    sizes = [world.cells.value(key)["size"] for key in world.cells.keys(grades.RECEIPTS)]
    return max(sizes, default=0)


def see(world: World, receipt: Receipt, before: int, prior: Mapping[str, Any]) -> None:
    """Let a receipt count for the deletions that it holds.

    `before`: entries that receipts held until now, `prior`: what this operator's did. What it has seen already is
    passed over unread: in a log of many deletions that nobody vouches for, a receipt costs no more for them.
    """
    world.seen.clear()
    for seq in world.ends(before, receipt.size):
        world.cells.set(_key(seq), Deletion(seq))
    for key in world.cells.keys(CELLS):
        seq = int(key.removeprefix(CELLS))
        if seq >= receipt.size or grades.name(receipt.unproved, seq) or _held(prior, seq):
            continue
        waiting = world.cells.read(key, Deletion) or Deletion(seq)
        world.cells.set(key, Deletion(seq, tuple(sorted({*waiting.seen, receipt.operator}))))
        world.seen.append(seq)


def _held(prior: Mapping[str, Any], seq: int) -> bool:
    return bool(seq < prior["size"]) and not grades.name(prior.get("unproved", ()), seq)


def take_seen(world: World) -> list[Listed]:
    """Close the cells of the deletions that a quorum has seen with the receipt just folded; return their entries."""
    ends: list[Listed] = []
    for seq in world.seen:
        waiting = world.cells.read(_key(seq), Deletion)
        if waiting is not None and grades.is_quorum(waiting.seen, grades.operators_at(world, seq)):
            world.cells.drop(_key(seq))
            ends.append(world.history.listed(seq))
    world.seen.clear()
    return _not_outlived(world, ends)


def _not_outlived(world: World, ends: list[Listed]) -> list[Listed]:
    """Leave out deletions after which, before they were seen, the record came back, where versions count."""
    versioned = [
        each.entry for each in ends if collection_of(each.entry.uri or "///") in world.ruleset.versions
    ]
    if not versioned:
        return ends
    last = {entry.uri: entry.seq for entry in versioned}
    for seq in range(versioned[0].seq + 1, world.seq):
        entry = world.history.listed(seq).entry
        if entry.uri in last and entry.record is not None:
            last[entry.uri] = seq
    return [each for each in ends if each.entry.seq >= last.get(each.entry.uri, 0)]


def _key(seq: int) -> str:
    return f"{CELLS}{seq:016}"
