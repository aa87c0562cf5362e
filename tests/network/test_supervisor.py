"""Services of a node in one event loop: started together, stopped in order, stopped loudly."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from nodes import GAME, PATIENCE, World, until, until_async
from weighbridge.errors import Broken, Unavailable
from weighbridge_services.clock import Clock
from weighbridge_services.node import Node
from weighbridge_services.streams import missing
from weighbridge_services.supervise import Supervisor
from weighbridge_services.supervise.running import coded
from weighbridge_services.wire import BrokerUnavailable, Bus, Incoming
from weighbridge_services.wire.crashing import EXIT

EVENTS: list[str] = []


class Scale:
    """A service that reads submissions and publishes a trace when it stops."""

    name = "scale"
    at_work: asyncio.Event
    release: asyncio.Event

    def __init__(self, node: Node, bus: Bus, clock: Clock) -> None:
        self.node, self.bus = node, bus
        self.subjects = node.subjects(GAME)
        self.said: dict[str, Any] = {"weighed": 0}

    async def start(self) -> None:
        self.at_work, self.release = asyncio.Event(), asyncio.Event()
        EVENTS.append("started")
        stream = self.subjects.stream("INBOX")
        self.bus.read(stream, f"{self.subjects.prefix}.submit.>", "scale", self.weigh)

    async def weigh(self, messages: list[Incoming]) -> None:
        if any(message.data == b"broken" for message in messages):
            raise Broken("the scale is broken")
        self.at_work.set()
        await self.release.wait()
        EVENTS.append("weighed")

    async def stop(self) -> None:
        await self.bus.publish_once(self.subjects.trace("last"), b"the last word")
        EVENTS.append("stopped")

    def health(self) -> dict[str, Any]:
        return self.said


class Faulty(Scale):
    """A service that cannot start."""

    async def start(self) -> None:
        raise Unavailable("no weights")


class Slow(Scale):
    """A service that never comes to the end of its start."""

    async def start(self) -> None:
        EVENTS.append("starting")
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            EVENTS.append("given up")
            raise


class FaultyAfter(Scale):
    """A service that cannot start, which it finds out when another is starting already."""

    async def start(self) -> None:
        await until(lambda: "starting" in EVENTS)
        raise Unavailable("no weights")


@pytest.fixture(autouse=True)
def _scales(monkeypatch: pytest.MonkeyPatch) -> None:
    EVENTS.clear()
    kinds = {"scale": Scale, "faulty": Faulty, "slow": Slow, "faulty-after": FaultyAfter}
    monkeypatch.setattr("weighbridge_services.supervise.supervisor.named", kinds.__getitem__)


@asynccontextmanager
async def supervised(node: Node, *services: str) -> AsyncIterator[Supervisor]:
    supervisor = Supervisor(node, services or ("scale",), whole=True)
    try:
        await supervisor.start()
        yield supervisor
    finally:
        await supervisor.stop()


def scale(supervisor: Supervisor) -> Scale:
    ((service, _),) = supervisor.running
    assert isinstance(service, Scale)
    return service


async def test_a_stop_lets_the_handler_finish_then_the_service_and_then_the_broker(world: World) -> None:
    node = world.make_node("alma")
    async with supervised(node) as supervisor:
        service = scale(supervisor)
        await service.bus.put(service.subjects.submit("x"), b"x")
        await asyncio.wait_for(service.at_work.wait(), PATIENCE)
        stopping = asyncio.create_task(supervisor.stop())
        await asyncio.sleep(0)
        service.release.set()
        await asyncio.wait_for(stopping, PATIENCE)
    assert EVENTS == ["started", "weighed", "stopped"]
    await world.start(node)
    last = await (await world.bus(node)).last(
        service.subjects.stream("RECORDS"), service.subjects.trace("last")
    )
    assert last is not None


async def test_a_broken_service_is_the_failure_of_the_node(world: World) -> None:
    async with supervised(world.make_node("alma")) as supervisor:
        service = scale(supervisor)
        await service.bus.put(service.subjects.submit("x"), b"broken")
        failure = await asyncio.wait_for(supervisor.failure(), PATIENCE)
        assert str(failure) == "broken: the scale is broken"
        assert coded(failure) is failure


async def test_a_service_that_cannot_start_leaves_nothing_running(world: World) -> None:
    node = world.make_node("alma")
    with pytest.raises(Unavailable, match="no weights"):
        async with supervised(node, "scale", "faulty"):
            pass
    assert not (node.folder / "broker" / "nats.pid").exists()
    async with supervised(node) as supervisor:
        assert supervisor.ready


async def test_a_service_that_cannot_start_ends_the_start_of_the_others(world: World) -> None:
    """Left alone, it would go on starting while the node stops, and stay."""
    with pytest.raises(Unavailable, match="no weights"):
        async with supervised(world.make_node("alma"), "slow", "faulty-after"):
            pass
    assert EVENTS[:2] == ["starting", "given up"]


async def test_health_says_who_is_not_well(world: World) -> None:
    async with supervised(world.make_node("alma")) as supervisor:
        service = scale(supervisor)
        assert supervisor.healths()["scale"] == {"weighed": 0, "reconnects": 0}
        service.said = {"unhealthy": ["out of balance"]}
        assert supervisor.healths()["scale"]["unhealthy"] == ["out of balance"]
        service.health = lambda: {}["nothing"]  # type: ignore[method-assign]
        assert "KeyError" in supervisor.healths()["scale"]["unhealthy"][0]
        assert supervisor.healths()["broker"] == {"restarts": 0}


async def test_a_broker_that_lost_its_disk_gets_its_streams_again(world: World) -> None:
    node = world.make_node("alma")
    async with supervised(node) as supervisor:
        service = scale(supervisor)
        service.release.set()
        pid = int((node.folder / "broker" / "nats.pid").read_text())
        shutil.rmtree(node.folder / "broker" / "data")
        os.kill(pid, signal.SIGKILL)
        await until(lambda: supervisor.healths()["broker"]["restarts"] == 1)
        await until(lambda: service.bus.connected)

        async def whole() -> bool:
            return await missing(service.bus.js, node) == []

        await until_async(whole)

        async def handed_in() -> bool:
            try:
                return bool(await service.bus.put(service.subjects.submit("x"), b"x"))
            except BrokerUnavailable:
                return False

        await until_async(handed_in)
        await until(lambda: "weighed" in EVENTS)


CRASHING = """
import sys
from pathlib import Path
from weighbridge_services.node import Node
from weighbridge_services.wire import crash_point

