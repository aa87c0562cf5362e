"""A tracer that opens nothing: of web addresses a verdict says no more than that they are well formed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

import msgspec
from weighbridge.cid import Cid
from weighbridge.ports import BadTracerSettings, Clock, TraceAsked, Traced, settings_of

Kind = Literal["https", "http", "at", "cid"]
DEFAULT: Final[tuple[Kind, ...]] = ("https", "http")


class _Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    kinds: tuple[Kind, ...] = DEFAULT


class Form:
    """Says `ok` to a trace whose links are all of some kinds, and leaves every other one to another tracer."""

    name = "form"

    def __init__(self, kinds: tuple[Kind, ...] = DEFAULT) -> None:
        self._kinds = frozenset(kinds)

    async def resolve(self, asked: TraceAsked) -> Traced | None:
        """Look at the links in a trace."""
        return Traced("ok") if self._kinds.issuperset(kinds_in(asked.trace)) else None

    async def close(self) -> None:
        """Do nothing."""


def kinds_in(trace: Any) -> Iterator[Kind]:
    """Yield the kind of each link in a trace. Other texts are what a player wrote beside them."""
    if isinstance(trace, str):
        scheme = trace.partition(":")[0]
        if scheme in ("https", "http", "at"):
            yield scheme  # type: ignore[misc]
    elif isinstance(trace, Cid):
        yield "cid"
    elif isinstance(trace, Mapping):
        for each in trace.values():
            yield from kinds_in(each)
    elif isinstance(trace, list):
        for each in trace:
            yield from kinds_in(each)


def open_form(settings: Mapping[str, Any], clock: Clock, folder: str) -> Form:
    """Open it. `kinds`: of https, http, at and cid, those whose form is enough (https and http)."""
    return Form(settings_of(settings, _Settings, "games.traces.form", BadTracerSettings).kinds)
