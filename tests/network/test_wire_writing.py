"""Writes that happen once, and one writer of what is appended."""

from __future__ import annotations

import asyncio

import pytest
from nodes import World, until_async
from weighbridge_services.node import Node
from weighbridge_services.subjects import Subjects
from weighbridge_services.wire import AnotherWriter, BrokerRefused, BrokerUnavailable, Bus
from weighbridge_services.wire.acks import LAST_MESSAGE_ID, MESSAGE_ID


async def stored(bus: Bus, stream: str) -> list[bytes]:
    state = (await bus.js.stream_info(stream)).state
    return [(await bus.js.get_msg(stream, number)).data or b"" for number in range(1, state.last_seq + 1)]


async def test_what_is_written_once_is_written_once(bus: Bus, subjects: Subjects) -> None:
    assert await bus.publish_once(subjects.trace("a"), b"first")
    assert not await bus.publish_once(subjects.trace("a"), b"second")
    found = await bus.last(subjects.stream("RECORDS"), subjects.trace("a"))
    assert found is not None
    assert (found.data, found.sequence, found.subject) == (b"first", 1, subjects.trace("a"))


async def test_of_many_who_write_once_at_the_same_time_one_does(
    bus: Bus, world: World, node: Node, subjects: Subjects
) -> None:
    buses = [bus, *[await world.bus(node, f"writer-{number}", declare=False) for number in range(3)]]
    wrote = await asyncio.gather(
        *(each.publish_once(subjects.beacon(7), b"x%d" % n) for n, each in enumerate(buses))
    )
    assert sorted(wrote) == [False, False, False, True]
    assert len(await stored(bus, subjects.stream("RECORDS"))) == 1


async def test_of_two_appenders_one_loses(bus: Bus, world: World, node: Node, subjects: Subjects) -> None:
    other = await world.bus(node, "other", declare=False)
    assert await bus.append(subjects.log, b"one", 0) == 1
    with pytest.raises(AnotherWriter):
        await other.append(subjects.log, b"one too", 0)
    assert await other.append(subjects.log, b"two", 1) == 2


async def test_many_are_appended_in_order_and_without_waiting_for_each(bus: Bus, subjects: Subjects) -> None:
    payloads = [b"%d" % number for number in range(500)]
    assert await bus.append_many(subjects.log, payloads, 0) == 500
    assert await stored(bus, subjects.stream("LOG")) == payloads


async def test_appending_nothing_is_done_at_once(bus: Bus, subjects: Subjects) -> None:
    assert await bus.append_many(subjects.log, [], 0) == 0


async def test_ones_own_message_that_is_there_already_counts_as_appended(
    bus: Bus, subjects: Subjects
) -> None:
    """After an acknowledgement that was lost, saying it again is all there is to do."""
    await bus.append_many(subjects.log, [b"a", b"b", b"c"], 0)
    assert await bus.append(subjects.log, b"b", 1) == 2
    assert await bus.append_many(subjects.log, [b"b", b"c", b"d", b"e"], 1) == 5
    assert await stored(bus, subjects.stream("LOG")) == [b"a", b"b", b"c", b"d", b"e"]


async def test_another_ones_message_in_between_is_another_writer(bus: Bus, subjects: Subjects) -> None:
    await bus.append_many(subjects.log, [b"a", b"x"], 0)
    with pytest.raises(AnotherWriter) as caught:
        await bus.append_many(subjects.log, [b"b", b"c"], 1)
    assert "key" in caught.value.message
    assert await stored(bus, subjects.stream("LOG")) == [b"a", b"x"]


async def test_of_two_that_append_many_at_once_neither_stands_behind_the_other(
    bus: Bus, world: World, node: Node, subjects: Subjects
) -> None:
    other = await world.bus(node, "other", declare=False)
    mine, theirs = (
        [b"mine %d" % number for number in range(40)],
        [b"theirs %d" % number for number in range(40)],
    )
    found = await asyncio.gather(
        bus.append_many(subjects.log, mine, 0),
        other.append_many(subjects.log, theirs, 0),
        return_exceptions=True,
    )
    assert sorted(type(each).__name__ for each in found) == ["AnotherWriter", "int"]
    assert await stored(bus, subjects.stream("LOG")) == (mine if found[0] == 40 else theirs)


