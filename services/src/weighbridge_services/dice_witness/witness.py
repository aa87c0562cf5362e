"""One game's dice witness: of what the log says, it fetches the rounds that are awaited."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Final

import structlog
from weighbridge.chain import QUICKNET, SECOND
from weighbridge.contract import RuleSet
from weighbridge.errors import Unavailable
from weighbridge.fold.records import BEACON
from weighbridge.identity import decode_envelope, encode_envelope, sign_record
from weighbridge.log.entries import Listed
from weighbridge.ports import Beacon, BeaconNotYet

from weighbridge_services.dice_witness.decide import FoldWaits, Seen, Try, add, due_at, failed, plan, see
from weighbridge_services.dice_witness.sources import Sources
from weighbridge_services.dice_witness.store import Store
from weighbridge_services.following.working import LogWorker, Means

AT_ONCE: Final = 8
"""Rounds that are fetched at the same time."""
LATE: Final = 60
"""Seconds after its time at which a round that could not be had makes the service unhealthy."""

log = structlog.get_logger()


class Witness(LogWorker[Seen]):
    """The beacons of one game."""

    def __init__(
        self, means: Means, store: Store, ruleset: RuleSet, sources: Sources, now: Callable[[], int]
    ) -> None:
        """`now`: the time by which rounds are out."""
        super().__init__(means, store, ruleset, Seen())
        self.store = store
        self.sources = sources
        self.now = now
        self.kept: set[int] = set()
        """Rounds whose beacons are in the ledger."""
        self.trouble: dict[int, str] = {}
        """Why a round could not be had, the last time."""
        self._tries: dict[int, Try] = {}

    async def start(self) -> None:
        """Take up where the ledger ends."""
        self.kept = set(await self.means.run(self.store.rounds))
        await super().start()

    async def see(self, state: Seen, entries: Sequence[Listed]) -> Seen:
        """Return which rounds are awaited after some more entries."""
        # BLS takes milliseconds a batch: off the event loop, and off the ledger's thread.
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self.sources.pool, see, self.ruleset, state, entries)

    async def await_too(self, waits: FoldWaits) -> None:
        """Take note of what this node's own fold waits for, which the log alone does not always say."""
        async with self.changing:
            if waits.size < self.size:
                return  # it has yet to read what we have: beacons that are listed, for one
            before, after = self.state, add(self.state, waits.rounds)
            await self.means.run(self.store.keep_awaited, before.awaited, after.awaited)
            self.state = after
        if after is not before:
            self.look()

    # --- fetching ------------------------------------------------------------------------------------------

    @property
    def wanted(self) -> list[int]:
        """The rounds that are awaited and not kept yet, the oldest first."""
        return sorted(self.state.awaited.keys() - self.kept)

    def turn(self) -> float | None:
        """Begin to fetch what is out; return when the next round is."""
        chain, now = self.state.chain, self.now()
        if chain is None:
            return None
        wanted = [number for number in self.wanted if number not in self.at_work]
        found = plan(chain, wanted, self._tries, now, AT_ONCE - len(self.at_work))
        for number in found.rounds:
            self.begin(number, self._fetch(number))
        return None if found.wake is None else (found.wake - now) / SECOND

    async def _fetch(self, number: int) -> None:
        """Fetch and keep one round; what fails is tried again, later each time."""
        try:
            beacon = await self.sources.fetch(self.state.chain or QUICKNET, number)
        except Unavailable as error:
            self._put_off(number, error, early=isinstance(error, BeaconNotYet))
            return
        # A crash here loses a fetched beacon, which anybody has: it is fetched again.
        self.means.crash("after-fetch")
        letter = self.means.own.beacon(number), self.record_of(beacon)
        async with self.changing:
            await self.conclude(self.state, self.store.keep_beacon, number, *letter)
            self.kept.add(number)
        self._tries.pop(number, None)
        self.trouble.pop(number, None)
        log.info("beacon", game=self.means.game, round=number)

    def _put_off(self, number: int, error: Unavailable, *, early: bool) -> None:
        if not early and self.trouble.get(number) != error.message:
            log.warning(
                "a beacon later", game=self.means.game, round=number, code=error.code, says=error.message
            )
        self.trouble[number] = f"{error.code}: {error.message}"
        chain = self.state.chain or QUICKNET
        self._tries[number] = failed(chain, number, self._tries.get(number), self.now(), early=early)

    def record_of(self, beacon: Beacon) -> bytes:
        """Return the envelope of a beacon's record, the same one each time."""
        game = self.means.game
        value: dict[str, Any] = {"game": game, "round": beacon.round, "signature": beacon.signature}
        if beacon.chain != QUICKNET.hash:
            value["chain"] = beacon.chain
        records = self.means.node.keys.records
        return encode_envelope(sign_record(records, game, BEACON, str(beacon.round), value))

    async def beacon_in(self, number: int) -> dict[str, Any] | None:
        """Return the value of a round's record, if the ledger has it."""
        data = await self.means.run(self.store.beacon, number)
        return None if data is None else decode_envelope(data).value

    # --- health --------------------------------------------------------------------------------------------

    def overdue(self) -> tuple[int, float]:
        """Return the oldest round that is out and not kept here, and for how long (s) that has been so; or (0, 0)."""
        chain, now = self.state.chain, self.now()
        out = [number for number in self.wanted if chain is not None and due_at(chain, number) <= now]
        if chain is None or not out:
            return 0, 0.0
        return out[0], (now - due_at(chain, out[0])) / SECOND
