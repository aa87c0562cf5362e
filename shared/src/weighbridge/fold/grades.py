"""How far a log itself proves whose key signed each record: the grade of an entry, from receipts in the log alone.

A record of a repository is listed with its proof, down to a key; that the key is the author's is the lister's
word (`lister-says`) until receipts of a majority of the other operators hold the entry without naming it
unproved (`seen-by-quorum`). A did:key is its own key, so what it signed is `proved-now` for everybody. A node
that has itself found out whose key it is (`proved-now`) keeps that beside the log: no fold knows of it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any, Final, Literal

from weighbridge.fold.records import ACCOUNT
from weighbridge.fold.world import World
from weighbridge.log.entries import Entry

Grade = Literal["proved-now", "seen-by-quorum", "lister-says"]
Span = tuple[int, int]
"""Entries from the first number up to, and without, the second."""

MOST_SPANS: Final = 64
"""Spans that a receipt may name as unproved."""
RECEIPTS: Final = "_/receipt/"


def is_carried(entry: Entry) -> bool:
    """Whether an entry lists a record of a repository, or the end of one, with its proof."""
    return entry.prov is not None and "blocks" in entry.prov


def are_in_order(spans: Sequence[Span], size: int) -> bool:
    """Whether spans are what a receipt of so many entries may name: few, not empty, ascending, within its size."""
    if len(spans) > MOST_SPANS:
        return False
    end = -1
    for start, stop in spans:
        if not end < start < stop <= size:
            return False
        end = stop
    return True


def name(spans: Sequence[Sequence[int]], seq: int) -> bool:
    """Whether spans, in order, name an entry."""
    place = bisect_right(spans, seq, key=itemgetter(0)) - 1
    return place >= 0 and seq < spans[place][1]


def spans_of(seqs: Sequence[int], size: int, apart: Sequence[int] = ()) -> tuple[Span, ...]:
    """Return spans, `MOST_SPANS` at most, that name these ascending entries of the first `size`.

    Too many are made fewer by joining neighbours: more is named then than is meant, and never less. Those between
    which an entry of `apart` lies are joined last, the later in `apart` the later; of others the nearest first.
    """
    spans: list[Span] = []
    for seq in seqs:
        if seq >= size:
            break
        if spans and spans[-1][1] == seq:
            spans[-1] = (spans[-1][0], seq + 1)
        else:
            spans.append((seq, seq + 1))
    if len(spans) <= MOST_SPANS:
        return tuple(spans)
    held = {bisect_right(spans, seq, key=itemgetter(0)): order for order, seq in enumerate(apart, 1)}
    gaps = sorted(range(1, len(spans)), key=lambda n: (-held.get(n, 0), spans[n - 1][1] - spans[n][0], n))
    starts = sorted(gaps[: MOST_SPANS - 1])
    joined = zip([0, *starts], [*starts, len(spans)], strict=True)
    return tuple((spans[first][0], spans[after - 1][1]) for first, after in joined)


def is_quorum(seen: Iterable[str], named: Sequence[str]) -> bool:
    """Whether those who have seen something are a majority of the operators named beside the lister."""
    return 2 * len({*seen} & {*named}) > len(named)


def operators_at(world: World, seq: int) -> tuple[str, ...]:
    """Return the operators beside the lister whom the root in force at an entry names."""
    held = world.root_at(seq)
    return () if held is None else held[0].operators()


def grade_of(world: World, seq: int) -> Grade | None:
    """Return the grade of a folded entry by the log as folded so far; None for a tick or a flood.

    That the proofs hold which its log carries, a node has verified before it folds.
    """
    entry = world.history.listed(seq).entry
    if entry.uri is None or entry.author is None:
        return None
    if entry.prov is None or not is_carried(entry) or entry.prov.get("key") == entry.author:
        # What a lister heard of an account it has signed; that it is so, nobody has.
        said = entry.uri.split("/")[3] == ACCOUNT or not entry.author.startswith("did:key:")
        return "lister-says" if said else "proved-now"
    named = operators_at(world, seq)
    return "seen-by-quorum" if is_quorum(_holders(world, named, seq), named) else "lister-says"


def _holders(world: World, named: Iterable[str], seq: int) -> list[str]:
    held: dict[str, Any] = {did: world.cells.value(f"{RECEIPTS}{did}") for did in named}
    return [
        did
        for did, cell in held.items()
        if cell is not None and cell["size"] > seq and not name(cell.get("unproved", ()), seq)
    ]
