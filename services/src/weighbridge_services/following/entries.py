"""Reading this node's own log stream: every entry is checked as the next one, whatever the stream delivers."""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from collections.abc import Iterable
from typing import Any, ClassVar, Final

from weighbridge import codec
from weighbridge.cid import Cid
from weighbridge.errors import Broken, Refused
from weighbridge.log.chain import check_next
from weighbridge.log.entries import Entry, Listed, decode_entry, read_listed

from weighbridge_services.wire.errors import Again

RECENT: Final = 4_096
"""Messages whose entries are remembered: the services of one process read each of them one after the other."""
LARGE: Final = 16_384
"""Bytes of a message that is not remembered."""


class OwnLogDiffers(Broken):
    """This node's own log stream does not go on from what this service has read of it."""

    code: ClassVar[str] = "own-log-differs"


class LogReader:
    """Where a service stands in a game's log. It follows the chain of entries, never the stream's sequences."""

    def __init__(self, game: str, last: bytes | None = None) -> None:
        """`last`: the bytes of the last entry that was read, as the service's ledger keeps them."""
        self.game = game
        self._last: tuple[Entry, Cid] | None = None if last is None else (decode_entry(last), Cid.of(last))

    @property
    def size(self) -> int:
        """How many entries were read."""
        return 0 if self._last is None else self._last[0].seq + 1

    @property
    def at(self) -> int:
        """The listed time (µs) of the last one, 0 before the first."""
        return 0 if self._last is None else self._last[0].at

    def start(self) -> int:
        """Return the stream sequence to read from: message n of a log stream holds entry n - 1."""
        return self.size + 1

    def take(self, messages: Iterable[bytes]) -> list[Listed]:
        """Return the entries that were not read before. They count as read once `keep` is told.

        Raises OwnLogDiffers for what cannot follow, Again where entries were left out on the way here.
        """
        found: list[Listed] = []
        last = self._last
        for data in messages:
            listed = self._read(data)
            seq = listed.entry.seq
            expected = 0 if last is None else last[0].seq + 1
            if seq < expected:
                continue  # delivered again
            if seq > expected:
                raise Again(f"entry {expected} of {self.game} was to come, and {seq} came")
            self._check(last, listed)
            last = listed.entry, listed.cid
            found.append(listed)
        return found

    def keep(self, listed: Listed) -> None:
        """Take note that what was read up to an entry is in the service's ledger."""
        self._last = listed.entry, listed.cid

    def _read(self, data: bytes) -> Listed:
        try:
            listed = listed_in(data)
        except Refused as refused:
            raise self._differs(refused) from refused
        if listed is None:
            raise OwnLogDiffers(f"a message of the log stream of {self.game} holds no entry")
        return listed

    def _check(self, last: tuple[Entry, Cid] | None, listed: Listed) -> None:
        before, cid = (None, None) if last is None else last
        try:
            check_next(before, cid, listed.entry, self.game, formed=True)
        except Refused as refused:
            raise self._differs(refused) from refused

    def _differs(self, refused: Refused) -> OwnLogDiffers:
        return OwnLogDiffers(
            f"the log stream of {self.game} does not go on from what was read of it ({refused.code}:"
            f" {refused.message}); compare it with ingest's ledger, or restore the newest one"
        )


def listed_in(data: bytes) -> Listed | None:
    """Return the entry of a message of a log stream, with its record; None where there is none. Raises Refused."""
    found = _recent.get(data)
    if found is None:
        found = _read(data)
        if found is not None:
            remember(data, found)
    return found


def remember(data: bytes, listed: Listed) -> None:
    """Take note of what a message holds: of one that this process has made itself, or has read and verified.

    Whoever reads the very same bytes need not read them again: the services of a node all read its log. A large
    one is read again all the same: a log of nothing else must not fill the memory.
    """
    if len(data) > LARGE:
        return
    if len(_recent) >= RECENT:
        with contextlib.suppress(KeyError):  # another thread may have been faster
            _recent.popitem(last=False)
    _recent[data] = listed


_recent: OrderedDict[bytes, Listed] = OrderedDict()


def _read(data: bytes) -> Listed | None:
    value: Any = codec.decode(data)
    entry, record = (value.get("entry"), value.get("record")) if isinstance(value, dict) else (None, None)
    if not isinstance(entry, bytes) or not isinstance(record, bytes | None):
        return None
    return read_listed(entry, record)
