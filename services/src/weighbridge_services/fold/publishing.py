"""What the fold service publishes: the transcript, questions and statements, each persisted before it is sent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

import nats.errors
import structlog
from weighbridge import codec
from weighbridge.errors import Refused

from weighbridge_services.fold.decide import Batch
from weighbridge_services.fold.signing import Signing
from weighbridge_services.folding.errors import TranscriptDiffers
from weighbridge_services.folding.store import FoldStore
from weighbridge_services.node import Node
from weighbridge_services.subjects import Subjects
from weighbridge_services.wire import AnotherWriter, BrokerUnavailable, Bus, crash_point

MESSAGES: Final = 16
"""Messages of the transcript that are sent before the first is acknowledged."""
LETTERS: Final = 256
"""Messages of the outbox that are marked as sent in one batch."""

log = structlog.get_logger()
T = TypeVar("T")
Run = Callable[..., Awaitable[Any]]
"""Has the ledger's thread do some work."""


class Publisher:
    """Brings the streams of one game to what the ledger says they hold."""

    def __init__(self, node: Node, bus: Bus, subjects: Subjects, signing: Signing, run: Run) -> None:
        self._node = node
        self._bus = bus
        self._subjects = subjects
        self._signing = signing
        self._run = run
        self._sent: int | None = None
        self._reconnects = -1

    @property
    def _store(self) -> FoldStore:
        return self._signing.store

    async def publish(self) -> None:
        """Send what waits. Raises BrokerUnavailable, TranscriptDiffers."""
        if self._reconnects != self._bus.reconnects:
            # The broker may have lost its disk meanwhile; what it lacks is published again.
            seen = self._bus.reconnects
            await self._send_again_if_lost()
            self._sent, self._reconnects = None, seen
        if self._sent is None:
            await self._align()
        if self._sent is not None:
            await self._send_transcript()
        await self._send_letters()

    # --- transcript ------------------------------------------------------------------------------------------

    async def _align(self) -> None:
        """Find out how much of the transcript the stream holds, and whether it is this one."""
        stream = self._subjects.stream("TRANSCRIPT")
        found = await self._bus.last(stream, self._subjects.transcript)
        held = 0 if found is None else found.sequence
        for number in range(await self._run(self._signing.batches) + 1, held + 1):
            # A ledger younger than the stream: it takes the stream's divisions, and computes the leaves itself.
            row = _division(await self._message(stream, number))
            await self._run(self._signing.add_batch, row)
        own = await self._run(self._signing.payload, held) if held else None
        if found is not None and own is None:
            return
        if found is not None and own != found.data:
            raise TranscriptDiffers(
                f"message {held} of {self._subjects.transcript} is not what this node's fold gives now; it has"
                " published another transcript under this origin: do not cosign with this key"
            )
        self._sent = held

    async def _message(self, stream: str, number: int) -> bytes:
        try:
            return (await self._bus.js.get_msg(stream, number)).data or b""
        except (TimeoutError, nats.errors.Error, OSError) as error:
            raise BrokerUnavailable(f"{stream}: message {number} cannot be read: {error}") from error

    async def _send_transcript(self) -> None:
        count = await self._run(self._signing.batches)
        while self._sent is not None and self._sent < count:
            until = min(self._sent + MESSAGES, count)
            payloads = [await self._run(self._signing.payload, n + 1) for n in range(self._sent, until)]
            if None in payloads:
                return
            sent, self._sent = self._sent, None
            try:
                self._sent = await self._bus.append_many(self._subjects.transcript, payloads, sent)
            except AnotherWriter:
                return  # looking at the stream again tells whose fault it is

    # --- questions and statements ------------------------------------------------------------------------------

    async def _send_letters(self) -> None:
        while letters := await self._run(self._store.ledger.outbox.waiting, LETTERS):
            for each in letters:
                await self._bus.publish_once(each.subject, each.payload)
            # A crash here publishes again what is there already, which changes nothing.
            crash_point(self._node, "fold.after-publish")
            await self._run(self._mark, [each.number for each in letters])

    def _mark(self, numbers: list[int]) -> None:
        store = self._store
        with store.ledger.batch():
            for number in numbers:
                store.ledger.outbox.sent(number, 0)
            store.set_number("letters", numbers[-1])

    async def _send_again_if_lost(self) -> None:
        newest = await self._run(self._store.number, "letters")
        if not newest:
            return
        letter = await self._run(self._store.ledger.outbox.get, newest)
        if await self._bus.last(self._subjects.stream("RECORDS"), letter.subject) is None:
            log.warning("the stream has lost what was published; publishing it again", game=self._store.game)
            await self._run(self._all_again)

    def _all_again(self) -> None:
        outbox = self._store.ledger.outbox
        with self._store.ledger.batch():
            for letter in list(outbox.all()):
                if letter.sent is not None:
                    outbox.again(letter.number)


def _division(data: bytes) -> Batch:
    try:
        value: Any = codec.decode(data)
        return Batch(str(value["origin"]), int(value["from"]), len(value["leaves"]))
    except (Refused, KeyError, TypeError, ValueError) as error:
        raise TranscriptDiffers(f"a message of this node's own transcript is malformed: {error}") from error
