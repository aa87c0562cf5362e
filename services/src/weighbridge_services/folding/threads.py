"""The one thread of a service in which its ledger is used."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


class LedgerThread:
    """A thread that does work in turn. What it is asked to do is done, also when who asked is cancelled."""

    def __init__(self, name: str) -> None:
        self._pool = ThreadPoolExecutor(1, name)

    async def run(self, work: Callable[..., T], *arguments: object) -> T:
        """Have the thread do some work, and wait for it: a batch is never torn."""
        return await asyncio.shield(asyncio.get_running_loop().run_in_executor(self._pool, work, *arguments))

    def end(self) -> None:
        """Let the thread end."""
        self._pool.shutdown()
