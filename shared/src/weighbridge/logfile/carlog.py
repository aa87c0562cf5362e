"""A game's log as a CAR file: every entry's block, after each the block of its record; the root is the last
entry.

A record that is listed twice stands in the file twice: a reader needs no memory and no way back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from weighbridge.cid import Cid
from weighbridge.errors import Refused
from weighbridge.log.entries import Listed, decode_entry
from weighbridge.logfile.car import Block, CarReader, write_car
from weighbridge.logfile.errors import CarEnd, CarHeader, CarOrder
from weighbridge.logfile.whole import Chain


def log_to_car(entries: Iterable[Listed], last: Cid | None) -> Iterator[bytes]:
    """Yield the CAR file of a log piece by piece; `last` is the CID of its last entry, None of an empty log.

    Raises `CarEnd` if the entries end with another one.
    """
    return write_car([] if last is None else [last], _blocks(entries, last))


def _blocks(entries: Iterable[Listed], last: Cid | None) -> Iterator[tuple[Cid, bytes]]:
    written: Cid | None = None
    for listed in entries:
        yield listed.cid, listed.data
        if listed.entry.record is not None and listed.record is not None:
            yield listed.entry.record, listed.record
        written = listed.cid
    if written != last:
        raise CarEnd(f"the entries end with {written}, and the header names {last}")


def log_from_car(pieces: Iterable[bytes], game: str | None = None) -> Iterator[Listed]:
    """Yield the entries of a log's CAR file, given in pieces of any size, each verified as the next in its
    log.

    Without `game` the file may be any game's. Errors: those of `logfile.errors`, `log.read_listed` and
    `log.check_next`, each with the byte `offset` in its detail. The file is whole once the last was yielded.
    """
    reader = CarReader(pieces)
    if len(reader.roots) > 1:
        raise CarHeader(f"byte 0: a log has one root, its last entry, not {len(reader.roots)}", offset=0)
    chain, blocks, offset = Chain(game), reader.blocks(), 0
    for block in blocks:
        offset = block.offset
        yield chain.next(block.data, _record_after(block, blocks), offset=offset)
    last = chain.last.cid if chain.last else None
    if (last,) != (reader.roots or (None,)):
        root = reader.roots[0] if reader.roots else None
        says = f"the file ends with the entry {last}, and its header names {root}"
        raise CarEnd(f"byte {offset}: {says}", offset=offset)


def _record_after(block: Block, blocks: Iterator[Block]) -> bytes | None:
    try:
        named = decode_entry(block.data).record
    except Refused as error:
        says = f"the block {block.cid} stands where an entry is due and is none: {error.message}"
        raise CarOrder(f"byte {block.offset}: {says}", offset=block.offset) from error
    if named is None:
        return None
    record = next(blocks, None)
    if record is None or record.cid != named:
        offset = block.offset if record is None else record.offset
        found = "the end of the file" if record is None else str(record.cid)
        raise CarOrder(f"byte {offset}: the record {named} is due, and here is {found}", offset=offset)
    return record.data
