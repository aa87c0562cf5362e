"""A service's outbox: what is written once in the node's streams of records, sent until they have it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final

import structlog
from weighbridge.ledger import Ledger

from weighbridge_services.subjects import Subjects
from weighbridge_services.wire import Bus

AT_A_TIME: Final = 256
NEWEST: Final = "letters"
"""The position under which the newest letter that was sent is kept."""

log = structlog.get_logger()
Run = Callable[..., Awaitable[Any]]
"""Has the ledger's thread do some work."""


class Letters:
    """The outbox of a service's ledger, for all its games."""

    def __init__(self, bus: Bus, ledger: Ledger, run: Run, sent: Callable[[], None] | None = None) -> None:
        """Make it. `sent` is called when messages are in the stream and not yet marked so."""
        self._bus = bus
        self._ledger = ledger
        self._run = run
        self._after = sent
        self._reconnects = -1
        self._turn = asyncio.Lock()

    async def send(self) -> None:
        """Send what waits; after a reconnection, also what a stream has lost. Raises BrokerUnavailable."""
        async with self._turn:
            await self._send()

    async def _send(self) -> None:
        if self._reconnects != self._bus.reconnects:
            seen = self._bus.reconnects
            await self._send_again_if_lost()
            self._reconnects = seen
        while letters := await self._run(self._ledger.outbox.waiting, AT_A_TIME):
            for each in letters:
                await self._bus.publish_once(each.subject, each.payload)
            # A crash here publishes again what is there already, which changes nothing.
            if self._after is not None:
                self._after()
            await self._run(self._mark, [each.number for each in letters])

    def _mark(self, numbers: list[int]) -> None:
        with self._ledger.batch():
            for number in numbers:
                self._ledger.outbox.sent(number, 0)
            self._ledger.positions.set(NEWEST, numbers[-1])

    async def _send_again_if_lost(self) -> None:
        newest = await self._run(self._ledger.positions.get, NEWEST)
        if not newest:
            return
        letter = await self._run(self._ledger.outbox.get, newest)
        if await self._bus.last(_stream(letter.subject), letter.subject) is None:
            log.warning("the stream has lost what was published; publishing it again", subject=letter.subject)
            await self._run(self._all_again)

    def _all_again(self) -> None:
        with self._ledger.batch():
            for letter in list(self._ledger.outbox.all()):
                if letter.sent is not None:
                    self._ledger.outbox.again(letter.number)


def _stream(subject: str) -> str:
    _, operator, game, *_ = subject.split(".")
    return Subjects(operator, game).stream("RECORDS")
