"""Whose turn it is to be asked for: a slow host holds up those that are as slow, and nobody else.

A did:plc is asked of the directory, which the operator chose; a did:web of a host that anybody has put up. So each
kind has turns of its own, and so have the hosts that were asked in vain before; of the names under one domain few
are asked at a time, and those behind them wait without taking a turn.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from weighbridge_atproto.names import domain_of

TURNS: Final = 8
"""DIDs of one kind that are asked for at a time."""
PER_DOMAIN: Final = 2
"""DIDs of hosts under one domain that are asked for at a time."""
_WEB: Final = "did:web:"


class Turns:
    """The turns of one stream."""

    def __init__(self) -> None:
        self._directory = asyncio.Semaphore(TURNS)
        self._hosts = asyncio.Semaphore(TURNS)
        self._dark = asyncio.Semaphore(TURNS)
        self._domains: dict[str, asyncio.Semaphore] = {}
        self._users: Counter[str] = Counter()

    @asynccontextmanager
    async def turn(self, did: str, failures: int) -> AsyncGenerator[None]:
        """Wait for the turn of a DID that was asked for in vain so many times, and hold it."""
        if not did.startswith(_WEB):
            async with self._directory:
                yield
            return
        async with self._domain(domain_of(did.removeprefix(_WEB))), self._dark if failures else self._hosts:
            yield

    @asynccontextmanager
    async def _domain(self, domain: str) -> AsyncGenerator[None]:
        slots = self._domains.setdefault(domain, asyncio.Semaphore(PER_DOMAIN))
        self._users[domain] += 1
        try:
            async with slots:
                yield
        finally:
            self._users[domain] -= 1
            if not self._users[domain]:
                del self._users[domain], self._domains[domain]
