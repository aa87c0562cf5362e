"""How a service works that reads the log, decides and publishes once what it decided: the order, and each crash in it.

1. Entries come; a pure function says what they leave to be done; that and how far the log was read are kept in
   one batch. Killed before it, the stream brings the entries again; after it, the ledger has what is to be done.
2. What is done leaves a letter, kept in one batch with that it is done. Killed before it, it is done again, which
   gives the same letter; after it, the start sends the letter.
3. Letters are published until the stream has them, then marked as sent. Killed between, they are published again,
   and the stream answers that it has them. After a reconnection it is looked whether the stream has lost them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Hashable, Sequence
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeVar

import structlog
from weighbridge.contract import RuleSet
from weighbridge.errors import Unavailable
from weighbridge.log.entries import Listed

from weighbridge_services.ending import end_tasks
from weighbridge_services.folding.letters import Letters, Run
from weighbridge_services.following.entries import LogReader
from weighbridge_services.node import Node
from weighbridge_services.subjects import Subjects
from weighbridge_services.wire import SOON, Bus, Incoming, crash_point

LOOK: Final = 5.0
"""Seconds after which it is looked anew whether something is due, though nothing came: the clock may have been set."""
RETRY: Final = 0.25
"""Seconds until letters are sent again that a broker did not take."""

S = TypeVar("S")
"""What the log says so far, and what that leaves to be done."""

log = structlog.get_logger()


class Means(NamedTuple):
    """A game and a service's means: `run` has the ledger's thread do some work."""

    service: str
    node: Node
    game: str
    bus: Bus
    run: Run
    letters: Letters

    @property
    def own(self) -> Subjects:
        """This node's subjects for the game."""
        return self.node.subjects(self.game)

    def crash(self, point: str) -> None:
        """Die here if a test wants it: `<service>.<point>`."""
        crash_point(self.node, f"{self.service}.{point}")


class Store(Protocol[S]):
    """One game's part of the ledger. Its methods are for the ledger's own thread."""

    def load(self, ruleset: RuleSet) -> tuple[LogReader, S]:
        """Return where reading stands, and what was left to be done."""
        ...

    def keep(self, before: S, after: S, entries: Sequence[Listed]) -> None:
        """Keep what entries said, with how far reading has come, in one batch."""
        ...


class LogWorker(Generic[S]):
    """One game's work. A service gives `see`, and what is to be done in `turn`."""

    def __init__(self, means: Means, store: Store[S], ruleset: RuleSet, state: S) -> None:
        self.means = means
        self.ruleset = ruleset
        self.state = state
        self.changing = asyncio.Lock()
        """Held by whoever changes `state`."""
        self.at_work: dict[Hashable, asyncio.Task[None]] = {}
        self._waiting = True
        self._sending = False
        self._records = store
        self._reader = LogReader(means.game)
        self._wake = asyncio.Event()
        self._reconnects = means.bus.reconnects
        self._task: asyncio.Task[None] | None = None

    @property
    def size(self) -> int:
        """How many entries were read."""
        return self._reader.size

    @property
    def unsent(self) -> bool:
        """Whether there may be letters that the stream does not have."""
        return self._waiting or self._sending

    @property
    def at(self) -> int:
        """The listed time (µs) that the log has come to."""
        return self._reader.at

    async def start(self) -> None:
        """Take up where the ledger ends."""
        means = self.means
        self._reader, self.state = await means.run(self._records.load, self.ruleset)
        own = means.own
        means.bus.follow(own.stream("LOG"), own.log, self._reader.start, self._take, gather=SOON)
        self._task = asyncio.create_task(self._run(), name=f"{means.service} of {means.game}")

    async def stop(self) -> None:
        """Let go of what is under way: it is still to be done, and begun again after the next start."""
        tasks = [*self.at_work.values(), *([self._task] if self._task is not None else [])]
        await end_tasks(tasks)

    # --- reading -------------------------------------------------------------------------------------------

    async def see(self, state: S, entries: Sequence[Listed]) -> S:
        """Return what the log says after some more entries: a service's own pure function."""
        raise NotImplementedError  # a service has its own

    async def _take(self, messages: Sequence[Incoming]) -> None:
        entries = self._reader.take([each.data for each in messages])
        if not entries:
            return
        async with self.changing:
            before = self.state
            after = await self.see(before, entries)
            await self.means.run(self._records.keep, before, after, entries)
            # A crash here loses nothing: what is to be done is in the ledger, and done after the start.
            self.means.crash("after-read")
            self.state = after
            self._reader.keep(entries[-1])
        self.look()

    # --- doing ---------------------------------------------------------------------------------------------

    def turn(self) -> float | None:
        """Begin what is due; return in how many seconds something will be (None: when something comes)."""
        return None

    def begin(self, key: Hashable, work: Coroutine[Any, Any, None]) -> None:
        """Begin some work, known by a key while it is under way; the next turn is made when it ends."""
        self.at_work[key] = asyncio.create_task(self._to_its_end(key, work), name=str(key))

    async def _to_its_end(self, key: Hashable, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except Exception as error:
            self.means.bus.fail(error)
        finally:
            del self.at_work[key]
            self.look()

    async def conclude(self, state: S, keep: Callable[..., None], *given: Any) -> None:
        """Keep that something is done, with its letter: `keep(*given)`, in one batch. Needs `changing`."""
        await self.means.run(keep, *given)
        # A crash here leaves a letter that only the ledger knows: the start sends it.
        self.means.crash("after-persist")
        self.state, self._waiting = state, True
        self.look()

    # --- the loop ------------------------------------------------------------------------------------------

    def look(self) -> None:
        """Have the next turn made at once."""
        self._wake.set()

    async def _run(self) -> None:
        try:
            while True:
                self._wake.clear()
                await self._send()
                await self._sleep(self.turn())
        except Exception as error:
            self.means.bus.fail(error)

    async def _send(self) -> None:
        """Have in the stream what the ledger holds; after a reconnection look whether it still is."""
        reconnects = self.means.bus.reconnects
        if not self._waiting and reconnects == self._reconnects:
            return
        # Before the letters are read: one that is kept meanwhile is not to be taken for sent.
        self._waiting, self._sending = False, True
        try:
            await self.means.letters.send()
            self._reconnects = reconnects
        except Unavailable as error:
            self._waiting = True
            said = {"service": self.means.service, "game": self.means.game}
            log.info("publishing later", **said, code=error.code, says=error.message)
        finally:
            self._sending = False

    async def _sleep(self, seconds: float | None) -> None:
        left = LOOK if seconds is None else min(LOOK, max(0.0, seconds))
        try:
            async with asyncio.timeout(RETRY if self.unsent else left):
                await self._wake.wait()
        except TimeoutError:
            return


def published(node: Node, service: str) -> Callable[[], None]:
    """Return what a service's letters call when they are in the stream and not yet marked so."""

    def note() -> None:
        # A crash here publishes again after the start, which the stream answers with: it is there.
        crash_point(node, f"{service}.after-publish")

    return note
