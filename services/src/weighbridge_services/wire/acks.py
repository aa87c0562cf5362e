"""Publishing to streams, many at a time: one inbox for the broker's acknowledgements, and no task per message."""

from __future__ import annotations

import asyncio
import itertools
import json
from typing import Any, Final

import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from weighbridge.errors import WeighbridgeError

from weighbridge_services.wire.errors import AnotherWriter, BrokerRefused, BrokerUnavailable

LAST_SUBJECT_SEQUENCE: Final = "Nats-Expected-Last-Subject-Sequence"
WRONG_LAST_SEQUENCE: Final = 10071
"""JetStream's code for an expected sequence that does not hold."""
TIMEOUT: Final = 5.0
"""Seconds to wait for an acknowledgement."""


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
    ) -> asyncio.Future[int]:
        """Publish to a stream; return what will be the sequence. Raises BrokerUnavailable or BrokerRefused.

        `last` is the sequence of the subject's last message (0: none), or None for whatever it is.
        """
        reply = f"{self._inbox}.{next(self._numbers)}"
        future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._waiting[reply] = subject, future
        future.add_done_callback(lambda done: self._forget(reply, done))
        expected = {} if last is None else {LAST_SUBJECT_SEQUENCE: str(last)}
        try:
            await self._nc.publish(subject, data, reply, {**(headers or {}), **expected} or None)
        except nats.errors.MaxPayloadError as error:
            future.cancel()
            raise BrokerRefused(
                f"{subject}: {len(data)} bytes are more than the broker takes; set its max_payload to 8 MiB"
            ) from error
        except (nats.errors.Error, OSError) as error:
            future.cancel()
            raise unanswered(subject, error) from error
        return future

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
    if error.get("err_code") == WRONG_LAST_SEQUENCE:
        return AnotherWriter(
            f"{subject}: its last message is not the one that this node wrote last; does another node run with"
            " this node's key?"
        )
    return BrokerUnavailable(f"{subject}: {error.get('description', 'refused')}")


def unanswered(subject: str, error: BaseException) -> BrokerUnavailable:
    """Return what a failed exchange with the broker means."""
    return BrokerUnavailable(f"{subject}: no answer from the broker ({error or type(error).__name__})")


async def await_all(subject: str, futures: list[asyncio.Future[int]]) -> list[int | BaseException]:
    """Wait for acknowledgements, `TIMEOUT` at most; return each sequence or error, in order."""
    _, late = await asyncio.wait(futures, timeout=TIMEOUT)
    for future in late:
        future.set_exception(BrokerUnavailable(f"{subject}: no answer from the broker in {TIMEOUT:.0f} s"))
    return [future.exception() or future.result() for future in futures]
