"""`weighbridge node …` as a person runs it: processes, signals, exit codes and one line each."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import socket
import sys
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from nodes import GAME, LISTER_CONFIG, PATIENCE, World, until, until_async
from weighbridge_services.locks import Lock
from weighbridge_services.node import Node
from weighbridge_services.service import names, port_of

COMMAND = [sys.executable, "-m", "weighbridge_services"]


async def weighbridge(*arguments: object) -> tuple[int, str, str]:
    """Run a command to its end; return exit code, output and errors."""
    process = await asyncio.create_subprocess_exec(
        *COMMAND, *map(str, arguments), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    output, errors = await asyncio.wait_for(process.communicate(), PATIENCE)
    return process.returncode or 0, output.decode(), errors.decode()


class Up:
    """A node that runs."""

    def __init__(self, node: Node, process: asyncio.subprocess.Process) -> None:
        self.node = node
        self.process = process
        self.said = b""

    async def end(self, sign: int) -> tuple[int, str]:
        """Send a signal, wait for the end; return exit code and errors."""
        if self.process.returncode is None:
            self.process.send_signal(sign)
        _, errors = await asyncio.wait_for(self.process.communicate(), PATIENCE)
        return self.process.returncode or 0, (self.said + errors).decode()

    async def said_line(self, text: bytes) -> None:
        """Wait until a line with that text comes out."""
        assert self.process.stderr is not None
        while True:
            line = await asyncio.wait_for(self.process.stderr.readline(), PATIENCE)
            self.said += line
            assert line, self.said.decode()
            if text in line:
                return


@asynccontextmanager
async def up(node: Node, *more: str, ready: bool = True) -> AsyncIterator[Up]:
    process = await asyncio.create_subprocess_exec(
        *COMMAND, "node", "up", "--node", str(node.folder), *more,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    found = Up(node, process)
    try:
        if ready:
            await found.said_line(b"ready")
        yield found
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


def no_broker_of(node: Node) -> bool:
    """Whether no nats-server with that node's configuration runs."""
    config = str(node.folder / "broker" / "nats.conf").encode()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if config in path.read_bytes().split(b"\0"):
                return False
        except OSError:
            continue
    return True


def bare(world: World, *, http: int = 0, name: str = "alma") -> Node:
    """A node without games, so that no service has anything to do."""
    text = f'[node]\nname = "{name}"\n[broker]\nport = 0\n[http]\nport = {http}\n[log]\nformat = "json"\n'
    return world.make_node(name, config=text)


async def fetch(port: int, path: str) -> tuple[int, str]:
    def get() -> tuple[int, str]:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=PATIENCE) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    return await asyncio.to_thread(get)


async def test_init_makes_a_node_that_opens_and_that_doctor_finds_well(
    tmp_path: Path, nats_server: Path
) -> None:
    folder = tmp_path / "alma"
    code, output, _ = await weighbridge("node", "init", folder, "--name", "alma", "--port", 0)
    assert code == 0
    assert Node.open(folder).did in output
    code, output, _ = await weighbridge("node", "doctor", "--node", folder, "--json")
    levels = {each["check"]: each["level"] for each in json.loads(output)}
    assert code == 0, output
    assert levels["keys"] == "ok"


