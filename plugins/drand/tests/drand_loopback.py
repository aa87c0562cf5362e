"""What the tests of the sources share: a chain, a clock that stands, and servers on the loopback."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import web
from weighbridge.ports import LocalChain, randomness_of, round_time
from weighbridge_drand import RelayBeacons, open_relays

LOCAL = LocalChain(b"a seed for tests", genesis=1_700_000_000, period=3)
CHAIN = LOCAL.chain
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


def body(round: int, /, **changed: Any) -> dict[str, Any]:
    signature = LOCAL.sign(round)
    whole = {"round": round, "randomness": randomness_of(signature).hex(), "signature": signature.hex()}
    return {name: value for name, value in (whole | changed).items() if value is not None}


def answering(status: int, text: str | bytes, **headers: str) -> Handler:
    data = text if isinstance(text, bytes) else text.encode()

    async def handler(_: web.Request) -> web.Response:
        return web.Response(status=status, body=data, headers=headers)

    return handler


def giving(value: object) -> Handler:
    return answering(200, json.dumps(value))


async def honest(request: web.Request) -> web.Response:
    """A relay that has every round up to 53."""
    asked = request.path.rsplit("/", 1)[1]
    round = 53 if asked == "latest" else int(asked)
    return web.json_response(body(round))


def source(relays: list[Relay], now: int = NOW, folder: Path | None = None, **settings: Any) -> RelayBeacons:
    named = {"relays": [relay.url for relay in relays], "seconds": 5, **settings}
    return open_relays(named, Clock(now), str(folder) if folder else None)
