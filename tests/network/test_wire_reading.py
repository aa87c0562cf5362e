"""Reading with a durable consumer: at least once, in batches that never wait to be full."""

from __future__ import annotations

import asyncio
import time

import pytest
from nodes import PATIENCE, Sink, World, send, until, until_async
from weighbridge.errors import Broken, Unavailable
from weighbridge_services.node import Node
from weighbridge_services.streams import declare_all
from weighbridge_services.subjects import Subjects
from weighbridge_services.wire import Bus, Incoming, crash_point, pulling
from weighbridge_services.wire.bus import GRACE
from weighbridge_services.wire.pulling import EXPIRES
from weighbridge_services.wire.reading import AGAIN, delay_of


async def pending(bus: Bus, subjects: Subjects, durable: str) -> tuple[int, int]:
    info = await bus.js.consumer_info(subjects.stream("LOG"), durable)
    return info.num_ack_pending or 0, info.num_pending or 0


async def test_exact_bytes_arrive_whatever_they_look_like(bus: Bus, subjects: Subjects) -> None:
    """FastStream's own codec hands b"7" over as a number and loses it; here every payload is just bytes."""
    payloads = [b"7", b"null", b'{"a":1}', b"", b"\xff\x00", b"\xa0"]
    sink = Sink()
    bus.read(subjects.stream("LOG"), subjects.log, "exact", sink)
    await send(bus, subjects, *payloads)
    await until(lambda: len(sink.got) == len(payloads))
    assert sink.got == payloads


async def test_order_is_kept_with_batches(bus: Bus, subjects: Subjects) -> None:
    """FastStream's pull subscriber runs the handlers of one batch at once; here one batch is one call."""
    payloads = [b"%d" % number for number in range(1_000)]
    await send(bus, subjects, *payloads)
    sink = Sink()
    bus.read(subjects.stream("LOG"), subjects.log, "order", sink, batch=64)
    await until(lambda: len(sink.got) == 1_000)
    assert sink.got == payloads
    assert 1 < max(len(batch) for batch in sink.batches) <= 64


