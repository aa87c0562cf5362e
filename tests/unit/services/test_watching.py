"""What a node says of itself: health, the frozen loop, and what the doctor sees."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs
from weighbridge_services.broker.errors import PortTaken
from weighbridge_services.creating import create_node
from weighbridge_services.doctor import BAD, OK, WARN, examine
from weighbridge_services.doctor.clock import compared
from weighbridge_services.health import health_of, listen, note, unhealthy
from weighbridge_services.metrics import REGISTRY
from weighbridge_services.service import NoService, named, names
from weighbridge_services.wire import reading

SECOND = 1_000_000
GAME = "at://did:plc:z72i7hdynmk6r22z27h6tvur/example.coin.root/one"
BARE = '[node]\nname = "alma"\n[broker]\nport = 0\n'


def levels(folder: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for each in asyncio.run(examine(folder)):
        found.setdefault(each.check, []).append(each.level)
    return found


@pytest.mark.parametrize(
    ("said", "reasons"),
    [
        pytest.param({}, [], id="nothing said"),
        pytest.param({"listed": 7}, [], id="numbers"),
        pytest.param({"unhealthy": []}, [], id="no reason"),
        pytest.param({"unhealthy": ["behind"]}, ["behind"], id="a reason"),
        pytest.param({"unhealthy": "behind"}, ["behind"], id="a reason that is no list"),
    ],
)
def test_a_service_is_well_unless_it_says_why_not(said: dict[str, Any], reasons: list[str]) -> None:
    assert unhealthy(said) == reasons
    status, body = health_of({"fold": said, "ingest": {}})
    assert status == (503 if reasons else 200)
    assert body["unhealthy"] == ({"fold": reasons} if reasons else {})


def test_a_taken_port_is_said() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(PortTaken, match="http"):
            listen("127.0.0.1", other.getsockname()[1])


FREEZING = """
import asyncio, time
from weighbridge_services.watchdog import Watchdog

async def main():
    watchdog = Watchdog(1.0)
    watchdog.start()
    first = watchdog._beat
    while watchdog._beat == first:
        await asyncio.sleep(0.01)
    print("turning", flush=True)
    time.sleep(120)

asyncio.run(main())
"""


def test_a_frozen_loop_ends_the_process_with_its_stacks() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FREEZING], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (4, "turning\n")
    assert "loop-frozen" in done.stderr
    assert "in main" in done.stderr


def test_every_service_can_be_named_and_no_other() -> None:
    assert all(named(name).__name__ == "Service" for name in names())
    with pytest.raises(NoService, match="weigher"):
        named("weigher")


@pytest.mark.parametrize(
    ("since", "level"),
    [
        pytest.param(0, OK, id="just out"),
        pytest.param(3 * SECOND, OK, id="the next is due"),
        pytest.param(-SECOND // 2, OK, id="half a second behind"),
        pytest.param(-2 * SECOND, BAD, id="two seconds behind"),
        pytest.param(5 * SECOND, OK, id="slow to arrive"),
        pytest.param(7 * SECOND, BAD, id="fast, or stale"),
    ],
)
def test_a_clock_that_is_off_the_newest_beacon_is_bad(since: int, level: str) -> None:
    assert compared("drand", since, 3 * SECOND).level == level


def test_the_doctor_finds_a_new_node_well(tmp_path: Path) -> None:
    node = create_node(tmp_path / "alma", BARE)
    found = levels(node.folder)
    assert set(found) == {
        "keys",
        "versions",
        "ledgers",
        "ports",
        "disk",
        "fsync",
        "plugins",
        "clock",
        "broker",
    }
    assert BAD not in {level for each in found.values() for level in each}
    assert found["clock"] == [WARN]


@pytest.mark.parametrize(
    ("settings", "level", "word"),
    [
        pytest.param("", WARN, "without a source of its own", id="none"),
        pytest.param('[games.source]\nroot = "root.json"\n', WARN, "without a source", id="a root alone"),
        pytest.param('[games.source]\nplugin = "firehose"\n', OK, "firehose is the source", id="a firehose"),
        pytest.param('[games.source]\nfile = "lines"\n', OK, "jsonl is the source", id="a file of lines"),
    ],
)
def test_the_doctor_notes_a_follower_that_would_miss_nobody(
    tmp_path: Path, settings: str, level: str, word: str
) -> None:
    game = f'[[games]]\nuri = "{GAME}"\nrole = "follower"\nlister = "did:web:a.example"\nruleset = "coin"\n'
    node = create_node(tmp_path / "alma", f"{BARE}{game}{settings}")
    (found,) = (each for each in asyncio.run(examine(node.folder)) if each.check == "source")
    assert found.level == level
    assert word in found.says


def test_what_a_service_says_of_its_games_is_counted_over_all_of_them() -> None:
    games = {
        "one": {"size": 3, "withheld": 2, "waiting": 1},
        "two": {"size": 4, "withheld": 5, "source": "jsonl"},
    }
    note({"ingest": {"games": games, "unhealthy": []}})
    counted = [
        REGISTRY.get_sample_value("weighbridge_service", {"service": "ingest", "name": name})
        for name in ("withheld", "waiting", "source")
    ]
    assert counted == [7, 1, None]


def test_the_doctor_sees_what_is_wrong(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        text = (
            BARE.replace("port = 0", f"port = {other.getsockname()[1]}")
            + '[plugins]\nrulesets = ["nowhere"]\n'
        )
        node = create_node(tmp_path / "alma", text)
        (node.folder / "keys" / "player.password").chmod(0o644)
        found = levels(node.folder)
    assert (found["ports"], found["plugins"], found["keys"]) == ([BAD], [BAD], [BAD])


def test_the_doctor_says_every_mistake_of_a_configuration(tmp_path: Path) -> None:
    node = create_node(tmp_path / "alma", BARE)
    (node.folder / "weighbridge.toml").write_text("[node]\n[http]\nprt = 3\n")
    assert levels(node.folder)["config"] == [BAD, BAD]


def test_the_doctor_says_it_of_a_folder_without_a_node(tmp_path: Path) -> None:
    assert levels(tmp_path)["node"] == [BAD]


def test_a_beacon_source_that_is_not_there_is_said(tmp_path: Path) -> None:
    node = create_node(tmp_path / "alma", BARE + '[[beacons]]\nsource = "nowhere"\n')
    assert levels(node.folder)["clock"] == [BAD]


def test_waiting_for_a_stream_is_told_once_however_long_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "RETRY", 0)

    async def take(_: Any) -> None:
        raise AssertionError

    async def wait(*reasons: str) -> None:
        each = reading.Reading(None, "LOG", take, 1)  # type: ignore[arg-type]
        for reason in reasons:
            await each.wait(OSError(reason))

    with capture_logs() as told:
        asyncio.run(wait("not there", "not there", "not there", "not connected"))
    assert [each["reason"] for each in told] == ["not there", "not connected"]
