"""What compose.yaml runs, run here: the same commands, in the same order, on a NATS server set up as deploy/ says."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from free_ports import free_port
from nodes import PATIENCE
from weighbridge_services.service import names

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "unit" / "deploy"))

from simple_yaml import load
from vectors_root import REPOSITORY

GAME = "at://did:key:z6Mkj47LJQAxm1oyRo3nim5oceJE8GzuAHUUE71cx62o1mVC/town.delve.root/deployed"
WEIGHBRIDGE = [sys.executable, "-m", "weighbridge_services"]


def run(*arguments: str) -> str:
    done = subprocess.run([*WEIGHBRIDGE, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def started() -> Iterator[list[subprocess.Popen[str]]]:
    made: list[subprocess.Popen[str]] = []
    yield made
    for each in made:
        if each.poll() is None:
            each.kill()
        each.communicate()


def configuration(folder: Path, port: int, users: str) -> Path:
    """Write deploy's nats.conf with this test's users, folder and ports in place of the examples'."""
    text = (REPOSITORY / "deploy" / "nats" / "nats.conf").read_text()
    text = re.sub(r"users: \[\n.*?\n    \]\n", lambda _: f"users: [\n{users}\n    ]\n", text, flags=re.S)
    text = text.replace("0.0.0.0:4222", f"127.0.0.1:{port}").replace('"/broker"', f'"{folder / "data"}"')
    text = re.sub(r"^http:.*\n", "", text, flags=re.M)
    (folder / "nats.conf").write_text(text)
    return folder / "nats.conf"


def until_open(port: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise AssertionError("the broker does not listen")


def until_ready(process: subprocess.Popen[str]) -> None:
    assert process.stderr is not None
    lines = []
    for line in process.stderr:
        lines.append(line)
        if "ready" in line:
            return
    raise AssertionError("".join(lines))


@pytest.mark.slow
async def test_the_commands_of_compose_make_a_running_node(
    tmp_path: Path, nats_server: Path, started: list[subprocess.Popen[str]]
) -> None:
    port, node = free_port(), str(tmp_path / "self")
    url = f"nats://127.0.0.1:{port}"
    run("node", "init", node, "--name", "alma", "--game", GAME, "--ruleset", "delvetown", "--url", url)
    did = json.loads(run("node", "status", "--node", node, "--json"))["did"]
    users = run("broker", "user", "--did", did, "--game", GAME, "--password", "ALMA")
    secret = (tmp_path / "self" / "keys" / "broker.password").read_text().strip()
    (tmp_path / "passwords.conf").write_text(f'ALMA: "{secret}"\nADMIN: "admin"\n')
    config = configuration(tmp_path, port, users)
    started.append(subprocess.Popen([nats_server, "-c", config], text=True, stderr=subprocess.DEVNULL))
    until_open(port)
    services = load((REPOSITORY / "compose.yaml").read_text())["services"]
    here = {
        name: [node if word == "/node/self" else word for word in each["command"]]
        for name, each in services.items()
    }
    assert run(*here["streams"]).count("created") == 4
    running = {}
    for name in names():
        running[name] = subprocess.Popen([*WEIGHBRIDGE, *here[name]], stderr=subprocess.PIPE, text=True)
        started.append(running[name])
    for each in running.values():
        until_ready(each)
    status = json.loads(run("node", "status", "--node", node, "--json"))
    assert sorted(status["running"]) == names()
    assert status["broker"]["state"] == "up"
    for each in running.values():
        os.kill(each.pid, signal.SIGTERM)
    assert {name: each.wait(PATIENCE) for name, each in running.items()} == dict.fromkeys(names(), 0)
