"""How a service meets the broker: exact bytes in and out, writes that happen once, and a reading loop of its own.

JetStream is trusted with delivery, not with truth: whatever is read here is verified by who reads it, and
whatever is published was persisted before. See WITNESS §5c of the design's research for the traps this avoids.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, ClassVar, NamedTuple

import nats
import structlog
from faststream import AckPolicy
from faststream.nats import NatsBroker
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import ConnectionClosedError, NoServersError, TimeoutError as NatsTimeout
from nats.js import JetStreamContext
from nats.js.api import AckPolicy as JsAck, ConsumerConfig, DeliverPolicy
from nats.js.errors import APIError, NotFoundError, ServiceUnavailableError
from weighbridge.errors import Broken, Unavailable

from weighbridge_services.node import Node

LAST_SUBJECT_SEQUENCE = "Nats-Expected-Last-Subject-Sequence"
WRONG_LAST_SEQUENCE = 10071
"""JetStream's code for an expected sequence that does not hold."""
FETCH_TIMEOUT = 1.0
"""Seconds. A pull request that is lost with a broker restart costs at most this long."""

log = structlog.get_logger()

Incoming = Msg
Handle = Callable[[list[Msg]], Awaitable[None]]
Serve = Callable[[bytes], Awaitable[bytes]]


class BrokerUnavailable(Unavailable):
    """The broker cannot be reached or does not answer."""

    code: ClassVar[str] = "broker-unavailable"


class BrokerRefused(Broken):
    """The broker refuses the login, or an operation this node's credentials should allow."""

    code: ClassVar[str] = "broker-refused"


class AnotherWriter(Broken):
    """Somebody else appends to a subject that is this node's alone: two nodes run with one key."""

    code: ClassVar[str] = "another-writer"


class ExactBytes:
    """The codec of every subscriber and publisher: the bytes, and nothing guessed about them."""

    async def decode(self, msg: Any) -> bytes:
        """Return a message's body as it came."""
        body: bytes = msg.body
        return body

    async def encode(self, msg: Any, serializer: Any = None) -> tuple[bytes, str | None]:
        """Return the bytes as they are; a handler's empty answer is empty bytes."""
        return (b"" if msg is None else bytes(msg)), None


class Stored(NamedTuple):
    """A message as a stream holds it."""

    sequence: int
    data: bytes
    subject: str


def crash_point(node: Node, name: str) -> None:
    """Die here, if a test asks for it. Each name says what a crash at that place leaves behind."""
    if node.config.test.crash and os.environ.get("WEIGHBRIDGE_CRASH_AT") == name:
        os._exit(86)


