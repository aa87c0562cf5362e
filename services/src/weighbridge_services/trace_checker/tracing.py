"""The configured tracers, one after the other: the first that opens a kind of trace gives the word on it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Final

import structlog
from weighbridge.errors import WeighbridgeError
from weighbridge.ports import Clock, TraceAsked, Traced, TraceNotYet, Tracer

from weighbridge_services.config import GameTable
from weighbridge_services.node import Node
from weighbridge_services.trace_checker.errors import NoTracer, TracerFails

GROUP: Final = "weighbridge.tracers"
SECONDS: Final = 60.0
"""Seconds that one tracer may take for one trace."""

log = structlog.get_logger()


class Tracers:
    """The tracers of one game, in the order of the configuration. `faults` counts by (tracer, code)."""

    def __init__(self, tracers: Sequence[Tracer]) -> None:
        self._tracers = tuple(tracers)
        self.faults: Counter[tuple[str, str]] = Counter()

    @classmethod
    def of(cls, node: Node, game: GameTable, clock: Clock) -> Tracers:
        """Open the tracers that a configuration names, each with `[games.traces.<name>]`. Raises what they raise."""
        return cls(
            [
                node.plugins.load(GROUP, name)(dict(game.traces.get(name, {})), clock, str(node.folder))
                for name in node.config.plugins.tracers
            ]
        )

    @property
    def names(self) -> list[str]:
        """The tracers' names."""
        return [each.name for each in self._tracers]

    async def resolve(self, asked: TraceAsked) -> Traced:
        """Return the word on a trace; what fails is `unavailable`, with why. Raises TraceNotYet."""
        for tracer in self._tracers:
            try:
                found = await self._ask(tracer, asked)
            except TraceNotYet:
                raise
            except WeighbridgeError as error:
                self.faults[tracer.name, error.code] += 1
                return Traced("unavailable", detail=f"{tracer.name}: {error.code}")
            if found is not None:
                return found
        return Traced("unavailable", detail=NoTracer.code)

    async def close(self) -> None:
        """Close all of them."""
        await asyncio.gather(*(each.close() for each in self._tracers), return_exceptions=True)

    async def _ask(self, tracer: Tracer, asked: TraceAsked) -> Traced | None:
        try:
            async with asyncio.timeout(SECONDS):
                return checked(await tracer.resolve(asked))
        except WeighbridgeError:
            raise
        except Exception as error:  # somebody else's code, which fails in its own ways
            log.warning(
                "a tracer fails", tracer=tracer.name, uri=asked.uri, error=f"{type(error).__name__}: {error}"
            )
            raise TracerFails(f"{type(error).__name__}") from error


def checked(found: object) -> Traced | None:
    """Return what a tracer said, if it is of the form that a report has. Raises TracerFails."""
    if found is None:
        return None
    if not isinstance(found, Traced) or found.verdict not in ("ok", "unresolved", "unavailable"):
        raise TracerFails(f"its answer is {found!r}")
    if found.dated is not None and (type(found.dated) is not int or not 0 <= found.dated < 1 << 63):
        raise TracerFails(f"its date is {found.dated!r}")
    return found
