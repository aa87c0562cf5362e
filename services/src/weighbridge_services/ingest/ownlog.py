"""The node's own log stream: always a copy of its ledger, and brought up to it by the one function that writes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import structlog
from weighbridge.errors import Refused
from weighbridge.log.entries import Listed

from weighbridge_services.following import remember
from weighbridge_services.ingest.errors import AnotherLister
from weighbridge_services.ingest.opening import log_message, read_log_message
from weighbridge_services.ingest.store import Store
from weighbridge_services.subjects import Subjects
from weighbridge_services.wire import AnotherWriter, Bus

CHUNK: Final = 512
"""Entries that are published before the first is acknowledged."""

log = structlog.get_logger()


class OwnLog:
    """The log stream that this node writes. Its message number n (from 1) holds entry n - 1, for good."""

    def __init__(self, bus: Bus, subjects: Subjects, store: Store) -> None:
        self._bus = bus
        self._subjects = subjects
        self._store = store
        self.published: int | None = None
        """How many entries the stream holds; None where only the broker knows."""

    @property
    def behind(self) -> bool:
        """Whether the ledger holds entries that the stream may not."""
        return self.published != self._store.size

    async def bring_up(self) -> None:
        """Publish what the ledger holds and the stream does not: all of it after a wiped disk, mostly nothing.

        Raises AnotherLister if the stream holds anything else, BrokerUnavailable.
        """
        self.published = None
        held = await self._held()
        while held < self._store.size:
            entries = await self._store.run(self._store.listed, held, min(held + CHUNK, self._store.size))
            held = await self._append(entries, [None] * len(entries), held)
        self.published = held

    async def append(self, entries: Sequence[Listed], proofs: Sequence[bytes | None]) -> None:
        """Publish entries that are in the ledger, the last it has. Raises as `bring_up`."""
        start = entries[0].entry.seq if entries else self._store.size
        if self.published != start:
            await self.bring_up()
            return
        self.published = None
        try:
            for at in range(0, len(entries), CHUNK):
                start = await self._append(entries[at : at + CHUNK], proofs[at : at + CHUNK], start)
            self.published = start
        except AnotherWriter:
            # Either a publication of ours whose acknowledgement was lost, or the broker lost its disk, or it is
            # somebody else's: looking at the stream tells.
            await self.bring_up()

    async def _append(self, entries: Sequence[Listed], proofs: Sequence[bytes | None], last: int) -> int:
        messages = [log_message(each, proof) for each, proof in zip(entries, proofs, strict=True)]
        for message, each in zip(messages, entries, strict=True):
            remember(message, each)
        return await self._bus.append_many(self._subjects.log, messages, last)

    async def _held(self) -> int:
        """Return how many entries the stream holds, which must be the ledger's first ones."""
        found = await self._bus.last(self._subjects.stream("LOG"), self._subjects.log)
        if found is None:
            return 0
        size = self._store.size
        if found.sequence > size:
            raise AnotherLister(
                f"the stream of {self._store.game} holds {found.sequence} entries and this node's ledger {size}:"
                " another node writes with this node's key, or the ledger is older than the stream; stop the other"
                " one, or restore the newest ledger"
            )
        (own,) = await self._store.run(self._store.listed, found.sequence - 1, found.sequence)
        if _entry_in(found.data) != own.data:
            raise AnotherLister(
                f"entry {found.sequence - 1} of {self._store.game} in the stream is not the one in this node's ledger:"
                " another node writes with this node's key; stop one of them"
            )
        return found.sequence


def _entry_in(data: bytes) -> bytes | None:
    try:
        return read_log_message(data).entry
    except Refused:
        return None
