"""One service's connection to the broker."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

import nats.errors
import structlog
from faststream import AckPolicy
from faststream.nats import NatsBroker
from faststream.nats.response import NatsResponse
from nats.aio.client import Client
from nats.js import JetStreamContext
from nats.js.errors import APIError, NoStreamResponseError, NotFoundError
from weighbridge.errors import Broken, WeighbridgeError

from weighbridge_services.wire.login import Login, probe
from weighbridge_services.node import Node
from weighbridge_services.wire.errors import (
    AnotherWriter,
    AnswerRefused,
    BrokerRefused,
    BrokerUnavailable,
    NobodyAnswers,
)
from weighbridge_services.wire.exact import ExactBytes
from weighbridge_services.wire.reading import Durable, Handle, Ordered

LAST_SUBJECT_SEQUENCE = "Nats-Expected-Last-Subject-Sequence"
REFUSAL = "Weighbridge-Refused"
"""Header of an answer that is a refusal: its code; the body is the sentence."""
WRONG_LAST_SEQUENCE = 10071
"""JetStream's code for an expected sequence that does not hold."""
TIMEOUT = 5.0
"""Seconds to wait for an acknowledgement of the broker."""

log = structlog.get_logger()

Serve = Callable[[bytes], Awaitable[bytes]]


class Stored(NamedTuple):
    """A message as a stream holds it."""

    sequence: int
    data: bytes
    subject: str


