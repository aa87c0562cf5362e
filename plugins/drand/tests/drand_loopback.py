"""What the tests of the sources share: a chain, a clock that stands, and servers on the loopback."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from weighbridge.ports import LocalChain, round_time

LOCAL = LocalChain(b"a seed for tests", genesis=1_700_000_000, period=3)
DUE = round_time(LOCAL.chain, 50) * 1_000_000
"""When round 50 is due (µs)."""

NOW = DUE + 10_000_000

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Clock:
    """A clock that stands."""

    def __init__(self, now: int) -> None:
        self.now = now

    def __call__(self) -> int:
        return self.now


class Relay:
    """A loopback server that answers every request by one handler, and what it was asked."""

    def __init__(self, handler: Handler) -> None:
        self.handler = handler
        self.asked: list[str] = []
        self.url = ""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request.path)
        return await self.handler(request)


@asynccontextmanager
async def serving(*handlers: Handler) -> AsyncIterator[list[Relay]]:
    """Serve each handler on a loopback port of its own."""
    relays, runners = [], []
    try:
        for handler in handlers:
            relay = Relay(handler)
            app = web.Application()
            app.router.add_route("*", "/{path:.*}", relay.handle)
            runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
            await runner.setup()
            runners.append(runner)
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            host, port = runner.addresses[0][:2]
            relay.url = f"http://{host}:{port}"
            relays.append(relay)
        yield relays
    finally:
        for runner in runners:
            await runner.cleanup()


def run(work: Awaitable[Any]) -> Any:
    """Run a coroutine to its end, in a loop of its own."""

    async def whole() -> Any:
        return await work

    return asyncio.run(whole())
