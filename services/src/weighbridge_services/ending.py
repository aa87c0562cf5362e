"""Ending tasks, and letting work end."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine, Iterable
from typing import Any, Final, TypeVar

AGAIN: Final = 1.0
"""Seconds after which a task that goes on is cancelled again."""

T = TypeVar("T")


async def end_tasks(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancel tasks and wait until they have ended, whatever they end with.

    Cancelled once, some would go on for ever: Python 3.11's `wait_for`, and the clients that use it, return what
    they waited for if it comes at the moment of the cancellation, which is lost then.
    """
    all_of_them = list(tasks)
    left = {each for each in all_of_them if not each.done()}
    while left:
        for each in left:
            each.cancel()
        _, left = await asyncio.wait(left, timeout=AGAIN)
    for each in all_of_them:
        if not each.cancelled():
            each.exception()  # seen: whoever ends a task does not want what comes of it


async def unbroken(work: Coroutine[Any, Any, T]) -> T:
    """Return what work comes to; if the waiting is cancelled, work goes on behind, and what comes of it is nobody's."""
    task = asyncio.ensure_future(work)
    # Read, whatever it is: unread, a late failure would be logged as a bug.
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    return await asyncio.shield(task)


async def undisturbed(work: Coroutine[Any, Any, T]) -> T:
    """Return what work comes to, though whoever waits for it is cancelled again meanwhile, which is not heard."""
    task = asyncio.ensure_future(work)
    while not task.done():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait([task])
    return task.result()
