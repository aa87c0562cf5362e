"""Fixtures of the network tier: a real nats-server on a free loopback port, in the test's own folder."""

from __future__ import annotations

import inspect
import os
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import structlog

sys.path.insert(0, str(Path(__file__).resolve().parent))

from nodes import GAME, PATIENCE, World
from weighbridge_services.broker import NoBrokerBinary
from weighbridge_services.broker.server import binary
from weighbridge_services.node import Node
from weighbridge_services.subjects import Subjects
from weighbridge_services.wire import Bus

HERE = Path(__file__).resolve().parent


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector: pytest.Collector, obj: object) -> None:
    """Let every coroutine of this folder be a test, before anyio's own hook looks."""
    if HERE in collector.path.parents and inspect.iscoroutinefunction(obj):
        pytest.mark.anyio(obj)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Say of every test of this folder that it needs the broker."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.network)


@pytest.fixture(autouse=True)
def within_a_day() -> None:
    """Games have days, which end at midnight UTC: begin no test that would see one end by chance."""
    left = 86_400 - time.time() % 86_400
    if left < PATIENCE:
        time.sleep(left + 1)


@pytest.fixture(autouse=True)
def said_on_standard_error() -> Iterator[None]:
    """Have services log where they do as a node: standard output is the answer of a command beside them."""
    structlog.configure(
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr), cache_logger_on_first_use=False
    )
    yield
    structlog.reset_defaults()


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def nats_server() -> Path:
    """The broker's program; without it a test skips, in CI it fails."""
    try:
        return binary()
    except NoBrokerBinary as error:
        if os.environ.get("WEIGHBRIDGE_REQUIRE_NETWORK"):
            pytest.fail(error.message)
        pytest.skip(error.message)


@pytest.fixture
async def world(tmp_path: Path, nats_server: Path) -> AsyncIterator[World]:
    """A world to make nodes in; whatever a test starts there is stopped after it."""
    made = World(tmp_path)
    try:
        yield made
    finally:
        await made.stop()


@pytest.fixture
async def node(world: World) -> Node:
    """One lister node whose broker runs and whose streams are declared."""
    made = world.make_node("alma")
    await world.start(made)
    return made


@pytest.fixture
async def bus(world: World, node: Node) -> Bus:
    """That node's bus."""
    return await world.bus(node)


@pytest.fixture
def subjects(node: Node) -> Subjects:
    """That node's subjects."""
    return node.subjects(GAME)


@pytest.fixture
async def two_nodes(world: World) -> tuple[Node, Node]:
    """A lister whose broker runs, and another operator who uses it."""
    host, guest = world.make_node("alma"), world.make_node("bela")
    host, guest = world.use_broker_of(host, [guest])
    await world.start(host)
    return host, world.point_to_broker(guest)
