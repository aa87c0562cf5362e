"""Publishing to streams, one message or several behind one another: one inbox for the broker's acknowledgements."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from weighbridge.errors import WeighbridgeError

from weighbridge_services.wire.errors import AnotherWriter, BrokerRefused, BrokerUnavailable

LAST_SUBJECT_SEQUENCE: Final = "Nats-Expected-Last-Subject-Sequence"
MESSAGE_ID: Final = "Nats-Msg-Id"
LAST_MESSAGE_ID: Final = "Nats-Expected-Last-Msg-Id"
WRONG_LAST: Final = (10070, 10071)
"""JetStream's codes for an expected message id, or an expected sequence, that is not the last one's."""
TIMEOUT: Final = 5.0
"""Seconds to wait for an acknowledgement."""
BATCH: Final = 500
"""Messages that are sent before the first is acknowledged."""
BATCH_BYTES: Final = 16 << 20
"""Bytes of them."""


class Acks:
    """The acknowledgements that one connection waits for."""

    def __init__(self, nc: Client) -> None:
        self._nc = nc
        self._inbox = nc.new_inbox()
        self._numbers = itertools.count()
        self._waiting: dict[str, tuple[str, asyncio.Future[int]]] = {}
        self._subscription: Subscription | None = None

    async def start(self) -> None:
        """Listen for acknowledgements."""
        self._subscription = await self._nc.subscribe(f"{self._inbox}.*", cb=self._take)

    async def send(
        self, subject: str, data: bytes, last: int | None, headers: dict[str, str] | None = None
    ) -> int:
        """Publish to a stream; return the sequence. Raises AnotherWriter, BrokerUnavailable or BrokerRefused.

        `last` is the sequence of the subject's last message (0: none), or None for whatever it is.
        """
        expected = {} if last is None else {LAST_SUBJECT_SEQUENCE: str(last)}
        reply, future = self._expect(subject)
        try:
            await self._publish(subject, data, reply, {**(headers or {}), **expected})
            return await answered_in_time(subject, future)
        finally:
            future.cancel()

    async def send_batch(self, subject: str, payloads: Sequence[bytes], last: int) -> int:
        """Publish payloads behind one another to the one subject of a stream; return the sequence of the last one.

        None can be taken behind another writer's: each has a name that nobody else gives, and asks for the one before
        to be the stream's last message. So what is refused takes all after it along, and the answer to the last one
        speaks for all. After an error some of them are written, from the first on. Raises like `send`.

        (A batch as ADR-50 has it would be written as a whole or not at all, which a log that goes on anyway does not
        need, and takes the broker a folder of its own for each: 20 ms where this takes 1.)
        """
        reply, future = self._expect(subject)
        name = reply.rpartition("_INBOX.")[2]
        try:
            for number, data in enumerate(payloads, 1):
                headers = {MESSAGE_ID: f"{name}-{number}"}
                if number == 1:
                    headers[LAST_SUBJECT_SEQUENCE] = str(last)
                else:
                    headers[LAST_MESSAGE_ID] = f"{name}-{number - 1}"
                await self._publish(subject, data, reply if number == len(payloads) else "", headers)
            return await answered_in_time(subject, future)
        finally:
            future.cancel()

    def _expect(self, subject: str) -> tuple[str, asyncio.Future[int]]:
        reply = f"{self._inbox}.{next(self._numbers)}"
        future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._waiting[reply] = subject, future
        future.add_done_callback(lambda done: self._forget(reply, done))
        return reply, future

    async def _publish(self, subject: str, data: bytes, reply: str, headers: dict[str, str]) -> None:
        try:
            await self._nc.publish(subject, data, reply, headers or None)
        except nats.errors.MaxPayloadError as error:
            raise BrokerRefused(
                f"{subject}: {len(data)} bytes are more than the broker takes; set its max_payload to 8 MiB"
            ) from error
        except (nats.errors.Error, OSError) as error:
            raise unanswered(subject, error) from error

    def forbidden(self, subject: str) -> None:
        """Take note that the broker does not let this node publish to a subject."""
        for waiting, future in list(self._waiting.values()):
            if waiting == subject and not future.done():
                future.set_exception(
                    BrokerRefused(f"{subject}: the broker does not let this node's login publish there")
                )

    def lost(self) -> None:
        """Take note that the connection was lost: what was not acknowledged by now may or may not be written."""
        for subject, future in list(self._waiting.values()):
            if not future.done():
                future.set_exception(BrokerUnavailable(f"{subject}: the connection to the broker was lost"))

    def _forget(self, reply: str, done: asyncio.Future[int]) -> None:
        self._waiting.pop(reply, None)
        if not done.cancelled():
            done.exception()  # seen, even if the sender has meanwhile failed over another message

    async def _take(self, message: Msg) -> None:
        subject, future = self._waiting.get(message.subject, ("", None))
        if future is None or future.done():
            return
        found = answer_of(subject, message)
        if isinstance(found, int):
            future.set_result(found)
        else:
            future.set_exception(found)


def answer_of(subject: str, message: Msg) -> int | WeighbridgeError:
    """Return the sequence under which a message is stored, or why it is not."""
    if not message.data:
        return BrokerUnavailable(f"{subject}: no stream takes it; run `weighbridge node streams`")
    try:
        answer: dict[str, Any] = json.loads(message.data)
    except ValueError:
        return BrokerUnavailable(f"{subject}: the broker's acknowledgement cannot be read")
    error = answer.get("error")
    if error is None:
        return int(answer["seq"])
    if error.get("err_code") in WRONG_LAST:
        return AnotherWriter(
            f"{subject}: its last message is not the one that this node wrote last; does another node run with"
            " this node's key?"
        )
    return BrokerUnavailable(f"{subject}: {error.get('description', 'refused')}")


async def answered_in_time(subject: str, future: asyncio.Future[int]) -> int:
    """Return what the broker acknowledges within `TIMEOUT`. Raises as it says, or BrokerUnavailable."""
    try:
        async with asyncio.timeout(TIMEOUT):
            return await future
    except TimeoutError:
        raise BrokerUnavailable(f"{subject}: no answer from the broker in {TIMEOUT:.0f} s") from None


def unanswered(subject: str, error: BaseException) -> BrokerUnavailable:
    """Return what a failed exchange with the broker means."""
    return BrokerUnavailable(f"{subject}: no answer from the broker ({error or type(error).__name__})")


def chunks(payloads: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    """Yield the payloads in batches of a size that the broker takes at once."""
    start = size = 0
    for place, data in enumerate(payloads):
        if place > start and (place - start == BATCH or size + len(data) > BATCH_BYTES):
            yield payloads[start:place]
            start, size = place, 0
        size += len(data)
    if start < len(payloads):
        yield payloads[start:]
