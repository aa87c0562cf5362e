"""Asking who a DID is, beside all else, until there is an answer; its frames lie in the queue until then.

Nothing that is signed can be believed or refused before it is known whose key signs. Frames of other DIDs go on.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple

from weighbridge.ports import Refused, Unavailable

from weighbridge_atproto.documents import Identity
from weighbridge_atproto.errors import FramesGivenUp
from weighbridge_atproto.keeping import Keeping, Queued
from weighbridge_atproto.turns import Turns

MAX_HELD: Final = 268_435_456
"""Bytes of all frames that lie until their DIDs are resolved; past it those of the DID with the most are given up."""
LEAST_HELD: Final = 4_096
"""Bytes that such a frame counts at least: that its DID is being asked for takes room too."""


class Answer(NamedTuple):
    """That a DID was asked for: it holds for frames up to a number. `refusal`: why it is nobody; who it is is kept."""

    up_to: int
    refusal: Refused | None


class Asking:
    """The DIDs that are being asked for.

    `refused`: counts what goes wrong, by code. `pause`: seconds after so many failures. `released`: called with a DID
    whose frames can be taken again, and who it is; `given_up`: with a DID whose frames were; `broken`: with what must
    stop the source.
    """

    def __init__(
        self,
        keeping: Keeping,
        refused: Counter[str],
        *,
        pause: Callable[[int], float],
        released: Callable[[str, Identity | None], None],
        given_up: Callable[[str], None],
        broken: Callable[[BaseException], None],
    ) -> None:
        self._keeping = keeping
        self._refused = refused
        self._pause = pause
        self._released = released
        self._given_up = given_up
        self._broken = broken
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._answers: dict[str, Answer] = {}
        self._held: Counter[str] = Counter()
        self._turns = Turns()
        # Nobody is being asked for when a source starts.
        keeping.release()

    def asks(self, did: str) -> bool:
        """Whether a DID is being asked for."""
        return did in self._tasks

    def answer(self, queued: Queued) -> Answer | None:
        """Return what was found of a frame's DID after the frame came; None where it was not asked for since."""
        found = self._answers.get(queued.did)
        return found if found is not None and queued.number <= found.up_to else None

    def ask(self, did: str, how: Callable[[str], Awaitable[Identity | None]]) -> None:
        """Ask for a DID until it can be said who it is. `how` returns None where it must not ask yet."""
        self._tasks[did] = task = asyncio.create_task(self._ask(did, how), name=f"ask {did}")
        task.add_done_callback(self._ended)

    def hold(self, queued: Queued) -> None:
        """Let a frame lie until its DID is resolved."""
        self._keeping.hold(queued.number)
        self._held[queued.did] += max(len(queued.data), LEAST_HELD)
        if self._held.total() > MAX_HELD:
            (most, _) = self._held.most_common(1)[0]
            del self._held[most]
            self._refused[FramesGivenUp.code] += self._keeping.give_up(most)
            self._given_up(most)

    def done(self, did: str, first: int | None) -> None:
        """Let go of an answer that no frame needs any more. `first`: the number of the DID's first frame that lies."""
        found = self._answers.get(did)
        if found is not None and (first is None or first > found.up_to):
            del self._answers[did]

    def drop(self, did: str) -> None:
        """Ask for a DID no more: no frame of it lies."""
        task = self._tasks.pop(did, None)
        if task is not None:
            task.cancel()

    async def stop(self) -> None:
        """Let go of what is being asked."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _ask(self, did: str, how: Callable[[str], Awaitable[Identity | None]]) -> None:
        failures = 0
        while True:
            async with self._turns.turn(did, failures):
                # What comes while it is being asked may be of after the answer.
                up_to = self._keeping.last_number()
                try:
                    identity = await how(did)
                except Unavailable as error:
                    self._refused[error.code] += 1
                    identity = None
                except Refused as refusal:
                    return self._release(did, Answer(up_to, refusal), None)
            if identity is not None:
                return self._release(did, Answer(up_to, None), identity)
            failures += 1
            await asyncio.sleep(self._pause(failures))

    def _release(self, did: str, answer: Answer, identity: Identity | None) -> None:
        self._answers[did] = answer
        del self._tasks[did], self._held[did]
        self._keeping.release(did)
        self.done(did, self._keeping.lies(did))
        self._released(did, identity)

    def _ended(self, task: asyncio.Task[None]) -> None:
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self._broken(error)
