"""A node's services in one event loop, with the broker they need."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, ClassVar, Protocol

import msgspec
import structlog
from weighbridge.errors import Broken

from weighbridge_services import metrics
from weighbridge_services.broker import Server
from weighbridge_services.ending import end_tasks
from weighbridge_services.folding.reading import refuse_foreign_ledgers
from weighbridge_services.health import HealthServer
from weighbridge_services.locks import Lock
from weighbridge_services.node import Node
from weighbridge_services.service import Service, named, port_of
from weighbridge_services.streams import declare_all, missing
from weighbridge_services.wire import Bus

GRACE = 20.0
"""Seconds that services have to stop."""

log = structlog.get_logger()


class StreamsMissing(Broken):
    """Streams of this node are not declared, on a broker that is not the node's own."""

    code: ClassVar[str] = "streams-missing"


class Part(Protocol):
    """Something that runs with a node and may fail."""

    failure: BaseException | None
    failed: asyncio.Event


class Supervisor:
    """Runs services of a node until one of them fails, or it is told to stop."""

    def __init__(self, node: Node, services: Sequence[str], *, whole: bool) -> None:
        """`whole`: the node and not one service of it, with its broker and streams."""
        self._node = node
        self._names = list(services)
        self._whole = whole
        self._locks: list[Lock] = []
        self._server: Server | None = None
        self._health: HealthServer | None = None
        self.running: list[tuple[Service, Bus]] = []
        self._buses: list[Bus] = []
        self.ready = False

    async def start(self) -> None:
        """Start all of it. Raises what stands in the way; `stop` undoes what was begun."""
        for name in [*(["node"] if self._whole else []), *self._names]:
            lock = Lock(self._node.folder, name)
            lock.take()
            self._locks.append(lock)
        await asyncio.to_thread(refuse_foreign_ledgers, self._node)
        if self._whole:
            await self._start_broker()
        await self._serve_health()
        await self._start_services()
        self.ready = True
        log.info("ready", node=self._node.name, did=self._node.did, services=self._names)

    async def _start_broker(self) -> None:
        if self._node.config.broker.kind == "embedded":
            self._server = Server(self._node, on_restart=self._declare)
            await self._server.start()
        await self._declare()

    async def _declare(self) -> None:
        """Declare the streams of a broker of one's own; ask for those of somebody else's."""
        bus = Bus.connect(self._node, "node")
        await bus.start()
        try:
            if self._server is None:
                await refuse_missing(bus, self._node)
                return
            for each in await declare_all(bus.js, self._node):
                if each.done != "as it should be":
                    log.info("stream", name=each.name, done=each.done, settings=each.settings)
        finally:
            await bus.stop()

    async def _serve_health(self) -> None:
        table = self._node.config.http
        if not table.port:
            return
        if not self._whole:
            table = msgspec.structs.replace(table, port=port_of(self._names[0], table.port))
        self._health = HealthServer(table, self.healths, self.is_ready, self.ask)
        await self._health.start()
        log.info("health and metrics", host=table.host, port=table.port)

    async def ask(self) -> None:
        """Have what others say of themselves ready for `healths`."""

    def is_ready(self) -> bool:
        """Whether everything is up."""
        return self.ready

    async def _start_services(self) -> None:
        starting = [
            asyncio.create_task(self._start_service(name), name=f"start {name}") for name in self._names
        ]
        try:
            await asyncio.gather(*starting)
        except BaseException:
            # One that is half started would go on starting behind the stop, and stay.
            await end_tasks(starting)
            raise

    async def _start_service(self, name: str) -> None:
        kind = named(name)
        bus = Bus.connect(self._node, name)
        self._buses.append(bus)
        await bus.start()
        service = kind(self._node, bus, self._node.clock())
        self.running.append((service, bus))
        await service.start()

    @property
    def parts(self) -> list[Part]:
        """Whatever may fail."""
        return [*self._buses, *([self._server] if self._server is not None else [])]

    async def failure(self) -> BaseException:
        """Wait until something fails, and return why."""
        waiting = {asyncio.create_task(part.failed.wait()): part for part in self.parts}
        try:
            done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            return waiting[next(iter(done))].failure or Broken(
                "a part of the node failed and did not say why"
            )
        finally:
            for task in waiting:
                task.cancel()

    async def stop(self) -> None:
        """Stop all of it: first the reading, then the services, then the broker."""
        self.ready = False
        await self._each([bus.quiet() for bus in self._buses])
        await self._each([service.stop() for service, _ in self.running])
        await self._each([bus.stop() for bus in self._buses])
        if self._health is not None:
            await self._health.stop()
        if self._server is not None:
            await self._server.stop()
        for lock in self._locks:
            lock.release()
        self.running, self._buses, self._locks = [], [], []

    async def _each(self, stops: list[Any]) -> None:
        for result in await asyncio.gather(*stops, return_exceptions=True):
            if isinstance(result, BaseException):
                log.error("not stopped in good order", error=f"{type(result).__name__}: {result}")

    def healths(self) -> dict[str, dict[str, Any]]:
        """Return what every service says of itself, and what is to be said of the broker."""
        found: dict[str, dict[str, Any]] = {}
        for service, bus in self.running:
            found[service.name] = health_of(service, bus)
            metrics.RECONNECTS.labels(service.name).set(bus.reconnects)
        if self._server is not None:
            found["broker"] = {"restarts": self._server.restarts}
            metrics.BROKER_RESTARTS.set(self._server.restarts)
        return found


def health_of(service: Service, bus: Bus) -> dict[str, Any]:
    """Return what a service says of itself, and whether it has its broker."""
    try:
        said = dict(service.health())
    except Exception as error:  # a service that cannot say how it is is not well
        said = {"unhealthy": [f"{type(error).__name__}: {error}"]}
    if not bus.connected:
        said["unhealthy"] = [*(said.get("unhealthy") or []), "not connected to the broker"]
    return {**said, "reconnects": bus.reconnects}


async def refuse_missing(bus: Bus, node: Node) -> None:
    """Raise StreamsMissing if the broker does not have all of a node's streams."""
    names = await missing(bus.js, node)
    if names:
        raise StreamsMissing(
            f"the broker does not have {', '.join(names)}; run `weighbridge node streams --node {node.folder}`, or"
            " where it is another operator's, have them name this one and its games under [[broker.operators]], and"
            " start their node again"
        )
