"""A game that this node lists: the writer, what it reads, and what it watches."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Sequence
from pathlib import Path
from typing import Any, Final

import structlog
from weighbridge.contract import RuleSet
from weighbridge.errors import Refused, Unavailable
from weighbridge.identity import encode_envelope, envelope_from_json
from weighbridge.ports import Source, Told

from weighbridge_services.ending import end_tasks
from weighbridge_services.ingest.arrivals import CONFIGURED, Arrival
from weighbridge_services.ingest.driver import Driver
from weighbridge_services.ingest.errors import BadSource
from weighbridge_services.ingest.handing import handover_to, to_list
from weighbridge_services.ingest.intake import Intake
from weighbridge_services.ingest.lister import Lister
from weighbridge_services.ingest.setting import Setting
from weighbridge_services.ingest.sources.configured import open_source, plugin_of, position_of
from weighbridge_services.ingest.watching import DueWatch

RETRY: Final = 0.25

log = structlog.get_logger()


class Listing:
    """One game, listed."""

    def __init__(self, setting: Setting, ruleset: RuleSet) -> None:
        self.setting = setting
        self.lister = Lister(setting, ruleset)
        self.driver: Driver | None = None
        self._dues = DueWatch(setting, self.lister.set_dues)
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Take up where the ledger ends, list what a new log begins with, and read. Raises what stands in the way."""
        first = self._first_records()
        source = None if plugin_of(self.setting) is None else open_source(self.setting)
        handover = handover_to(self.setting)
        self.lister.took_over = handover is not None
        await self.lister.clock.look()
        await self.lister.start()
        if handover is not None:
            # Before anything else: what hands the log over counts only where the old log ends.
            await self._list(await to_list(self.setting, handover))
        Intake(self.lister).start()
        self._spawn(self._begin(first, source))
        self._spawn(self._dues.run())
        self._spawn(self.lister.clock.run())
        self._spawn(self._report_failure())

    async def stop(self) -> None:
        """Finish the batch at hand."""
        await end_tasks(self._tasks)
        await self.lister.stop()

    def health(self) -> dict[str, Any]:
        """Return how it is."""
        lister, checkpoints = self.lister, self.lister.checkpoints
        unhealthy = [each for each in (lister.trouble, lister.clock.off) if each]
        return {
            "role": "lister",
            "size": lister.size,
            "checkpoint": checkpoints.size,
            "lag": lister.size - checkpoints.size,
            "rejected": dict(lister.answering.rejected),
            "flooded_waiting": lister.leftovers.waiting,
            "flooded_lost": lister.leftovers.lost,
            "clock_checked": self.lister.clock.checked,
            "source_read": self.driver.read if self.driver is not None else 0,
            "refused": self.driver.refused if self.driver is not None else {},
            "unhealthy": unhealthy,
        }

    # --- beginnings ----------------------------------------------------------------------------------------

    async def _begin(self, first: list[bytes], source: Source | None) -> None:
        """List the root and this node's operator record, then what the source has."""
        if first and source is not None:
            await self._begin_time(source)
        own = [*first, self.lister.own_operator()]
        if first:
            await self._list(own)
        else:
            self._spawn(self._list(own))  # the root comes from the source, or is handed in
        if source is not None:
            self.driver = Driver(self.lister, source, position_of(self.setting))
            await self.driver.run()

    async def _begin_time(self, source: Source) -> None:
        """Let a recorded season begin at the time of its first line, root included."""
        if not self.setting.recorded or self.lister.size:
            return
        async for _, item in source.read(0):
            if not isinstance(item, Told) and item.at is not None:
                self.setting.clock.advance(item.at)
            return

    async def _list(self, envelopes: Sequence[bytes]) -> None:
        while envelopes and not self.lister.stopping:
            try:
                await self.lister.hand_in([Arrival(data, CONFIGURED) for data in envelopes])
                return
            except Unavailable:
                await asyncio.sleep(RETRY)

    def _first_records(self) -> list[bytes]:
        file = self.setting.game.source.get("root")
        if not isinstance(file, str):
            return []
        path = Path(self.setting.node.folder) / file
        try:
            return [encode_envelope(envelope_from_json(json.loads(path.read_text(encoding="utf-8"))))]
        except (OSError, ValueError) as error:
            raise BadSource(f"{path} holds no envelope of the root: {error}") from error
        except Refused as refused:
            raise BadSource(f"{path} holds no envelope of the root: {refused.message}") from refused

    # --- tasks ---------------------------------------------------------------------------------------------

    def _spawn(self, work: Awaitable[None]) -> None:
        self._tasks.append(asyncio.ensure_future(self._watched(work)))

    async def _watched(self, work: Awaitable[None]) -> None:
        try:
            await work
        except Exception as error:
            self.setting.bus.fail(error)

    async def _report_failure(self) -> None:
        await self.lister.failed.wait()
        if self.lister.failure is not None:
            raise self.lister.failure
