"""One game's dice witness: it reads the log, fetches what is awaited, and publishes each round once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, NamedTuple

import structlog
from weighbridge.chain import QUICKNET, SECOND
from weighbridge.contract import RuleSet
from weighbridge.errors import Unavailable
from weighbridge.fold.records import BEACON
from weighbridge.identity import decode_envelope, encode_envelope, sign_record
from weighbridge.ports import Beacon, BeaconNotYet

from weighbridge_services.dice_witness.decide import (
    FIRST,
    FoldWaits,
    Plan,
    Seen,
    Try,
    add,
    due_at,
    failed,
    plan,
    see,
)
from weighbridge_services.dice_witness.sources import Sources
from weighbridge_services.dice_witness.store import Store
from weighbridge_services.following import LogReader
from weighbridge_services.node import Node
from weighbridge_services.subjects import Subjects
from weighbridge_services.wire import SOON, Bus, Incoming, crash_point

AT_ONCE: Final = 8
"""Rounds that are fetched at the same time."""
LATE: Final = 60
"""Seconds after its time at which a round that could not be had makes the service unhealthy."""
LOOK: Final = 5.0
"""Seconds after which a plan is made anew though nothing came: the clock may have been set."""

log = structlog.get_logger()


class Setting(NamedTuple):
    """A game and the service's means: `now` is the time by which rounds are out."""

    node: Node
    game: str
    bus: Bus
    store: Store
    sources: Sources
    pool: ThreadPoolExecutor
    now: Callable[[], int]

    @property
    def own(self) -> Subjects:
        """This node's subjects for the game."""
        return self.node.subjects(self.game)

    def crash(self, point: str) -> None:
        """Die here if a test wants it: `dice-witness.<point>`."""
        crash_point(self.node, f"dice-witness.{point}")


