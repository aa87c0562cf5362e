"""Writes that happen once, and one writer."""

from __future__ import annotations

import pytest
from nodes import World
from weighbridge_services.node import Node
from weighbridge_services.subjects import Subjects
from weighbridge_services.wire import AnotherWriter, Bus


async def test_what_is_written_once_is_written_once(bus: Bus, subjects: Subjects) -> None:
    assert await bus.publish_once(subjects.trace("a"), b"first")
    assert not await bus.publish_once(subjects.trace("a"), b"second")
    stored = await bus.last(subjects.stream("RECORDS"), subjects.trace("a"))
    assert stored is not None
    assert stored.data == b"first"


async def test_of_two_appenders_one_loses(bus: Bus, world: World, node: Node, subjects: Subjects) -> None:
    other = await world.bus(node, "other")
    assert await bus.append(subjects.log, b"one", 0) == 1
    with pytest.raises(AnotherWriter):
        await other.append(subjects.log, b"one too", 0)
    assert await other.append(subjects.log, b"two", 1) == 2
