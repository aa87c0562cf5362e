"""`game`, `move` and `sheet`: published to a PDS or as envelopes, and followed from the at-uri alone."""

from __future__ import annotations

import argparse
import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from atproto_helping import code_of
from atproto_host import Host, hosting
from repo_making import ALICE, NOW, Key, Made
from weighbridge.repos import Signer
from weighbridge_atproto.commands import register_game, register_move, register_sheet

GM = "did:plc:" + "g" * 24
ROOT = "town.delve.root"
GAME = f"at://{GM}/{ROOT}/one"


@pytest.fixture
def host() -> Iterator[Host]:
    """A host in a thread of its own: a command has an event loop of its own."""
    ready, done, found = threading.Event(), threading.Event(), []

    async def serve() -> None:
        async with hosting() as made:
            made.account(Made(GM, Key(number=3), NOW))
            made.account(Made(ALICE, Key(number=5), NOW))
            found.append(made)
            ready.set()
            while not done.is_set():
                await asyncio.sleep(0.01)

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    ready.wait(10)
    yield found[0]
    done.set()
    thread.join(10)


Run = Callable[..., int]


@pytest.fixture
def run(host: Host, tmp_path: Path) -> Run:
    (tmp_path / "password").write_text("secret\n")

    def command(*arguments: str, account: str | None = None) -> int:
        parser = argparse.ArgumentParser()
        subparsers = parser.add_subparsers()
        for register in (register_game, register_move, register_sheet):
            register(subparsers)
        more = ["--directory", host.url, "--development"]
        if account:
            more += ["--host", host.url, "--account", account, "--password-file", str(tmp_path / "password")]
        parsed = parser.parse_args([*arguments, *more])
        code: int = parsed.run(parsed)
        return code

    return command


def record(folder: Path, **fields: object) -> str:
    path = folder / "record.json"
    path.write_text(json.dumps(fields))
    return str(path)


def test_a_game_is_begun_played_and_followed_from_its_at_uri_alone(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    root = record(tmp_path, gm=GM, lister="did:key:z6Mk", policy={"dids": [], "quorum": 0})
    assert run("game", "new", ROOT, root, "--rkey", "one", account=GM) == 0
    assert run("sheet", GAME, record(tmp_path, name="N"), account=ALICE) == 0
    assert run("move", GAME, record(tmp_path, kind="join"), "--rkey", "a", account=ALICE) == 0
    published = [json.loads(line)["uri"] for line in capsys.readouterr().out.splitlines()]
    assert published == [GAME, f"at://{ALICE}/town.delve.sheet/self", f"at://{ALICE}/town.delve.move/a"]
    assert run("game", "follow", GAME, "--folder", str(tmp_path), "--count", "3") == 0
    head, *lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert (head["gm"], head["lister"]) == (GM, "did:key:z6Mk")
    assert [line["uri"] for line in lines] == published


def test_a_record_is_signed_as_an_envelope_instead(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / "key").write_text("07" * 32)
    path = record(tmp_path, kind="join")
    assert run("move", GAME, path, "--rkey", "a", "--key", str(tmp_path / "key")) == 0
    envelope = json.loads(capsys.readouterr().out)
    assert (envelope["author"], envelope["game"]) == (Signer(bytes([7] * 32)).did, GAME)
    assert envelope["value"] == {"game": GAME, "kind": "join"}


def test_what_cannot_be_published_is_refused_by_what_is_wrong(run: Run, tmp_path: Path, host: Host):
    good = record(tmp_path, kind="join")
    (tmp_path / "no.json").write_text("[1.5]")
    (tmp_path / "list.json").write_text("[1]")
    (tmp_path / "key").write_text("nothing")
    for arguments in (
        ["move", GAME, str(tmp_path / "no.json")],
        ["move", GAME, str(tmp_path / "list.json")],
        ["move", GAME, str(tmp_path / "nowhere.json")],
        ["move", GAME, good],
        ["move", GAME, good, "--key", str(tmp_path / "key")],
        ["move", GAME, good, "--rkey", "a", "--key", str(tmp_path / "key")],
        ["game", "new", "nothing", good],
    ):
        assert code_of(lambda arguments=arguments: run(*arguments)) == "bad-record-file"  # type: ignore[misc]
    other = record(tmp_path, game=GAME + "x")
    assert code_of(lambda: run("move", GAME, other, account=ALICE)) == "bad-record-file"
    (tmp_path / "password").write_text("wrong")
    assert code_of(lambda: run("move", GAME, record(tmp_path, kind="join"), account=ALICE)) == "not-published"


def test_a_game_that_is_not_there_is_said_so(run: Run, tmp_path: Path, host: Host):
    host.repos[GM].commit({})
    assert code_of(lambda: run("game", "follow", GAME, "--folder", str(tmp_path))) == "bad-at-uri"
