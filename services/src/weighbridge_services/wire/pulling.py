"""Pull requests on a consumer of a stream: whatever is there is handed over at once, and a request that is
lost costs a second.

nats-py's own `fetch` may wait for a batch to fill; here a request stands open for at most `EXPIRES` and its
messages are handed over as they come.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from typing import Final

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from weighbridge_services.wire.arriving import Shortcut

Incoming = Msg

EXPIRES: Final = 1.0
"""Seconds that a pull request stands open."""
GRACE: Final = 0.25
"""Seconds after which a request without an answer counts as lost."""
MAX_BYTES: Final = 32 << 20
"""Bytes of one batch at most: above any message (`max_payload` is 8 MiB), below the client's buffer."""

_HELD: Final = "$JS.ACK."
"""How the reply subject of every message of a stream begins; what the broker says of a request has none."""
_ENDED = {"404", "408"}
"""Statuses that end a request and leave the consumer: nothing there, or time is up."""
_LIMITED = ("Message Size Exceeds MaxBytes", "Exceeded Max", "Batch Completed")


class ConsumerGone(Exception):
    """The consumer is not there any more: make a new one."""


class Pull:
    """The pull requests of one consumer."""

    def __init__(
        self, nc: Client, stream: str, consumer: str, batch: int, shortcut: Shortcut | None = None
    ) -> None:
        self._nc = nc
        self._shortcut = shortcut
        self._subject = f"$JS.API.CONSUMER.MSG.NEXT.{stream}.{consumer}"
        self._batch = batch
        self._inbox = nc.new_inbox()
        self._subscription: Subscription | None = None
        self._arrived: deque[Msg] = deque()
        self._event = asyncio.Event()
        self._open = 0
        self._until = 0.0

    async def start(self) -> None:
        """Listen for what the requests bring."""
        self._subscription = await self._nc.subscribe(self._inbox, cb=self._arrive)
        if self._shortcut is not None:
            self._shortcut.lead(self._subscription, self._take)

    async def stop(self) -> None:
        """Stop listening."""
        if self._subscription is None:
            return
        if self._shortcut is not None:
            self._shortcut.end(self._subscription)
        if not self._nc.is_closed:
            await self._subscription.unsubscribe()

    async def _arrive(self, message: Msg) -> None:
        self._take(message)

    def _take(self, message: Msg) -> None:
        self._arrived.append(message)
        self._event.set()

    def lost(self) -> None:
        """Take note that the connection was lost, and the open request with it."""
        self._open = 0
        self._event.set()

    async def take(self) -> list[Msg]:
        """Return the messages that have come; none, if none come while a request stands. Raises ConsumerGone."""
        if self._open <= 0 or time.monotonic() > self._until:
            await self._request()
        found = self._drain()
        if not found and self._open > 0:
            await self._wait()
            found = self._drain()
        return found

    def more(self, most: int) -> list[Msg]:
        """Return what has come meanwhile, so many messages at most. Raises ConsumerGone."""
        return self._drain(most)

    async def _request(self) -> None:
        request = {"batch": self._batch, "expires": int(EXPIRES * 1e9), "max_bytes": MAX_BYTES}
        self._open = self._batch
        self._until = time.monotonic() + EXPIRES + GRACE
        await self._nc.publish(self._subject, json.dumps(request).encode(), self._inbox)

    async def _wait(self) -> None:
        self._event.clear()
        if self._arrived:
            return
        try:
            async with asyncio.timeout(max(0.0, self._until - time.monotonic())):
                await self._event.wait()
        except TimeoutError:
            self._open = 0

    def _drain(self, most: int | None = None) -> list[Msg]:
        found: list[Msg] = []
        most = self._batch if most is None else most
        while self._arrived and len(found) < most:
            message = self._arrived.popleft()
            # What a stream holds can be acknowledged; a sender may give that headers like the broker's own.
            told = not message.data and not message.reply.startswith(_HELD)
            status = (message.headers or {}).get("Status") if told else None
            if status is None:
                self._open -= 1
                found.append(message)
            else:
                self._ended(status, (message.headers or {}).get("Description", ""))
        return found

    def _ended(self, status: str, description: str) -> None:
        if status == "100":
            return
        self._open = 0
        if status not in _ENDED and not description.startswith(_LIMITED):
            raise ConsumerGone(f"{status} {description}")
