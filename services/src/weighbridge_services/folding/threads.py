"""The one thread of a service in which its ledger is used."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")
_Task = tuple[asyncio.AbstractEventLoop, "asyncio.Future[Any]", Callable[..., Any], tuple[object, ...]]


class LedgerThread:
    """A thread that does work in turn. What it is asked to do is done, also when who asked is cancelled.

    The event loop's own executor does the same at three times the cost, which a service pays several times a batch.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._tasks: SimpleQueue[_Task | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._ended = False

    async def run(self, work: Callable[..., T], *arguments: object) -> T:
        """Have the thread do some work, and wait for it: a batch is never torn. Raises what the work raises."""
        if self._ended:
            raise RuntimeError(f"the thread {self._name} has ended")
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name=self._name, daemon=True)
            self._thread.start()
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._tasks.put((loop, future, work, arguments))
        return await future

    def end(self) -> None:
        """Let the thread end when it has done what it was asked, and wait for that."""
        self._ended = True
        self._tasks.put(None)
        if self._thread is not None:
            self._thread.join()

    def _serve(self) -> None:
        while (task := self._tasks.get()) is not None:
            loop, future, work, arguments = task
            result: Any = None
            failure: BaseException | None = None
            try:
                result = work(*arguments)
            except BaseException as error:
                failure = error
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(_tell, future, result, failure)
            del task, future, work, arguments, result, failure


def _tell(future: asyncio.Future[Any], result: Any, failure: BaseException | None) -> None:
    if future.done():  # who asked was cancelled
        return
    if failure is None:
        future.set_result(result)
    else:
        future.set_exception(failure)
