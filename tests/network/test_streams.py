"""Streams are declared in one place, and nothing else touches them."""

from __future__ import annotations

import pytest
from faststream.nats import JStream, NatsBroker
from nats.js.api import DiscardPolicy, PersistMode, RetentionPolicy, StorageType, StreamConfig
from nodes import GAME, Sink, World, send, until, until_async
from weighbridge_services.node import Node
from weighbridge_services.streams import (
    INBOX_BYTES,
    Declared,
    StreamDiffers,
    declare,
    declare_all,
    differences,
    missing,
    wanted,
)
from weighbridge_services.subjects import STREAM_KINDS, Subjects
from weighbridge_services.wire import Bus
from weighbridge_services.wire.login import Login


async def test_the_streams_of_a_game_have_the_properties_of_the_design(bus: Bus, subjects: Subjects) -> None:
    for kind in ("LOG", "TRANSCRIPT", "RECORDS"):
        config = (await bus.js.stream_info(subjects.stream(kind))).config
        assert (config.retention, config.storage) == (RetentionPolicy.LIMITS, StorageType.FILE)
        assert (config.deny_delete, config.deny_purge, config.discard) == (True, True, DiscardPolicy.NEW)
        assert (config.max_age, config.max_bytes, config.max_msgs) == (0, -1, -1)
    inbox = (await bus.js.stream_info(subjects.stream("INBOX"))).config
    assert (inbox.deny_delete, inbox.deny_purge, inbox.discard) == (False, False, DiscardPolicy.OLD)
    assert inbox.max_bytes == INBOX_BYTES
    assert inbox.max_age


async def test_declaring_again_changes_nothing(world: World, node: Node) -> None:
    bus = await world.bus(node, declare=False)
    assert await missing(bus.js, node) == [node.subjects(GAME).stream(kind) for kind in STREAM_KINDS]
    assert {each.done for each in await declare_all(bus.js, node)} == {"created"}
    assert {each.done for each in await declare_all(bus.js, node)} == {"as it should be"}
    assert await missing(bus.js, node) == []


async def test_a_setting_that_may_be_changed_is_put_right(bus: Bus, subjects: Subjects) -> None:
    config = wanted(subjects, "INBOX")
    await bus.js.update_stream(config.evolve(max_bytes=1 << 20, max_age=60))
    assert await declare(bus.js, config) == Declared(str(config.name), "corrected", ("max_age", "max_bytes"))
    assert differences((await bus.js.stream_info(str(config.name))).config, config) == ()


async def test_a_setting_that_may_not_be_changed_stops_the_declaration(
    world: World, node: Node, subjects: Subjects
) -> None:
    bus = await world.bus(node, declare=False)
    config = wanted(subjects, "LOG")
    await bus.js.add_stream(config.evolve(storage=StorageType.MEMORY))
    with pytest.raises(StreamDiffers, match="storage"):
        await declare(bus.js, config)


async def test_a_stream_that_is_written_asynchronously_is_not_accepted(
    world: World, node: Node, subjects: Subjects
) -> None:
    """ADR-56: a stream's persist_mode overrides the server's sync_interval, whatever that is."""
    bus = await world.bus(node, declare=False)
    config = wanted(subjects, "RECORDS")
    await bus.js.add_stream(config.evolve(persist_mode=PersistMode.ASYNC, allow_atomic=None))
    with pytest.raises(StreamDiffers, match="persist_mode"):
        await declare(bus.js, config)


async def test_a_stream_that_somebody_else_holds_the_subjects_of_is_named(
    world: World, node: Node, subjects: Subjects
) -> None:
    bus = await world.bus(node, declare=False)
    squatter = StreamConfig(name=subjects.stream("INBOX"), subjects=[subjects.log])
    await bus.js.add_stream(squatter)
    with pytest.raises(StreamDiffers, match="overlap"):
        await declare(bus.js, wanted(subjects, "LOG"))


