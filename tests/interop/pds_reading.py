"""A source that reads a PDS for a game, for tests of what it finds there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pds_running import Account, Pds
from weighbridge.ports import Given
from weighbridge.repos import OpenedRecord, open_carried
from weighbridge_atproto import open_firehose
from weighbridge_atproto.sources import Firehose

MOVES = "town.delve.move"
ROOT = "town.delve.root"
PATIENCE = 120.0
"""Seconds after which what a test waits for counts as not coming."""

_names = iter(range(1000))


def named() -> str:
    return f"player{next(_names)}"


class Reading:
    """A source that reads a PDS for the game of a GM."""

    def __init__(self, pds: Pds, gm: Account, folder: Path) -> None:
        self.pds = pds
        self.game = f"at://{gm.did}/{ROOT}/one"
        self.settings = {
            "game": self.game, "collections": ["town.delve.*"], "host": pds.url, "directory": pds.directory,
            "development": True,
        }  # fmt: skip
        self.folder = folder
        self.position = 0
        self.open()

    async def __aenter__(self) -> Reading:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def open(self) -> None:
        self.source: Firehose = open_firehose(self.settings, str(self.folder))
        self.source.stream._backoff = (0.05, 0.2)
        self._items: Any = None

    async def close(self) -> None:
        try:
            if self._items is not None:
                await self._items.aclose()
        finally:
            # Left open, its client would fail the test that comes next as well.
            self._items = None
            await self.source.close()

    async def next(self, count: int, within: float = PATIENCE) -> list[OpenedRecord]:
        if self._items is None:
            self._items = self.source.read(self.position)
        found: list[OpenedRecord] = []
        try:
            async with asyncio.timeout(within):
                while len(found) < count:
                    self.position, item = await anext(self._items)
                    if isinstance(item, Given):
                        found.append(open_carried(item.envelope))
        except TimeoutError:
            said = [each.value and each.value.get("text") for each in found]
            raise AssertionError(f"{len(found)} of {count} came: {said}; refused {self.refused}") from None
        return found

    async def texts(self, count: int) -> list[str | None]:
        return [each.value.get("text") for each in await self.next(count)]

    async def until(self, holds: Callable[[], bool]) -> None:
        if self._items is None:
            await self.next(0)
        async with asyncio.timeout(PATIENCE):
            while not holds():
                await asyncio.sleep(0.02)

    def move(self, text: str) -> dict[str, str]:
        return {"$type": MOVES, "game": self.game, "text": text}

    @property
    def refused(self) -> dict[str, int]:
        return dict(self.source.following.refused)


async def off(work: Callable[..., Any], *arguments: Any) -> Any:
    """Do something that blocks, beside the event loop."""
    return await asyncio.to_thread(work, *arguments)