class Bus:
    """One service's connection to the broker. Made with `Bus.connect`, used after `start`."""

    def __init__(self, node: Node, service: str, login: Login) -> None:
        self._node = node
        self.service = service
        self._login = login
        self.reconnects = 0
        self.failure: BaseException | None = None
        self.failed = asyncio.Event()
        # Reconnecting never ends: a client that gave up would leave loops spinning on a dead socket.
        self.broker = NatsBroker(
            login.url,
            name=f"{node.name}/{service}",
            codec=ExactBytes(),
            ack_policy=AckPolicy.MANUAL,
            max_reconnect_attempts=-1,
            reconnect_time_wait=0.1,  # type: ignore[arg-type]
            graceful_timeout=10.0,
            inbox_prefix=login.inbox,
            security=login.security(),
            reconnected_cb=self._on_reconnected,
            closed_cb=self._on_closed,
            error_cb=self._on_error,
            logger=None,
        )
        self._tasks: list[asyncio.Task[None]] = []
        self._stopping = False

    @classmethod
    def connect(cls, node: Node, service: str) -> Bus:
        """Return the bus of a service of a node, not yet started. Raises BadKeyFile or BadConfig."""
        return cls(node, service, Login.of(node))

    # --- connection ----------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Connect. Raises BrokerUnavailable or BrokerRefused."""
        await probe(self._login)
        await self.broker.start()

    async def stop(self) -> None:
        """Stop reading, let handlers of questions finish, and disconnect."""
        self._stopping = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.broker.stop()

    @property
    def nc(self) -> Client:
        """The connection itself, for what FastStream does not cover."""
        client = getattr(self.broker, "_connection", None)
        if not isinstance(client, Client):
            raise BrokerUnavailable("not connected to the broker yet; start the bus first")
        return client

    @property
    def js(self) -> JetStreamContext:
        """JetStream over that connection."""
        return self.nc.jetstream(timeout=TIMEOUT)

    @property
    def connected(self) -> bool:
        """Whether the broker is at the other end now."""
        client = getattr(self.broker, "_connection", None)
        return isinstance(client, Client) and client.is_connected

    async def _on_reconnected(self) -> None:
        self.reconnects += 1

    async def _on_closed(self) -> None:
        if not self._stopping:
            self._fail(BrokerUnavailable("the connection to the broker was closed for good"))

    async def _on_error(self, error: Exception) -> None:
        log.info("broker", service=self.service, error=f"{type(error).__name__}: {error}")

    def _fail(self, error: BaseException) -> None:
        if self.failure is None:
            self.failure = error
        self.failed.set()

    # --- writing -------------------------------------------------------------------------------------------

    async def publish_once(self, subject: str, data: bytes) -> bool:
        """Write a subject that is written once, ever. False: it was there already. Raises BrokerUnavailable."""
        try:
            await self._publish(subject, data, 0)
        except AnotherWriter:
            return False
        return True

    async def append(self, subject: str, data: bytes, last: int) -> int:
        """Append to a subject whose last message has sequence `last` (0: none); return the new sequence.

        Raises AnotherWriter if the last message is another, BrokerUnavailable.
        """
        return await self._publish(subject, data, last)

    async def append_many(self, subject: str, payloads: Sequence[bytes], last: int) -> int:
        """Append several without waiting for each; return the last one's sequence.

        Only for the one subject of a stream (log, transcript), where sequences have no gaps. Of an error, the
        payloads before it are written and none after it.
        """
        sends = [self._publish(subject, data, last + i) for i, data in enumerate(payloads)]
        for result in await asyncio.gather(*sends, return_exceptions=True):
            if isinstance(result, BaseException):
                raise result
            last = result
        return last

    async def put(self, subject: str, data: bytes, headers: dict[str, str] | None = None) -> int:
        """Write a message to the stream of a subject, whatever is there already (submissions, rejections)."""
        return await self._publish(subject, data, None, headers)

    async def _publish(
        self, subject: str, data: bytes, last: int | None, headers: dict[str, str] | None = None
    ) -> int:
        expected = {} if last is None else {LAST_SUBJECT_SEQUENCE: str(last)}
        try:
            ack = await self.js.publish(subject, data, timeout=TIMEOUT, headers={**(headers or {}), **expected})
        except NoStreamResponseError as error:
            raise BrokerUnavailable(f"{subject}: no stream takes it; run `weighbridge node streams`") from error
        except APIError as error:
            if error.err_code == WRONG_LAST_SEQUENCE:
                raise AnotherWriter(
                    f"{subject}: its last message is not number {last}, which this node wrote; does another node"
                    " run with this node's key?"
                ) from error
            raise BrokerUnavailable(f"{subject}: {error.description}") from error
        except (nats.errors.Error, OSError) as error:
            raise BrokerUnavailable(f"{subject}: no answer from the broker ({type(error).__name__})") from error
        return int(ack.seq)

    async def last(self, stream: str, subject: str) -> Stored | None:
        """Return the last message of a subject, or None. Raises BrokerUnavailable."""
        try:
            message = await self.js.get_last_msg(stream, subject)
        except NotFoundError as error:
            if error.err_code == 10059:
                raise BrokerUnavailable(
                    f"the stream {stream} is not declared; run `weighbridge node streams`"
                ) from error
            return None
        except (nats.errors.Error, OSError) as error:
            raise BrokerUnavailable(f"{subject}: {error}") from error
        return Stored(int(message.seq or 0), message.data or b"", message.subject or subject)

    async def send(self, subject: str, data: bytes, headers: dict[str, str] | None = None) -> None:
        """Publish to a core subject: an answer that nobody keeps."""
        try:
            await self.nc.publish(subject, data, headers=headers)
        except (nats.errors.Error, OSError) as error:
            raise BrokerUnavailable(f"{subject}: {error}") from error

    # --- asking --------------------------------------------------------------------------------------------

    async def ask(self, subject: str, data: bytes, timeout: float = TIMEOUT) -> bytes:
        """Ask a service. Raises NobodyAnswers, AnswerRefused or BrokerUnavailable."""
        try:
            answer = await self.nc.request(subject, data, timeout=timeout)
        except (nats.errors.TimeoutError, nats.errors.NoRespondersError) as error:
            raise NobodyAnswers(f"nobody answers on {subject}; is the service running?") from error
        except (nats.errors.Error, OSError) as error:
            raise BrokerUnavailable(f"{subject}: {error}") from error
        refusal = (answer.headers or {}).get(REFUSAL)
        if refusal is not None:
            raise AnswerRefused(answer.data.decode(errors="replace"), refusal=refusal)
        return answer.data

    async def serve(self, subject: str, handle: Serve) -> None:
        """Answer questions on a core subject. What the handler refuses is answered with its code."""

        async def answer(body: bytes) -> NatsResponse:
            try:
                return NatsResponse(await handle(body))
            except Broken as error:
                self._fail(error)
                return refused(error.code, error.message)
            except WeighbridgeError as error:
                return refused(error.code, error.message)
            except Exception as error:
                log.exception("a question met a bug", service=self.service, subject=subject)
                return refused("bug", f"{type(error).__name__}; the node's log says more")

        subscriber = self.broker.subscriber(subject)
        subscriber(answer)
        if self.connected:
            await subscriber.start()

    # --- reading -------------------------------------------------------------------------------------------

    def read(self, stream: str, subject: str, durable: str, handle: Handle, *, batch: int = 256) -> None:
        """Read a subject of a stream, from the beginning, for as long as the service runs.

        `handle` gets raw messages in batches, partial ones at once; when it returns, all are acknowledged.
        Unavailable: all come again after a while, perhaps behind later ones. Any other error stops the
        service: `failure` says why.
        """
        self._spawn(Durable(self, stream, subject, durable, handle, batch).run(), subject)

    def follow(
        self, stream: str, subject: str, start: Callable[[], int], handle: Handle, *, batch: int = 256
    ) -> None:
        """Read a chained subject (log, transcript) in stream order, without acknowledgements.

        Reading begins at the stream sequence `start()` (1: the first) and goes on in order, over gaps,
        reconnections and restarts; of a stream that begins anew (a wiped broker), from its start, so that
        `handle` skips what it has. Unavailable: the same batch comes again, in order. Again: reading goes
        back to the start. Any other error stops the service.
        """
        self._spawn(Ordered(self, stream, subject, start, handle, batch).run(), subject)

    def _spawn(self, work: Awaitable[None], subject: str) -> None:
        self._tasks.append(asyncio.create_task(self._watched(work, subject), name=f"read {subject}"))

    async def _watched(self, work: Awaitable[None], subject: str) -> None:
        try:
            await work
        except Exception as error:
            log.error("reader stopped", service=self.service, subject=subject, error=str(error))
            self._fail(error)


def refused(code: str, says: str) -> NatsResponse:
    """Return the answer that refuses a question."""
    return NatsResponse(says.encode(), headers={REFUSAL: code})


__all__ = ["BrokerRefused", "Bus", "Stored"]