async def test_no_service_changes_a_stream(bus: Bus, subjects: Subjects) -> None:
    """A FastStream subscriber with a stream's name would declare it, and reset its limits and description."""
    config = wanted(subjects, "INBOX").evolve(description="the operator's own words", max_msgs=1_000)
    await bus.js.update_stream(config)
    before = (await bus.js.stream_info(str(config.name))).config

    async def answer(body: bytes) -> bytes:
        return body

    sink = Sink()
    bus.read(str(config.name), f"{subjects.prefix}.submit.>", "ingest", sink)
    bus.follow(str(config.name), f"{subjects.prefix}.submit.>", lambda: 1, Sink())
    await bus.serve(subjects.rpc("status"), answer)
    await bus.put(subjects.submit("x"), b"x")
    await until(lambda: sink.got == [b"x"])
    assert (await bus.js.stream_info(str(config.name))).config == before


async def test_the_trap_that_this_avoids_is_there(
    world: World, node: Node, bus: Bus, subjects: Subjects
) -> None:
    """Should FastStream ever leave streams alone, the rule against naming them in subscribers can go."""
    config = wanted(subjects, "INBOX").evolve(description="the operator's own words")
    await bus.js.update_stream(config)
    login = Login.of(node)
    broker = NatsBroker(login.url, security=login.security(), inbox_prefix=login.inbox, logger=None)

    @broker.subscriber(f"{subjects.prefix}.submit.>", stream=JStream(str(config.name)))
    async def handle(body: bytes) -> None: ...

    await broker.start()
    await broker.stop()
    after = (await bus.js.stream_info(str(config.name))).config
    assert after.description != "the operator's own words"


async def test_a_peer_with_a_broker_of_its_own_is_mirrored(world: World) -> None:
    port = world.free_port()
    bela = world.make_node("bela", config=own_broker("bela"))
    password = bela.folder / "keys" / "broker.password"
    guest = f'port = {port}\n[[broker.operators]]\ndid = "{bela.did}"\npassword-file = "{password}"'
    alma = world.make_node("alma", config=own_broker("alma", guest))
    subjects = alma.subjects(GAME)
    hub = f"nats-leaf://{bela.subjects(GAME).operator}:{password.read_text().strip()}@127.0.0.1:{port}"
    bela = world.rewrite(bela, 'role = "lister"', follows(alma))
    bela = world.rewrite(bela, "[broker.leaf]", f'[broker.leaf]\nhubs = ["{hub}"]')
    await world.start(alma)
    hers = await world.bus(alma)
    await send(hers, subjects, b"a", b"b")
    await hers.publish_once(subjects.trace("x"), b"trace")
    await hers.put(subjects.rejected, b"rejected")
    await hers.put(subjects.submit("x"), b"submitted")
    await world.start(bela)
    his = await world.bus(bela)
    read, records, rejected = Sink(), Sink(), Sink()
    his.follow(subjects.stream("LOG"), subjects.log, lambda: 1, read)
    his.read(subjects.stream("RECORDS"), f"{subjects.prefix}.trace.>", "traces", records)
    his.read(subjects.stream("INBOX"), f"{subjects.prefix}.>", "rejected", rejected)
    await until(lambda: read.got == [b"a", b"b"] and records.got == [b"trace"])
    await until(lambda: rejected.got == [b"rejected"])
    await send(hers, subjects, b"c")
    await until(lambda: read.got == [b"a", b"b", b"c"])
    await hers.serve(subjects.rpc("hello"), hello)
    await his.serve(bela.subjects(GAME).rpc("hello"), hello)
    # From one broker to the other it takes a while until it is known who answers.
    assert await until_async(lambda: his.ask(subjects.rpc("hello"), b"alma")) == b"hello alma"
    assert await until_async(lambda: hers.ask(bela.subjects(GAME).rpc("hello"), b"bela")) == b"hello bela"
    assert {each.done for each in await declare_all(his.js, bela)} == {"as it should be"}


async def hello(body: bytes) -> bytes:
    return b"hello " + body


def own_broker(name: str, leaf: str = "") -> str:
    return f"""
[node]
name = "{name}"
[broker]
port = 0
domain = "{name}"
[broker.leaf]
{leaf}
[[games]]
uri = "{GAME}"
role = "lister"
ruleset = "coin"
"""


def follows(lister: Node) -> str:
    peers = f'peers = [{{did = "{lister.did}", domain = "{lister.name}"}}]'
    return f'role = "follower"\nlister = "{lister.did}"\n{peers}'
