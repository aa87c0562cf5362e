"""What an operator, and a player, may do on a shared broker, and what not."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import nats
import nats.errors
import pytest
from nats.aio.client import Client
from nats.js.api import RePublish
from nodes import GAME, PATIENCE, Sink, World, send, until
from weighbridge_services.broker.rights import player_inbox
from weighbridge_services.node import Node
from weighbridge_services.streams import declare_all, missing
from weighbridge_services.subjects import STREAM_KINDS
from weighbridge_services.wire import BrokerRefused, BrokerUnavailable, Bus

Pair = tuple[Node, Node]


@asynccontextmanager
async def player(world: World, host: Node) -> AsyncIterator[tuple[Client, list[str]]]:
    """A connection as a player, and the errors it hears."""
    assert world.server is not None
    errors: list[str] = []

    async def note(error: Exception) -> None:
        errors.append(str(error).lower())

    password = (host.folder / "keys" / "player.password").read_text().strip()
    client = await nats.connect(
        world.server.url,
        user="player",
        password=password,
        inbox_prefix=player_inbox(host.subjects(GAME).operator).encode(),
        error_cb=note,
    )
    try:
        yield client, errors
    finally:
        await client.close()


async def test_an_operator_publishes_under_its_own_prefix_only(world: World, two_nodes: Pair) -> None:
    alma, bela = two_nodes
    await world.bus(alma)
    bus = await world.bus(bela)
    assert await bus.append(bela.subjects(GAME).log, b"x", 0) == 1
    for subject in (alma.subjects(GAME).log, alma.subjects(GAME).trace("x"), alma.subjects(GAME).submit("x")):
        # Not BrokerUnavailable, which is what waiting for an acknowledgement comes to.
        with pytest.raises(BrokerRefused, match="publish"):
            await bus.append(subject, b"x", 0)


async def test_an_operator_reads_anybodys_streams(world: World, two_nodes: Pair) -> None:
    alma, bela = two_nodes
    hers, his = await world.bus(alma), await world.bus(bela)
    subjects = alma.subjects(GAME)
    await send(hers, subjects, b"a", b"b")
    read, followed = Sink(), Sink()
    his.read(subjects.stream("LOG"), subjects.log, "bela-test", read)
    his.follow(subjects.stream("LOG"), subjects.log, lambda: 1, followed)
    await until(lambda: read.got == followed.got == [b"a", b"b"])


async def test_an_operator_asks_anybodys_services_and_answers_for_nobody_else(
    world: World, two_nodes: Pair
) -> None:
    alma, bela = two_nodes
    hers, his = await world.bus(alma), await world.bus(bela)

    async def hello(body: bytes) -> bytes:
        return b"hello " + body

    await hers.serve(alma.subjects(GAME).rpc("hello"), hello)
    assert await his.ask(alma.subjects(GAME).rpc("hello"), b"bela") == b"hello bela"
    await his.serve(alma.subjects(GAME).rpc("other"), hello)
    await asyncio.wait_for(his.failed.wait(), PATIENCE)
    assert isinstance(his.failure, BrokerRefused)


@pytest.mark.parametrize("kind", ["LOG", "TRANSCRIPT", "RECORDS"])
@pytest.mark.parametrize("whose", ["alma", "bela"])
@pytest.mark.parametrize("verb", ["PURGE", "DELETE", "MSG.DELETE"])
async def test_nobody_purges_or_deletes_what_is_kept(
    world: World, two_nodes: Pair, kind: str, whose: str, verb: str
) -> None:
    owner = {node.name: node for node in two_nodes}[whose]
    hers, his = await world.bus(two_nodes[0]), await world.bus(two_nodes[1])
    stream = owner.subjects(GAME).stream(kind)
    body = b'{"seq":1}' if verb == "MSG.DELETE" else b""
    for bus in (hers, his):
        with pytest.raises(nats.errors.TimeoutError):
            await bus.nc.request(f"$JS.API.STREAM.{verb}.{stream}", body, timeout=0.3)
        assert (await bus.js.stream_info(stream)).config.name == stream


async def test_nobody_changes_another_ones_streams(world: World, two_nodes: Pair) -> None:
    alma, bela = two_nodes
    hers, his = await world.bus(alma), await world.bus(bela)
    stream = alma.subjects(GAME).stream("LOG")
    before = (await hers.js.stream_info(stream)).config
    with pytest.raises(nats.errors.TimeoutError):
        await his.nc.request(f"$JS.API.STREAM.UPDATE.{stream}", b"{}", timeout=0.3)
    assert (await hers.js.stream_info(stream)).config == before


@pytest.mark.parametrize("verb", ["CREATE", "UPDATE"])
async def test_a_guest_has_no_stream_republished_under_another_ones_subject(
    world: World, two_nodes: Pair, verb: str
) -> None:
    alma, bela = two_nodes
    hers, his = await world.bus(alma), await world.bus(bela)
    own, theirs = bela.subjects(GAME), alma.subjects(GAME)
    config = (await his.js.stream_info(own.stream("INBOX"))).config
    config.republish = RePublish(src=own.rejected, dest=theirs.log)
    with pytest.raises(nats.errors.TimeoutError):
        await his.nc.request(
            f"$JS.API.STREAM.{verb}.{config.name}", json.dumps(config.as_dict()).encode(), timeout=0.3
        )
    await his.put(own.rejected, b"forged")
    assert (await hers.js.stream_info(str(config.name))).config.republish is None
    assert (await hers.js.stream_info(theirs.stream("LOG"))).state.messages == 0


async def test_the_owner_of_a_broker_declares_the_streams_of_its_guests(
    world: World, two_nodes: Pair
) -> None:
    alma, bela = two_nodes
    his = await world.bus(bela, declare=False)
    assert len(await missing(his.js, bela)) == len(STREAM_KINDS)
    await world.bus(alma)
    assert await missing(his.js, bela) == []


async def test_an_inbox_can_be_purged_by_its_owner(world: World, two_nodes: Pair) -> None:
    alma, _ = two_nodes
    bus = await world.bus(alma)
    await bus.put(alma.subjects(GAME).submit("x"), b"x")
    stream = alma.subjects(GAME).stream("INBOX")
    await bus.js.purge_stream(stream)
    assert (await bus.js.stream_info(stream)).state.messages == 0


async def test_nobody_listens_in_on_another_ones_answers(world: World, two_nodes: Pair) -> None:
    alma, bela = two_nodes
    await world.bus(alma)
    his = await world.bus(bela)
    for subject in ("_INBOX.>", f"_INBOX.{alma.subjects(GAME).operator}.>"):
        heard: list[bytes] = []

        async def note(message: object, heard: list[bytes] = heard) -> None:
            heard.append(b"x")

        await his.nc.subscribe(subject, cb=note)
        await his.nc.flush()
        assert heard == []
    await asyncio.wait_for(his.failed.wait(), PATIENCE)


async def test_a_player_hands_in_and_hears_the_answer_and_nothing_else(world: World, two_nodes: Pair) -> None:
    alma, _ = two_nodes
    bus = await world.bus(alma)
    subjects = alma.subjects(GAME)
    async with player(world, alma) as (client, errors):
        ack = await client.jetstream().publish(subjects.submit("x"), b"envelope", timeout=PATIENCE)
        assert ack.seq == 1
        inbox = client.new_inbox()
        answer = await client.subscribe(inbox)
        await client.flush()
        await bus.send(inbox, b"listed")
        assert (await answer.next_msg(timeout=PATIENCE)).data == b"listed"
        forbidden = [
            subjects.log,
            subjects.trace("x"),
            subjects.rejected,
            "$JS.API.STREAM.NAMES",
            subjects.rpc("me"),
        ]
        for subject in forbidden:
            await client.publish(subject, b"x")
        await client.subscribe("wb.>")
        await client.flush()
        await until(lambda: len(errors) == len(forbidden) + 1)
        assert all("permissions violation" in error for error in errors)
    assert (await bus.js.stream_info(subjects.stream("LOG"))).state.messages == 0


async def test_who_is_no_operator_of_the_broker_is_refused_the_login(world: World) -> None:
    host = world.make_node("alma")
    await world.start(host)
    stranger = world.point_to_broker(world.make_node("cara"))
    bus = Bus.connect(stranger, "test")
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(BrokerRefused, match="password"):
            await bus.start(patience=4 * PATIENCE)


async def test_a_broker_that_is_not_there_is_unavailable_after_the_patience_given(world: World) -> None:
    host = world.make_node("alma")
    server = await world.start(host)
    bus = Bus.connect(host, "test")
    await server.stop()
    with pytest.raises(BrokerUnavailable):
        await bus.start(patience=0.3)


async def test_a_broker_that_comes_up_later_is_waited_for(world: World) -> None:
    host = world.make_node("alma")
    server = await world.start(host)
    bus = Bus.connect(host, "test")
    world.buses.append(bus)
    await server.stop()
    starting = asyncio.create_task(bus.start())
    await server.start()
    await asyncio.wait_for(starting, PATIENCE)
    await declare_all(bus.js, host)
