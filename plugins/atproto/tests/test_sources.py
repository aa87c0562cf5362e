"""Settings, whole repositories, Jetstream's hints and what a source keeps."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from atproto_helping import code_of, document
from atproto_host import Host, hosting
from hypothesis import given
from hypothesis import strategies as st
from repo_making import ALICE, BOB, MOVES, NOW, Key, Made
from weighbridge.ports import Given, Pause, Refused
from weighbridge.repos import RAW, Cid, open_carried
from weighbridge_atproto import open_firehose, open_jetstream, open_keys, open_network, open_repository
from weighbridge_atproto.jetstream import Jetstream, read_hint
from weighbridge_atproto.keeping import Keeping
from weighbridge_atproto.kept_file import KeepingBroken
from weighbridge_atproto.settings import BadSettings, read_settings

GAME = f"at://{ALICE}/town.delve.game/one"
WHOLE = {"game": GAME, "collections": [MOVES], "host": "https://pds.delve.town", "repos": [ALICE]}


def move(text: str) -> dict[str, str]:
    return {"$type": MOVES, "game": GAME, "text": text}


# --- settings ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("opened", "changed"),
    [
        pytest.param(open_firehose, {"game": "at://alice.test/a.b.c/d"}, id="game-by-handle"),
        pytest.param(open_firehose, {"host": ""}, id="no-host"),
        pytest.param(open_jetstream, {"host": ...}, id="no-jetstream"),
        pytest.param(open_firehose, {"collections": []}, id="nothing-watched"),
        pytest.param(open_firehose, {"collections": ["*"]}, id="everything-watched"),
        pytest.param(open_firehose, {"collections": "town"}, id="collections-a-text"),
        pytest.param(open_firehose, {"repos": ["alice"]}, id="repos-by-name"),
        pytest.param(open_firehose, {"host": "relay.delve.town"}, id="a-host-without-https"),
        pytest.param(open_firehose, {"host": "http://relay.delve.town"}, id="a-host-over-http"),
        pytest.param(open_firehose, {"host": "https://relay.delve.town/xrpc/x"}, id="a-host-with-a-path"),
        pytest.param(open_firehose, {"host": "http://127.0.0.1:2583"}, id="loopback-without-development"),
        pytest.param(open_network, {"hosts": ["https://10.0.0.1"]}, id="a-private-host-among-several"),
        pytest.param(open_network, {"index": "https://relay.delve.local"}, id="an-index-that-is-not-public"),
        pytest.param(open_keys, {"directory": "plc.directory"}, id="a-directory-without-https"),
        pytest.param(open_repository, {"repos": []}, id="no-repos"),
        pytest.param(open_repository, {"file": "x.car"}, id="a-file-without-a-document"),
        pytest.param(
            open_repository, {"file": "x", "document": "y", "repos": [ALICE, BOB]}, id="a-file-of-two"
        ),
    ],
)
def test_a_source_is_not_opened_with_settings_that_cannot_be_meant(opened: Any, changed: Any, tmp_path: Path):
    settings = {name: value for name, value in (WHOLE | changed).items() if value is not ...}
    assert code_of(lambda: opened(settings, str(tmp_path))) == "atproto-settings"


@pytest.mark.parametrize("opened", [open_firehose, open_network, open_jetstream, open_keys, open_repository])
def test_a_setting_that_is_none_is_refused_with_its_path_and_the_nearest_name(opened: Any, tmp_path: Path):
    settings = {
        "plugin": "firehose",
        "root": "root.json",
        "handover": "h",
        **WHOLE,
        "hosst": "https://a.example",
    }
    with pytest.raises(BadSettings) as refused:
        opened(settings | {"every": "often"}, str(tmp_path))
    assert sorted(refused.value.detail["problems"]) == [
        ("games.source.every", "expected `float`, got `str`"),
        ("games.source.hosst", "is no setting; did you mean 'host'?"),
    ]
    assert "games.source.hosst is no setting; did you mean 'host'?" in refused.value.message


def test_a_family_of_collections_is_watched_by_its_beginning():
    watched = read_settings(WHOLE | {"collections": ["town.delve.*"]}).watched
    assert watched.wants(BOB, "town.delve.move/x")
    assert watched.wants(ALICE, "town.delve.game/one")
    assert not watched.wants(BOB, "town.delver.move/x")


def test_development_is_said_loudly(capsys: pytest.CaptureFixture[str]):
    read_settings(WHOLE | {"development": True})
    assert "DEVELOPMENT" in capsys.readouterr().err


def test_a_file_that_is_none_of_ours_is_broken(tmp_path: Path):
    (tmp_path / "x.db").write_bytes(b"not a database at all, but long enough to be looked at")
    with pytest.raises(KeepingBroken) as broken:
        Keeping(tmp_path / "x.db")
    assert broken.value.code == "atproto-store"


def test_a_host_that_shows_another_document_each_time_fills_no_disk():
    keeping = Keeping(None)
    documents = [json.dumps({"id": BOB, "pad": f"{n}" * 50_000}).encode() for n in range(10, 40)]
    others = b'{"id": "another"}'
    keeping.keep_document(ALICE, Cid.of(others, RAW), others)
    for data in (*documents, documents[-2]):
        keeping.keep_document(BOB, Cid.of(data, RAW), data)
    kept = [keeping.kept_document(Cid.of(data, RAW)) is not None for data in documents]
    # Nine of some 100,000 bytes each are the last million; one that is shown again is the newest.
    assert kept == [False] * 21 + [True] * 9
    assert keeping.document(BOB) == documents[-2]
    assert keeping.kept_document(Cid.of(others, RAW)) == others


def test_what_is_written_in_a_batch_that_fails_is_not_written():
    keeping = Keeping(None)

    def fails() -> None:
        with keeping.batch():
            keeping.set_number("a", 1)
            with keeping.batch():
                keeping.add("record", b"x")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fails()
    assert (keeping.number("a"), keeping.found(0, 9)) == (None, [])


# --- whole repositories ------------------------------------------------------------------------------------


def repo() -> Made:
    made = Made(at=NOW)
    made.commit({f"{MOVES}/{n}": move(n) for n in "cab"})
    made.commit(
        {"town.delve.game/one": {"text": "root"}, f"{MOVES}/other": {"text": "x"}, "a.b.c/x": move("y")}
    )
    return made


async def all_of(source: Any, position: int = 0) -> list[tuple[int, str]]:
    try:
        return [
            (number, open_carried(item.envelope).value["text"])
            async for number, item in source.read(position)
        ]
    finally:
        await source.close()


def test_a_repository_in_a_file_gives_the_games_records_the_root_first(tmp_path: Path):
    made = repo()
    (tmp_path / "alice.car").write_bytes(made.export())
    (tmp_path / "alice.json").write_text(json.dumps(document(ALICE, made.key)))
    settings = WHOLE | {"file": "alice.car", "document": "alice.json"}
    found = asyncio.run(all_of(open_repository(settings, str(tmp_path))))
    assert found == [(1, "root"), (2, "a"), (3, "b"), (4, "c")]
    assert asyncio.run(all_of(open_repository(settings, str(tmp_path)), 2)) == [(3, "b"), (4, "c")]
    (tmp_path / "alice.json").write_text(json.dumps(document(ALICE, Key(number=9))))
    with pytest.raises(Refused) as refused:
        asyncio.run(all_of(open_repository(settings, str(tmp_path))))
    assert refused.value.code == "commit-signature"
    with pytest.raises(Refused):
        asyncio.run(all_of(open_repository(settings | {"file": "nowhere.car"}, str(tmp_path))))


def test_a_repository_is_fetched_from_the_host_its_document_names(tmp_path: Path):
    async def work() -> list[tuple[int, str]]:
        async with hosting() as host:
            host.account(repo())
            settings = WHOLE | {"directory": host.url, "development": True}
            return await all_of(open_repository(settings, str(tmp_path)))

    assert [text for _, text in asyncio.run(work())] == ["root", "a", "b", "c"]


# --- Jetstream ---------------------------------------------------------------------------------------------


class Hinting(Host):
    """A host that also is a Jetstream."""

    def __init__(self) -> None:
        super().__init__()
        self.hints: list[str] = []
        self.queries: list[str] = []

    def hint(self, made: Made, path: str, **changed: Any) -> None:
        collection, _, rkey = path.partition("/")
        commit = {"rev": made.last and made.last.rev, "operation": "create", "collection": collection, "rkey": rkey,
                  "record": {"text": "whatever"}} | changed  # fmt: skip
        message = {"did": made.did, "time_us": made.at, "kind": "commit", "commit": commit}
        self.hints.append(json.dumps(message))

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if request.path != "/subscribe":
            return await super().handle(request)
        self.queries.append(request.query_string)
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        sent = 0
        with suppress(ConnectionError):
            while not socket.closed:
                for text in self.hints[sent:]:
                    await socket.send_str(text)
                    sent += 1
                with suppress(TimeoutError):
                    await socket.receive(0.02)
        return socket


def hinting(
    work: Callable[[Hinting, Jetstream, Callable[[], AsyncIterator[Any]]], Awaitable[None]], folder: Path
) -> None:
    async def whole() -> None:
        async with hosting(Hinting()) as host:
            settings = WHOLE | {"host": host.url, "directory": host.url, "development": True}
            source = open_jetstream(settings, str(folder))
            source.backoff = (0.01, 0.02)
            try:
                await work(host, source, lambda: source.read(0))  # type: ignore[arg-type]
            finally:
                await source.close()

    asyncio.run(whole())


def test_a_hint_is_confirmed_by_a_proof_before_anything_comes_of_it(tmp_path: Path):
    async def work(host: Hinting, source: Jetstream, read: Any) -> None:
        made = host.account(Made(at=NOW))
        made.commit({f"{MOVES}/a": move("north"), f"{MOVES}/x": {"text": "another game"}})
        for text in ("{", "[]", json.dumps({"kind": "identity"}), json.dumps({"kind": "commit"})):
            host.hints.append(text)
        host.hint(made, f"{MOVES}/never")
        host.hint(made, "app.other.thing/x")
        host.hint(made, f"{MOVES}/x")
        host.hint(made, f"{MOVES}/a")
        host.hint(made, f"{MOVES}/a")
        reading = read()
        _, item = await anext(reading)
        assert open_carried(item.envelope).value == move("north")
        made.commit({f"{MOVES}/a": None})
        host.hint(made, f"{MOVES}/a", operation="update")
        found = [item async for item in until_given(reading)]
        assert open_carried(found[0].envelope).record is None
        assert source.refused == {"frame-body": 3}
        assert host.asked.count("/xrpc/com.atproto.sync.getRecord") == 4

    hinting(work, tmp_path)


async def until_given(reading: Any) -> AsyncIterator[Given]:
    async for _, item in reading:
        if not isinstance(item, Pause):
            yield item
            return


def test_a_new_connection_goes_back_a_little(tmp_path: Path):
    async def work(host: Hinting, source: Jetstream, read: Any) -> None:
        made = host.account(Made(at=NOW))
        made.commit({f"{MOVES}/a": move("north")})
        host.hint(made, f"{MOVES}/a")
        source.silence = 0.1
        reading = read()
        await anext(reading)
        pending = asyncio.create_task(anext(reading))
        async with asyncio.timeout(60):
            while len(host.queries) < 2:
                await asyncio.sleep(0.01)
        pending.cancel()
        await asyncio.gather(pending, return_exceptions=True)
        assert host.queries[0] == f"wantedCollections={MOVES}"
        assert host.queries[1].endswith(f"cursor={made.at - 5_000_000}")

    hinting(work, tmp_path)


@given(st.text(max_size=60) | st.binary(max_size=60))
def test_any_text_is_a_hint_or_refused(text: str | bytes):
    with suppress(Refused):
        read_hint(text)
