"""One game's trace checker: it reads the log, has traces opened, and reports once what was found."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import structlog
from weighbridge.chain import SECOND
from weighbridge.contract import RuleSet
from weighbridge.errors import Unavailable
from weighbridge.ports import TraceNotYet

from weighbridge_services.folding.letters import Letters
from weighbridge_services.following import LogReader
from weighbridge_services.node import Node
from weighbridge_services.subjects import Subjects
from weighbridge_services.trace_checker.decide import (
    Case,
    Outcome,
    Plan,
    Seen,
    Try,
    conclude,
    not_yet,
    plan,
    see,
    unavailable,
)
from weighbridge_services.trace_checker.store import Store
from weighbridge_services.trace_checker.tracing import Tracers
from weighbridge_services.wire import SOON, Bus, Incoming, crash_point

AT_ONCE: Final = 8
"""Traces that are opened at the same time."""
LOOK: Final = 5.0
"""Seconds after which a plan is made anew though nothing came."""
RETRY: Final = 0.25

log = structlog.get_logger()


class Setting(NamedTuple):
    """A game and the service's means: `run` has the ledger's thread do some work, `now` is the world's time."""

    node: Node
    game: str
    bus: Bus
    store: Store
    run: Callable[..., Any]
    letters: Letters
    tracers: Tracers
    now: Callable[[], int]

    @property
    def own(self) -> Subjects:
        """This node's subjects for the game."""
        return self.node.subjects(self.game)

    def crash(self, point: str) -> None:
        """Die here if a test wants it: `trace-checker.<point>`."""
        crash_point(self.node, f"trace-checker.{point}")


class Checker:
    """The traces of one game."""

    def __init__(self, setting: Setting, ruleset: RuleSet) -> None:
        self.setting = setting
        self._ruleset = ruleset
        self._reader = LogReader(setting.game)
        self.seen = Seen()
        self.reported: dict[str, int] = {}
        """How many reports of each verdict this process has made."""
        self.unsent = True
        self._tries: dict[str, Try] = {}
        self._at_work: dict[str, asyncio.Task[None]] = {}
        self._changed = asyncio.Event()
        self._changing = asyncio.Lock()
        self._reconnects = setting.bus.reconnects
        self._task: asyncio.Task[None] | None = None

    @property
    def size(self) -> int:
        """How many entries were read."""
        return self._reader.size

    # --- life ----------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Take up where the ledger ends."""
        setting = self.setting
        loaded = await setting.run(setting.store.load, self._ruleset)
        self._reader, self.seen = loaded.reader, loaded.seen
        setting.bus.follow(
            setting.own.stream("LOG"), setting.own.log, self._reader.start, self._take, gather=SOON
        )
        self._task = asyncio.create_task(self._run(), name=f"traces of {setting.game}")

    async def stop(self) -> None:
        """Let go of what is under way: it is open still, and looked at after the next start."""
        tasks = [*self._at_work.values(), *([self._task] if self._task is not None else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # --- reading -------------------------------------------------------------------------------------------

    async def _take(self, messages: Sequence[Incoming]) -> None:
        entries = self._reader.take([each.data for each in messages])
        if not entries:
            return
        setting = self.setting
        async with self._changing:
            before = self.seen
            after = see(self._ruleset, setting.node.did, before, entries)
            await setting.run(setting.store.keep, before, after, entries)
            # A crash here loses nothing: the open cases are in the ledger, and looked at after the start.
            setting.crash("after-read")
            self.seen = after
            self._reader.keep(entries[-1])
        self._changed.set()

    # --- looking -------------------------------------------------------------------------------------------

    async def _run(self) -> None:
        try:
            while True:
                await self._turn()
        except Exception as error:
            self.setting.bus.fail(error)

    async def _turn(self) -> None:
        self._changed.clear()
        await self._send()
        found = self._plan()
        for uri in found.uris:
            self._at_work[uri] = asyncio.create_task(self._look_at(self.seen.cases[uri]), name=f"trace {uri}")
        await self._sleep(found.wake)

    def _plan(self) -> Plan:
        cases = [case for uri, case in self.seen.cases.items() if uri not in self._at_work]
        return plan(cases, self._tries, self.setting.now(), AT_ONCE - len(self._at_work))

    async def _sleep(self, wake: int | None) -> None:
        left = LOOK if wake is None else min(LOOK, max(0.0, (wake - self.setting.now()) / SECOND))
        try:
            async with asyncio.timeout(RETRY if self.unsent else left):
                await self._changed.wait()
        except TimeoutError:
            return

    async def _send(self) -> None:
        """Have in the stream what the ledger holds; after a reconnection look whether it still is."""
        reconnects = self.setting.bus.reconnects
        if not self.unsent and reconnects == self._reconnects:
            return
        self.unsent = True
        try:
            await self.setting.letters.send()
        except Unavailable as error:
            log.info("reports later", game=self.setting.game, code=error.code, says=error.message)
            return
        self.unsent, self._reconnects = False, reconnects

    async def _look_at(self, case: Case) -> None:
        """Have one trace opened, and keep what comes of it; what fails is looked at again, later each time."""
        try:
            traced = await self.setting.tracers.resolve(case.asked(self.setting.game))
            outcome = conclude(self.setting.node.keys.records, self.setting.game, case, traced)
            await self._keep(case, outcome)
        except TraceNotYet:
            self._tries[case.uri] = not_yet(self._tries.get(case.uri), self.setting.now())
        except Unavailable as error:
            log.warning("a trace later", uri=case.uri, code=error.code, says=error.message)
            self._tries[case.uri] = unavailable(self._tries.get(case.uri), self.setting.now())
        except Exception as error:
            self.setting.bus.fail(error)
        finally:
            del self._at_work[case.uri]
            self._changed.set()

    async def _keep(self, case: Case, outcome: Outcome) -> None:
        setting = self.setting
        async with self._changing:
            if self.seen.cases.get(case.uri) != case:
                return  # settled without us meanwhile
            await setting.run(setting.store.conclude, case, outcome, setting.own)
            # A crash here leaves a report that only the ledger knows: the start publishes it.
            setting.crash("after-persist")
            others = {uri: each for uri, each in self.seen.cases.items() if uri != case.uri}
            cases = others if outcome.case is None else {**others, case.uri: outcome.case}
            self.seen = Seen(self.seen.rules, cases)
        if outcome.case is None:
            self._tries.pop(case.uri, None)
        else:
            self._tries[case.uri] = unavailable(self._tries.get(case.uri), setting.now())
        if outcome.report is not None:
            verdict = outcome.report.value["verdict"]
            self.reported[verdict] = self.reported.get(verdict, 0) + 1
            self.unsent = True
            log.info("trace", uri=case.uri, verdict=verdict)
