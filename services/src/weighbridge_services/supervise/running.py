"""From the command line to a running node and back: signals, deadlines, and one line when it goes wrong."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
from collections.abc import Sequence
from typing import Any

import structlog
from weighbridge.errors import WeighbridgeError

from weighbridge_services.ending import end_tasks
from weighbridge_services.failures import INTERRUPTED, of_bug, of_os_error
from weighbridge_services.node import Node
from weighbridge_services.supervise.supervisor import GRACE, Supervisor
from weighbridge_services.watchdog import Watchdog

YOUNG = 20_000
"""New objects after which the garbage collector looks at them."""

log = structlog.get_logger()


def run(node: Node, services: Sequence[str], *, whole: bool, processes: bool = False) -> int:
    """Run services until a signal (0 for SIGTERM, 130 for Ctrl-C). Raises the WeighbridgeError that stopped them."""
    return asyncio.run(_run(node, services, whole=whole, processes=processes))


async def _run(node: Node, services: Sequence[str], *, whole: bool, processes: bool) -> int:
    stopping = Stopping()
    watchdog = Watchdog()
    watchdog.start()
    supervisor = _made(node, services, whole=whole, processes=processes)
    try:
        failure = await _until_end(supervisor, stopping)
    finally:
        await _stopped(supervisor)
        watchdog.stop()
        stopping.undo()
    if failure is not None:
        raise coded(failure)
    return INTERRUPTED if stopping.signal == signal.SIGINT else 0


def _made(node: Node, services: Sequence[str], *, whole: bool, processes: bool) -> Supervisor:
    if not processes:
        return Supervisor(node, services, whole=whole)
    from weighbridge_services.supervise.parent import Parent  # noqa: PLC0415 - only where it is asked for

    return Parent(node, services)


async def _until_end(supervisor: Supervisor, stopping: Stopping) -> BaseException | None:
    """Start and wait; return why it failed, or None if a signal came."""
    told = asyncio.create_task(stopping.event.wait())
    work = asyncio.create_task(_work(supervisor))
    try:
        await asyncio.wait([told, work], return_when=asyncio.FIRST_COMPLETED)
        return work.result() if work.done() else None
    finally:
        await end_tasks([told, work])


async def _work(supervisor: Supervisor) -> BaseException:
    try:
        await supervisor.start()
    except Exception as error:
        return error
    settle_memory()
    return await supervisor.failure()


def settle_memory() -> None:
    """Leave what a node has loaded to itself, and look for garbage less often.

    Services make many small objects and hardly ever a cycle of them; by default, the collector would look through
    those of every few records, and ever again through modules and ledgers' caches, which stay.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, 20, 20)


async def _stopped(supervisor: Supervisor) -> None:
    try:
        await asyncio.wait_for(supervisor.stop(), GRACE)
    except TimeoutError:
        log.error("not everything stopped in time; what was acknowledged is in the ledgers", seconds=GRACE)


def coded(error: BaseException) -> WeighbridgeError:
    """Return an error with a code."""
    if isinstance(error, WeighbridgeError):
        return error
    if isinstance(error, OSError):
        return of_os_error(error)
    if isinstance(error, Exception):
        log.error("a bug", exc_info=error)
        return of_bug(error)
    raise error


class Stopping:
    """SIGINT and SIGTERM: the first asks for a clean stop, the second ends the process."""

    def __init__(self) -> None:
        self.event = asyncio.Event()
        self.signal: int | None = None
        self._loop = asyncio.get_running_loop()
        for sign in (signal.SIGINT, signal.SIGTERM):
            self._loop.add_signal_handler(sign, self._hear, sign)

    def _hear(self, sign: Any) -> None:
        if self.signal is not None:
            print("weighbridge: interrupted again: ending at once", file=sys.stderr, flush=True)
            os._exit(INTERRUPTED)
        self.signal = sign
        self.event.set()

    def undo(self) -> None:
        """Hear no more."""
        for sign in (signal.SIGINT, signal.SIGTERM):
            self._loop.remove_signal_handler(sign)
