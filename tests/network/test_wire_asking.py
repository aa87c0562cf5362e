"""Questions and answers between services."""

from __future__ import annotations

import asyncio

import pytest
from nodes import PATIENCE, World, until
from weighbridge.errors import Broken, Refused
from weighbridge_services.node import Node
from weighbridge_services.subjects import Subjects
from weighbridge_services.wire import AnswerRefused, Bus, NobodyAnswers


class NoSuchCell(Refused):
    code = "test-no-such-cell"


@pytest.mark.parametrize("payload", [b"7", b"null", b"", b'{"a":1}', b"\xa1aa\x01", bytes(300_000)])
async def test_questions_and_answers_are_exact_bytes(bus: Bus, subjects: Subjects, payload: bytes) -> None:
    async def echo(body: bytes) -> bytes:
        assert type(body) is bytes
        return body

    await bus.serve(subjects.rpc("echo"), echo)
    assert await bus.ask(subjects.rpc("echo"), payload) == payload


async def test_what_is_served_before_the_start_answers_after_it(
    world: World, node: Node, subjects: Subjects
) -> None:
    async def hello(body: bytes) -> bytes:
        return b"hello"

    bus = Bus.connect(node, "early")
    await bus.serve(subjects.rpc("hello"), hello)
    await bus.start()
    world.buses.append(bus)
    assert await bus.ask(subjects.rpc("hello"), b"") == b"hello"


async def test_what_is_served_can_be_asked_for_from_then_on_over_any_connection(
    bus: Bus, world: World, node: Node, subjects: Subjects
) -> None:
    other = await world.bus(node, "other", declare=False)

    async def hello(body: bytes) -> bytes:
        return b"hello"

    for number in range(100):
        await bus.serve(subjects.rpc(f"hello-{number}"), hello)
        assert await other.ask(subjects.rpc(f"hello-{number}"), b"") == b"hello"


async def test_a_connection_outlives_services_that_are_stopped_while_they_start(
    bus: Bus, subjects: Subjects
) -> None:
    async def hello(body: bytes) -> bytes:
        return b"hello"

    for steps in range(40):
        starting = asyncio.create_task(bus.serve(subjects.rpc(f"hello-{steps}"), hello))
        for _ in range(steps):
            await asyncio.sleep(0)
        starting.cancel()
        await asyncio.gather(starting, return_exceptions=True)
    await asyncio.wait_for(bus.serve(subjects.rpc("hello"), hello), PATIENCE)
    assert await bus.ask(subjects.rpc("hello"), b"") == b"hello"


async def test_a_refusal_comes_back_with_its_code(bus: Bus, subjects: Subjects) -> None:
    async def refuse(body: bytes) -> bytes:
        raise NoSuchCell("there is no cell of that name")

    await bus.serve(subjects.rpc("cell"), refuse)
    with pytest.raises(AnswerRefused, match="no cell of that name") as caught:
        await bus.ask(subjects.rpc("cell"), b"")
    assert caught.value.detail["refusal"] == "test-no-such-cell"
    assert not bus.failed.is_set()


async def test_a_question_that_meets_a_bug_is_answered_and_the_next_one_too(
    bus: Bus, subjects: Subjects
) -> None:
    async def buggy(body: bytes) -> bytes:
        return {b"a": b"b"}[body]

    await bus.serve(subjects.rpc("buggy"), buggy)
    with pytest.raises(AnswerRefused, match="KeyError"):
        await bus.ask(subjects.rpc("buggy"), b"x")
    assert await bus.ask(subjects.rpc("buggy"), b"a") == b"b"


async def test_a_question_that_finds_the_service_broken_stops_it(bus: Bus, subjects: Subjects) -> None:
    async def broken(body: bytes) -> bytes:
        raise Broken("the ledger is damaged")

    await bus.serve(subjects.rpc("broken"), broken)
    with pytest.raises(AnswerRefused):
        await bus.ask(subjects.rpc("broken"), b"")
    await asyncio.wait_for(bus.failed.wait(), PATIENCE)
    assert isinstance(bus.failure, Broken)


