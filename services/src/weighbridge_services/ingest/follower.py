"""A follower: it verifies what the lister publishes, keeps and republishes it, and cosigns what it holds."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from functools import partial
from typing import Any, Final

import structlog
from weighbridge.errors import Unavailable
from weighbridge.identity import OperatorRecord, encode_envelope
from weighbridge.log.entries import Listed

from weighbridge_services.ending import end_tasks
from weighbridge_services.folding.statements import sign_finding
from weighbridge_services.ingest.catching_up import published_beyond
from weighbridge_services.ingest.errors import ListerUnknown, Stopping
from weighbridge_services.ingest.finding import Finder
from weighbridge_services.ingest.following import (
    Fault,
    Reached,
    Taken,
    check_follows,
    forged,
    forked,
    may_cosign,
    stray,
)
from weighbridge_services.ingest.lister import operator_envelope
from weighbridge_services.ingest.notes import make_receipt, read_checkpoint
from weighbridge_services.ingest.opening import Refusal
from weighbridge_services.ingest.ownlog import OwnLog
from weighbridge_services.ingest.proving import Proving
from weighbridge_services.ingest.receipts import Receipts
from weighbridge_services.ingest.setting import Setting
from weighbridge_services.ingest.sources.configured import open_source, plugin_of
from weighbridge_services.ingest.taking import take_all
from weighbridge_services.ingest.watching import ClockWatch
from weighbridge_services.ingest.withholding import Withholding
from weighbridge_services.wire import Again, Incoming

AUDIT: Final = "ingest"
"""As whose its findings are published."""
SECOND: Final = 1_000_000
BATCH: Final = 512
TICK: Final = 0.1
"""Seconds between two looks at what waits for its time."""

log = structlog.get_logger()


class Follower:
    """One game, followed."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self._lister = setting.game.lister or ""
        self._theirs = setting.node.subjects(setting.uri, self._lister)
        self._own = OwnLog(setting.bus, setting.own, setting.store)
        self._receipts = Receipts(setting)
        self.withholding = Withholding(setting)
        self.finder: Finder | None = None
        """What reads this node's own source, if its configuration names one."""
        self.proving = Proving(setting)
        self._clock = ClockWatch(setting)
        self._lock = asyncio.Lock()
        self._last: Listed | None = None
        self._operators: dict[str, OperatorRecord] = {}
        self._waiting: dict[int, Reached] = {}
        self._reconnects = setting.bus.reconnects
        self._tasks: list[asyncio.Task[None]] = []
        self._stopping = asyncio.Event()
        self._seen = 0
        self._future: str | None = None
        self._unknown = False
        self.fault: Fault | None = None

    # --- life ----------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Take up where the ledger ends. Raises AnotherLister, BrokerUnavailable, and what a source's settings do."""
        if plugin_of(self.setting) is not None:
            opened = partial(open_source, self.setting)
            self.finder = Finder(self.setting, opened, self.withholding.take_found)
        self.proving.open()
        await self.setting.store.run(self._load)
        await self._catch_up()
        await self._own.bring_up()
        await self._receipts.bring_up()
        bus, records = self.setting.bus, self._theirs.stream("RECORDS")
        # From the last entry taken on: a lister that has changed its mind about it is found out at once.
        bus.follow(
            self._theirs.stream("LOG"),
            self._theirs.log,
            lambda: self.setting.store.size,
            self._take_entries,
            batch=BATCH,
        )
        bus.follow(
            records, f"{self._theirs.prefix}.checkpoint.*", self._receipts.position, self._take_checkpoints
        )
        self.withholding.start(self._theirs)
        self._spawn(self._clock.run())
        self._spawn(self._watch())
        self._spawn(self._introduce())
        self._spawn(self.proving.run())
        if self.finder is not None:
            self._spawn(self.finder.run())

    async def stop(self) -> None:
        """Stop watching."""
        self._stopping.set()
        await end_tasks(self._tasks)
        await self.proving.close()

    def health(self) -> dict[str, Any]:
        """Return how it is."""
        size, unhealthy = self.setting.store.size, [each for each in (self._future, self._clock.off) if each]
        if self._unknown:
            unhealthy.append(f"{ListerUnknown.code}: the lister's operator record is not in the log yet")
        if self.fault is not None:
            unhealthy = [f"it follows no more: {self.fault.code}: {self.fault.says}"]
        if (doubted := self.proving.doubted()) is not None:
            unhealthy.append(f"no receipt from entry {doubted} on: its key is in doubt, see the log")
        if self.finder is not None and self.finder.trouble is not None:
            unhealthy.append(self.finder.trouble)
        return {
            "role": "follower",
            "size": size,
            "checkpoint": self._receipts.size,
            "lag": max(0, self._seen - size),
            **self.withholding.health(),
            **self.proving.health(),
            **({} if self.finder is None else self.finder.health()),
            "unhealthy": unhealthy,
        }

    def _load(self) -> None:
        store = self.setting.store
        self._last = store.log.last
        self._operators = store.operators()
        self._receipts.load()
        self.withholding.load()
        self.proving.load()
        self._advance()

    def _advance(self) -> None:
        if self._last is not None:
            self.setting.clock.advance(self._last.entry.at + SECOND)

    async def _introduce(self) -> None:
        """Hand in this node's operator record, unless the log has it."""
        data = operator_envelope(self.setting)
        await self.withholding.hand_in(data)

    async def _catch_up(self) -> None:
        """Take back from this node's own stream what a lost or restored ledger lacks, verified as the lister's.

        What does not hold is left to `bring_up`, which says that the stream is not this ledger's.
        """
        async for messages in published_beyond(self.setting):
            taken = await take_all(self.setting.openers, messages, self.setting.uri)
            await self.proving.ask(taken)
            fresh, fault = await self._sorted(taken)
            if fresh:
                await self._persist(fresh)
                log.info(
                    "taken back from the own stream", game=self.setting.uri, size=self.setting.store.size
                )
            if fault is not None:
                return

    # --- entries -------------------------------------------------------------------------------------------

    async def _take_entries(self, messages: Sequence[Incoming]) -> None:
        await self._park()
        taken = await take_all(self.setting.openers, [each.data for each in messages], self.setting.uri)
        await self.proving.ask(taken)
        async with self._lock:
            fresh, fault = await self._sorted(taken)
            fresh, false = self.proving.contradicted(fresh)
            fault = false or fault
            if fresh:
                await self._keep(fresh)
            if fault is not None:
                await self._accuse(fault)
            await self._consider()

    async def _sorted(self, taken: Sequence[Taken | Fault]) -> tuple[list[Taken], Fault | None]:
        """Return the entries that follow, up to the first that does not, and what is wrong with that one."""
        fresh: list[Taken] = []
        last = self._last
        for each in taken:
            if isinstance(each, Fault):
                return fresh, each
            size = last.entry.seq + 1 if last is not None else 0
            if each.listed.entry.seq < size:
                fault = await self._same(each.listed, fresh)
                if fault is not None:
                    return fresh, fault
                continue
            if each.listed.entry.seq > size and not fresh and each.listed.entry.game == self.setting.uri:
                raise Again(f"entry {size} was due, and this is {each.listed.entry.seq}")
            fault = check_follows(last, each.listed, self.setting.uri) or await self._strays(each, fresh)
            if fault is not None:
                return fresh, fault
            fresh.append(each)
            last = each.listed
        return fresh, None

    async def _strays(self, taken: Taken, fresh: Sequence[Taken]) -> Fault | None:
        if taken.opened is None or not taken.opened.is_stray:
            return None
        uri = taken.opened.uri
        if any(each.listed.entry.uri == uri and each.listed.record is not None for each in fresh):
            return None
        listed = await self.setting.store.run(self.setting.store.have_versions, {uri})
        return None if listed else stray(taken.listed)

    async def _same(self, listed: Listed, fresh: Sequence[Taken]) -> Fault | None:
        seq = listed.entry.seq
        start = self.setting.store.size
        if seq >= start:
            own = fresh[seq - start].listed
        else:
            (own,) = await self.setting.store.run(self.setting.store.listed, seq, seq + 1)
        return None if own.data == listed.data else forked(own, listed)

    async def _keep(self, fresh: Sequence[Taken]) -> None:
        # A crash before this loses nothing: reading begins where the ledger ends.
        self.setting.crash("after-verify")
        entries = await self._persist(fresh)
        # A crash here leaves entries that only the ledger knows: the start publishes them.
        self.setting.crash("after-persist")
        await self._own.append(entries, [each.proof for each in fresh])
        # A crash here leaves checkpoints without a receipt: they are read again.
        self.setting.crash("after-append")

    async def _persist(self, fresh: Sequence[Taken]) -> list[Listed]:
        entries = [each.listed for each in fresh]
        operators = await self.proving.keep(entries)
        self._last = entries[-1]
        self._operators |= {each.did: each for each in operators}
        self._advance()
        self.withholding.listed(entries)
        return entries

    # --- checkpoints ---------------------------------------------------------------------------------------

    async def _take_checkpoints(self, messages: Sequence[Incoming]) -> None:
        await self._park()
        async with self._lock:
            lister = self._operators.get(self._lister)
            self._unknown = lister is None
            if lister is None:
                raise ListerUnknown(f"the operator record of the lister {self._lister} is not in the log yet")
            for message in messages:
                await self._read(message.data, lister)
                self._receipts.read = max(self._receipts.read, message.metadata.sequence.stream)
            await self._consider()

    async def _read(self, data: bytes, lister: OperatorRecord) -> None:
        found = read_checkpoint(data, self.setting.uri, lister)
        if isinstance(found, Refusal):
            log.warning("no checkpoint", game=self.setting.uri, code=found.code, says=found.says)
            return
        checkpoint, note = found
        reached = Reached(checkpoint.size, checkpoint.root, note)
        self._seen = max(self._seen, reached.size)
        if not await self.setting.store.run(self._receipts.knows, reached):
            self._waiting[reached.size] = reached

    async def _consider(self) -> None:
        """Compare the lister's checkpoints with the log as verified here, and cosign the newest that may be."""
        late = None if self.fault is not None else await self.proving.late_fault()
        if late is not None:
            await self._accuse(late)
            return
        now, doubted = self.setting.clock.now(), self.proving.doubted()
        size = self.setting.store.size if doubted is None else doubted
        ready = [self._waiting[each] for each in sorted(self._waiting) if each <= size]
        for reached in ready:
            root = await self.setting.store.run(self.setting.store.log.root, reached.size)
            if root != reached.root:
                known = await self.setting.store.run(self.setting.store.checkpoints.at, reached.size)
                await self._accuse(forged(self.setting.uri, reached, root, known.note if known else None))
                return
        self._future = None
        for reached in reversed(ready):
            # One receipt for all of them: of what is long past an older one would say nothing that this does not.
            if await self._cosign(reached, now):
                break

    async def _cosign(self, reached: Reached, now: int) -> bool:
        (last,) = await self.setting.store.run(self.setting.store.listed, reached.size - 1, reached.size)
        if self._clock.off is not None:
            return False
        if not may_cosign(last.entry.at, now):
            self._future = (
                f"entry {reached.size - 1} is listed {(last.entry.at - now) / 1e6:.1f} s in the future"
            )
            return False
        if self.fault is not None or reached.size <= self._receipts.size:
            return True
        keys = self.setting.node.keys
        receipt = make_receipt(
            keys.records, keys.log, self.setting.node.name, self.setting.uri, reached.note, now // SECOND,
            self.proving.unproved(reached.size),
        )  # fmt: skip
        await self._receipts.publish(reached, receipt)
        self._waiting = {size: each for size, each in self._waiting.items() if size > reached.size}
        return True

    # --- faults --------------------------------------------------------------------------------------------

    async def _accuse(self, fault: Fault) -> None:
        """Publish what the lister did, and follow it no more."""
        self.fault = fault
        log.error("the log is followed no more", game=self.setting.uri, code=fault.code, says=fault.says)
        await self._publish(fault)

    async def _publish(self, fault: Fault) -> None:
        keys, own = self.setting.node.keys, self.setting.own
        finding = sign_finding(
            keys.records, self.setting.uri, AUDIT, fault.code, fault.about, fault.says, **fault.detail
        )
        await self.setting.bus.publish_once(own.finding(AUDIT, str(finding.cid)), encode_envelope(finding))

    async def _park(self) -> None:
        """Take nothing from a lister at fault."""
        while self.fault is not None:
            if self._stopping.is_set() or self.setting.bus.stopping:
                raise Stopping("the service stops")
            await asyncio.sleep(TICK)

    # --- tasks ---------------------------------------------------------------------------------------------

    async def _watch(self) -> None:
        while not self._stopping.is_set():
            await asyncio.sleep(TICK)
            try:
                async with self._lock:
                    await self._look()
            except Unavailable as error:
                log.info("later", game=self.setting.uri, code=error.code)

    async def _look(self) -> None:
        if self.setting.bus.reconnects != self._reconnects:
            # The broker was away, and may have come back without its disk.
            reconnects = self.setting.bus.reconnects
            await self._own.bring_up()
            await self._receipts.bring_up()
            self._reconnects = reconnects
        elif self._own.behind:
            await self._own.bring_up()
        if self.fault is None:
            await self._consider()
        await self.withholding.due(self._publish)

    def _spawn(self, work: Awaitable[None]) -> None:
        self._tasks.append(asyncio.ensure_future(self._watched(work)))

    async def _watched(self, work: Awaitable[None]) -> None:
        try:
            await work
        except Exception as error:
            self.setting.bus.fail(error)
