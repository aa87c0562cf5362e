"""One service's connection to the broker."""

from __future__ import annotations

import asyncio
import contextlib
import re
import weakref
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, Final, NamedTuple, TypeVar

import nats.errors
import structlog
from faststream import AckPolicy
from faststream.nats import NatsBroker
from faststream.nats.prometheus import NatsPrometheusMiddleware
from faststream.nats.response import NatsResponse
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js import JetStreamContext
from nats.js.errors import NotFoundError
from weighbridge.errors import Broken, WeighbridgeError

from weighbridge_services.ending import end_tasks, unbroken
from weighbridge_services.metrics import REGISTRY
from weighbridge_services.node import Node
from weighbridge_services.wire.acks import TIMEOUT, Acks, chunks, unanswered
from weighbridge_services.wire.answers import answered, refused
from weighbridge_services.wire.appending import append_all
from weighbridge_services.wire.arriving import Shortcut
from weighbridge_services.wire.errors import (
    AnotherWriter,
    BrokerRefused,
    BrokerUnavailable,
    NobodyAnswers,
)
from weighbridge_services.wire.exact import ExactBytes
from weighbridge_services.wire.login import Login, log_in_once
from weighbridge_services.wire.pongs import keep_pongs
from weighbridge_services.wire.pulling import Pull
from weighbridge_services.wire.reading import ACK_WAIT, Durable, Gather, Handle, Ordered, Reading

NO_SUCH_STREAM: Final = 10059
"""JetStream's code for a stream that is not there."""
SOON: Final = 0.1
"""Seconds for which a service may gather what it reads, where nobody waits for what comes of it."""
PATIENCE: Final = 15.0
"""Seconds for which a start waits for the broker."""
GRACE: Final = 10.0
"""Seconds that handlers have to finish when the service stops."""

