"""The demo as anybody runs it: the command, its processes, what it prints and what it leaves behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from nodes import PATIENCE
from weighbridge.logfile import log_from_car, log_from_jsonl

COMMAND = [sys.executable, "-m", "weighbridge_services", "demo"]
WHOLE = 400
"""Seconds for the whole season, which takes half a minute."""
MARK = "WEIGHBRIDGE_DEMO_TEST"


@pytest.fixture
def environment(tmp_path: Path, nats_server: Path) -> Iterator[dict[str, str]]:
    """An environment by which every process that the demo starts can be found again, and a place for its folders."""
    mark = f"{tmp_path}"
    (tmp_path / "tmp").mkdir()
    yield {**os.environ, MARK: mark, "TMPDIR": str(tmp_path / "tmp")}
    left = processes(mark)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert left == []


def processes(mark: str) -> list[int]:
    """Return the processes whose environment has the mark: the demo, its nodes, their brokers and helpers."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"{MARK}={mark}".encode() in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def left_after(environment: dict[str, str]) -> list[int]:
    """Return the processes that are left behind. The kernel tells some that their parent is gone, and they end."""
    deadline = time.monotonic() + PATIENCE
    while processes(environment[MARK]) and time.monotonic() < deadline:
        time.sleep(0.05)
    return processes(environment[MARK])


@pytest.mark.slow
async def test_the_demo_holds_and_leaves_what_it_is_told_to(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    keep = tmp_path / "kept"
    done = subprocess.run(
        [*COMMAND, "--json", "--keep", str(keep)], env=environment, capture_output=True, text=True,
        timeout=WHOLE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert len(told["agreed"]["operators"]) >= 3
    assert told["caught"]["operator"] == "egon"
    assert [cell.partition("/")[0] for cell in told["caught"]["cells"]] == ["sheet"]
    assert told["diceVerified"] >= 100
    assert "egon is caught by" in done.stderr
    assert left_after(environment) == []
    assert list((tmp_path / "tmp").iterdir()) == []
    car = list(log_from_car([(keep / "game.car").read_bytes()]))
    lines = list(log_from_jsonl([(keep / "game.jsonl").read_bytes()]))
    assert [each.cid for each in car] == [each.cid for each in lines]
    assert len(car) == told["agreed"]["size"]
    again = subprocess.run(
        [sys.executable, "-m", "weighbridge_services", "fold", str(keep / "game.car"), "--json"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert json.loads(again.stdout)["transcript"]["root"] == told["agreed"]["root"]


@pytest.mark.parametrize("after", ["alma lists", "all started", "Tue 21 Nov"])
@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_at_any_moment_leaves_nothing_behind(
    tmp_path: Path, environment: dict[str, str], after: str, sign: signal.Signals
) -> None:
    demo = subprocess.Popen(
        COMMAND, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert demo.stderr is not None
    for line in demo.stderr:
        if after in line:
            break
    demo.send_signal(sign)
    out, err = demo.communicate(timeout=PATIENCE)
    assert demo.returncode == 130
    assert out == ""
    assert err.splitlines()[-1] == "weighbridge: interrupted"
    assert left_after(environment) == []
    assert list((tmp_path / "tmp").iterdir()) == []


async def test_nodes_of_a_demo_that_was_killed_end_too(environment: dict[str, str]) -> None:
    demo = subprocess.Popen(
        COMMAND, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert demo.stderr is not None
    for line in demo.stderr:
        if "all started" in line:
            break
    demo.kill()
    demo.communicate(timeout=PATIENCE)
    assert left_after(environment) == []


async def test_a_folder_in_use_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    done = subprocess.run(
        [*COMMAND, "--keep", str(tmp_path)], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith("weighbridge: demo-folder-in-use: ")
    assert len(done.stderr.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


async def test_a_live_table_plays_until_ctrl_c_and_shows_its_board(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    live = subprocess.Popen(
        [*COMMAND, "--live"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert live.stderr is not None
    for line in live.stderr:
        if "→" in line:
            break
    live.send_signal(signal.SIGINT)
    out, _ = live.communicate(timeout=PATIENCE)
    assert live.returncode == 0
    assert "Gangs of Delvetown" in out
    assert "Last rolls" in out
    assert left_after(environment) == []
    assert list((tmp_path / "tmp").iterdir()) == []


async def test_a_node_that_dies_ends_the_demo_with_a_word(environment: dict[str, str]) -> None:
    demo = subprocess.Popen(
        COMMAND, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert demo.stderr is not None
    for line in demo.stderr:
        if "Mon 20 Nov" in line:
            break
    for pid in processes(environment[MARK]):
        if Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0").endswith(b"/bela"):
            os.kill(pid, signal.SIGKILL)
    _, err = demo.communicate(timeout=PATIENCE)
    assert demo.returncode == 4
    assert err.splitlines()[-1].startswith("weighbridge: demo-stuck: the node bela ended with exit code -9")
    assert left_after(environment) == []
