"""From the command line to the demo and back: signals, the folder, what is printed."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
import time
from collections.abc import Coroutine, Generator
from pathlib import Path
from typing import Any, TypeVar

import structlog

from weighbridge_services.demo.board import as_json, show
from weighbridge_services.demo.driver import play
from weighbridge_services.demo.keeping import workspace, write_log
from weighbridge_services.demo.live import play_live
from weighbridge_services.ending import AGAIN
from weighbridge_services.failures import INTERRUPTED
from weighbridge_services.output import clean, console, say_json
from weighbridge_services.render import page

T = TypeVar("T")


def run(keep: Path | None, *, json: bool) -> int:
    """Run the demo; return its exit code. Raises what stands in the way."""
    with workspace(keep) as folder, quiet(folder):
        outcome = until_done(play(folder))
        if outcome is None:
            stays = f"; what there is of the game stays in {keep}" if keep is not None else ""
            print(f"weighbridge: interrupted{stays}", file=sys.stderr)
            return INTERRUPTED
        write_log(folder, outcome)
        if json:
            say_json(as_json(outcome))
        else:
            show(outcome, keep)
    return 0


@contextlib.contextmanager
def quiet(folder: Path) -> Generator[None]:
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
        nonlocal stopped
        if not stopped:
            stopped = True
            insist()

    def insist() -> None:
        # A cancellation may be lost on the way; what cleans up does so undisturbed, and is done within seconds.
        if not task.done():
            task.cancel()
            loop.call_later(AGAIN, insist)

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
    """Play on from the clock until Ctrl-C, which is how it ends. Raises what stands in the way."""
    with workspace(keep) as folder, quiet(folder):
        say(f"starting four nodes in {folder}; the dice are a private chain's, for play only; Ctrl-C ends it")
        played = until_done(play_live(folder, say))
    if played is not None and json:
        say_json({"size": played.size, "rolls": played.rolls})
    elif played is not None and played.view is not None:
        print()
        page(played.view, console())
    return 0


def say(text: str) -> None:
    """Say what happens at the table, on standard error."""
    print(clean(f"{time.strftime('%H:%M:%S', time.gmtime())}  {text}"), file=sys.stderr, flush=True)
