"""The chain of entries: what may follow what, and a walk over a whole log that says where it breaks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from weighbridge.cid import Cid
from weighbridge.errors import Refused
from weighbridge.log.compact import CompactRange
from weighbridge.log.entries import Entry, Listed, check_form, read_listed
from weighbridge.log.errors import (
    LogForeignGame,
    LogGap,
    LogOutOfOrder,
    LogRootMismatch,
    LogSize,
    LogTimeDecreases,
    LogTimeGap,
)

MAX_SILENCE_US: Final = 400 * 86_400 * 1_000_000
"""How long after the entry before an entry may be listed: 400 days, in µs."""


class Verified(NamedTuple):
    """What a walk over a whole log found: the last entry (None of an empty log) and the Merkle frontier."""

    last: Listed | None
    frontier: CompactRange


def check_next(
    previous: Entry | None, prev_cid: Cid | None, entry: Entry, game: str, *, formed: bool = False
) -> None:
    """Check that `entry` may follow `previous`, whose CID is `prev_cid`, in the log of `game`.

    Raises `EntryMalformed` and the subclasses of `LogRefused`, whose `detail["position"]` is the place where
    `entry` was expected. `formed`: the entry was decoded or made by `entries`, so its form needs no second check.
    The record's bytes are checked by `entries.check_record`.
    """
    if not formed:
        check_form(entry)
    _check_link(previous, prev_cid, entry, game)


def _check_link(previous: Entry | None, prev_cid: Cid | None, entry: Entry, game: str) -> None:
    position = previous.seq + 1 if previous else 0
    if entry.game != game:
        raise LogForeignGame(f"an entry of {entry.game} in the log of {game}", position=position)
    if entry.seq != position:
        raise LogGap(f"entry {position} was due, and this is {entry.seq}", position=position)
    if entry.prev != prev_cid:
        raise LogOutOfOrder(
            f"entry {position} follows {entry.prev}, and the one before is {prev_cid}", position=position
        )
    if previous is None:
        return
    if entry.at < previous.at:
        raise LogTimeDecreases(
            f"entry {position} is listed at {entry.at} µs, before the {previous.at} of the one before",
            position=position,
        )
    if entry.at - previous.at > MAX_SILENCE_US:
        raise LogTimeGap(
            f"entry {position} is listed more than 400 days after the one before; list a tick between",
            position=position,
        )


def verify_log(
    entries: Iterable[tuple[bytes, bytes | None]], game: str, *, size: int, root: bytes
) -> Verified:
    """Walk a whole log, each entry as its bytes and its record's, up to a checkpoint's size and root.

    Any byte changed and any entry swapped, left out or put in is refused, by an error whose
    `detail["position"]` is the place where it shows: the entry itself, the one after it, or, for the last
    one, the end (`LogRootMismatch`, `LogSize`).
    """
    last: Listed | None = None
    frontier = CompactRange()
    for position, (data, record) in enumerate(entries):
        if position >= size:
            raise LogSize(f"the checkpoint holds {size} entries, and here is another", position=position)
        last = _step(last, data, record, game, position)
        frontier.append(data)
    if frontier.size != size:
        raise LogSize(
            f"the checkpoint holds {size} entries, and {frontier.size} are here", position=frontier.size
        )
    if frontier.root() != root:
        raise LogRootMismatch(
            f"the {size} entries hash to another root than the checkpoint's", position=max(size - 1, 0)
        )
    return Verified(last, frontier)


def _step(last: Listed | None, data: bytes, record: bytes | None, game: str, position: int) -> Listed:
    try:
        listed = read_listed(data, record)
        _check_link(last.entry if last else None, last.cid if last else None, listed.entry, game)
    except Refused as error:
        error.detail["position"] = position
        raise
    return listed
