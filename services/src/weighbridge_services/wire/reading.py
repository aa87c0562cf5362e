"""Two ways of reading a stream: with a durable consumer and acknowledgements, or in exact order without."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final

import structlog
from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy
from weighbridge.errors import Unavailable

from weighbridge_services.wire.arriving import sequences
from weighbridge_services.wire.errors import Again
from weighbridge_services.wire.pulling import ConsumerGone, Pull

if TYPE_CHECKING:
    from weighbridge_services.wire.bus import Bus

log = structlog.get_logger()

Handle = Callable[[list[Msg]], Awaitable[None]]

RETRY: Final = 0.25
"""Seconds between two tries to find a stream or a consumer."""
AGAIN: Final = 0.5
"""Seconds after which what a handler could not take comes again, the first time; then twice as long each time."""
LONGEST: Final = 30.0
"""Seconds between two tries at most."""
ACK_WAIT: Final = 30
"""Seconds after which the broker delivers again what was neither acknowledged nor refused."""
UNUSED: Final = 60
"""Seconds after which the broker forgets an ephemeral consumer that nobody pulls from."""
LOST = (NatsError, OSError, asyncio.TimeoutError)


class Reading:
    """What both ways share: a handler that is let finish when the service stops."""

    def __init__(self, bus: Bus, stream: str, handle: Handle, batch: int) -> None:
        self.bus = bus
        self.stream = stream
        self.batch = batch
        self._handle = handle
        self._busy = 0
        self._awaited = ""
        self.finishing = False

    def finish(self) -> bool:
        """Read no more; return whether a handler is at work and will end the reading when it is done."""
        self.finishing = True
        return self._busy > 0

    async def handle(self, messages: list[Msg]) -> None:
        """Have the handler take messages. Raises what it raises."""
        await self._handle(messages)

    async def settled(self, messages: list[Msg]) -> None:
        """Do what is to be done with messages and acknowledge them, undisturbed by a stop."""
        self._busy += 1
        try:
            await self.take(messages)
        finally:
            self._busy -= 1

    async def take(self, messages: list[Msg]) -> None:
        """Handle and acknowledge."""
        raise NotImplementedError

    async def wait(self, error: BaseException) -> None:
        """Wait a little for a stream that cannot be read yet, and say so once: another node may be away for days."""
        reason = str(error) or type(error).__name__
        if reason != self._awaited:
            log.info("waiting for a stream", stream=self.stream, reason=reason)
        self._awaited = reason
        await asyncio.sleep(RETRY)

    async def run(self) -> None:
        """Read until cancelled or finishing."""
        raise NotImplementedError


class Durable(Reading):
    """Reading with a durable consumer: what the handler has taken is acknowledged and does not come again."""

    def __init__(
        self, bus: Bus, stream: str, subject: str, name: str, handle: Handle, batch: int, ahead: int = 1,
        ack_wait: int = ACK_WAIT,
    ) -> None:  # fmt: skip
        super().__init__(bus, stream, handle, batch)
        self._ahead = ahead
        self._config = ConsumerConfig(
            name=name,
            durable_name=name,
            filter_subject=subject,
            ack_policy=AckPolicy.EXPLICIT,
            deliver_policy=DeliverPolicy.ALL,
            ack_wait=ack_wait,
            max_ack_pending=4 * batch,
        )

    async def run(self) -> None:
        """Read until cancelled or finishing."""
        while not self.finishing:
            try:
                info = await self.bus.while_connected(self.bus.js.add_consumer(self.stream, self._config))
                pull = await self.bus.pull(self.stream, info.name, self.batch)
                self._awaited = ""
            except (Unavailable, *LOST) as error:
                await self.wait(error)
                continue
            try:
                await self._read(pull)
            except (ConsumerGone, *LOST) as error:
                log.info("consumer lost", stream=self.stream, reason=str(error))
                await asyncio.sleep(RETRY)
            finally:
                await pull.stop()

    async def _read(self, pull: Pull) -> None:
        """Hand over what comes, at most `ahead` batches at a time, begun in the order in which they came."""
        under_way: set[asyncio.Task[None]] = set()
        try:
            while not self.finishing:
                messages = await pull.take()
                if messages:
                    under_way.add(asyncio.create_task(self.settled(messages)))
                if len(under_way) >= self._ahead:
                    await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
                under_way = {each for each in under_way if not ended(each)}
        except asyncio.CancelledError:
            for each in under_way:
                each.cancel()
            raise
        finally:
            await asyncio.gather(*under_way, return_exceptions=True)

    async def take(self, messages: list[Msg]) -> None:
        """Handle and acknowledge; what is unavailable comes again after a while, never at once."""
        try:
            await self.handle(messages)
        except Unavailable as error:
            log.warning("again later", stream=self.stream, code=error.code, says=error.message)
            await settle(message.nak(delay=delay_of(message)) for message in messages)
        else:
            await settle(message.ack() for message in messages)


class Gather:
    """How long the first message of a batch may wait for more: each batch costs a commit."""

    def __init__(self, seconds: float, hurried: Callable[[], bool] | None = None) -> None:
        """`hurried`: whether somebody waits for what comes next, so that nothing is to wait for more."""
        self._seconds = seconds
        self._hurried = hurried
        self._cut = asyncio.Event()

    def cut(self) -> None:
        """Let what has come be taken now."""
        self._cut.set()

    async def wait(self) -> None:
        """Wait for more."""
        if self._hurried is None or not self._hurried():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._seconds):
                    await self._cut.wait()
        self._cut.clear()


class Ordered(Reading):
    """Reading in stream order without acknowledgements, from a place the caller remembers."""

    def __init__(
        self, bus: Bus, stream: str, subject: str, start: Callable[[], int], handle: Handle, batch: int,
        gather: Gather | None = None,
    ) -> None:  # fmt: skip
        super().__init__(bus, stream, handle, batch)
        self._gather = gather
        self._subject = subject
        self._start = start
        self._created: object = None
        self._next = 1
        self._delivered = 0

    async def run(self) -> None:
        """Read until cancelled or finishing."""
        self._next = max(1, self._start())
        while not self.finishing:
            try:
                await self._find_place()
                pull = await self._consumer()
                self._awaited = ""
            except (Unavailable, *LOST) as error:
                await self.wait(error)
                continue
            try:
                await self._read(pull)
            except Again as error:
                log.info("reading from the start", stream=self.stream, says=error.message)
                self._next = 1
                await asyncio.sleep(AGAIN)
            except (Unavailable, ConsumerGone, *LOST) as error:
                log.info("reading on later", stream=self.stream, at=self._next, reason=str(error))
                await asyncio.sleep(RETRY)
            finally:
                await pull.stop()

    async def _find_place(self) -> None:
        """Go to the start of a stream that is not the one read before, or is shorter."""
        info = await self.bus.while_connected(self.bus.js.stream_info(self.stream))
        before, self._created = self._created, info.created
        if (before is not None and before != info.created) or info.state.last_seq + 1 < self._next:
            log.warning("the stream begins anew", stream=self.stream, last=info.state.last_seq)
            self._next = 1

    async def _consumer(self) -> Pull:
        config = ConsumerConfig(
            filter_subject=self._subject,
            ack_policy=AckPolicy.NONE,
            deliver_policy=DeliverPolicy.BY_START_SEQUENCE,
            opt_start_seq=self._next,
            inactive_threshold=UNUSED,
            mem_storage=True,
            num_replicas=1,
        )
        info = await self.bus.while_connected(self.bus.js.add_consumer(self.stream, config))
        self._delivered = 0
        return await self.bus.pull(self.stream, info.name, self.batch)

    async def _read(self, pull: Pull) -> None:
        """Hand messages over until there is a gap; then a new consumer delivers from there."""
        while not self.finishing:
            messages = await pull.take()
            if self._gather is not None and 0 < len(messages) < self.batch:
                await self._gather.wait()
                messages += pull.more(self.batch - len(messages))
            unbroken = in_order(messages, self._delivered)
            if unbroken:
                await self.settled(unbroken)
            if len(unbroken) < len(messages):
                log.info("a gap in what was delivered", stream=self.stream, at=self._next)
                return

    async def take(self, messages: list[Msg]) -> None:
        """Handle, and remember where to read on."""
        await self.handle(messages)
        self._delivered += len(messages)
        self._next = sequences(messages[-1])[0] + 1


def in_order(messages: Sequence[Msg], delivered: int) -> list[Msg]:
    """Return the messages up to the first that is not the consumer's next."""
    unbroken: list[Msg] = []
    for message in messages:
        if sequences(message)[1] != delivered + len(unbroken) + 1:
            break
        unbroken.append(message)
    return unbroken


def delay_of(message: Msg) -> float:
    """Return the seconds after which a message is to come again: longer each time, for a poison message is one."""
    times = message.metadata.num_delivered or 1
    return min(LONGEST, AGAIN * 2.0 ** min(times - 1, 10))


def ended(task: asyncio.Task[None]) -> bool:
    """Whether a task has ended. Raises what it raised."""
    if task.done():
        task.result()
    return task.done()


async def settle(answers: Iterable[Awaitable[None]]) -> None:
    """Send acknowledgements. One that is lost costs a redelivery, which is harmless."""
    for answer in answers:
        with contextlib.suppress(Exception):
            await answer
