"""Health and metrics over HTTP: /health, /ready and /metrics on the node's [http] port, or on a service's own."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from collections import Counter
from collections.abc import Awaitable, Callable, Generator
from typing import Any, Final

import uvicorn
from faststream.asgi import AsgiFastStream, AsgiResponse, get
from prometheus_client import make_asgi_app

from weighbridge_services.broker.errors import PortTaken
from weighbridge_services.config import HttpTable
from weighbridge_services.metrics import BEHIND, ENTRIES, HEALTH, NUMBERS, REFUSED, REGISTRY

Healths = Callable[[], dict[str, dict[str, Any]]]
"""What a node's services say of themselves, by name."""


PATIENCE: Final = 2.0
"""Seconds that another process of this machine has to say how it is."""


class HealthServer:
    """The node's HTTP server."""

    def __init__(
        self,
        table: HttpTable,
        healths: Healths,
        ready: Callable[[], bool],
        ask: Callable[[], Awaitable[None]],
    ) -> None:
        """Make it. `ask` is awaited before each answer: what others say of themselves is to be new."""
        self._table = table
        self._healths = healths
        self._ready = ready
        self._ask = ask
        self._server: uvicorn.Server | None = None
        self._task: asyncio.Task[None] | None = None
        self.port = 0

    async def start(self) -> None:
        """Listen. Raises PortTaken."""
        listener = listen(self._table.host, self._table.port)
        self.port = int(listener.getsockname()[1])
        config = uvicorn.Config(self._app(), lifespan="off", access_log=False, log_config=None)
        self._server = NoSignals(config)
        self._task = asyncio.create_task(self._server.serve([listener]), name="health")

    async def stop(self) -> None:
        """Close the port."""
        if self._server is not None and self._task is not None:
            self._server.should_exit = True
            await asyncio.gather(self._task, return_exceptions=True)

    def _app(self) -> AsgiFastStream:
        @get
        async def health(scope: Any) -> AsgiResponse:
            await self._ask()
            return as_response(*health_of(self._healths()))

        @get
        async def ready(scope: Any) -> AsgiResponse:
            await self._ask()
            return as_response(*((200, {"ready": True}) if self._ready() else (503, {"ready": False})))

        metrics = make_asgi_app(REGISTRY)

        async def counted(scope: Any, receive: Any, send: Any) -> None:
            await self._ask()
            note(self._healths())
            await metrics(scope, receive, send)

        return AsgiFastStream(
            asgi_routes=[("/health", health), ("/ready", ready), ("/metrics", counted)], logger=None
        )


class NoSignals(uvicorn.Server):
    """A server that leaves Ctrl-C to the node."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        """Capture nothing."""
        yield


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket. Raises PortTaken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(64)
    except OSError as error:
        listener.close()
        raise PortTaken(
            f"{host}:{port} cannot be listened on ({error.strerror}); set another `port` under [http] in"
            " weighbridge.toml"
        ) from error
    listener.setblocking(False)
    return listener


def unhealthy(health: dict[str, Any]) -> list[str]:
    """Return why a service does not do its work."""
    reasons = health.get("unhealthy") or []
    return [str(each) for each in reasons] if isinstance(reasons, list | tuple) else [str(reasons)]


def health_of(healths: dict[str, dict[str, Any]]) -> tuple[int, dict[str, Any]]:
    """Return the HTTP status and the body of /health."""
    reasons = {name: why for name, each in healths.items() if (why := unhealthy(each))}
    return (503 if reasons else 200), {"healthy": not reasons, "unhealthy": reasons, "services": healths}


def note(healths: dict[str, dict[str, Any]]) -> None:
    """Set the gauges that come from what services say of themselves."""
    for name, each in healths.items():
        HEALTH.labels(name).set(0 if unhealthy(each) else 1)
        for key, value in {**_sums(each), **each}.items():
            if isinstance(value, int | float):
                NUMBERS.labels(name, key).set(value)
        _note_games(name, each)


def _sums(health: dict[str, Any]) -> Counter[str]:
    """Return the numbers that a service says of its games, added up by name."""
    sums: Counter[str] = Counter()
    for game in _games(health).values():
        sums.update({key: value for key, value in game.items() if type(value) in (int, float)})
    return sums


def _games(health: dict[str, Any]) -> dict[str, dict[str, Any]]:
    found = health.get("games")
    return found if isinstance(found, dict) else {}


def _note_games(name: str, health: dict[str, Any]) -> None:
    games = _games(health)
    behind = [each["lag"] for each in games.values() if "lag" in each]
    if behind or "behind" in health:
        BEHIND.labels(name).set(sum(behind) + health.get("behind", 0))
    refused: Counter[str] = Counter()
    for game, each in games.items():
        if "size" in each:
            ENTRIES.labels(name, game).set(each["size"])
        refused.update(each.get("rejected", {}))
        refused.update(each.get("refused", {}))
    for code, count in refused.items():
        REFUSED.labels(name, code).set(count)


def as_response(status: int, body: dict[str, Any]) -> AsgiResponse:
    """Return an answer in JSON."""
    text = json.dumps(body, default=str, indent=1).encode() + b"\n"
    return AsgiResponse(text, status, headers={"Content-Type": "application/json"})


async def asked(host: str, port: int) -> dict[str, Any] | None:
    """Return what /health at another process of this machine answers, or None where nothing sound comes."""
    try:
        async with asyncio.timeout(PATIENCE):
            reader, writer = await asyncio.open_connection(reachable(host), port)
            try:
                writer.write(b"GET /health HTTP/1.0\r\n\r\n")
                data = await reader.read()
            finally:
                writer.close()
        found = json.loads(data.partition(b"\r\n\r\n")[2])
    except (OSError, TimeoutError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def reachable(host: str) -> str:
    """Return an address of this machine for one that is listened on."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
