"""A thread that ends the process when the event loop has been standing still: a node that hangs is worse than
one that is started again."""

from __future__ import annotations

import asyncio
import faulthandler
import os
import sys
import threading
import time

FROZEN = 30.0
"""Seconds without a turn of the event loop after which the process ends."""
EXIT = 4


class Watchdog:
    """Watches the event loop of the thread it is started in."""

    def __init__(self, limit: float = FROZEN) -> None:
        self._limit = limit
        self._beat = time.monotonic()
        self._done = threading.Event()
        self._handle: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Begin to watch; to be called in the event loop."""
        self._turn()
        threading.Thread(target=self._watch, name="watchdog", daemon=True).start()

    def stop(self) -> None:
        """Watch no more."""
        self._done.set()
        if self._handle is not None:
            self._handle.cancel()

    def _turn(self) -> None:
        self._beat = time.monotonic()
        self._handle = asyncio.get_running_loop().call_later(self._limit / 30, self._turn)

    def _watch(self) -> None:
        while not self._done.wait(self._limit / 10):
            still = time.monotonic() - self._beat
            if still > self._limit:
                print(
                    f"weighbridge: loop-frozen: nothing has moved for {still:.0f} s",
                    file=sys.stderr,
                    flush=True,
                )
                faulthandler.dump_traceback(all_threads=True)
                os._exit(EXIT)
