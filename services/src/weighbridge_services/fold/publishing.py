"""What the fold service publishes: the transcript, questions and statements, each persisted before it is sent."""

from __future__ import annotations

import asyncio
from typing import Any, Final, NamedTuple

from weighbridge import codec
from weighbridge.errors import Refused

from weighbridge_services.fold.decide import Batch
from weighbridge_services.fold.signing import Signing
from weighbridge_services.folding.errors import TranscriptDiffers
from weighbridge_services.folding.letters import Letters, Run
from weighbridge_services.folding.messages import message_at
from weighbridge_services.subjects import Subjects
from weighbridge_services.wire import AnotherWriter, Bus

MESSAGES: Final = 16
"""Messages of the transcript that are sent before the first is acknowledged."""


class Prepared(NamedTuple):
    """Messages of the transcript that follow the first `sent`, and `all`: how many there were then."""

    sent: int
    payloads: list[bytes]
    all: int


class Publisher:
    """Brings the streams of one game to what the ledger says they hold."""

    def __init__(self, bus: Bus, subjects: Subjects, signing: Signing, run: Run, letters: Letters) -> None:
        self._bus = bus
        self._subjects = subjects
        self._signing = signing
        self._run = run
        self._letters = letters
        self._sent: int | None = None
        self._prepared: Prepared | None = None
        self._reconnects = -1

    async def publish(self) -> None:
        """Send what waits. Raises BrokerUnavailable, TranscriptDiffers."""
        if self._reconnects != self._bus.reconnects:
            # The broker may have lost its disk meanwhile; what it lacks is published again.
            self._sent, self._reconnects = None, self._bus.reconnects
        # Side by side: what goes into the one stream does not wait for what goes into the other.
        for failed in await asyncio.gather(self._bring_up(), self._letters.send(), return_exceptions=True):
            if isinstance(failed, BaseException):
                raise failed

    async def _bring_up(self) -> None:
        if self._sent is None:
            await self._align()
        if self._sent is not None:
            await self._send_transcript()

    # --- transcript ------------------------------------------------------------------------------------------

    async def _align(self) -> None:
        """Find out how much of the transcript the stream holds, and whether it is this one."""
        stream = self._subjects.stream("TRANSCRIPT")
        found = await self._bus.last(stream, self._subjects.transcript)
        held = 0 if found is None else found.sequence
        for number in range(await self._run(self._signing.batches) + 1, held + 1):
            # A ledger younger than the stream: it takes the stream's divisions, and computes the leaves itself.
            row = _division(await message_at(self._bus, stream, number))
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

    def prepare(self) -> None:
        """Make ready what is to be sent next: a trip to the thread less. In the ledger's thread."""
        if self._sent is not None:
            self._prepared = Prepared(
                self._sent, self._signing.payloads(self._sent, MESSAGES), self._signing.batches()
            )

    async def _next(self, sent: int) -> Prepared:
        prepared, self._prepared = self._prepared, None
        if prepared is not None and prepared.sent == sent and prepared.payloads:
            return prepared
        await self._run(self.prepare)
        return self._prepared or Prepared(sent, [], 0)

    async def _send_transcript(self) -> None:
        while self._sent is not None:
            _, payloads, count = await self._next(self._sent)
            if not payloads:
                return
            sent, self._sent = self._sent, None
            try:
                self._sent = await self._bus.append_many(self._subjects.transcript, payloads, sent)
            except AnotherWriter:
                return  # looking at the stream again tells whose fault it is
            if self._sent == count:
                return  # what was signed meanwhile has its own turn


def _division(data: bytes) -> Batch:
    try:
        value: Any = codec.decode(data)
        return Batch(str(value["origin"]), int(value["from"]), len(value["leaves"]))
    except (Refused, KeyError, TypeError, ValueError) as error:
        raise TranscriptDiffers(f"a message of this node's own transcript is malformed: {error}") from error
