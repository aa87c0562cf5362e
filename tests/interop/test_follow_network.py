"""`weighbridge game follow` over two real PDSs that share a directory, and a relay of the tests' own."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from pds_running import PASSWORD, Account, Pds
from relay_running import Relay, relaying
from weighbridge.identity.syntax import is_tid
from weighbridge_services.cli import main

pytestmark = pytest.mark.interop

ROOT, MOVE, SHEET = "town.delve.root", "town.delve.move", "town.delve.sheet"
PATIENCE = 90.0
_names = iter(range(1000))


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Pds, Pds]]:
    first = Pds(tmp_path_factory.mktemp("first"))
    second = Pds(tmp_path_factory.mktemp("second"), beside=first)
    yield first, second
    second.stop()
    first.stop()


async def off(work: Any, *arguments: Any) -> Any:
    return await asyncio.to_thread(work, *arguments)


async def begun(host: Pds) -> tuple[Account, str]:
    """A GM with a root; the game's at-uri."""
    gm = await off(host.account, f"gamer{next(_names)}")
    await off(gm.create, ROOT, "one", {"$type": ROOT, "gm": gm.did})
    return gm, f"at://{gm.did}/{ROOT}/one"


async def joined(host: Pds, game: str, rkey: str = "a") -> Account:
    """A player with a move."""
    player = await off(host.account, f"player{next(_names)}")
    await moved(player, game, rkey)
    return player


async def moved(player: Account, game: str, rkey: str) -> str:
    move = {"$type": MOVE, "game": game, "kind": "join", "crew": f"at://{player.did}/town.delve.crew/x"}
    await off(player.create, MOVE, rkey, move)
    return f"at://{player.did}/{MOVE}/{rkey}"


