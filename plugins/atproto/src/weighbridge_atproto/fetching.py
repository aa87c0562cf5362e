"""Fetching repositories beside all else, a few at a time, each again until it is there."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Final

from weighbridge.ports import Refused, Unavailable

FETCHES: Final = 4
"""Repositories that are fetched at a time, and as many besides of those that could not be fetched before."""


class Fetching:
    """The repositories that are being fetched.

    `fetch` fetches one and returns whether that was enough; `needed`: whether one is to be fetched at all. `refused`,
    `pause` and `broken` are as those of `Asking`.
    """

    def __init__(
        self,
        refused: Counter[str],
        *,
        fetch: Callable[[str], Awaitable[bool]],
        needed: Callable[[str], bool],
        pause: Callable[[int], float],
        broken: Callable[[BaseException], None],
    ) -> None:
        self._refused = refused
        self._fetch = fetch
        self._needed = needed
        self._pause = pause
        self._broken = broken
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._slots = asyncio.Semaphore(FETCHES)
        # Hosts that never answer would come before those of all who play.
        self._dark_slots = asyncio.Semaphore(FETCHES)
        self._stopped = False

    def fetch(self, did: str) -> None:
        """Fetch a repository if it is needed and not being fetched."""
        if self._stopped or did in self._tasks or not self._needed(did):
            return
        task = asyncio.create_task(self._run(did), name=f"fetch {did}")
        self._tasks[did] = task
        task.add_done_callback(lambda _: self._ended(did, task))

    async def stop(self) -> None:
        """Let go of what is being fetched, and fetch nothing more: one that ended just now asks for another."""
        self._stopped = True
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _run(self, did: str) -> None:
        failures = 0
        while self._needed(did):
            try:
                async with self._dark_slots if failures else self._slots:
                    if await self._fetch(did):
                        return
            except (Refused, Unavailable) as error:
                self._refused[error.code] += 1
            failures += 1
            await asyncio.sleep(self._pause(failures))

    def _ended(self, did: str, task: asyncio.Task[None]) -> None:
        self._tasks.pop(did, None)
        if task.cancelled():
            return
        error = task.exception()
        if error is not None:
            self._broken(error)
        else:
            # A commit may have broken the chain between the end of the task and this.
            self.fetch(did)
