"""A source whose first records are not the root: it is read on until the root comes, and nothing is lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from types import SimpleNamespace
from typing import Any

from weighbridge.ports import Given, Pause
from weighbridge_services.ingest.arrivals import Arrival
from weighbridge_services.ingest.driver import Driver
from weighbridge_services.ingest.errors import NoRootYet


class Source:
    name = "made"

    async def read(self, position: int) -> AsyncIterator[tuple[int, Given | Pause]]:
        for number, data in enumerate((b"a", b"b", b"root", b"c"), 1):
            yield number, Given(data)
            yield number, Pause()

    async def close(self) -> None:
        return


class Lister:
    """Takes nothing before a root, as the real one."""

    stopping = False

    def __init__(self) -> None:
        self.listed: list[bytes] = []
        self.positions: list[int] = []
        store = SimpleNamespace(
            run=self._run, position=lambda _: 0, keep_position=lambda _, n: self.positions.append(n)
        )
        self.setting = SimpleNamespace(uri="at://x", recorded=False, store=store)

    async def _run(self, work: Callable[..., Any], *arguments: Any) -> Any:
        return work(*arguments)

    @property
    def size(self) -> int:
        return len(self.listed)

    async def hand_in(self, arrivals: list[Arrival]) -> None:
        fresh = [each.data for each in arrivals if each.data not in self.listed]
        if not self.listed:
            root = fresh.index(b"root") if b"root" in fresh else len(fresh)
            self.listed += fresh[root:]
            if root:
                raise NoRootYet("the log is empty")
        else:
            self.listed += fresh


def test_what_comes_before_the_root_waits_for_it_and_is_listed_after_it() -> None:
    lister = Lister()
    asyncio.run(asyncio.wait_for(Driver(lister, Source(), "made").run(), 60))  # type: ignore[arg-type]
    assert lister.listed == [b"root", b"a", b"b", b"c"]
    assert lister.positions[0] == 3
    assert lister.positions[-1] == 4
