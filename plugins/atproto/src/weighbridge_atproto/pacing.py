"""How much of a stream may wait to be kept, and how fast it may come: whoever runs a host says how much it sends."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple

MOST: Final = 64_000_000
"""Bytes of one stream that wait in memory."""


class Pace(NamedTuple):
    """So many bytes a second in the long run, and so many at once."""

    bytes_a_second: float
    burst: float


FOUND: Final = Pace(1_000_000, 64_000_000)
"""Of a host that was found, and that nobody chose: it can be slow for its own accounts alone."""


class Backlog:
    """What of a stream waits. `clock`: seconds that only grow."""

    def __init__(
        self,
        pace: Pace | None = None,
        most: int = MOST,
        clock: Callable[[], float] | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.waiting = 0
        self._pace = pace
        self._most = most
        self._clock = asyncio.get_running_loop().time if clock is None else clock
        self._sleep = sleep
        self._room = asyncio.Event()
        self._left = 0.0 if pace is None else pace.burst
        self._at = self._clock()

    async def add(self, size: int) -> None:
        """Wait until so many bytes more may wait: not too many do, and they do not come too fast."""
        while self.waiting and self.waiting + size > self._most:
            self._room.clear()
            await self._room.wait()
        self.waiting += size
        if self._pace is None:
            return
        now = self._clock()
        self._left = min(self._pace.burst, self._left + (now - self._at) * self._pace.bytes_a_second) - size
        self._at = now
        if self._left < 0:
            await self._sleep(-self._left / self._pace.bytes_a_second)

    def remove(self, size: int) -> None:
        """Let go of bytes that were kept."""
        self.waiting -= size
        self._room.set()
