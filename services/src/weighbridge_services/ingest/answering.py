"""Who waits for what: answers to senders, published rejections, and what is let go to come again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weighbridge import codec
from weighbridge.cid import Cid
from weighbridge.errors import Unavailable, WeighbridgeError

from weighbridge_services.ingest.answers import later_answer, listed_answer, rejected_answer, rejection
from weighbridge_services.ingest.arrivals import Arrival
from weighbridge_services.ingest.decide import Answer, Placed
from weighbridge_services.ingest.opening import Refusal
from weighbridge_services.ingest.setting import Setting


class Answering:
    """The senders who wait for a checkpoint over their records, and everybody's answers."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._waiting: list[tuple[Arrival, Placed]] = []
        self.rejected: dict[str, int] = {}
        """How many were rejected, by code, since the start."""

    async def take(self, arrival: Arrival, answer: Answer) -> None:
        """Take what has been decided: a listed record of somebody who waits is answered with the next checkpoint."""
        if isinstance(answer, Placed) and arrival.answer_to is not None:
            self._waiting.append((arrival, answer))
            return
        if isinstance(answer, Refusal):
            await self._reject(arrival, answer)
        if not isinstance(answer, Placed) and arrival.answer_to is not None:
            await self._setting.bus.send(arrival.answer_to, rejected_answer(answer))
        settle(arrival, answer)

    async def _reject(self, arrival: Arrival, refusal: Refusal) -> None:
        self.rejected[refusal.code] = self.rejected.get(refusal.code, 0) + 1
        message = rejection(Cid.of(arrival.data), refusal, arrival.origin)
        await self._setting.bus.put(self._setting.own.rejected, message)

    async def answer(self, size: int, note: bytes, chain: str | None) -> None:
        """Answer those whose records a checkpoint of this size holds; `chain`: what the game's is called."""
        held = [each for each in self._waiting if each[1].seq < size]
        if not held:
            return
        self._waiting = [each for each in self._waiting if each[1].seq >= size]
        try:
            for arrival, placed in held:
                await self._setting.bus.send(arrival.answer_to or "", listed_answer(placed, note, chain))
        except Unavailable as error:
            put_off([arrival for arrival, _ in held], error)
            raise
        # A crash here leaves answered submissions unacknowledged: they come again and get the same answer.
        self._setting.crash("after-answer")
        for arrival, placed in held:
            settle(arrival, placed)

    async def tell_later(self, arrivals: Sequence[Arrival], error: WeighbridgeError) -> None:
        """Tell senders that their records are kept and not listed yet."""
        for each in arrivals:
            if each.answer_to is not None:
                await self._setting.bus.send(each.answer_to, later_answer(error.code, error.message))

    def put_off(self, error: Exception) -> None:
        """Let go of everybody who waits."""
        put_off([arrival for arrival, _ in self._waiting], error)


def settle(arrival: Arrival, answer: Answer) -> None:
    """Let whoever handed something in go on."""
    if not arrival.done.done():
        arrival.done.set_result(answer)


def put_off(arrivals: Sequence[Arrival], error: Exception) -> None:
    """Let go of what came in, to come again."""
    for each in arrivals:
        if not each.done.done():
            each.done.set_exception(error)


def rejections(batch: Sequence[Arrival], answers: Sequence[Answer]) -> Mapping[Cid, bytes]:
    """Return what to keep of refused submissions. What a flood left out may be handed in again another day."""
    return {
        Cid.of(arrival.data): codec.encode({"rejected": answer.code, "says": answer.says})
        for arrival, answer in zip(batch, answers, strict=False)
        if isinstance(answer, Refusal) and answer.code != "flooded"
    }
