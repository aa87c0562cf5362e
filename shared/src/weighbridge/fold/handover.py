"""A handover: the log goes on under another lister, because the GM and the quorum in force say so.

The GM and the operators each sign the same in their own names: {game, size, root, lister}, `root` being the listing
log's over its first `size` entries. With that the old lister's log ends at `size`, whatever it signs beyond. The new
one goes on from there, and these records are what it lists first.
"""

from __future__ import annotations

from typing import Any

from weighbridge.fold.operators import operator_of
from weighbridge.fold.records import HANDOVER, HandoverRecord, collection_of
from weighbridge.fold.roots import Root
from weighbridge.fold.world import LISTER_KEY, ROOT_KEY, Handed, ListerCell, RootCell, World
from weighbridge.identity.syntax import is_did
from weighbridge.log.entries import Listed


def read_handover(world: World, listed: Listed, record: HandoverRecord) -> None:
    """Note who hands over; once the GM and the quorum in force have, the new lister is."""
    author, uri = listed.entry.author or "", listed.entry.uri or ""
    held = world.root_at(world.seq)
    wrong = "no root is in force" if held is None else _wrong(world, held[0], author, record)
    if held is None or wrong:
        world.report("bad-handover", uri, f"This hands nothing over: {wrong}.")
        return
    key = f"_/handover/{record.size}:{record.lister}"
    said: Any = world.cells.value(key, {"by": []})
    by = sorted({*said["by"], author})
    world.cells.set(key, {"by": by})
    if _is_complete(held[0], by):
        _enforce(world, Handed(world.seq, record.lister, record.size, held[0].lister))


def _wrong(world: World, root: Root, author: str, record: HandoverRecord) -> str:
    if author not in _asked(root):
        return "it is signed by nobody whom the root in force asks for that"
    if not is_did(record.lister) or record.lister == root.lister:
        return "it names no other lister"
    if operator_of(world, record.lister) is None:
        return f"the keys of {record.lister} are not in the log"
    if not 0 < record.size <= world.seq or not _goes_on(world, record.size):
        return f"the log has gone on otherwise from {record.size} entries"
    if world.history.root(record.size) != record.root:
        return f"the first {record.size} entries of this log have another root"
    return ""


def _asked(root: Root) -> frozenset[str]:
    operators = root.policy.members() if root.policy is not None else ()
    return frozenset({root.gm, *operators})


def _goes_on(world: World, size: int) -> bool:
    """Whether nothing stands between the end of the old log and here but time, and others who hand over."""
    for seq in range(size, world.seq):
        uri = world.history.listed(seq).entry.uri
        if uri is not None and collection_of(uri) != HANDOVER:
            return False
    return True


def _is_complete(root: Root, by: list[str]) -> bool:
    # Without a policy nobody but the GM is asked, as for any change of the root.
    return root.gm in by and (root.policy is None or root.policy.reached(by))


def _enforce(world: World, handed: Handed) -> None:
    """Let the root in force hold on from here, with another lister."""
    cell = world.root_cell()
    versions = (*cell.versions, (world.seq, cell.versions[-1][1]))
    world.cells.set(ROOT_KEY, RootCell(versions, _still_waiting(world, cell.waiting, handed)))
    world.cells.set(LISTER_KEY, ListerCell((*world.lister_cell().handed, handed)))


def _still_waiting(world: World, waiting: int | None, handed: Handed) -> int | None:
    """Return the root that waits for its quorum, unless it would give the log back to a lister of before."""
    if waiting is None:
        return None
    value = world.value_of(world.history.listed(waiting))
    if value.get("lister") == handed.lister:
        return waiting
    # Receipts alone would bring it into force: nobody would be asked again.
    says = f"it names another lister than {handed.lister}, to whom the log was handed over while it waited"
    world.report("bad-root", world.game, f"This version of the root opens nothing: {says}.")
    return None