log = structlog.get_logger()
T = TypeVar("T")

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
        self.broker = self._made()
        self._client: Client | None = None
        self._acks: Acks | None = None
        self._shortcut: Shortcut | None = None
        self._pulls: weakref.WeakSet[Pull] = weakref.WeakSet()
        self._readings: dict[asyncio.Task[None], Reading] = {}
        self._lost = asyncio.Event()
        self._served: list[Any] = []
        self._stopping = False

    def _made(self) -> NatsBroker:
        return NatsBroker(
            self._login.url,
            name=f"{self._node.name}/{self.service}",
            codec=ExactBytes(),
            ack_policy=AckPolicy.MANUAL,
            # Reconnecting never ends: a client that gave up would leave loops spinning on a dead socket.
            max_reconnect_attempts=-1,
            reconnect_time_wait=0.1,  # type: ignore[arg-type]
            graceful_timeout=GRACE,
            middlewares=(NatsPrometheusMiddleware(registry=REGISTRY, app_name=self.service),),
            inbox_prefix=self._login.inbox,
            security=self._login.security(),
            disconnected_cb=self._on_disconnected,
            reconnected_cb=self._on_reconnected,
            closed_cb=self._on_closed,
            error_cb=self._on_error,
            logger=None,
        )

    @classmethod
    def connect(cls, node: Node, service: str) -> Bus:
        """Return the bus of a service of a node, not yet started. Raises BadKeyFile."""
        return cls(node, service, Login.of(node))

    # --- connection ----------------------------------------------------------------------------------------

    async def start(self, patience: float = PATIENCE) -> None:
        """Connect; wait `patience` seconds for a broker that is not there. Raises BrokerUnavailable, BrokerRefused."""
        await log_in_once(self._login, patience)
        self._client = await self.broker.connect()
        keep_pongs(self._client)
        self._shortcut = Shortcut.of(self._client)
        self._acks = Acks(self._client)
        await self._acks.start()
        await self.broker.start()

    async def quiet(self) -> None:
        """Stop reading and answering, and let handlers finish and acknowledge; publishing still works."""
        self._stopping = True
        for task, reading in self._readings.items():
            if not reading.finish():
                task.cancel()
        if self._readings:
            _, late = await asyncio.wait(self._readings, timeout=GRACE)
            await end_tasks(late)
        self._readings.clear()
        await asyncio.gather(*(each.stop() for each in self._served))
        self._served.clear()

    async def stop(self) -> None:
        """Be quiet, and disconnect."""
        await self.quiet()
        client, self._client = self._client, None
        try:
            await unbroken(self.broker.stop())  # a drain that is broken off fails aloud, in places of its own
        except nats.errors.Error:
            # A connection that is closed, or just being made anew, cannot be drained, and holds nothing back.
            if client is not None:
                await client.close()

    @property
    def nc(self) -> Client:
        """The connection itself, for what FastStream does not cover."""
        if self._client is None:
            raise BrokerUnavailable("not connected to the broker; start the bus first")
        return self._client

    @property
    def js(self) -> JetStreamContext:
        """JetStream over that connection."""
        return self.nc.jetstream(timeout=TIMEOUT)

    @property
    def connected(self) -> bool:
        """Whether the broker is at the other end now."""
        return self._client is not None and self._client.is_connected

    @property
    def stopping(self) -> bool:
        """Whether reading is to end: a handler that waits for something gives up."""
        return self._stopping

    async def pull(self, stream: str, consumer: str, batch: int) -> Pull:
        """Return pull requests for a consumer, started."""
        pull = Pull(self.nc, stream, consumer, batch, self._shortcut)
        await pull.start()
        self._pulls.add(pull)
        return pull

    async def while_connected(self, work: Coroutine[Any, Any, T]) -> T:
        """Return what an exchange with the broker comes to. Raises BrokerUnavailable once the connection is lost.

        An answer that went down with a connection never comes, and nats-py would wait for it.
        """
        task, lost = asyncio.ensure_future(work), asyncio.ensure_future(self._lost.wait())
        try:
            await asyncio.wait([task, lost], return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
            raise BrokerUnavailable("the connection to the broker was lost")
        finally:
            # What it still comes to is nobody's any more; unread, a late refusal would be logged as a bug.
            task.add_done_callback(lambda done: done.cancelled() or done.exception())
            task.cancel()
            lost.cancel()

    async def _on_disconnected(self) -> None:
        lost, self._lost = self._lost, asyncio.Event()
        lost.set()
        if self._acks is not None:
            self._acks.lost()

    async def _on_reconnected(self) -> None:
        self.reconnects += 1
        for pull in self._pulls:
            pull.lost()  # requests do not survive a connection, and nothing says so

    async def _on_closed(self) -> None:
        if not self._stopping:
            self.fail(BrokerUnavailable("the connection to the broker was closed for good"))

    async def _on_error(self, error: Exception) -> None:
        log.info("broker", service=self.service, error=f"{type(error).__name__}: {error}")
        forbidden = re.search(
            r'permissions violation for (publish|subscription) to "([^"]+)"', str(error), re.I
        )
        if forbidden is None:
            return
        if forbidden[1].lower() == "publish" and self._acks is not None:
            self._acks.forbidden(forbidden[2])
        elif forbidden[1].lower() == "subscription":
            self.fail(BrokerRefused(f"the broker does not let this node's login listen on {forbidden[2]}"))

    def fail(self, error: BaseException) -> None:
        """Say that the service cannot go on: a task of its own met `Broken`. The node stops with it."""
        if self.failure is None:
            self.failure = error
        self.failed.set()

    # --- writing -------------------------------------------------------------------------------------------

    async def publish_once(self, subject: str, data: bytes) -> bool:
        """Write a subject that is written once, ever. False: it was there already. Raises BrokerUnavailable."""
        try:
            await self._sending().send(subject, data, 0)
        except AnotherWriter:
            return False
        return True

    async def append(self, subject: str, data: bytes, last: int) -> int:
        """Append to a subject whose last message has sequence `last` (0: none); return the new sequence.

        The very message being there already counts as done: after BrokerUnavailable, say it again. Raises
        AnotherWriter if another message is there, BrokerUnavailable.
        """
        return await self.append_many(subject, [data], last)

    async def append_many(self, subject: str, payloads: Sequence[bytes], last: int) -> int:
        """Append several behind one another; return the last one's sequence, `last` for none.

        Only for the one subject of a stream (log, transcript). After an error some of them are written, from
        the first on: say it again. Raises like `append`.
        """
        for batch in chunks(payloads):
            last = await append_all(self._sending(), self.js, subject, batch, last)
        return last

    async def put(self, subject: str, data: bytes, headers: dict[str, str] | None = None) -> int:
        """Write to the stream of a subject, whatever is there already (submissions, rejections)."""
        return await self._sending().send(subject, data, None, headers)

    def _sending(self) -> Acks:
        if self._acks is None:
            raise BrokerUnavailable("not connected to the broker; start the bus first")
        return self._acks

    async def last(self, stream: str, subject: str) -> Stored | None:
        """Return the last message of a subject, or None. Raises BrokerUnavailable."""
        try:
            message = await self.while_connected(self.js.get_last_msg(stream, subject))
        except NotFoundError as error:
            if error.err_code == NO_SUCH_STREAM:
                says = f"the stream {stream} is not declared; run `weighbridge node streams`"
                raise BrokerUnavailable(says) from error
            return None
        except (nats.errors.Error, OSError) as error:
            raise unanswered(subject, error) from error
        return Stored(int(message.seq or 0), message.data or b"", message.subject or subject)

    async def send(self, subject: str, data: bytes, headers: dict[str, str] | None = None) -> None:
        """Publish to a core subject: an answer that nobody keeps. Raises BrokerUnavailable."""
        try:
            await self.nc.publish(subject, data, headers=headers)
        except (nats.errors.Error, OSError) as error:
            raise unanswered(subject, error) from error

    # --- asking --------------------------------------------------------------------------------------------

    async def ask(self, subject: str, data: bytes, timeout: float = TIMEOUT) -> bytes:
        """Ask a service. Raises NobodyAnswers, AnswerRefused or BrokerUnavailable."""
        try:
            answer = await self.while_connected(self.nc.request(subject, data, timeout=timeout))
        except (nats.errors.TimeoutError, nats.errors.NoRespondersError) as error:
            raise NobodyAnswers(f"nobody answers on {subject}; is the service running?") from error
        except (nats.errors.Error, OSError) as error:
            raise unanswered(subject, error) from error
        return answered(answer)

    async def listen(self, take: Callable[[bytes], None]) -> str:
        """Return a subject of this connection's own; what is sent there goes to `take`. Raises BrokerUnavailable."""

        async def hear(message: Msg) -> None:
            take(message.data)

        inbox = self.nc.new_inbox()
        try:
            await self.nc.subscribe(inbox, cb=hear)
        except (nats.errors.Error, OSError) as error:
            raise unanswered(inbox, error) from error
        return inbox

    async def serve(self, subject: str, handle: Serve) -> None:
        """Answer questions on a core subject. What the handler refuses is answered with its code.

        Broken stops the service; a bug is logged and answered with the code `bug`.
        """

        async def answer(body: bytes) -> NatsResponse:
            try:
                return NatsResponse(await handle(body))
            except WeighbridgeError as error:
                if isinstance(error, Broken):
                    self.fail(error)
                return refused(error.code, error.message)
            except Exception as error:
                log.exception("a question met a bug", service=self.service, subject=subject)
                return refused("bug", f"{type(error).__name__}; the node's log says more")

        subscriber = self.broker.subscriber(subject)
        subscriber(answer)
        self._served.append(subscriber)
        if self._client is not None:
            await subscriber.start()
            # Who asks from now on is not told that nobody is there; on a new connection it is said again.
            # A question that the broker itself answers: once it is answered, it has heard of the subscription too.
            with contextlib.suppress(nats.errors.Error, OSError, BrokerUnavailable):
                await self.while_connected(self.js.account_info())

    # --- reading -------------------------------------------------------------------------------------------

    def read(
        self, stream: str, subject: str, durable: str, handle: Handle, *, batch: int = 256, ahead: int = 1,
        ack_wait: int = ACK_WAIT,
    ) -> None:  # fmt: skip
        """Read a subject of a stream, from the beginning, for as long as the service runs.

        `handle` gets raw messages in batches, partial ones at once; when it returns, all are acknowledged.
        Unavailable: all come again after a while, perhaps behind later ones. Any other error stops the
        service: `failure` says why. With `ahead`, so many batches are in the handler's hands at a time.
        `ack_wait`: seconds after which what was in the hands of a process that died comes again.
        """
        self._spawn(Durable(self, stream, subject, durable, handle, batch, ahead, ack_wait), subject)

    def follow(
        self, stream: str, subject: str, start: Callable[[], int], handle: Handle, *, batch: int = 256,
        gather: Gather | float | None = None,
    ) -> None:  # fmt: skip
        """Read a chained subject (log, transcript) in stream order, without acknowledgements.

        Reading begins at the stream sequence `start()` (1: the first) and goes on in order, over gaps,
        reconnections and restarts; of a stream that begins anew (a wiped broker), from its start, so that
        `handle` skips what it has. Unavailable: the same messages come again, in order. Again: reading goes
        back to the start. Any other error stops the service. `gather`: seconds for which the first of a batch may
        wait for more, where nobody waits for what comes of it and each batch costs a commit.
        """
        gather = gather if gather is None or isinstance(gather, Gather) else Gather(gather)
        self._spawn(Ordered(self, stream, subject, start, handle, batch, gather), subject)

    def _spawn(self, reading: Reading, subject: str) -> None:
        task = asyncio.create_task(self._watched(reading, subject), name=f"read {subject}")
        self._readings[task] = reading

    async def _watched(self, reading: Reading, subject: str) -> None:
        try:
            await reading.run()
        except Exception as error:
            log.error("reader stopped", service=self.service, subject=subject, error=str(error))
            self.fail(error)
