"""Deletions of repositories' records: informational while only the lister says so, in force once a quorum does.

The entry of such a deletion changes no cell. The first receipt that holds it opens its cell,
`_/deletion/<entry>`, in which those who have seen it gather; the receipt with which they are a majority of the
operators named beside the lister closes the cell and lets the deletion take effect there. In a game that names
no such operator the lister's proof is all there is, and counts at once, as its dice and its traces do.
"""

from __future__ import annotations

from bisect import bisect_left
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

    `before`: entries that receipts held until now, `prior`: what this operator's did. A deletion for which nobody
    beside the lister was named waits for nobody. What this receipt cannot change is passed over unread: in a log
    of many deletions that nobody vouches for, a receipt costs no more for them.
    """
    world.seen.clear()
    for seq in world.ends(before, receipt.size):
        if grades.operators_at(world, seq):
            world.cells.set(_key(seq), Deletion(seq))
    keys = world.cells.keys(CELLS)
    for start, stop in _first_held(receipt, prior):
        for key in keys[bisect_left(keys, _key(start)) : bisect_left(keys, _key(stop))]:
            _see_one(world, key, receipt.operator)


def _see_one(world: World, key: str, operator: str) -> None:
    waiting = world.cells.read(key, Deletion)
    if waiting is not None and operator in grades.operators_at(world, waiting.seq):
        world.cells.set(key, Deletion(waiting.seq, tuple(sorted({*waiting.seen, operator}))))
        world.seen.append(waiting.seq)


def _first_held(receipt: Receipt, prior: Mapping[str, Any]) -> list[grades.Span]:
    """Return what a receipt holds, names proved, and this operator's receipt before did not."""
    left = [*((start, stop) for start, stop in prior.get("unproved", ())), (prior["size"], receipt.size)]
    for start, stop in [*receipt.unproved, (receipt.size, max(receipt.size, prior["size"]))]:
        left = [
            part
            for first, after in left
            for part in ((first, min(after, start)), (max(first, stop), after))
            if part[0] < part[1]
        ]
    return left


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
