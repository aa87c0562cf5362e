"""What a follower's own source finds, so that somebody misses a player whom the lister never lists."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import structlog
from weighbridge.errors import Unavailable, WeighbridgeError
from weighbridge.identity.envelope_errors import OtherGame
from weighbridge.ports import Given, Source

from weighbridge_services.ingest.opening import Opened, Refusal
from weighbridge_services.ingest.setting import Setting
from weighbridge_services.ingest.sources.configured import position_of

SHARE: Final = 256
"""Records that are verified together at most."""
RETRY: Final = 0.25
LONGEST: Final = 60.0
"""Seconds between two tries of a source at most."""

log = structlog.get_logger()

Open = Callable[[], Source]
Take = Callable[[list[tuple[Opened, int | None]], int], Awaitable[int]]
"""Takes verified records, each with the time (µs) of its listing in a recorded season, and the position behind them;
keeps all of it in one batch. Returns how many were of another game."""


class Finder:
    """Reads a follower's source; where it was is kept beside what it found.

    A source that fails costs the node its own watch, which health says, and never the following.
    """

    def __init__(self, setting: Setting, open_source: Open, take: Take) -> None:
        """Take a way to open the source, which is opened at once. Raises what the plugin says of its settings."""
        self._open = open_source
        self.source = open_source()
        self._closed = False
        self.position = 0
        self.found = 0
        self.refused: Counter[str] = Counter()
        """How many were no records of the game, or not authentic, by code, since the start."""
        self.trouble: str | None = None
        """Why it is not read now; its end is no trouble."""
        self.ended = False
        self._setting = setting
        self._name = position_of(setting)
        self._take = take

    def health(self) -> dict[str, Any]:
        """Return which source is read, how far, what it found, and by code what was refused of it.

        A source that counts what it does not believe itself has that in `refused`.
        """
        theirs: Mapping[str, int] = getattr(self.source, "refused", {})
        return {
            "source": self.source.name, "source_read": self.position, "source_found": self.found,
            "source_ended": self.ended, "refused": dict(self.refused + Counter(theirs)),
        }  # fmt: skip

    async def run(self) -> None:
        """Read to the end, which a live source does not have; again after a while where it cannot be read now."""
        wait = RETRY
        while True:
            before = self.position
            try:
                await self._read_once()
                return
            except Unavailable as error:
                self._fails(error)
            except WeighbridgeError as error:
                self._fails(error)
                return
            wait = RETRY if self.position > before else min(2 * wait, LONGEST)
            await asyncio.sleep(wait)

    async def _read_once(self) -> None:
        if self._closed:
            self.source = self._open()
            self._closed = False
        try:
            await self._read()
        finally:
            self._closed = True
            await self.source.close()

    def _fails(self, error: WeighbridgeError) -> None:
        self.trouble = f"the source {self.source.name} cannot be read: {error.code}: {error.message}"
        log.warning("source", game=self._setting.uri, code=error.code, says=error.message)

    async def _read(self) -> None:
        store = self._setting.store
        self.position = await store.run(store.position, self._name)
        share: list[Given] = []
        async for number, item in self.source.read(self.position):
            if isinstance(item, Given):
                share.append(item)
            # A live source says with a pause that no more is there now; a recorded season's pauses are the lister's.
            if len(share) >= SHARE or not isinstance(item, Given):
                await self._hand_on(share, number)
                share = []
            self.position = number
        await self._hand_on(share, self.position)
        self.ended = True

    async def _hand_on(self, share: list[Given], position: int) -> None:
        setting = self._setting
        opened = await setting.openers.open(
            [each.envelope for each in share], setting.uri, [True] * len(share)
        )
        self.refused.update(each.code for each in opened if isinstance(each, Refusal))
        found = [
            (each, given.at if setting.recorded else None)
            for each, given in zip(opened, share, strict=True)
            if isinstance(each, Opened)
        ]
        strays = await self._take(found, position)
        if strays:
            self.refused[OtherGame.code] += strays
        self.found += len(found) - strays
        self.trouble = None