async def test_nobody_there_is_said_at_once(bus: Bus, subjects: Subjects) -> None:
    with pytest.raises(NobodyAnswers):
        await asyncio.wait_for(bus.ask(subjects.rpc("nobody"), b"", timeout=30), PATIENCE)


async def test_an_answer_that_does_not_come_in_time_is_not_waited_for(bus: Bus, subjects: Subjects) -> None:
    release = asyncio.Event()

    async def slow(body: bytes) -> bytes:
        await release.wait()
        return b""

    await bus.serve(subjects.rpc("slow"), slow)
    with pytest.raises(NobodyAnswers):
        await bus.ask(subjects.rpc("slow"), b"", timeout=0.1)
    release.set()


async def test_a_stop_finishes_the_answer_that_is_being_given(
    bus: Bus, world: World, node: Node, subjects: Subjects
) -> None:
    entered, release = asyncio.Event(), asyncio.Event()

    async def slow(body: bytes) -> bytes:
        entered.set()
        await release.wait()
        return b"done"

    await bus.serve(subjects.rpc("slow"), slow)
    other = await world.bus(node, "other", declare=False)
    asking = asyncio.create_task(other.ask(subjects.rpc("slow"), b""))
    await asyncio.wait_for(entered.wait(), PATIENCE)
    stopping = asyncio.create_task(bus.stop())
    await asyncio.sleep(0)
    release.set()
    assert await asyncio.wait_for(asking, PATIENCE) == b"done"
    await stopping


async def test_an_answer_to_a_ping_that_was_given_up_ends_nothing(
    bus: Bus, subjects: Subjects, caplog: pytest.LogCaptureFixture
) -> None:
    async def hello(body: bytes) -> bytes:
        return b"hello " + body

    await bus.serve(subjects.rpc("hello"), hello)
    given_up = asyncio.create_task(bus.nc.flush())
    await asyncio.sleep(0)  # it has pinged, and is not answered before the loop reads again
    given_up.cancel()
    with pytest.raises(asyncio.CancelledError):
        await given_up
    await asyncio.wait_for(bus.nc.flush(), PATIENCE)
    assert await bus.ask(subjects.rpc("hello"), b"bela") == b"hello bela"
    assert caplog.records == []


async def test_a_stop_that_is_broken_off_prints_nothing(
    world: World, node: Node, bus: Bus, subjects: Subjects, caplog: pytest.LogCaptureFixture
) -> None:
    async def hello(body: bytes) -> bytes:
        return body

    other = await world.bus(node, "other", declare=False)
    await other.serve(subjects.rpc("hello"), hello)
    await other.ask(subjects.rpc("hello"), b"")
    client = other.nc
    stopping = asyncio.create_task(other.stop())
    async with asyncio.timeout(PATIENCE):
        while not client.is_draining:
            await asyncio.sleep(0)
    stopping.cancel()
    with pytest.raises(asyncio.CancelledError):
        await stopping
    await until(lambda: client.is_closed)
    assert caplog.records == []


async def test_no_question_has_its_answer_written_where_this_node_alone_may_write(
    bus: Bus, subjects: Subjects
) -> None:
    """Whoever asks names where the answer goes, and it goes there with the rights of who answers."""

    async def echo(body: bytes) -> bytes:
        return body

    await bus.serve(subjects.rpc("echo"), echo)
    for answer_at in (subjects.log, subjects.trace("x"), f"$JS.API.STREAM.PURGE.{subjects.stream('INBOX')}"):
        await bus.nc.publish(subjects.rpc("echo"), b"{}", answer_at)
    assert await bus.ask(subjects.rpc("echo"), b"x") == b"x"  # what was asked before was taken before
    await bus.quiet()
    for kind in ("LOG", "RECORDS"):
        assert (await bus.js.stream_info(subjects.stream(kind))).state.messages == 0