crash_point(Node.open(Path(sys.argv[1])), "scale.after-persist")
print("alive")
"""


@pytest.mark.parametrize(
    ("named", "allowed", "code"),
    [
        pytest.param("scale.after-persist", True, EXIT, id="named and allowed"),
        pytest.param("scale.after-publish", True, 0, id="another place"),
        pytest.param("scale.after-persist", False, 0, id="not allowed"),
    ],
)
async def test_a_crash_point_ends_the_process_where_it_is_named_and_allowed(
    world: World, named: str, allowed: bool, code: int
) -> None:
    node = world.make_node("alma")
    if not allowed:
        node = world.rewrite(node, "crash = true", "crash = false")
    done = subprocess.run(
        [sys.executable, "-c", CRASHING, str(node.folder)],
        env={**os.environ, "WEIGHBRIDGE_CRASH_AT": named},
        capture_output=True,
        check=False,
        timeout=30,
    )
    assert (done.returncode, done.stdout) == (code, b"" if code else b"alive\n")


def test_an_error_without_a_code_gets_one() -> None:
    assert coded(KeyError("x")).code == "bug"
    assert coded(OSError(28, "No space left on device", "/x")).code == "disk-full"
    assert coded(BrokerUnavailable("gone")).code == "broker-unavailable"