async def test_what_asks_for_a_message_before_it_that_is_not_the_last_is_refused(
    bus: Bus, world: World, node: Node, subjects: Subjects
) -> None:
    """What is sent behind a message without waiting for it: somebody else's may come between, named or not."""
    other = await world.bus(node, "other", declare=False)
    acks, subject = bus._sending(), subjects.log
    assert await acks.send(subject, b"a", 0, {MESSAGE_ID: "mine-1"}) == 1
    assert await acks.send(subject, b"b", None, {MESSAGE_ID: "mine-2", LAST_MESSAGE_ID: "mine-1"}) == 2
    assert await other.append(subject, b"x", 2) == 3
    for name in ("mine-2", "nobodys"):
        with pytest.raises(AnotherWriter):
            await acks.send(subject, b"c", None, {MESSAGE_ID: "mine-3", LAST_MESSAGE_ID: name})
    assert await stored(bus, subjects.stream("LOG")) == [b"a", b"b", b"x"]


async def test_a_subject_without_a_stream_is_said_at_once(
    world: World, node: Node, subjects: Subjects
) -> None:
    """nats-py alone would wait for its timeout and say no more than that."""
    bus = await world.bus(node, declare=False)
    with pytest.raises(BrokerUnavailable, match="node streams"):
        await bus.append(subjects.log, b"x", 0)
    with pytest.raises(BrokerUnavailable, match="node streams"):
        await bus.last(subjects.stream("LOG"), subjects.log)


async def test_what_is_larger_than_the_broker_takes_is_refused(bus: Bus, subjects: Subjects) -> None:
    with pytest.raises(BrokerRefused, match="max_payload"):
        await bus.append(subjects.transcript, bytes((8 << 20) + 1), 0)


async def test_what_is_not_acknowledged_when_the_broker_dies_is_unavailable_and_can_be_said_again(
    bus: Bus, world: World, subjects: Subjects
) -> None:
    await bus.append(subjects.log, b"a", 0)
    world.kill_broker()
    with pytest.raises(BrokerUnavailable):
        await bus.append(subjects.log, b"b", 1)

    async def again() -> bool:
        try:
            return await bus.append(subjects.log, b"b", 1) == 2
        except BrokerUnavailable:
            return False

    await until_async(again)
    assert await stored(bus, subjects.stream("LOG")) == [b"a", b"b"]


async def test_submissions_carry_their_headers_and_may_come_twice(bus: Bus, subjects: Subjects) -> None:
    assert await bus.put(subjects.submit("a"), b"x", {"Weighbridge-Answer": "_INBOX.player.1"}) == 1
    assert await bus.put(subjects.submit("a"), b"x") == 2
    message = await bus.js.get_msg(subjects.stream("INBOX"), 1)
    assert message.headers == {"Weighbridge-Answer": "_INBOX.player.1"}


async def test_a_stream_that_is_full_is_no_other_writer(bus: Bus, subjects: Subjects) -> None:
    """The first of several is refused for want of room, and takes the others along, which come behind nothing."""
    stream = subjects.stream("LOG")
    await bus.append_many(subjects.log, [b"a", b"b"], 0)
    info = await bus.js.stream_info(stream)
    room = info.config
    for more, payloads in ((300, [b"c", b"d" * 600, b"e"]), (1, [b"c", b"d", b"e"])):
        room.max_bytes = info.state.bytes + more
        await bus.js.update_stream(room)
        with pytest.raises(BrokerUnavailable, match="maximum bytes"):
            await bus.append_many(subjects.log, payloads, 2)
    room.max_bytes = -1
    await bus.js.update_stream(room)
    assert await bus.append_many(subjects.log, [b"c", b"d", b"e"], 2) == 5
    assert await stored(bus, stream) == [b"a", b"b", b"c", b"d", b"e"]
