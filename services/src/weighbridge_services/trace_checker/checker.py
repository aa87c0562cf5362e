"""One game's trace checker: of what the log says, it has the traces opened on which our word is awaited."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import structlog
from weighbridge.chain import SECOND
from weighbridge.contract import RuleSet
from weighbridge.errors import Unavailable
from weighbridge.log.entries import Listed
from weighbridge.ports import TraceNotYet

from weighbridge_services.following.working import LogWorker, Means
from weighbridge_services.trace_checker.decide import (
    Case,
    Outcome,
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

AT_ONCE: Final = 8
"""Traces that are opened at the same time."""

log = structlog.get_logger()


class Checker(LogWorker[Seen]):
    """The traces of one game."""

    def __init__(
        self, means: Means, store: Store, ruleset: RuleSet, tracers: Tracers, now: Callable[[], int]
    ) -> None:
        """`now`: the world's time."""
        super().__init__(means, store, ruleset, Seen())
        self.store = store
        self.tracers = tracers
        self.now = now
        self.reported: dict[str, int] = {}
        """How many reports of each verdict this process has made."""
        self._tries: dict[str, Try] = {}

    async def see(self, state: Seen, entries: Sequence[Listed]) -> Seen:
        """Return which cases are open after some more entries."""
        return see(self.ruleset, self.means.node.did, state, entries)

    def turn(self) -> float | None:
        """Begin to look at what is due."""
        now = self.now()
        cases = [case for uri, case in self.state.cases.items() if uri not in self.at_work]
        found = plan(cases, self._tries, now, AT_ONCE - len(self.at_work))
        for uri in found.uris:
            self.begin(uri, self._look_at(self.state.cases[uri]))
        return None if found.wake is None else (found.wake - now) / SECOND

    async def _look_at(self, case: Case) -> None:
        """Have one trace opened, and keep what comes of it; what fails is looked at again, later each time."""
        means = self.means
        try:
            traced = await self.tracers.resolve(case.asked(means.game))
        except TraceNotYet:
            self._tries[case.uri] = not_yet(self._tries.get(case.uri), self.now())
            return
        except Unavailable as error:
            log.warning("a trace later", uri=case.uri, code=error.code, says=error.message)
            self._tries[case.uri] = unavailable(self._tries.get(case.uri), self.now())
            return
        await self._keep(case, conclude(means.node.keys.records, means.game, case, traced))

    async def _keep(self, case: Case, outcome: Outcome) -> None:
        async with self.changing:
            if self.state.cases.get(case.uri) != case:
                return  # settled without us meanwhile
            others = {uri: each for uri, each in self.state.cases.items() if uri != case.uri}
            cases = others if outcome.case is None else {**others, case.uri: outcome.case}
            after = Seen(self.state.rules, cases)
            await self.conclude(after, self.store.conclude, case, outcome, self.means.own)
        if outcome.case is None:
            self._tries.pop(case.uri, None)
        else:
            self._tries[case.uri] = unavailable(self._tries.get(case.uri), self.now())
        if outcome.report is not None:
            verdict = outcome.report.value["verdict"]
            self.reported[verdict] = self.reported.get(verdict, 0) + 1
            log.info("trace", uri=case.uri, verdict=verdict)
