"""A game on a host: a GM, two players, and a source that reads them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from atproto_host import Host, hosting
from repo_making import ALICE, BOB, MOVES, Key, Made
from weighbridge.ports import Given
from weighbridge.repos import OpenedRecord, open_carried
from weighbridge_atproto import following, open_firehose
from weighbridge_atproto.sources import Firehose

GM = "did:plc:" + "g" * 24
GAME = f"at://{GM}/town.delve.game/one"
NOW = time.time_ns() // 1000 - 3_600_000_000
PATIENCE = 60.0
"""Seconds after which what a test waits for counts as not coming."""


def move(text: str, game: str = GAME) -> dict[str, str]:
    return {"$type": MOVES, "game": game, "text": text}


class Play:
    """A host with a GM and two players, and a source that reads it."""

    def __init__(self, host: Host, folder: Path) -> None:
        self.host = host
        self.folder = folder
        self.gm = host.account(Made(GM, Key(number=3), NOW))
        self.alice = host.account(Made(ALICE, Key(number=5), NOW))
        self.bob = host.account(Made(BOB, Key("P-256", number=6), NOW))
        self.position = 0
        self.source: Firehose = self.opened()
        self._reading: Any = None

    def opened(self, **settings: Any) -> Firehose:
        given = {"game": GAME, "collections": [MOVES], "host": self.host.url, "directory": self.host.url,
                 "development": True, **settings}  # fmt: skip
        source = open_firehose(given, str(self.folder))
        source.stream._backoff = (0.01, 0.05)
        source.stream._silence = PATIENCE
        return source

    async def next(self, count: int = 1, within: float = PATIENCE) -> list[OpenedRecord]:
        """The next so many records that the source gives."""
        if self._reading is None:
            self._reading = self.source.read(self.position)
        found: list[OpenedRecord] = []
        async with asyncio.timeout(within):
            while len(found) < count:
                self.position, item = await anext(self._reading)
                if isinstance(item, Given):
                    found.append(open_carried(item.envelope))
        return found

    async def texts(self, count: int = 1) -> list[str | None]:
        return [each.value.get("text") for each in await self.next(count)]

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not holds():
                await asyncio.sleep(0.005)

    async def again(self) -> None:
        """Close the source and open it where it was, as a node that is started anew."""
        await self.stop()
        self.source, self._reading = self.opened(), None

    async def stop(self) -> None:
        if self._reading is not None:
            await self._reading.aclose()
        await self.source.close()

    @property
    def refused(self) -> dict[str, int]:
        return dict(self.source.refused)


def play(work: Callable[[Play], Awaitable[None]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "RETRY", 0.01)
    monkeypatch.setattr(following, "CATCH_UP", 0.05)

    async def whole() -> None:
        async with hosting() as host:
            at = Play(host, tmp_path)
            await host.commit(at.gm, {"town.delve.game/one": {"$type": "town.delve.game", "text": "root"}})
            try:
                await work(at)
            finally:
                await at.stop()

    asyncio.run(whole())