class Following:
    """The command, in a process of its own."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    async def line(self) -> Any:
        assert self.process.stdout is not None
        async with asyncio.timeout(PATIENCE):
            data = await self.process.stdout.readline()
        assert data, "it ended"
        return json.loads(data)

    async def uris(self, count: int) -> list[str]:
        return sorted([(await self.line())["uri"] for _ in range(count)])


@asynccontextmanager
async def following(
    game: str, relay: Relay, directory: str, folder: Path, *more: str
) -> AsyncIterator[Following]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "weighbridge_services", "game", "follow", game, "--relay", relay.url,
        "--directory", directory, "--development", "--json", "--folder", str(folder), *more,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL, env=dict(os.environ),
    )  # fmt: skip
    try:
        yield Following(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


@pytest.mark.parametrize("way", ["a-stream-for-each-host", "the-relay-s-stream"])
def test_who_plays_on_either_host_is_found_and_who_begins_later_is_kept_up_with(
    way: str, hosts: tuple[Pds, Pds], tmp_path: Path
):
    async def work() -> None:
        first, second = hosts
        async with relaying(first, second) as relay:
            gm, game = await begun(first)
            player = await joined(second, game)
            await relay.until_indexed(player.did, MOVE)
            await relay.until_indexed(gm.did, ROOT)
            more = ["--firehose"] if way.startswith("the-relay") else []
            async with following(game, relay, first.directory, tmp_path, *more) as at:
                assert (await at.line())["gm"] == gm.did
                found = {each["did"]: each for each in (await at.line())["players"]}
                assert {did: (each["state"], each["host"]) for did, each in found.items()} == {
                    gm.did: ("plays", first.url), player.did: ("plays", second.url),
                }  # fmt: skip
                assert await at.uris(2) == sorted([game, f"at://{player.did}/{MOVE}/a"])
                assert await moved(player, game, "b") == (await at.uris(1))[0]
                third = await joined(second, game, "late")
                assert await at.uris(1) == [f"at://{third.did}/{MOVE}/late"]

    asyncio.run(work())


def test_a_host_that_is_killed_and_comes_again_is_made_up_for_and_stops_no_other(tmp_path: Path):
    async def work() -> None:
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
        first = await off(Pds, tmp_path / "one")
        second = await off(lambda: Pds(tmp_path / "two", beside=first))
        try:
            async with relaying(first, second) as relay:
                gm, game = await begun(first)
                player = await joined(second, game)
                await relay.until_indexed(player.did, MOVE)
                await relay.until_indexed(gm.did, ROOT)
                async with following(game, relay, first.directory, tmp_path) as at:
                    assert "players" in [await at.line(), await at.line()][1]
                    await at.uris(2)
                    await off(second.kill)
                    assert await moved(gm, game, "on") == (await at.uris(1))[0]
                    await off(second.start)
                    await off(player.login)
                    assert await moved(player, game, "again") == (await at.uris(1))[0]
        finally:
            await off(second.stop)
            await off(first.stop)

    asyncio.run(work())


def test_a_player_publishes_to_a_real_pds_and_is_told_what_it_refuses(
    hosts: tuple[Pds, Pds], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    host = hosts[0]
    player = host.account(f"writer{next(_names)}")
    game = f"at://{player.did}/{ROOT}/one"
    password, record = tmp_path / "password", tmp_path / "record.json"
    password.write_text(PASSWORD)
    password.chmod(0o600)

    def publish(*what: str, **fields: Any) -> int:
        record.write_text(json.dumps(fields))
        way = ["--host", host.url, "--account", player.did, "--password-file", str(password), "--development"]
        return main([*what, str(record), *way])

    join = {"kind": "join", "crew": f"at://{player.did}/town.delve.crew/x"}
    assert publish("move", game, **join) == 0
    uri = json.loads(capsys.readouterr().out)["uri"]
    assert is_tid(uri.rpartition("/")[2])
    assert publish("move", game, "--rkey", "mine", **join) == 0
    assert publish("move", game, "--rkey", "mine", **join) == 2
    assert "not-published: " in (said := capsys.readouterr().err)
    assert "is there already" in said
    assert publish("move", game, kind="join", crew=5) == 2
    assert "bad-record-shape" in capsys.readouterr().err
    password.write_text("wrong")
    assert publish("move", game, **join) == 2
    assert "AuthenticationRequired" in capsys.readouterr().err
    moves = player.call("com.atproto.repo.listRecords", repo=player.did, collection=MOVE)["records"]
    assert sorted(each["uri"] for each in moves) == sorted([uri, f"at://{player.did}/{MOVE}/mine"])


def test_a_lying_index_costs_a_bounded_number_of_questions_and_names_nobody_who_does_not_play(
    hosts: tuple[Pds, Pds], tmp_path: Path
):
    async def work() -> None:
        first, second = hosts
        async with relaying(first, second) as relay:
            gm, game = await begun(first)
            idle = [await off(second.account, f"idler{next(_names)}") for _ in range(3)]
            elsewhere = await joined(second, game + "x")
            player = await joined(second, game)
            names = [each.did for each in (*idle, elsewhere, player, gm)]
            nobody = [f"did:plc:{letter * 24}" for letter in "abcdefgh"]
            cursors = iter(range(1_000_000))
            relay.lies = lambda _: {
                "repos": [{"did": did} for did in (*names, *nobody, *names)], "cursor": str(next(cursors)),
            }  # fmt: skip
            async with following(game, relay, first.directory, tmp_path, "--list") as at:
                await at.line()
                players = {each["did"]: each["state"] for each in (await at.line())["players"]}
                assert await asyncio.wait_for(at.process.wait(), PATIENCE) == 0
            assert {did for did, state in players.items() if state == "plays"} == {gm.did, player.did}
            assert {players[did] for did in nobody} == {"did-gone"}
            assert not set(players) & {each.did for each in (*idle, elsewhere)}
            # Of each of the four collections three pages: two that name nobody new end the asking.
            assert relay.asked == {"listReposByCollection": 12}

    asyncio.run(work())
