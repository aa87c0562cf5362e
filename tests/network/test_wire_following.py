"""Following a chained stream: in order, from where one was, over every gap."""

from __future__ import annotations

import shutil

from nodes import Sink, World, send, until
from weighbridge.errors import Unavailable
from weighbridge_services.node import Node
from weighbridge_services.subjects import Subjects
from weighbridge_services.wire import Again, Bus, Incoming
from weighbridge_services.wire.reading import in_order


async def test_following_begins_where_it_is_told_to(bus: Bus, subjects: Subjects) -> None:
    await send(bus, subjects, b"a", b"b", b"c")
    sink = Sink()
    bus.follow(subjects.stream("LOG"), subjects.log, lambda: 2, sink)
    await until(lambda: len(sink.got) == 2)
    await send(bus, subjects, b"d")
    await until(lambda: len(sink.got) == 3)
    assert sink.got == [b"b", b"c", b"d"]


async def test_a_place_beyond_the_streams_end_means_another_stream_and_reading_from_its_start(
    bus: Bus, subjects: Subjects
) -> None:
    await send(bus, subjects, b"a")
    sink = Sink()
    bus.follow(subjects.stream("LOG"), subjects.log, lambda: 900, sink)
    await until(lambda: sink.got == [b"a"])


async def test_another_stream_of_the_same_name_is_read_from_its_start_though_it_is_longer(
    bus: Bus, world: World, node: Node, subjects: Subjects
) -> None:
    sink = Sink()
    bus.follow(subjects.stream("LOG"), subjects.log, lambda: 1, sink)
    await send(bus, subjects, b"a", b"b")
    await until(lambda: len(sink.got) == 2)
    assert world.server is not None
    await world.server.stop()
    shutil.rmtree(node.folder / "broker" / "data")
    await world.server.start()
    other = await world.bus(node, "other")
    await send(other, subjects, b"a", b"b", b"c", b"d")
    await until(lambda: len(sink.got) == 6)
    assert sink.got == [b"a", b"b", b"a", b"b", b"c", b"d"]


async def test_the_place_right_after_the_last_is_waited_at(bus: Bus, subjects: Subjects) -> None:
    await send(bus, subjects, b"a")
    sink = Sink()
    bus.follow(subjects.stream("LOG"), subjects.log, lambda: 2, sink)
    await send(bus, subjects, b"b")
    await until(lambda: sink.got == [b"b"])


async def test_again_reads_from_the_start(bus: Bus, subjects: Subjects) -> None:
    sink = Sink()

    async def handle(messages: list[Incoming]) -> None:
        await sink(messages)
        if len(sink.got) == 3:
            raise Again("an entry does not follow the one before")

    await send(bus, subjects, b"a", b"b", b"c")
    bus.follow(subjects.stream("LOG"), subjects.log, lambda: 1, handle)
    await until(lambda: len(sink.got) == 6)
    assert sink.got == [b"a", b"b", b"c"] * 2


async def test_a_handler_that_cannot_now_gets_the_same_again_in_order(bus: Bus, subjects: Subjects) -> None:
    sink = Sink()
    refusals = iter([True, True])

    async def handle(messages: list[Incoming]) -> None:
        if any(message.data == b"5" for message in messages) and next(refusals, False):
            raise Unavailable("the disk is busy")
        await sink(messages)

    payloads = [b"%d" % number for number in range(12)]
    await send(bus, subjects, *payloads)
    bus.follow(subjects.stream("LOG"), subjects.log, lambda: 1, handle, batch=4)
    await until(lambda: len(sink.got) == 12)
    assert sink.got == payloads


async def test_several_broker_deaths_in_a_row_break_no_order(
    bus: Bus, world: World, subjects: Subjects
) -> None:
    sink = Sink()
    bus.follow(subjects.stream("LOG"), subjects.log, lambda: 1, sink, batch=16)
    sent = 0
    for round in range(3):
        world.kill_broker()
        await world.until_back(round + 1)
        await until(lambda round=round: bus.reconnects == round + 1)  # type: ignore[misc]
        await send(bus, subjects, *(b"%d" % (sent + n) for n in range(100)))
        sent += 100
    await until(lambda: len(sink.got) == sent)
    assert sink.got == [b"%d" % number for number in range(sent)]


class Fake:
    """A message with a consumer sequence."""

    def __init__(self, number: int) -> None:
        self.reply = f"$JS.ACK.STREAM.CONSUMER.1.{number + 10}.{number}.1700000000000000000.0"


def test_a_gap_ends_what_is_in_order() -> None:
    messages = [Fake(3), Fake(4), Fake(6)]
    assert in_order(messages, 2) == messages[:2]  # type: ignore[arg-type,comparison-overlap]
    assert in_order(messages, 3) == []  # type: ignore[arg-type]


async def test_what_is_gathered_comes_in_order_and_whole(bus: Bus, subjects: Subjects) -> None:
    sink = Sink()
    bus.follow(subjects.stream("LOG"), subjects.log, lambda: 1, sink, batch=16, gather=0.05)
    for first in range(0, 60, 3):
        await send(bus, subjects, *(b"%d" % number for number in range(first, first + 3)))
    await until(lambda: len(sink.got) == 60)
    assert sink.got == [b"%d" % number for number in range(60)]


async def test_two_follow_the_same_stream_each_for_itself(bus: Bus, subjects: Subjects) -> None:
    first, second = Sink(), Sink()
    bus.follow(subjects.stream("LOG"), subjects.log, lambda: 1, first)
    bus.follow(subjects.stream("LOG"), subjects.log, lambda: 1, second)
    await send(bus, subjects, *(b"%d" % number for number in range(50)))
    await until(lambda: len(first.got) == len(second.got) == 50)
    assert first.got == second.got
