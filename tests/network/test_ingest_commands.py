"""`weighbridge submit` and `weighbridge log tail`, at a node that runs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from ingest_games import GAME, Table, data_of, flip, note, player
from nodes import PATIENCE, World
from prometheus_client import generate_latest
from weighbridge.identity import Envelope, envelope_to_json
from weighbridge_services.cli import main
from weighbridge_services.health import note as note_gauges
from weighbridge_services.ingest.arrivals import Arrival
from weighbridge_services.ingest.errors import Stopping
from weighbridge_services.metrics import REGISTRY

COLLECTION = "example.coin.note"


@pytest.fixture
async def table(world: World) -> AsyncIterator[Table]:
    made = Table(world)
    try:
        await made.lay(followers=0)
        await made.up("alma")
        yield made
    finally:
        await made.clear()


async def run(*arguments: object) -> int:
    """Run a command beside the node."""
    return await asyncio.to_thread(main, [str(each) for each in arguments])


def written(path: Path, *envelopes: Envelope) -> Path:
    path.write_text("\n".join(json.dumps(envelope_to_json(each)) for each in envelopes) + "\n")
    return path


async def test_a_record_is_handed_in_and_its_place_and_round_are_said(
    table: Table, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path / "a.json", flip(player(1), "a"))
    assert await run("submit", file, "--node", table.lister.folder) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"{flip(player(1), 'a').uri}: listed as 2, round ")
    (tmp_path / "a.cbor").write_bytes(data_of(note(player(1), "b")))
    assert await run("submit", tmp_path / "a.cbor", "--node", table.lister.folder) == 0
    assert capsys.readouterr().out.endswith("listed as 3\n")


async def test_many_are_answered_in_their_order_as_json(
    table: Table, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = note(player(3), "c")
    bad = Envelope(bad.author, bad.game, bad.collection, bad.rkey, bad.value, bytes(64))
    file = written(tmp_path / "many.jsonl", note(player(1), "a"), bad, note(player(2), "b"))
    assert await run("submit", file, "--node", table.lister.folder, "--game", GAME, "--json") == 2
    answers: list[dict[str, Any]] = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [each["uri"].rpartition("/")[2] for each in answers] == ["a", "c", "b"]
    assert [each.get("rejected", "listed") for each in answers] == ["listed", "bad-signature", "listed"]
    assert answers[0]["receipt"].startswith(f"{GAME}/log\n")


async def test_a_plain_record_is_signed_on_the_way(
    table: Table, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key, value = tmp_path / "ann.key", tmp_path / "a.json"
    key.write_text("07" * 32 + "\n")
    key.chmod(0o600)
    value.write_text(json.dumps({"game": GAME, "text": "hello"}))
    arguments = ("submit", value, "--node", table.lister.folder, "--key", key, "--collection", COLLECTION)
    assert await run(*arguments, "--rkey", "a") == 0
    assert "/example.coin.note/a: listed as" in capsys.readouterr().out
    assert await run(*arguments) == 2
    assert "no-place" in capsys.readouterr().err


async def test_a_player_hands_in_at_somebody_elses_node(
    table: Table, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert table.world.server is not None
    file = written(tmp_path / "a.json", note(player(1), "a"))
    password = table.lister.folder / "keys" / "player.password"
    arguments = (
        "submit",
        file,
        "--nats",
        table.world.server.url,
        "--game",
        GAME,
        "--password-file",
        password,
    )
    assert await run(*arguments, "--operator", table.lister.did) == 0
    assert "listed as" in capsys.readouterr().out
    assert await run(*arguments) == 2
    assert "no-place" in capsys.readouterr().err
    assert await run(*arguments, "--operator", player(9).did, "--timeout", "1") == 3
    assert "no-answer" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text",
    ["no JSON", "[3]", '{"v": 1}', "{}\n[]\n", "\x07", "", " \n\n"],
    ids=["text", "a list", "a part", "lines", "CBOR", "nothing", "empty lines"],
)
async def test_a_file_without_envelopes_is_refused(
    table: Table, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    (tmp_path / "bad").write_text(text)
    assert await run("submit", tmp_path / "bad", "--node", table.lister.folder) == 2
    assert "bad-submission" in capsys.readouterr().err


async def test_a_lister_that_is_away_gives_no_answer(
    table: Table, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await table.down("alma")
    file = written(tmp_path / "a.json", note(player(1), "a"))
    assert await run("submit", file, "--node", table.lister.folder, "--timeout", "0.5") == 3
    assert "no-answer" in capsys.readouterr().err


async def test_a_log_is_watched_as_it_grows(table: Table, capsys: pytest.CaptureFixture[str]) -> None:
    watching = asyncio.create_task(run("log", "tail", "--node", table.lister.folder, "--count", 4))
    await table.submit(data_of(note(player(1), "a")))
    await table.submit(data_of(note(player(1), "b")))
    assert await asyncio.wait_for(watching, PATIENCE) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["0", "1", "2", "3"]
    assert "example.coin.note/b" in lines[3]


async def test_entries_come_as_json_from_where_they_are_wanted(
    table: Table, capsys: pytest.CaptureFixture[str]
) -> None:
    await table.submit(data_of(note(player(1), "a")))
    arguments = ("log", "tail", GAME, "--node", table.lister.folder, "--from", 1, "--count", 2, "--json")
    assert await run(*arguments) == 0
    assert [json.loads(line)["entry"]["seq"] for line in capsys.readouterr().out.splitlines()] == [1, 2]
    assert await run("log", "tail", "--node", table.lister.folder, "--count", 0) == 0


async def test_entries_that_are_not_there_yet_are_waited_for(
    table: Table, capsys: pytest.CaptureFixture[str]
) -> None:
    watching = asyncio.create_task(
        run("log", "tail", "--node", table.lister.folder, "--from", 4, "--count", 1)
    )
    for rkey in "abc":
        await table.submit(data_of(note(player(1), rkey)))
    assert await asyncio.wait_for(watching, PATIENCE) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert line.split()[0] == "4"


async def test_what_is_refused_shows_in_the_metrics_by_code(table: Table) -> None:
    bad = note(player(3), "c")
    bad = Envelope(bad.author, bad.game, bad.collection, bad.rkey, bad.value, bytes(64))
    await table.submit(data_of(bad))
    service, _ = table.services["alma"]
    note_gauges({"ingest": service.health()})
    said = generate_latest(REGISTRY).decode()
    assert 'weighbridge_refused{code="bad-signature",service="ingest"} 1.0' in said
    assert f'weighbridge_entries{{game="{GAME}",service="ingest"}} 2.0' in said
    assert 'weighbridge_behind{service="ingest"} 0.0' in said


async def test_another_game_is_refused(table: Table, capsys: pytest.CaptureFixture[str]) -> None:
    other = GAME.replace("one", "two")
    assert await run("log", "tail", other, "--node", table.lister.folder) == 2
    assert "no-such-game" in capsys.readouterr().err


async def test_what_is_handed_in_while_a_lister_stops_comes_again(table: Table) -> None:
    lister = table.services["alma"][0].games[0].lister  # type: ignore[union-attr]
    await lister.stop()
    with pytest.raises(Stopping):
        await lister.hand_in([Arrival(data_of(note(player(1), "a")), "test")])
