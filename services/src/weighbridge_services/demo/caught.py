"""Reading the evidence of a divergence: the first entry that was folded differently, and the cells."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from weighbridge import codec
from weighbridge.cid import Cid
from weighbridge.log.entries import decode_entry
from weighbridge.logfile import CarReader

from weighbridge_services.demo.watching import Divergence


class Difference(NamedTuple):
    """A cell that two operators have differently: what stands in it, None for no such cell."""

    key: str
    ours: Any
    theirs: Any


class Caught(NamedTuple):
    """An operator who was caught: by whom, at which entry of the log, the cells, and where the evidence lies."""

    by: str
    about: str
    entry: int
    uri: str | None
    kind: str
    exchanges: int
    cells: tuple[Difference, ...]
    evidence: Path


def evidence_of(folder: Path, found: Divergence) -> Caught | None:
    """Read a node's evidence bundle; None while it is not there yet. Raises Refused for a bundle that does not hold."""
    path = folder / "evidence" / f"{found.evidence}.car"
    if not path.is_file():
        return None
    blocks = {block.cid: block.data for block in CarReader([path.read_bytes()]).blocks()}
    manifest: Any = codec.decode(blocks[Cid.parse(found.evidence or "")])
    ours, theirs = _sides(manifest, found)
    keys = sorted({*ours, *theirs})
    cells = tuple(
        Difference(key, _value(blocks, ours.get(key)), _value(blocks, theirs.get(key)))
        for key in keys
        if ours.get(key) != theirs.get(key)
    )
    entry, uri = _entry(blocks, manifest["sides"][0]["leaf"], found)
    return Caught(found.by, found.about, entry, uri, found.kind, found.exchanges, cells, path)


def _sides(manifest: Any, found: Divergence) -> tuple[dict[str, Any], dict[str, Any]]:
    by = {side["operator"]: side["cells"] for side in manifest["sides"]}
    theirs = by.pop(found.about)
    return dict(next(iter(by.values()))), dict(theirs)


def _value(blocks: dict[Cid, bytes], cid: Cid | None) -> Any:
    if cid is None or cid not in blocks:
        return None
    return codec.decode(blocks[cid])


def _entry(blocks: dict[Cid, bytes], leaf: bytes, found: Divergence) -> tuple[int, str | None]:
    """Return place and record of the entry that a leaf (72 bytes) is of: its CID stands first."""
    data = blocks.get(Cid(leaf[: len(leaf) // 2]))
    if data is None:
        return found.leaf, None
    entry = decode_entry(data)
    return entry.seq, entry.uri


def fields_of(difference: Difference) -> list[tuple[str, Any, Any]]:
    """Return the fields of a cell that differ: name, ours, theirs; the whole cell under `` where it is no map."""
    ours, theirs = difference.ours, difference.theirs
    if not (isinstance(ours, dict) and isinstance(theirs, dict)):
        return [("", ours, theirs)]
    names = sorted({*ours, *theirs})
    return [(name, ours.get(name), theirs.get(name)) for name in names if ours.get(name) != theirs.get(name)]
