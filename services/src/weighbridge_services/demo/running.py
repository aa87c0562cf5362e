"""From the command line to the demo and back: signals, the folder, what is printed."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

import structlog

from weighbridge_services.demo.board import as_json, show
from weighbridge_services.demo.driver import play
from weighbridge_services.demo.keeping import workspace, write_log
from weighbridge_services.failures import INTERRUPTED
from weighbridge_services.output import say_json

T = TypeVar("T")


def run(keep: Path | None, *, json: bool) -> int:
    """Run the demo; return its exit code. Raises what stands in the way."""
    with workspace(keep) as folder, quiet(folder):
        outcome = until_done(play(folder))
        if outcome is None:
            return INTERRUPTED
        write_log(folder, outcome)
        if json:
            say_json(as_json(outcome))
        else:
            show(outcome, keep)
    return 0


@contextlib.contextmanager
def quiet(folder: Path) -> Iterator[None]:
    """Send what our own connection logs to a file beside the nodes."""
    with (folder / "demo.log").open("a", encoding="utf-8") as file:
        structlog.configure(
            processors=[
                structlog.processors.TimeStamper(fmt="iso"),
                structlog.processors.JSONRenderer(default=str),
            ],
            logger_factory=structlog.PrintLoggerFactory(file),
            cache_logger_on_first_use=False,
        )
        try:
            yield
        finally:
            structlog.reset_defaults()


def until_done(work: Coroutine[Any, Any, T]) -> T | None:
    """Return what work comes to, or None if Ctrl-C or SIGTERM ended it: it has cleaned up by then."""
    return asyncio.run(_until_done(work))


async def _until_done(work: Coroutine[Any, Any, T]) -> T | None:
    task = asyncio.ensure_future(work)
    loop = asyncio.get_running_loop()
    stopped = False

    def stop() -> None:
        # Once: what cleans up is not to be interrupted, and is done within seconds.
        nonlocal stopped
        if not stopped:
            stopped = True
            task.cancel()

    for sign in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(sign, stop)
    try:
        return await task
    except asyncio.CancelledError:
        if not stopped:
            raise
        return None
    finally:
        for sign in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(sign)


def run_live(keep: Path | None, *, json: bool) -> int:
    """Play on from the clock. Raises what stands in the way."""
    raise NotImplementedError
