"""Two ways of reading a stream: with a durable consumer and acknowledgements, or in exact order without."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

import structlog
from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy
from nats.js.errors import APIError, NotFoundError
from weighbridge.errors import Unavailable

from weighbridge_services.wire.errors import Again
from weighbridge_services.wire.pulling import ConsumerGone, Pull

if TYPE_CHECKING:
    from weighbridge_services.wire.bus import Bus

log = structlog.get_logger()

Handle = Callable[[list[Msg]], Awaitable[None]]

RETRY = 0.25
"""Seconds between two tries to find a stream."""
AGAIN = 0.5
"""Seconds after which what a handler could not take comes again."""
ACK_WAIT = 30
"""Seconds after which the broker delivers again what was neither acknowledged nor refused."""
UNUSED = 60
"""Seconds after which the broker forgets an ephemeral consumer that nobody pulls from."""


class Durable:
    """Reading with a durable consumer: what the handler has taken is acknowledged and does not come again."""

    def __init__(self, bus: Bus, stream: str, subject: str, name: str, handle: Handle, batch: int) -> None:
        self._bus = bus
        self._stream = stream
        self._handle = handle
        self._batch = batch
        self._config = ConsumerConfig(
            name=name,
            durable_name=name,
            filter_subject=subject,
            ack_policy=AckPolicy.EXPLICIT,
            deliver_policy=DeliverPolicy.ALL,
            ack_wait=ACK_WAIT,
            max_ack_pending=4 * batch,
        )

    async def run(self) -> None:
        """Read until cancelled."""
        while True:
            try:
                info = await self._bus.js.add_consumer(self._stream, self._config)
                pull = Pull(self._bus.nc, self._stream, info.name, self._batch)
                await pull.start()
            except (NatsError, OSError, asyncio.TimeoutError) as error:
                await wait_for_stream(self._stream, error)
                continue
            try:
                await self._read(pull)
            except (ConsumerGone, NatsError) as error:
                log.info("consumer lost", stream=self._stream, reason=str(error))
                await asyncio.sleep(RETRY)
            finally:
                await pull.stop()

    async def _read(self, pull: Pull) -> None:
        while True:
            messages = await pull.batch()
            if not messages:
                continue
            try:
                await self._handle(messages)
            except Unavailable as error:
                log.warning("again later", stream=self._stream, code=error.code, says=error.message)
                await settle([message.nak(delay=AGAIN) for message in messages])
            else:
                await settle([message.ack() for message in messages])


class Ordered:
    """Reading in stream order without acknowledgements, from a place the caller remembers."""

    def __init__(
        self, bus: Bus, stream: str, subject: str, start: Callable[[], int], handle: Handle, batch: int
    ) -> None:
        self._bus = bus
        self._stream = stream
        self._subject = subject
        self._start = start
        self._handle = handle
        self._batch = batch
        self._created: object = None

    async def run(self) -> None:
        """Read until cancelled."""
        next_sequence = max(1, self._start())
        while True:
            try:
                next_sequence = await self._place(next_sequence)
                pull = await self._consumer(next_sequence)
            except (NatsError, OSError, asyncio.TimeoutError) as error:
                await wait_for_stream(self._stream, error)
                continue
            try:
                next_sequence = await self._read(pull, next_sequence)
            finally:
                await pull.stop()

    async def _place(self, wanted: int) -> int:
        """Return where to read on: at the start of a stream that is not the one read before, or is shorter."""
        info = await self._bus.js.stream_info(self._stream)
        created, self._created = self._created, info.created
        if (created is not None and created != info.created) or info.state.last_seq + 1 < wanted:
            log.info("the stream begins anew", stream=self._stream)
            return 1
        return wanted

    async def _consumer(self, start: int) -> Pull:
        config = ConsumerConfig(
            filter_subject=self._subject,
            ack_policy=AckPolicy.NONE,
            deliver_policy=DeliverPolicy.BY_START_SEQUENCE,
            opt_start_seq=start,
            inactive_threshold=UNUSED,
            mem_storage=True,
            num_replicas=1,
        )
        info = await self._bus.js.add_consumer(self._stream, config)
        pull = Pull(self._bus.nc, self._stream, info.name, self._batch)
        await pull.start()
        return pull

    async def _read(self, pull: Pull, start: int) -> int:
        """Hand batches over until there is a gap or the consumer is lost; return where to read on."""
        place, delivered = start, 0
        while True:
            try:
                messages = await pull.batch()
                unbroken = in_order(messages, delivered)
                if unbroken:
                    await self._handle(unbroken)
                    delivered += len(unbroken)
                    place = unbroken[-1].metadata.sequence.stream + 1
                if len(unbroken) < len(messages):
                    log.info("a gap in what was delivered", stream=self._stream, at=place)
                    return place
            except Again as error:
                log.info("reading from the start", stream=self._stream, says=error.message)
                await asyncio.sleep(AGAIN)
                return 1
            except (Unavailable, ConsumerGone, NatsError) as error:
                log.info("reading on later", stream=self._stream, at=place, reason=str(error))
                await asyncio.sleep(RETRY)
                return place


def in_order(messages: Sequence[Msg], delivered: int) -> list[Msg]:
    """Return the messages up to the first that is not the consumer's next."""
    unbroken: list[Msg] = []
    for message in messages:
        if message.metadata.sequence.consumer != delivered + len(unbroken) + 1:
            break
        unbroken.append(message)
    return unbroken


async def settle(answers: Sequence[Awaitable[None]]) -> None:
    """Send acknowledgements. One that is lost costs a redelivery, which is harmless."""
    await asyncio.gather(*answers, return_exceptions=True)


async def wait_for_stream(stream: str, error: BaseException) -> None:
    """Wait a little for a stream that cannot be read yet."""
    missing = isinstance(error, NotFoundError) or (isinstance(error, APIError) and error.code == 404)
    log.info("waiting for a stream", stream=stream, missing=missing, reason=str(error))
    await asyncio.sleep(RETRY)
