"""Everyone who plays, as one source: a stream for each host, hosts that are found later, and one that fails alone."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from atproto_host import error_frame
from atproto_network import Pds, Relay, network
from repo_making import BOB, MOVES
from weighbridge.ports import Given
from weighbridge.repos import open_carried
from weighbridge_atproto import following, open_network
from weighbridge_atproto import network as networks
from weighbridge_atproto.errors import CursorInFuture
from weighbridge_atproto.keeping import Keeping
from weighbridge_atproto.network import Network
from weighbridge_atproto.places import Places
from weighbridge_atproto.settings import BadSettings

GM, CAT = (f"did:plc:{name * 24}" for name in ("g", "c"))
ROOT = "town.delve.root"
GAME = f"at://{GM}/{ROOT}/one"


def move(text: str) -> dict[str, str]:
    return {"$type": MOVES, "game": GAME, "text": text}


class Play:
    """A GM and a player on hosts of their own, and the source that reads both."""

    def __init__(self, relay: Relay, hosts: list[Pds], folder: Path) -> None:
        self.relay, self.hosts, self.folder = relay, hosts, folder
        self.gm, self.bob = hosts[0].member(GM, 3), hosts[1].member(BOB, 7)
        self.settings: dict[str, Any] = {
            "game": GAME, "collections": [MOVES, ROOT], "directory": relay.url, "development": True,
            "index": relay.url, "every": 1.0,
        }  # fmt: skip
        self.position = 0
        self._source: Network | None = None
        self._reading: Any = None

    @property
    def source(self) -> Network:
        if self._source is None:
            self._source = open_network(self.settings, str(self.folder))
            self._source._timing = {"backoff": (0.02, 0.1)}
        return self._source

    async def texts(self, count: int) -> list[str]:
        """The next records, each as what it says; a root says `root`."""
        if self._reading is None:
            self._reading = self.source.read(self.position)
        found: list[str] = []
        async with asyncio.timeout(60):
            while len(found) < count:
                self.position, item = await anext(self._reading)
                if isinstance(item, Given):
                    found.append(open_carried(item.envelope).value.get("text", "root"))
        return found

    async def commit(self, at: int, made: Any, key: str, text: str) -> None:
        await self.hosts[at].commit(made, {f"{MOVES}/{key}": move(text)})

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(60):
            while not holds():
                await asyncio.sleep(0.01)

    async def stop(self) -> None:
        if self._reading is not None:
            await self._reading.aclose()
        if self._source is not None:
            await self._source.close()
        self._reading = self._source = None


def playing(
    work: Callable[[Play], Awaitable[None]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hosts: int = 2
) -> None:
    monkeypatch.setattr(following, "RETRY", 0.01)

    async def whole() -> None:
        async with network(hosts) as (relay, some):
            at = Play(relay, some, tmp_path)
            await at.hosts[0].commit(at.gm, {f"{ROOT}/one": {"$type": ROOT, "gm": GM}})
            try:
                await work(at)
            finally:
                await at.stop()

    asyncio.run(whole())


def test_a_game_is_read_from_the_hosts_of_all_who_play_with_its_at_uri_and_an_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    async def work(at: Play) -> None:
        await at.commit(1, at.bob, "a", "before")
        assert sorted(await at.texts(2)) == ["before", "root"]
        await at.commit(1, at.bob, "b", "live")
        assert await at.texts(1) == ["live"]
        assert sorted(at.source.streams) == sorted(host.url for host in at.hosts)

    playing(work, tmp_path, monkeypatch)


def test_a_player_who_begins_later_on_a_new_host_is_found_when_the_index_is_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    async def work(at: Play) -> None:
        assert await at.texts(1) == ["root"]
        cat = at.hosts[2].member(CAT, 9)
        await at.commit(2, cat, "a", "late")
        assert await at.texts(1) == ["late"]
        await at.commit(2, cat, "b", "later")
        assert await at.texts(1) == ["later"]
        assert at.hosts[2].url in at.source.streams

    playing(work, tmp_path, monkeypatch, hosts=3)


def test_one_who_begins_later_on_a_host_that_is_read_needs_no_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    async def work(at: Play) -> None:
        at.settings |= {"index": "", "hosts": [each.url for each in at.hosts]}
        assert await at.texts(1) == ["root"]
        await at.commit(1, at.bob, "a", "late")
        assert await at.texts(1) == ["late"]
        assert at.relay.indexes == []

    playing(work, tmp_path, monkeypatch)


def test_a_source_that_is_opened_again_goes_on_where_it_was_on_every_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    async def work(at: Play) -> None:
        await at.commit(1, at.bob, "a", "one")
        assert sorted(await at.texts(2)) == ["one", "root"]
        kept = at.position
        await at.commit(0, at.gm, "b", "two")
        await at.commit(1, at.bob, "b", "three")
        assert sorted(await at.texts(2)) == ["three", "two"]
        await at.stop()
        at.position = kept
        assert sorted(await at.texts(2)) == ["three", "two"]
        assert at.position == kept + 2
        await at.stop()
        await at.commit(1, at.bob, "c", "four")
        assert await at.texts(1) == ["four"]
        assert at.position == kept + 3

    playing(work, tmp_path, monkeypatch)


@pytest.mark.parametrize("lost", ["*.db*", "*-places.db*"], ids=["all-of-them", "the-places"])
def test_files_that_are_lost_cost_reading_again_and_no_record(
    lost: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    async def work(at: Play) -> None:
        for key in ("a", "b", "c", "d"):
            await at.commit(1, at.bob, key, key)
        assert sorted(await at.texts(5)) == ["a", "b", "c", "d", "root"]
        await at.stop()
        for file in tmp_path.glob(lost):
            file.unlink()
        await at.commit(0, at.gm, "x", "of the GM")
        await at.commit(1, at.bob, "e", "of Bob")
        found: list[str] = []
        while not {"of the GM", "of Bob"} <= set(found):
            found += await at.texts(1)

    playing(work, tmp_path, monkeypatch)


def test_one_host_s_outage_stops_no_other_and_is_made_up_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    async def work(at: Play) -> None:
        await at.commit(1, at.bob, "a", "one")
        assert sorted(await at.texts(2)) == ["one", "root"]
        at.hosts[1].dark = True
        await at.hosts[1].hang_up()
        await at.commit(1, at.bob, "b", "in the dark")
        await at.commit(0, at.gm, "a", "in the light")
        assert await at.texts(1) == ["in the light"]
        at.hosts[1].dark = False
        assert await at.texts(1) == ["in the dark"]

    playing(work, tmp_path, monkeypatch)


def test_a_dark_host_at_the_start_does_not_keep_the_others_from_being_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    async def work(at: Play) -> None:
        await at.commit(1, at.bob, "a", "one")
        at.hosts[1].dark = True
        assert await at.texts(1) == ["root"]
        await at.until(lambda: at.source.refused["host-unavailable"] > 0)
        at.hosts[1].dark = False
        assert await at.texts(1) == ["one"]

    playing(work, tmp_path, monkeypatch)


def test_a_host_that_lost_its_stream_is_said_and_the_others_are_read_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    async def work(at: Play) -> None:
        at.settings["hosts"] = [each.url for each in at.hosts]
        at.hosts[1].first = [error_frame("FutureCursor")]
        assert await at.texts(1) == ["root"]
        await at.until(lambda: at.source.refused["cursor-in-future"] == 1)
        await at.commit(0, at.gm, "a", "on")
        assert await at.texts(1) == ["on"]
        assert "cursor-in-future" in capsys.readouterr().err

    playing(work, tmp_path, monkeypatch)


def test_once_every_stream_is_lost_the_source_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    async def work(at: Play) -> None:
        at.settings |= {"hosts": [at.hosts[0].url], "index": ""}
        at.hosts[0].first = [error_frame("FutureCursor")]
        with pytest.raises(CursorInFuture):
            await at.texts(2)

    playing(work, tmp_path, monkeypatch)


def test_a_relay_s_stream_is_read_instead_and_accounts_are_fetched_from_their_own_hosts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    async def work(at: Play) -> None:
        at.settings |= {"host": at.relay.url, "relay": True, "repos": [BOB]}
        await at.commit(1, at.bob, "a", "one")
        assert sorted(await at.texts(2)) == ["one", "root"]
        await at.commit(1, at.bob, "b", "two")
        seq, frame = at.hosts[1].frames[-1]
        await at.relay.send(frame, seq)
        assert await at.texts(1) == ["two"]
        assert list(at.source.streams) == [at.relay.url]

    playing(work, tmp_path, monkeypatch)


def test_an_account_that_moves_is_followed_to_its_new_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    async def work(at: Play) -> None:
        monkeypatch.setattr(networks, "AGAIN", 0.0)
        await at.commit(1, at.bob, "a", "one")
        assert sorted(await at.texts(2)) == ["one", "root"]
        del at.hosts[1].repos[BOB]
        at.hosts[2].account(at.bob)
        await at.commit(2, at.bob, "b", "two")
        # The whole repository is read again at the new host: what is listed already is not listed twice.
        assert "two" in await at.texts(2)
        assert at.hosts[2].url in at.source.streams

    playing(work, tmp_path, monkeypatch, hosts=3)


def test_with_an_index_a_stream_begins_with_what_comes_now_and_what_was_before_is_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    async def work(at: Play) -> None:
        at.settings |= {"hosts": [each.url for each in at.hosts], "every": 1_000.0}
        await at.commit(1, at.bob, "a", "before")
        other = at.hosts[1].member(CAT, 9)
        await at.hosts[1].commit(other, {"app.other.thing/x": {"text": "of nobody here"}})
        assert sorted(await at.texts(2)) == ["before", "root"]
        assert [each.cursors for each in at.hosts] == [[-1], [-1]]
        await at.commit(1, at.bob, "b", "live")
        assert await at.texts(1) == ["live"]
        await at.hosts[1].hang_up()
        await at.until(lambda: len(at.hosts[1].cursors) > 1)
        assert at.hosts[1].cursors[1] == at.hosts[1].seq

    playing(work, tmp_path, monkeypatch)


def test_what_came_between_two_live_beginnings_is_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    async def work(at: Play) -> None:
        at.settings |= {"hosts": [each.url for each in at.hosts], "every": 1_000.0}
        await at.commit(1, at.bob, "a", "one")
        assert sorted(await at.texts(2)) == ["one", "root"]
        await at.hosts[1].commit(at.bob, {f"{MOVES}/b": move("unheard")}, tell=False)
        await at.hosts[1].hang_up()
        assert await at.texts(1) == ["unheard"]
        assert set(at.hosts[1].cursors) == {-1}

    playing(work, tmp_path, monkeypatch)


def test_there_are_never_more_streams_than_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    async def work(at: Play) -> None:
        monkeypatch.setattr(networks, "HOSTS", 1)
        at.settings["hosts"] = [at.hosts[0].url]
        await at.commit(1, at.bob, "a", "one")
        assert await at.texts(1) == ["root"]
        await at.until(lambda: at.source.refused["too-many-hosts"] > 0)
        assert list(at.source.streams) == [at.hosts[0].url]
        assert "too-many-hosts" in capsys.readouterr().err

    playing(work, tmp_path, monkeypatch)


def test_who_does_not_play_is_not_fetched_again_while_nothing_changed_and_is_found_once_it_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    async def work(at: Play) -> None:
        monkeypatch.setattr(networks, "AGAIN", 0.0)
        other = {"$type": MOVES, "game": GAME + "x", "text": "elsewhere"}
        await at.hosts[1].commit(at.bob, {f"{MOVES}/a": other})
        assert await at.texts(1) == ["root"]
        await at.until(lambda: at.source.looks >= 3)
        assert at.hosts[1].queries.count(f"getRepo {BOB}") == 1
        assert at.hosts[1].queries.count(f"getLatestCommit {BOB}") >= 2
        await at.commit(1, at.bob, "b", "begins")
        assert await at.texts(1) == ["begins"]

    playing(work, tmp_path, monkeypatch)


def test_accounts_that_are_gone_are_not_asked_for_every_time_nor_remembered_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    async def work(at: Play) -> None:
        monkeypatch.setattr(networks, "REMEMBERED", 5)
        names = [f"did:plc:{letter * 24}" for letter in "hijk"]
        at.relay.lies = lambda _: {"repos": [{"did": did} for did in (*names, GM)]}
        assert await at.texts(1) == ["root"]
        await at.until(lambda: at.source.looks >= 3)
        assert at.relay.asked.count(f"/{names[0]}") == 1
        assert at.source.refused["did-gone"] == len(names)
        at.relay.lies = lambda _: {"repos": [{"did": f"did:plc:{letter * 24}"} for letter in "lmnopqr"]}
        await at.until(lambda: at.source.refused["did-gone"] > len(names))
        assert len(at.source._looked) == 5

    playing(work, tmp_path, monkeypatch)


def test_an_index_that_is_not_there_is_counted_and_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    async def work(at: Play) -> None:
        at.relay.missing = True
        assert await at.texts(1) == ["root"]
        await at.until(lambda: at.source.looks > 0)
        assert at.source.refused["index-failed"] == 2
        at.relay.missing = False
        await at.commit(1, at.bob, "a", "one")
        assert await at.texts(1) == ["one"]

    playing(work, tmp_path, monkeypatch)


def test_a_host_s_file_that_is_new_numbers_on_after_what_is_listed(tmp_path: Path):
    keeping = Keeping(tmp_path / "kept.db")
    keeping.forget(500)
    keeping.add("record", b"one")
    assert keeping.found(500, 10) == [(501, "record", b"one")]
    keeping.forget(3)
    keeping.add("record", b"two")
    assert [each.number for each in keeping.found(500, 10)] == [501, 502]
    keeping.close()


def test_places_tell_where_each_stream_was_and_forget_what_came_after(tmp_path: Path):
    places = Places(tmp_path / "places.db")
    for number, (host, place) in enumerate([("a", 5), ("b", 1), ("a", 6), ("b", 2), ("a", 9)], 1):
        places.add(number, host, place)
    places.keep_host("a")
    assert places.begin(4) == {"a": 6, "b": 2}
    places.close()
    places = Places(tmp_path / "places.db")
    assert places.begin(5) == {"a": 6, "b": 2}
    assert places.hosts() == ["a"]
    assert places.begin(0) == {}
    places.close()


def test_settings_that_cannot_be_are_refused(tmp_path: Path):
    for wrong in ({"every": 0.1}, {"hosts": "one"}, {"collections": []}, {"index": 5}):
        with pytest.raises(BadSettings):
            open_network({"game": GAME, "collections": [MOVES], **wrong}, str(tmp_path))