class Witness:
    """The beacons of one game."""

    def __init__(self, setting: Setting, ruleset: RuleSet) -> None:
        self.setting = setting
        self._ruleset = ruleset
        self._reader = LogReader(setting.game)
        self.seen = Seen()
        self.kept: set[int] = set()
        """Rounds whose beacons are in the ledger."""
        self.published: set[int] = set()
        """Rounds whose beacons are in the stream, as far as this process has seen to it."""
        self.trouble: dict[int, str] = {}
        """Why a round could not be had, the last time."""
        self._tries: dict[int, Try] = {}
        self._at_work: dict[int, asyncio.Task[None]] = {}
        self._changed = asyncio.Event()
        self._changing = asyncio.Lock()
        self._loop_task: asyncio.Task[None] | None = None
        self._reconnects = setting.bus.reconnects
        self._behind = True

    @property
    def size(self) -> int:
        """How many entries were read."""
        return self._reader.size

    @property
    def at(self) -> int:
        """The listed time (µs) that the log has come to."""
        return self._reader.at

    # --- life ----------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Take up where the ledger ends."""
        loaded = await self.setting.store.run(self.setting.store.load, self._ruleset)
        self._reader, self.seen = loaded.reader, loaded.seen
        self.kept = set(loaded.kept)
        own = self.setting.own
        self.setting.bus.follow(own.stream("LOG"), own.log, self._reader.start, self._take, gather=SOON)
        self._loop_task = asyncio.create_task(self._run(), name=f"beacons of {self.setting.game}")

    async def stop(self) -> None:
        """Let go of what is under way: it is awaited still, and fetched after the next start."""
        tasks = [*self._at_work.values(), *([self._loop_task] if self._loop_task is not None else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # --- reading -------------------------------------------------------------------------------------------

    async def _take(self, messages: Sequence[Incoming]) -> None:
        entries = self._reader.take([each.data for each in messages])
        if not entries:
            return
        # BLS takes milliseconds a batch: off the event loop, and off the ledger's thread.
        loop = asyncio.get_running_loop()
        async with self._changing:
            before = self.seen
            after = await loop.run_in_executor(self.setting.pool, see, self._ruleset, before, entries)
            await self.setting.store.run(self.setting.store.keep, before, after, entries)
            # A crash here loses nothing: what is awaited is in the ledger, and fetched after the start.
            self.setting.crash("after-read")
            self.seen = after
            self._reader.keep(entries[-1])
        self.look()

    def look(self) -> None:
        """Have the plan made anew."""
        self._changed.set()

    async def await_too(self, waits: FoldWaits) -> None:
        """Take note of what this node's own fold waits for, which the log alone does not always say."""
        async with self._changing:
            if waits.size < self.size:
                return  # it has yet to read what we have: beacons that are listed, for one
            before, after = self.seen, add(self.seen, waits.rounds)
            await self.setting.store.run(self.setting.store.keep_awaited, before.awaited, after.awaited)
            self.seen = after
        if after is not before:
            self.look()

    # --- fetching ------------------------------------------------------------------------------------------

    @property
    def wanted(self) -> list[int]:
        """The rounds that are awaited and not in the stream yet, the oldest first."""
        return sorted(self.seen.awaited.keys() - self.published)

    async def _run(self) -> None:
        try:
            while True:
                await self._turn()
        except Exception as error:
            self.setting.bus.fail(error)

    async def _turn(self) -> None:
        self._changed.clear()
        if self._behind or self.setting.bus.reconnects != self._reconnects:
            await self._bring_up()
        found = self._plan()
        for number in found.rounds:
            task = asyncio.create_task(self._serve(number), name=f"round {number}")
            self._at_work[number] = task
        await self._sleep(found.wake)

    async def _bring_up(self) -> None:
        """Have in the stream what the ledger holds: a broker that was away may come back without its disk."""
        setting = self.setting
        self._behind = True
        reconnects = setting.bus.reconnects
        try:
            newest = max(self.kept, default=None)
            stream = setting.own.stream("RECORDS")
            if newest is not None and await setting.bus.last(stream, setting.own.beacon(newest)) is None:
                self.published.clear()
                for number in sorted(self.kept):
                    await self.vouch(number)
        except Unavailable as error:
            log.info("beacons again later", game=setting.game, code=error.code, says=error.message)
            return
        self._behind, self._reconnects = False, reconnects

    def _plan(self) -> Plan:
        chain = self.seen.chain
        if chain is None:
            return Plan((), None)
        wanted = [number for number in self.wanted if number not in self._at_work]
        return plan(chain, wanted, self._tries, self.setting.now(), AT_ONCE - len(self._at_work))

    async def _sleep(self, wake: int | None) -> None:
        if self._behind:
            wake = self.setting.now() + FIRST
        left = LOOK if wake is None else min(LOOK, max(0.0, (wake - self.setting.now()) / SECOND))
        try:
            async with asyncio.timeout(left):
                await self._changed.wait()
        except TimeoutError:
            return

    async def _serve(self, number: int) -> None:
        """Fetch and publish one round; what fails is tried again, later each time."""
        try:
            await self.vouch(number)
            self._tries.pop(number, None)
            self.trouble.pop(number, None)
        except Unavailable as error:
            self._put_off(number, error, early=isinstance(error, BeaconNotYet))
        except Exception as error:
            self.setting.bus.fail(error)
        finally:
            del self._at_work[number]
            self.look()

    def _put_off(self, number: int, error: Unavailable, *, early: bool) -> None:
        if not early and self.trouble.get(number) != error.message:
            log.warning(
                "a beacon later", game=self.setting.game, round=number, code=error.code, says=error.message
            )
        self.trouble[number] = f"{error.code}: {error.message}"
        chain = self.seen.chain or QUICKNET
        self._tries[number] = failed(chain, number, self._tries.get(number), self.setting.now(), early=early)

    async def vouch(self, number: int) -> bytes:
        """Return the published record of a round's beacon. Raises Unavailable."""
        store = self.setting.store
        envelope = await store.run(store.beacon, number)
        if envelope is None:
            envelope = await self._fetch(number)
        await self.setting.bus.publish_once(self.setting.own.beacon(number), envelope)
        # A crash here publishes again after the start, which the stream answers with: it is there.
        self.setting.crash("after-publish")
        self.published.add(number)
        return envelope

    async def _fetch(self, number: int) -> bytes:
        chain = self.seen.chain or QUICKNET
        beacon = await self.setting.sources.fetch(chain, number)
        # A crash here loses a fetched beacon, which anybody has: it is fetched again.
        self.setting.crash("after-fetch")
        envelope = self.record_of(beacon)
        await self.setting.store.run(self.setting.store.keep_beacon, number, envelope)
        self.kept.add(number)
        # A crash here leaves a beacon that only the ledger knows: the start publishes it, as long as it is awaited.
        self.setting.crash("after-persist")
        log.info("beacon", game=self.setting.game, round=number)
        return envelope

    def record_of(self, beacon: Beacon) -> bytes:
        """Return the envelope of a beacon's record, the same one each time."""
        game = self.setting.game
        value: dict[str, Any] = {"game": game, "round": beacon.round, "signature": beacon.signature}
        if beacon.chain != QUICKNET.hash:
            value["chain"] = beacon.chain
        records = self.setting.node.keys.records
        return encode_envelope(sign_record(records, game, BEACON, str(beacon.round), value))

    async def beacon_in(self, number: int) -> dict[str, Any] | None:
        """Return the value of a round's record, if the ledger has it."""
        data = await self.setting.store.run(self.setting.store.beacon, number)
        return None if data is None else decode_envelope(data).value

    # --- health --------------------------------------------------------------------------------------------

    def overdue(self) -> tuple[int, float]:
        """Return the oldest round that is out and not published, and for how long (s) that has been so; or (0, 0)."""
        chain, now = self.seen.chain, self.setting.now()
        out = [number for number in self.wanted if chain is not None and due_at(chain, number) <= now]
        if chain is None or not out:
            return 0, 0.0
        return out[0], (now - due_at(chain, out[0])) / SECOND
