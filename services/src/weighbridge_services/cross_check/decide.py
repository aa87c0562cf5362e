"""What the cross-check decides: who agrees with whom, whether a quorum is reached, what kind of difference it is.

Pure. Who is right is not decided here or anywhere: the game is settled where k of n agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal

import msgspec
from weighbridge import codec
from weighbridge.cid import Cid
from weighbridge.identity import Policy
from weighbridge.log.merkle import leaf_hash
from weighbridge.log.proofs import verify_inclusion

Kind = Literal["entry", "evidence", "pin", "delta"]
EVIDENCE: Final = ("_/pending/", "_/receipt/", "_/operator/")
"""Cells that hold what the log's evidence came to: beacons, receipts, traces."""


class Agreed(msgspec.Struct, frozen=True):
    """The operators (DIDs) that signed one root of `size` leaves, and how far that takes the policy.

    `reached`: whether the game's quorum is; a game without a policy has none to reach.
    """

    origin: str
    size: int
    root: bytes
    operators: tuple[str, ...]
    reached: bool
    tallies: tuple[dict[str, Any], ...] = ()


def groups(roots: Mapping[str, bytes]) -> dict[bytes, tuple[str, ...]]:
    """Return which operators signed which root, at one origin and size."""
    found: dict[bytes, list[str]] = {}
    for did in sorted(roots):
        found.setdefault(roots[did], []).append(did)
    return {root: tuple(dids) for root, dids in found.items()}


def agreement(origin: str, size: int, roots: Mapping[str, bytes], policy: Policy | None) -> Agreed | None:
    """Return the largest agreement at one origin and size: one that reaches the quorum before one that does not."""
    found = [_agreed(origin, size, root, dids, policy) for root, dids in groups(roots).items()]
    return max(found, key=lambda each: (each.reached, len(each.operators), each.root), default=None)


def _agreed(origin: str, size: int, root: bytes, dids: tuple[str, ...], policy: Policy | None) -> Agreed:
    if policy is None:
        return Agreed(origin, size, root, dids, False)
    tallies = tuple(
        {"path": t.path, "signed": t.signed, "quorum": t.quorum, "of": t.of} for t in policy.tallies(dids)
    )
    return Agreed(origin, size, root, dids, policy.reached(dids), tallies)


def better(new: Agreed, old: Agreed | None) -> bool:
    """Whether an agreement is to be shown in place of another: a reached quorum, then the larger size."""
    if old is None or new.origin != old.origin:
        return old is None or new.reached >= old.reached
    return (new.reached, new.size, len(new.operators)) > (old.reached, old.size, len(old.operators))


def differing(roots: Mapping[str, bytes], own: str) -> list[str]:
    """Return the operators whose root is not one's own, where one has one."""
    if own not in roots:
        return []
    return [did for did in sorted(roots) if roots[did] != roots[own]]


def is_outvoted(roots: Mapping[str, bytes], own: str, policy: Policy | None) -> bool:
    """Whether the game's quorum has signed another root than one's own."""
    if policy is None or own not in roots:
        return False
    return any(own not in dids and policy.reached(dids) for dids in groups(roots).values())


def foreign_pin(origin: str, entries: int | None, origins: Iterable[str], folded: int) -> bool:
    """Whether a statement is of a transcript that this node has no part in although it has folded that far."""
    return origin not in set(origins) and entries is not None and entries <= folded


class Side(msgspec.Struct, frozen=True):
    """What one node shows of a leaf (72 bytes): entry, record, delta, the cells then, and the proof of its place."""

    leaf: bytes
    delta: bytes
    cells: dict[str, bytes | None]
    proof: list[bytes]
    size: int
    entry: bytes | None = None
    record: bytes | None = None


def read_side(data: bytes) -> Side:
    """Return what a node answered. Raises Refused."""
    return codec.decode_as(data, Side)


def is_borne_out(side: Side, index: int, size: int, root: bytes) -> bool:
    """Whether what a node shows is what it has signed: leaf, delta and cells, each by its hash.

    Raises Refused where the proof is none.
    """
    if len(side.leaf) != 72 or Cid.of(side.delta).raw != side.leaf[36:]:
        return False
    if side.entry is not None and Cid.of(side.entry).raw != side.leaf[:36]:
        return False
    named = changes(side)
    for key, data in side.cells.items():
        if (None if data is None else Cid.of(data)) != named.get(key):
            return False
    verify_inclusion(leaf_hash(side.leaf), index, size, side.proof, root)
    return True


def kind_of(ours: Side, theirs: Side) -> Kind:
    """Return what two nodes differ in at the first leaf that differs.

    `entry`: they folded different entries. `evidence`: the same entry, and what it or the evidence before it came
    to in the kernel's cells. `delta`: all of that is the same, and the rules made something else of it.
    """
    if ours.leaf[:36] != theirs.leaf[:36]:
        return "entry"
    kernel = any(key.startswith(EVIDENCE) for key in differing_cells(ours, theirs))
    return "evidence" if kernel else "delta"


def changes(side: Side) -> dict[str, Any]:
    """Return which cells a side's delta changes, by key: the CID of what each holds then, or None."""
    pairs: Any = codec.decode(side.delta)
    if not isinstance(pairs, list):
        return {}  # the genesis of an era
    return {pair[0]: pair[1] for pair in pairs if isinstance(pair, list) and len(pair) == 2}


def differing_cells(ours: Side, theirs: Side) -> list[str]:
    """Return the keys of the cells that two nodes have changed otherwise."""
    missing = object()
    mine, other = changes(ours), changes(theirs)
    return [key for key in sorted({*mine, *other}) if mine.get(key, missing) != other.get(key, missing)]


def manifest(
    game: str,
    origin: str,
    size: int,
    index: int,
    kind: Kind,
    exchanges: int,
    sides: Sequence[tuple[str, str, Side]],
) -> tuple[dict[str, Any], dict[Cid, bytes]]:
    """Return the manifest of an evidence bundle and its blocks, for sides of (operator, note, what it showed)."""
    blocks: dict[Cid, bytes] = {}
    value: dict[str, Any] = {
        "game": game, "origin": origin, "size": size, "index": index, "kind": kind, "exchanges": exchanges,
        "sides": [_side(operator, note, side, blocks) for operator, note, side in sides],
    }  # fmt: skip
    return value, blocks


def _side(operator: str, note: str, side: Side, blocks: dict[Cid, bytes]) -> dict[str, Any]:
    def keep(data: bytes | None) -> Cid | None:
        if data is None:
            return None
        cid = Cid.of(data)
        blocks[cid] = data
        return cid

    return {
        "operator": operator, "note": note, "leaf": side.leaf, "delta": keep(side.delta), "proof": list(side.proof),
        "entry": keep(side.entry), "record": keep(side.record),
        "cells": {key: keep(data) for key, data in side.cells.items()},
    }  # fmt: skip