async def test_a_single_message_does_not_wait_for_a_batch(bus: Bus, subjects: Subjects) -> None:
    sink = Sink()
    bus.read(subjects.stream("LOG"), subjects.log, "single", sink, batch=256)
    await send(bus, subjects, b"warm")
    await until(lambda: sink.got == [b"warm"])
    took: list[float] = []
    for number in range(20):
        start = time.monotonic()
        await send(bus, subjects, b"%d" % number)
        await until(lambda number=number: sink.got[-1] == b"%d" % number)  # type: ignore[misc]
        took.append(time.monotonic() - start)
    # Whoever waited for a batch would wait for the request to expire, each time; a machine that stalls does not.
    assert sorted(took)[len(took) // 2] < EXPIRES / 2


async def test_what_was_taken_is_acknowledged_and_does_not_come_again(
    bus: Bus, world: World, node: Node, subjects: Subjects
) -> None:
    await send(bus, subjects, b"a", b"b")
    first, second = Sink(), Sink()
    bus.read(subjects.stream("LOG"), subjects.log, "once", first)
    await until(lambda: first.got == [b"a", b"b"])
    await bus.quiet()
    other = await world.bus(node, "other", declare=False)
    other.read(subjects.stream("LOG"), subjects.log, "once", second)
    await send(other, subjects, b"c")
    await until(lambda: bool(second.got))
    assert second.got == [b"c"]


async def test_a_handler_that_cannot_now_gets_it_again_and_not_at_once(bus: Bus, subjects: Subjects) -> None:
    """FastStream's default ends such a message for ever; its other one floods the handler with it."""
    times: list[float] = []
    seen: list[list[bytes]] = []

    async def handle(messages: list[Incoming]) -> None:
        times.append(time.monotonic())
        seen.append([message.data for message in messages])
        if len(times) == 1:
            raise Unavailable("the disk is busy")

    await send(bus, subjects, b"a", b"b")
    bus.read(subjects.stream("LOG"), subjects.log, "again", handle)
    await until(lambda: sum(map(len, seen[1:])) == 2)
    assert seen[0] == [b"a", b"b"]
    assert sorted(data for batch in seen[1:] for data in batch) == [b"a", b"b"]
    assert times[1] - times[0] >= AGAIN * 0.9
    await until_settled(bus, subjects, "again")


async def until_settled(bus: Bus, subjects: Subjects, durable: str) -> None:
    async def settled() -> bool:
        return await pending(bus, subjects, durable) == (0, 0)

    await until_async(settled)


async def test_a_poison_message_comes_ever_more_rarely_and_holds_nobody_up(
    bus: Bus, subjects: Subjects
) -> None:
    tries: list[tuple[int, float]] = []
    good = Sink()

    async def handle(messages: list[Incoming]) -> None:
        if any(message.data == b"poison" for message in messages):
            tries.append((messages[0].metadata.num_delivered or 0, delay_of(messages[0])))
            raise Unavailable("never")
        await good(messages)

    bus.read(subjects.stream("LOG"), subjects.log, "poison", handle, batch=1)
    await send(bus, subjects, b"poison", b"a", b"b")
    await until(lambda: good.got == [b"a", b"b"] and len(tries) >= 3)
    assert tries[:3] == [(1, 0.5), (2, 1.0), (3, 2.0)]


async def test_a_broken_handler_stops_the_service_and_loses_nothing(
    bus: Bus, world: World, node: Node, subjects: Subjects
) -> None:
    async def handle(messages: list[Incoming]) -> None:
        raise Broken("the ledger is damaged")

    await send(bus, subjects, b"a")
    bus.read(subjects.stream("LOG"), subjects.log, "broken", handle)
    await asyncio.wait_for(bus.failed.wait(), PATIENCE)
    assert isinstance(bus.failure, Broken)
    await bus.quiet()
    assert await pending(bus, subjects, "broken") == (1, 0)


async def test_a_bug_in_a_handler_stops_the_service_and_is_not_acknowledged(
    bus: Bus, subjects: Subjects
) -> None:
    async def handle(messages: list[Incoming]) -> None:
        raise KeyError("oops")

    await send(bus, subjects, b"a")
    bus.read(subjects.stream("LOG"), subjects.log, "bug", handle)
    await asyncio.wait_for(bus.failed.wait(), PATIENCE)
    assert isinstance(bus.failure, KeyError)
    assert await pending(bus, subjects, "bug") == (1, 0)


async def test_a_stop_lets_the_handler_finish_and_acknowledge(bus: Bus, subjects: Subjects) -> None:
    entered, release = asyncio.Event(), asyncio.Event()
    done: list[bytes] = []

    async def handle(messages: list[Incoming]) -> None:
        entered.set()
        await release.wait()
        done.extend(message.data for message in messages)

    await send(bus, subjects, b"a")
    bus.read(subjects.stream("LOG"), subjects.log, "graceful", handle)
    await asyncio.wait_for(entered.wait(), PATIENCE)
    stopping = asyncio.create_task(bus.quiet())
    await asyncio.sleep(0)
    assert not stopping.done()
    release.set()
    await asyncio.wait_for(stopping, PATIENCE)
    assert done == [b"a"]
    await until_settled(bus, subjects, "graceful")


@pytest.fixture
def long_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pull requests that stand open for longer than any test waits: none gets by with letting one expire."""
    monkeypatch.setattr(pulling, "EXPIRES", 4 * PATIENCE)


@pytest.mark.usefixtures("long_requests")
async def test_a_stop_does_not_wait_for_messages_that_do_not_come(bus: Bus, subjects: Subjects) -> None:
    bus.read(subjects.stream("LOG"), subjects.log, "idle", Sink())
    bus.follow(subjects.stream("LOG"), subjects.log, lambda: 1, Sink())
    await until_settled_exists(bus, subjects, "idle")
    async with asyncio.timeout(GRACE * 0.8):  # GRACE is how long a handler at work is waited for
        await bus.quiet()


async def until_settled_exists(bus: Bus, subjects: Subjects, durable: str) -> None:
    async def exists() -> bool:
        return bool(await pending(bus, subjects, durable))

    await until_async(exists)


async def test_a_stream_that_is_declared_later_is_read_then(
    world: World, node: Node, subjects: Subjects
) -> None:
    bus = await world.bus(node, declare=False)
    sink, followed = Sink(), Sink()
    bus.read(subjects.stream("LOG"), subjects.log, "later", sink)
    bus.follow(subjects.stream("LOG"), subjects.log, lambda: 1, followed)
    await declare_all(bus.js, node)
    await send(bus, subjects, b"a")
    await until(lambda: sink.got == followed.got == [b"a"])


@pytest.mark.usefixtures("long_requests")
async def test_a_pull_request_lost_with_a_broker_restart_is_made_again_at_once(
    bus: Bus, world: World, subjects: Subjects
) -> None:
    sink, followed = Sink(), Sink()
    bus.read(subjects.stream("LOG"), subjects.log, "lost", sink)
    bus.follow(subjects.stream("LOG"), subjects.log, lambda: 1, followed)
    await send(bus, subjects, b"a")
    await until(lambda: sink.got == followed.got == [b"a"])
    world.kill_broker()
    await until(lambda: bus.reconnects == 1)
    await send(bus, subjects, b"b")
    await until(lambda: sink.got[-1] == followed.got[-1] == b"b")
    assert followed.got == [b"a", b"b"]


async def test_a_broker_whose_disk_is_wiped_is_read_from_the_start(
    bus: Bus, world: World, subjects: Subjects, node: Node
) -> None:
    sink, followed = Sink(), Sink()
    bus.read(subjects.stream("LOG"), subjects.log, "wiped", sink)
    bus.follow(subjects.stream("LOG"), subjects.log, lambda: 1, followed)
    await send(bus, subjects, b"a", b"b", b"c")
    await until(lambda: len(sink.got) == len(followed.got) == 3)
    await world.wipe_broker()
    await declare_all(bus.js, node)
    assert await bus.last(subjects.stream("LOG"), subjects.log) is None
    await send(bus, subjects, b"a", b"b")
    await until(lambda: len(sink.got) == len(followed.got) == 5)
    assert sink.got == followed.got == [b"a", b"b", b"c", b"a", b"b"]


async def test_a_connection_that_is_closed_for_good_stops_the_service_and_does_not_freeze_the_loop(
    bus: Bus, subjects: Subjects
) -> None:
    """FastStream's pull loop never yields on a closed connection: 8 of 240 turns in 12 s were measured."""
    bus.read(subjects.stream("LOG"), subjects.log, "closed", Sink())
    bus.follow(subjects.stream("LOG"), subjects.log, lambda: 1, Sink())
    await until_settled_exists(bus, subjects, "closed")
    await bus.nc.close()
    await asyncio.wait_for(bus.failed.wait(), PATIENCE)
    async with asyncio.timeout(30):  # where the loop is frozen so many turns take 75 s
        for _ in range(50):
            await asyncio.sleep(0.01)


async def test_a_slow_handler_is_never_called_twice_at_once(bus: Bus, subjects: Subjects) -> None:
    at_work, most = 0, 0
    sink = Sink()

    async def handle(messages: list[Incoming]) -> None:
        nonlocal at_work, most
        at_work += 1
        most = max(most, at_work)
        await asyncio.sleep(0.01)
        await sink(messages)
        at_work -= 1

    bus.read(subjects.stream("LOG"), subjects.log, "slow", handle, batch=8)
    for number in range(10):
        await send(bus, subjects, *(b"%d" % (10 * number + n) for n in range(10)))
    await until(lambda: len(sink.got) == 100)
    assert sink.got == [b"%d" % number for number in range(100)]
    assert most == 1


async def test_a_crash_point_is_dead_unless_the_configuration_allows_it(
    monkeypatch: pytest.MonkeyPatch, world: World
) -> None:
    monkeypatch.setenv("WEIGHBRIDGE_CRASH_AT", "here")
    node = world.make_node("cara", config='[node]\nname = "cara"\n')
    crash_point(node, "here")


async def test_a_senders_headers_are_never_taken_for_what_the_broker_says(
    bus: Bus, subjects: Subjects
) -> None:
    """Whoever could end the reading, or have messages left out, would hold up everybody's."""
    sink = Sink()
    bus.read(subjects.stream("INBOX"), f"{subjects.prefix}.submit.>", "headers", sink)
    for number, status in enumerate(("404", "409", "100", "408")):
        await bus.put(subjects.submit(str(number)), b"", {"Status": status, "Description": "gone"})
        await bus.put(subjects.submit(str(number)), b"%d" % number, {"Weighbridge-Answer": "x"})
    await until(lambda: sorted(sink.got) == [b""] * 4 + [b"0", b"1", b"2", b"3"], within=pulling.EXPIRES * 8)


async def test_a_subject_that_is_no_text_ends_no_reading(bus: Bus, subjects: Subjects) -> None:
    """nats-py reads nothing more after one, and does not connect anew: whoever may hand in could send it."""
    sink, heard = Sink(), asyncio.Queue[bytes]()

    async def hear(body: bytes) -> bytes:
        await heard.put(body)
        return body

    bus.read(subjects.stream("INBOX"), f"{subjects.prefix}.submit.>", "text", sink)
    await bus.serve(subjects.rpc("echo"), hear)
    submit, ask = subjects.submit("x").encode(), subjects.rpc("echo").encode()
    reader, writer = bus.nc._transport._io_reader, bus.nc._transport._io_writer  # type: ignore[attr-defined]
    assert reader is not None
    writer.write(b"PUB %s\xff 3\r\nabc\r\n" % submit)
    writer.write(b"PUB %s _INBOX.\xff 3\r\nabc\r\n" % ask)
    await bus.put(subjects.submit("y"), b"fine")
    await until(lambda: sorted(sink.got) == [b"abc", b"fine"])
    assert await bus.ask(subjects.rpc("echo"), b"still there") == b"still there"
    assert heard.get_nowait() == b"still there"
