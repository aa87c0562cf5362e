"""What players hand in at a follower: its lister reads it there, and is accused if it does not list it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Final

from weighbridge import codec
from weighbridge.cid import Cid
from weighbridge.errors import Refused
from weighbridge.log.entries import Listed

from weighbridge_services.ingest.following import Fault
from weighbridge_services.ingest.opening import Opened, read_record
from weighbridge_services.ingest.setting import Setting
from weighbridge_services.ingest.sources.configured import plugin_of
from weighbridge_services.subjects import Subjects
from weighbridge_services.wire import Incoming

WITHHELD_AFTER: Final = 60.0
"""Seconds after which a record that was handed in here, and neither listed nor rejected, is withheld."""


class Withholding:
    """The records that were handed in at this node and are not listed yet."""

    def __init__(self, setting: Setting, after: float = WITHHELD_AFTER) -> None:
        self._setting = setting
        self._loop = asyncio.get_running_loop()
        self._open: dict[str, tuple[str, str, float]] = {}
        self._position = f"source/{plugin_of(setting)}"
        self.after = after
        self.found = 0

    @property
    def waiting(self) -> int:
        """How many there are."""
        return len(self._open)

    def load(self) -> None:
        """Take up what the ledger holds. In the ledger's thread."""
        for cid, value in self._setting.store.seen().items():
            uri, record = value.decode().split("\n")
            self._open[cid] = (uri, record, self._loop.time())

    def start(self, lister: Subjects) -> None:
        """Begin reading what is handed in here, and what the lister rejected."""
        own, bus = self._setting.own, self._setting.bus
        bus.read(own.stream("INBOX"), f"{own.prefix}.submit.>", f"ingest-{own.operator}-seen", self._take)
        bus.read(
            lister.stream("INBOX"), lister.rejected, f"ingest-{own.operator}-rejected", self._take_rejected
        )

    async def hand_in(self, data: bytes) -> None:
        """Hand in a record of this node's own, unless the log has it."""
        opened = read_record(data, self._setting.uri)
        if isinstance(opened, Opened) and not await self._setting.store.run(
            self._is_listed, opened.uri, str(opened.cid)
        ):
            await self._setting.bus.put(self._setting.own.submit(str(Cid.of(data))), data)

    async def _take(self, messages: Sequence[Incoming]) -> None:
        payloads = [message.data for message in messages]
        setting = self._setting
        opened = await setting.openers.open(payloads, setting.uri)
        await self._watch([each for each in opened if isinstance(each, Opened)])

    async def take_found(self, found: Sequence[Opened], position: int) -> None:
        """Take what this node's own source has found, up to a position."""
        await self._watch(found)
        # A crash here reads them again, and finds them kept.
        store = self._setting.store
        await store.run(store.keep_position, self._position, position)

    async def _watch(self, opened: Sequence[Opened]) -> None:
        seen = {str(Cid.of(each.proof)): (each.uri, str(each.cid)) for each in opened}
        fresh = await self._setting.store.run(self._keep, seen)
        for cid, (uri, record) in fresh.items():
            self._open.setdefault(cid, (uri, record, self._loop.time()))

    def _keep(self, seen: dict[str, tuple[str, str]]) -> dict[str, tuple[str, str]]:
        fresh = {
            cid: each for cid, each in seen.items() if cid not in self._open and not self._is_listed(*each)
        }
        if fresh:
            self._setting.store.keep_seen(
                {cid: f"{uri}\n{record}".encode() for cid, (uri, record) in fresh.items()}
            )
        return fresh

    def _is_listed(self, uri: str, record: str) -> bool:
        versions = self._setting.store.known([uri]).get(uri, ())
        return any(str(version.record) == record for version in versions)

    async def _take_rejected(self, messages: Sequence[Incoming]) -> None:
        await self._forget(cid for m in messages if (cid := rejected_cid(m.data)) is not None)

    def listed(self, entries: Iterable[Listed]) -> None:
        """Take note of what was listed."""
        if self._open:
            now = {(entry.uri, str(entry.record)) for entry in (each.entry for each in entries)}
            for cid, (uri, record, _) in list(self._open.items()):
                if (uri, record) in now:
                    self._open[cid] = (uri, record, -1.0)

    async def due(self) -> list[Fault]:
        """Return an accusation for each record that was withheld, and forget what is settled."""
        now = self._loop.time()
        settled = [cid for cid, (_, _, since) in self._open.items() if since < 0]
        late = [cid for cid, (_, _, since) in self._open.items() if 0 <= since < now - self.after]
        faults: list[Fault] = []
        for cid in late:
            uri, record, _ = self._open[cid]
            if not await self._setting.store.run(self._is_listed, uri, record):
                says = f"{uri} was handed in at this node, and is neither listed nor rejected"
                faults.append(Fault("withheld", uri, says, {"cid": record, "envelope": cid}))
        self.found += len(faults)
        await self._forget([*settled, *late])
        return faults

    async def _forget(self, cids: Iterable[str]) -> None:
        gone = [cid for cid in cids if self._open.pop(cid, None) is not None]
        if gone:
            await self._setting.store.run(self._setting.store.forget_seen, gone)


def rejected_cid(data: bytes) -> str | None:
    """Return the CID of what a rejection is about, if it can be read."""
    try:
        value = codec.decode(data)
    except Refused:
        return None
    cid = value.get("cid") if isinstance(value, dict) else None
    return cid if isinstance(cid, str) else None
