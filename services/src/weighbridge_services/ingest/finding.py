"""What a follower's own source finds, so that somebody misses a player whom the lister never lists."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Final

import structlog
from weighbridge.errors import Unavailable, WeighbridgeError
from weighbridge.ports import Given, Source

from weighbridge_services.ingest.opening import Opened, Refusal
from weighbridge_services.ingest.setting import Setting

SHARE: Final = 256
"""Records that are verified together at most."""
RETRY: Final = 0.25
LONGEST: Final = 60.0
"""Seconds between two tries of a source at most."""

log = structlog.get_logger()

Take = Callable[[list[Opened], int], Awaitable[None]]
"""Takes verified records of the game and the position behind them, and keeps both in one batch."""


class Finder:
    """Reads a follower's source; where it was is kept beside what it found.

    A source that fails costs the node its own watch, which health says, and never the following.
    """

    def __init__(self, setting: Setting, source: Source, name: str, take: Take) -> None:
        self.source = source
        self.position = 0
        self.found = 0
        self.refused: Counter[str] = Counter()
        """How many were no records of the game, or not authentic, by code, since the start."""
        self.trouble: str | None = None
        self._setting = setting
        self._name = f"source/{name}"
        self._take = take

    @property
    def name(self) -> str:
        """Under which name its position is kept."""
        return self._name

    async def run(self) -> None:
        """Read to the end, which a live source does not have; again after a while where it cannot be read now."""
        wait = RETRY
        try:
            while True:
                before = self.position
                try:
                    await self._read()
                    self.trouble = None
                    return
                except Unavailable as error:
                    self._fails(error)
                except WeighbridgeError as error:
                    self._fails(error)
                    return
                wait = RETRY if self.position > before else min(2 * wait, LONGEST)
                await asyncio.sleep(wait)
        finally:
            await self.source.close()

    def _fails(self, error: WeighbridgeError) -> None:
        self.trouble = f"the source {self.source.name} cannot be read: {error.code}: {error.message}"
        log.warning("source", game=self._setting.uri, code=error.code, says=error.message)

    async def _read(self) -> None:
        store = self._setting.store
        self.position = await store.run(store.position, self._name)
        share: list[bytes] = []
        async for number, item in self.source.read(self.position):
            if isinstance(item, Given):
                share.append(item.envelope)
            # A live source says with a pause that no more is there now; a recorded season's pauses are the lister's.
            if len(share) >= SHARE or not isinstance(item, Given):
                await self._hand_on(share, number)
                share = []
            self.position = number
        await self._hand_on(share, self.position)

    async def _hand_on(self, share: list[bytes], position: int) -> None:
        opened = await self._setting.openers.open(share, self._setting.uri, [True] * len(share))
        self.refused.update(each.code for each in opened if isinstance(each, Refusal))
        found = [each for each in opened if isinstance(each, Opened)]
        await self._take(found, position)
        self.found += len(found)
        self.trouble = None