@pytest.mark.parametrize(("sign", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
async def test_a_signal_stops_a_node_in_good_order(world: World, sign: int, code: int) -> None:
    async with up(bare(world)) as node:
        ended, errors = await node.end(sign)
        assert ended == code
        assert "Traceback" not in errors
        assert no_broker_of(node.node)


async def test_ctrl_c_at_any_moment_of_a_start_is_clean(world: World) -> None:
    node = bare(world)
    for moment in range(8):
        async with up(node, ready=False) as starting:
            await asyncio.sleep(0.15 * moment)  # another moment each time, whatever the start is doing then
            code, errors = await starting.end(signal.SIGINT)
            # Before our first word it is Python that answers, as it can: by the signal, or by a traceback, in which
            # there is nothing of ours but the file with that word.
            ours = [line for line in errors.splitlines() if "/weighbridge_services/" in line]
            assert code == 130 or all("/__main__.py" in line for line in ours), errors
            assert code != 130 or "Traceback" not in errors, errors
            await until(lambda: no_broker_of(node))
    assert list(node.folder.rglob("*.tmp")) == []
    Node.open(node.folder)


INTERRUPTED_AT = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from weighbridge_services.__main__ import main

class At:
    left = int(sys.argv.pop(1))
    def find_spec(self, name, path=None, target=None):
        At.left -= 1
        if At.left == 0:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, At())
sys.exit(main())
"""


@pytest.mark.parametrize("nth", [1, 2, 3, 20, 100, 200, 300, 400, 500, 600])
async def test_ctrl_c_at_any_import_is_one_line(world: World, nth: int) -> None:
    """A node's start imports more than six hundred modules, some of which would lose an exception or tell of it."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", INTERRUPTED_AT, str(nth), "node", "up", "--node", str(bare(world).folder),
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    output, errors = await asyncio.wait_for(process.communicate(), 60)
    assert (process.returncode, output, errors) == (130, b"", b"weighbridge: interrupted\n")


async def test_health_and_metrics_are_served(world: World) -> None:
    port = world.free_port()
    async with up(bare(world, http=port)):
        assert (await fetch(port, "/ready"))[0] == 200
        status, body = await fetch(port, "/health")
        assert (status, json.loads(body)["healthy"]) == (200, True)
        status, body = await fetch(port, "/metrics")
        assert status == 200
        assert "weighbridge_broker_restarts 0.0" in body


async def test_a_broker_that_was_killed_is_back_and_counted(world: World) -> None:
    port = world.free_port()
    node = bare(world, http=port)
    async with up(node):
        os.kill(int((node.folder / "broker" / "nats.pid").read_text()), signal.SIGKILL)

        async def counted() -> bool:
            return "weighbridge_broker_restarts 1.0" in (await fetch(port, "/metrics"))[1]

        await until_async(counted)


def ports_in_a_row(world: World, count: int) -> int:
    """Return the first of some ports, one after the other, that nobody listens on."""
    found = [world.free_port()]
    while len(found) < count:
        port = world.free_port()
        found = [*found, port] if port == found[-1] + 1 else [port]
    return found[0]


async def test_a_node_says_how_its_processes_are_and_each_says_it_of_itself(world: World) -> None:
    port = ports_in_a_row(world, len(names()) + 1)
    node = world.make_node(
        "alma", config=LISTER_CONFIG.format(name="alma", game=GAME).replace("coin", "delvetown")
        + f'[plugins]\nrulesets = ["delvetown"]\n[http]\nport = {port}\n',
    )  # fmt: skip
    async with up(node, "--processes"):

        async def ready() -> bool:
            return (await fetch(port, "/ready"))[0] == 200

        await until_async(ready)
        services = json.loads((await fetch(port, "/health"))[1])["services"]
        assert set(services) == {*names(), "broker"}
        for name in names():
            own = port_of(name, port)
            assert (await fetch(own, "/ready"))[0] == 200
            told = json.loads((await fetch(own, "/health"))[1])["services"]
            assert list(told) == [name]
            assert {**told[name], "crashes": 0}.keys() == services[name].keys()
            assert f'weighbridge_reconnects{{service="{name}"}} 0.0' in (await fetch(own, "/metrics"))[1]
        assert services["ingest"]["games"][GAME]["role"] == "lister"
        metrics = (await fetch(port, "/metrics"))[1]
        assert all(f'weighbridge_health{{service="{name}"}}' in metrics for name in names())
        assert f'weighbridge_entries{{game="{GAME}",service="ingest"}} 0.0' in metrics


async def test_each_service_runs_in_a_process_of_its_own_and_is_back_after_a_death(world: World) -> None:
    port = ports_in_a_row(world, len(names()) + 1)
    node = bare(world, http=port)
    async with up(node, "--processes") as running:

        async def pids() -> dict[str, int]:
            return {name: Lock(node.folder, name).holder or 0 for name in names()}

        async def all_run() -> bool:
            return all((await pids()).values())

        await until_async(all_run)
        before = await pids()
        assert len(set(before.values())) == len(names())
        victim = names()[0]
        os.kill(before[victim], signal.SIGKILL)

        async def back() -> bool:
            return (await pids())[victim] not in (0, before[victim])

        await until_async(back)

        async def well_again() -> bool:
            return (await fetch(port, "/health"))[0] == 200

        await until_async(well_again)
        body = (await fetch(port, "/metrics"))[1]
        assert f'weighbridge_crashes{{service="{victim}"}} 1.0' in body
        code, errors = await running.end(signal.SIGTERM)
        assert code == 0, errors
        assert not any((await pids()).values())
        assert no_broker_of(node)


async def test_a_service_process_that_can_never_run_stops_the_node(world: World) -> None:
    node = bare(world)
    lock = Lock(node.folder, names()[0])
    lock.take()
    try:
        code, _, errors = await weighbridge("node", "up", "--node", node.folder, "--processes")
    finally:
        lock.release()
    assert code == 4
    assert "weighbridge: already-running: " in errors
    assert errors.splitlines()[-1].startswith("weighbridge: service-stopped: ")


@pytest.mark.parametrize("table", ["broker", "http"])
async def test_a_taken_port_is_one_line(world: World, table: str) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        node = world.rewrite(
            bare(world), f"[{table}]\nport = 0", f"[{table}]\nport = {other.getsockname()[1]}"
        )
        code, output, errors = await weighbridge("node", "up", "--node", node.folder)
    (line,) = [line for line in errors.splitlines() if not line.startswith("{")]
    assert (code, output) == (4, "")
    assert line.startswith("weighbridge: port-taken: ")
    assert no_broker_of(node)


async def test_the_same_node_twice_is_one_line(world: World) -> None:
    node = bare(world)
    async with up(node) as first:
        code, _, errors = await weighbridge("node", "up", "--node", node.folder)
        assert code == 4
        assert errors.startswith("weighbridge: already-running: ")
        assert str(first.process.pid) in errors
        assert first.process.returncode is None


async def test_a_broker_that_refuses_the_login_is_one_line(world: World) -> None:
    await world.start(world.make_node("alma"))
    stranger = world.point_to_broker(world.make_node("cara"))
    code, _, errors = await weighbridge("node", "up", "--node", stranger.folder)
    assert code == 4
    assert errors.splitlines()[-1].startswith("weighbridge: broker-refused: ")


async def test_streams_that_are_not_declared_on_another_ones_broker_are_one_line(
    world: World, two_nodes: tuple[Node, Node]
) -> None:
    host, guest = two_nodes
    code, _, errors = await weighbridge("node", "up", "--node", guest.folder)
    assert code == 4
    assert errors.splitlines()[-1].startswith("weighbridge: streams-missing: ")
    code, _, errors = await weighbridge("node", "streams", "--node", guest.folder)
    assert (code, "only its owner declares streams" in errors) == (3, True)
    for node, count in ((host, 8), (guest, 4)):
        code, output, _ = await weighbridge("node", "streams", "--node", node.folder, "--json")
        assert (code, len(json.loads(output))) == (0, count)


async def test_status_streams_and_doctor_of_a_node_that_runs(world: World, node: Node) -> None:
    lock = Lock(node.folder, "node")
    lock.take()
    try:
        code, output, _ = await weighbridge("node", "streams", "--node", node.folder)
        assert code == 0
        assert output.count("created") == 4
        code, output, _ = await weighbridge("node", "status", "--node", node.folder, "--json")
        found = json.loads(output)
        assert (code, found["broker"]["state"], found["running"]) == (0, "up", {"node": os.getpid()})
        kinds = [stream["kind"] for stream in found["games"][0]["streams"]]
        assert kinds == ["LOG", "TRANSCRIPT", "RECORDS", "INBOX"]
        _, output, _ = await weighbridge("node", "doctor", "--node", node.folder)
        assert "all are there and as they should be" in output
    finally:
        lock.release()
    await world.server.stop()  # type: ignore[union-attr]
    code, output, _ = await weighbridge("node", "status", "--node", node.folder)
    assert code == 0
    assert "nothing" in output


async def test_a_folder_that_holds_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear sir")
    code, _, errors = await weighbridge("node", "init", tmp_path, "--name", "alma")
    assert code == 2
    assert errors.startswith("weighbridge: folder-in-use: ")
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


@pytest.mark.parametrize(
    ("damage", "code", "line"),
    [
        pytest.param("none", 2, "no-node", id="no node there"),
        pytest.param("text", 2, "bad-config", id="no TOML"),
        pytest.param("mode", 2, "bad-key-file", id="a key that others can read"),
        pytest.param("swap", 2, "bad-key-file", id="two keys swapped"),
        pytest.param("foreign", 4, "foreign-node", id="another node's keys"),
        pytest.param("moved", 4, "foreign-node", id="the whole folder of another node's keys"),
        pytest.param("service", 2, "no-service", id="a service nobody knows"),
    ],
)
async def test_what_keeps_a_node_from_starting_is_one_line(
    world: World, damage: str, code: int, line: str
) -> None:
    node = bare(world)
    keys = node.folder / "keys"
    arguments: list[object] = ["node", "up", "--node", node.folder]
    if damage == "none":
        arguments[-1] = node.folder / "nothing"
    elif damage == "text":
        (node.folder / "weighbridge.toml").write_text("[node\n")
    elif damage == "mode":
        (keys / "log.key").chmod(0o644)
    elif damage == "swap":
        text = (keys / "log.key").read_text(), (keys / "recompute.key").read_text()
        (keys / "recompute.key").write_text(text[0])
        (keys / "log.key").write_text(text[1])
    elif damage == "moved":
        node.ledger("fold").close()
        shutil.rmtree(keys)
        shutil.copytree(bare(world, name="bela").folder / "keys", keys)
    elif damage == "foreign":
        other = bare(world, name="bela")
        for path in (other.folder / "keys").glob("*.key"):
            shutil.copy(path, keys / path.name)
    else:
        arguments = ["run", "weigher", "--node", node.folder]
    found, output, errors = await weighbridge(*arguments)
    assert (found, output) == (code, "")
    assert errors.startswith(f"weighbridge: {line}: ")
    assert len(errors.splitlines()) == 1
    assert not (node.folder / "broker").exists()  # it is said before anything runs