class Bus:
    """One service's connection to the broker."""

    def __init__(self, node: Node, service: str, url: str, options: dict[str, Any]) -> None:
        self._node = node
        self.service = service
        self.closed = asyncio.Event()
        # Reconnecting never ends: a client that gave up would leave FastStream's loops spinning on a dead socket.
        self.broker = NatsBroker(
            url,
            name=f"{node.name}/{service}",
            codec=ExactBytes(),
            max_reconnect_attempts=-1,
            reconnect_time_wait=0.25,
            graceful_timeout=10,
            closed_cb=self._on_closed,
            error_cb=self._on_error,
            logger=None,
            **options,
        )
        self._tasks: list[asyncio.Task[None]] = []
        self._stopping = False
        self.failure: BaseException | None = None

    # --- connection ----------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Connect. Raises BrokerUnavailable or BrokerRefused."""
        try:
            await self.broker.start()
        except nats.errors.AuthorizationError as error:
            raise BrokerRefused("the broker refuses this node's login; check user and password file") from error
        except (NoServersError, OSError, NatsTimeout) as error:
            text = str(error).lower()
            if "authorization" in text:
                raise BrokerRefused("the broker refuses this node's login; check user and password file") from error
            raise BrokerUnavailable(f"the broker cannot be reached: {error}") from error

    async def stop(self) -> None:
        """Stop reading, let handlers finish, and disconnect."""
        self._stopping = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.broker.stop()

    @property
    def nc(self) -> Client:
        """The connection itself, for what FastStream does not cover."""
        client = self.broker.connection
        if client is None:
            raise BrokerUnavailable("not connected")
        return client

    @property
    def js(self) -> JetStreamContext:
        """JetStream over that connection."""
        return self.nc.jetstream(timeout=5)

    async def _on_closed(self) -> None:
        self.closed.set()

    async def _on_error(self, error: Exception) -> None:
        log.warning("broker", service=self.service, error=f"{type(error).__name__}: {error}")

    # --- writing -------------------------------------------------------------------------------------------

    async def publish_once(self, subject: str, data: bytes) -> bool:
        """Write a subject that is written once, ever. False: it was there already."""
        try:
            await self._publish(subject, data, 0)
        except AnotherWriter:
            return False
        return True

    async def append(self, subject: str, data: bytes, last: int) -> int:
        """Append to a subject whose last message has sequence `last` (0: none); return the new one.

        Raises AnotherWriter if the last message is another.
        """
        return await self._publish(subject, data, last)

    async def _publish(self, subject: str, data: bytes, last: int) -> int:
        try:
            ack = await self.js.publish(subject, data, timeout=5, headers={LAST_SUBJECT_SEQUENCE: str(last)})
        except APIError as error:
            if error.err_code == WRONG_LAST_SEQUENCE:
                raise AnotherWriter(f"{subject}: the last message is not the one this node wrote ({last})") from error
            raise BrokerUnavailable(f"{subject}: {error}") from error
        except (NatsTimeout, ConnectionClosedError, ServiceUnavailableError, nats.errors.Error) as error:
            raise BrokerUnavailable(f"{subject}: no answer from the broker ({type(error).__name__})") from error
        return int(ack.seq)

    async def last(self, stream: str, subject: str) -> Stored | None:
        """Return the last message of a subject, or None."""
        try:
            message = await self.js.get_last_msg(stream, subject)
        except NotFoundError:
            return None
        except (NatsTimeout, ConnectionClosedError, APIError) as error:
            raise BrokerUnavailable(f"{subject}: {error}") from error
        return Stored(int(message.seq or 0), message.data or b"", message.subject or subject)

    async def send(self, subject: str, data: bytes) -> None:
        """Publish to a core subject: an answer that nobody keeps."""
        await self.nc.publish(subject, data)

    # --- asking --------------------------------------------------------------------------------------------

    async def ask(self, subject: str, data: bytes, timeout: float = 5.0) -> bytes:
        """Ask a service. Raises BrokerUnavailable if nobody answers in time."""
        try:
            answer = await self.nc.request(subject, data, timeout=timeout)
        except (NatsTimeout, nats.errors.NoRespondersError, ConnectionClosedError) as error:
            raise BrokerUnavailable(f"{subject}: nobody answers") from error
        return answer.data

    def serve(self, subject: str, handle: Serve) -> None:
        """Answer questions on a core subject. To be called before `start`."""

        @self.broker.subscriber(subject)
        async def answer(body: bytes) -> bytes:
            return await handle(body)

    # --- reading -------------------------------------------------------------------------------------------

    def read(self, stream: str, subject: str, durable: str, handle: Handle, *, batch: int = 256) -> None:
        """Read a subject of a stream from the beginning, in order, for as long as the service runs.

        `handle` gets raw messages in batches; when it returns, all are acknowledged. Unavailable: all come
        again, after a while. Anything else stops the service: `failure` says why.
        """
        self._tasks.append(asyncio.create_task(self._read(stream, subject, durable, handle, batch)))

    async def _read(self, stream: str, subject: str, durable: str, handle: Handle, batch: int) -> None:
        try:
            while not self._stopping:
                subscription = await self._subscribe(stream, subject, durable)
                if subscription is not None:
                    await self._pull(subscription, handle, batch)
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            log.error("reader stopped", service=self.service, subject=subject, error=str(error))
            self.failure = error
            self.closed.set()

    async def _subscribe(self, stream: str, subject: str, durable: str) -> Any:
        config = ConsumerConfig(
            ack_policy=JsAck.EXPLICIT, deliver_policy=DeliverPolicy.ALL, max_ack_pending=20_000, ack_wait=30
        )
        try:
            return await self.js.pull_subscribe(subject, durable, stream, config)
        except (NotFoundError, NatsTimeout, ConnectionClosedError, ServiceUnavailableError, APIError) as error:
            log.info("waiting for a stream", service=self.service, stream=stream, error=str(error))
            await asyncio.sleep(0.25)
            return None

    async def _pull(self, subscription: Any, handle: Handle, batch: int) -> None:
        while not self._stopping:
            try:
                messages: Sequence[Msg] = await subscription.fetch(batch, timeout=FETCH_TIMEOUT)
            except NatsTimeout:
                continue
            except (ConnectionClosedError, ServiceUnavailableError, NotFoundError, APIError, nats.errors.Error):
                await asyncio.sleep(0.1)
                return  # subscribe anew: the broker may have lost the consumer, or its whole disk
            try:
                await handle(list(messages))
            except Unavailable as error:
                log.warning("again later", service=self.service, error=str(error))
                await asyncio.gather(*(message.nak(delay=0.5) for message in messages), return_exceptions=True)
                continue
            await asyncio.gather(*(message.ack() for message in messages), return_exceptions=True)


MANUAL = AckPolicy.MANUAL
