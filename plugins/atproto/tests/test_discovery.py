"""Finding everyone who plays: whoever names an account, only its own repository says that it does."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, cast

import pytest
from atproto_network import Pds, Relay, network
from repo_making import ALICE, BOB, MOVES
from weighbridge.ports import Refused
from weighbridge_atproto import discovery
from weighbridge_atproto.discovery import Discovery, fetch_root, handle_holds
from weighbridge_atproto.guarded import Guarded
from weighbridge_atproto.keeping import Keeping
from weighbridge_atproto.players import Bounds, Player, Progress
from weighbridge_atproto.resolving import Resolver
from weighbridge_atproto.watching import Watched

GM, CAT, DAN = (f"did:plc:{name * 24}" for name in ("g", "c", "d"))
ROOT = "town.delve.root"
USUAL = Bounds()
GAME = f"at://{GM}/{ROOT}/one"


def move(**fields: Any) -> dict[str, Any]:
    return {"$type": MOVES, "game": GAME, **fields}


class Search:
    """A GM on one host, and a search that starts from the at-uri of a game."""

    def __init__(self, relay: Relay, hosts: list[Pds]) -> None:
        self.relay, self.hosts = relay, hosts
        self.gm = hosts[0].member(GM, 3)
        self.root: dict[str, Any] = {"$type": ROOT, "gm": GM}
        self.told: list[Progress] = []
        self.failed: list[str] = []
        self.index = relay.url

    async def find(self, bounds: Bounds = USUAL, **more: Any) -> dict[str, Player]:
        await self.hosts[0].commit(self.gm, {f"{ROOT}/one": self.root})
        client, keeping = Guarded(loopback=True), Keeping(None)
        try:
            resolver = Resolver(client, keeping, self.relay.url)
            root, gm = await fetch_root(client, resolver, GAME)
            search = Discovery(
                client, resolver, Watched(GAME, (MOVES, ROOT)), relay=self.index, bounds=bounds,
                told=self.told.append, **more,
            )  # fmt: skip
            found = await search.run(root, gm.host)
            self.failed = search.failed
            return {each.did: each for each in found}
        finally:
            await client.close()
            keeping.close()


def searching(work: Callable[[Search], Awaitable[None]], hosts: int = 2) -> None:
    async def whole() -> None:
        async with network(hosts) as (relay, some):
            await work(Search(relay, some))

    asyncio.run(whole())


def test_players_on_other_hosts_are_found_by_the_index_and_verified_on_their_own():
    async def work(at: Search) -> None:
        alice, bob = at.hosts[0].member(ALICE, 5), at.hosts[1].member(BOB, 7)
        await at.hosts[0].commit(alice, {f"{MOVES}/a": move(text="one"), f"{MOVES}/b": move(text="two")})
        await at.hosts[1].commit(bob, {f"{MOVES}/a": move(text="three")})
        found = await at.find()
        assert {did: (each.state, each.records, each.host) for did, each in found.items()} == {
            GM: ("plays", 1, at.hosts[0].url),
            ALICE: ("plays", 2, at.hosts[0].url),
            BOB: ("plays", 1, at.hosts[1].url),
        }
        assert not any(each.verified for each in found.values())
        assert found[BOB].handle == "alice.delve.town"
        assert {each["collection"] for each in at.relay.indexes} == {MOVES, ROOT}
        assert at.told[-1][:3] == (3, 3, 3)

    searching(work)


def test_an_account_of_another_game_does_not_play_and_one_without_the_collection_is_not_even_fetched():
    async def work(at: Search) -> None:
        alice, bob = at.hosts[1].member(ALICE, 5), at.hosts[1].member(BOB, 7)
        await at.hosts[1].commit(alice, {f"{MOVES}/a": {"$type": MOVES, "game": GAME + "x"}})
        await at.hosts[1].commit(bob, {"app.other.thing/a": {"$type": "app.other.thing", "game": GAME}})
        at.relay.lies = lambda _: {"repos": [{"did": ALICE}, {"did": BOB}, {"did": GM}]}
        found = await at.find()
        assert (found[ALICE].state, found[BOB].state) == ("no-records", "no-records")
        assert at.hosts[1].queries.count(f"getRepo {ALICE}") == 1
        assert f"getRepo {BOB}" not in at.hosts[1].queries

    searching(work)


def test_a_host_that_describes_nothing_is_asked_for_the_repository_itself():
    async def work(at: Search) -> None:
        at.hosts[1].describes = False
        await at.hosts[1].commit(at.hosts[1].member(BOB, 7), {f"{MOVES}/a": move()})
        assert (await at.find())[BOB].plays

    searching(work)


def test_whom_the_root_and_records_name_is_looked_into_too():
    async def work(at: Search) -> None:
        at.index = ""
        bob, cat = at.hosts[1].member(BOB, 7), at.hosts[1].member(CAT, 9)
        at.root["house"] = [BOB]
        await at.hosts[1].commit(bob, {f"{MOVES}/a": move(assists=f"at://{CAT}/{MOVES}/c", crew=[DAN])})
        await at.hosts[1].commit(cat, {f"{MOVES}/c": move()})
        found = await at.find()
        assert {did: each.state for did, each in found.items()} == {
            GM: "plays", BOB: "plays", CAT: "plays", DAN: "did-gone",
        }  # fmt: skip

    searching(work)


def test_where_no_relay_answers_the_gm_s_own_host_is_looked_through():
    async def work(at: Search) -> None:
        await at.hosts[0].commit(at.hosts[0].member(ALICE, 5), {f"{MOVES}/a": move()})
        await at.hosts[1].commit(at.hosts[1].member(BOB, 7), {f"{MOVES}/a": move()})
        at.relay.missing = True
        found = await at.find()
        assert (ALICE in found, BOB in found) == (True, False)
        assert len(at.failed) == 2
        assert "answer-status" in at.failed[0]

    searching(work)


def test_so_it_is_where_the_relay_does_not_know_the_gm():
    async def work(at: Search) -> None:
        await at.hosts[0].commit(at.hosts[0].member(ALICE, 5), {f"{MOVES}/a": move()})
        at.relay.unknown = {GM, ALICE}
        assert (await at.find())[ALICE].plays

    searching(work)


def test_a_lying_index_costs_a_bounded_number_of_requests():
    names = [f"did:plc:{letter * 23}{other}" for letter in "abcdefh" for other in "bcdefghijk"]

    async def work(at: Search) -> None:
        count = iter(range(1_000_000))
        for number, did in enumerate(names[:5]):
            at.hosts[1].member(did, number + 20)
        page = [{"did": did} for did in names]
        at.relay.lies = lambda _: {"repos": page, "cursor": str(next(count))}
        found = await at.find(Bounds(dids=20))
        states = [each.state for each in found.values()]
        assert states.count("not-asked") > 0
        assert 2 < len([each for each in at.relay.asked if each.startswith("/did:plc")]) <= 21
        assert len(at.relay.indexes) <= 6
        assert not any(each.startswith("getRepo ") for each in at.hosts[1].queries)
        assert [did for did, each in found.items() if each.plays] == [GM]

    searching(work)


def test_records_can_name_only_so_many():
    async def work(at: Search) -> None:
        names = [f"did:plc:{letter * 24}" for letter in "bcdefhijkl"]
        await at.hosts[0].commit(at.hosts[0].member(ALICE, 5), {f"{MOVES}/a": move(crew=names)})
        found = await at.find(Bounds(named=4))
        assert sorted(set(found) - {GM, ALICE}) == names[:4]

    searching(work)


def test_a_host_that_is_dark_is_let_be_after_a_few_accounts_and_stops_no_other():
    async def work(at: Search) -> None:
        names = [f"did:plc:{letter * 24}" for letter in "bcdefhijkl"]
        for number, did in enumerate(names):
            at.hosts[1].member(did, number + 20)
        at.hosts[1].dark = True
        await at.hosts[2].commit(at.hosts[2].member(ALICE, 5), {f"{MOVES}/a": move()})
        at.relay.lies = lambda _: {"repos": [{"did": did} for did in (*names, ALICE, GM)]}
        found = await at.find(Bounds(failures=2, beside=2))
        states = [found[did].state for did in names]
        assert states.count("host-unavailable") in (2, 3)
        assert states.count("not-asked") == len(names) - states.count("host-unavailable")
        assert found[ALICE].plays

    searching(work, hosts=3)


def test_repositories_are_fetched_only_up_to_so_many_bytes():
    async def work(at: Search) -> None:
        await at.hosts[1].commit(at.hosts[1].member(BOB, 7), {f"{MOVES}/a": move(text="x" * 5_000)})
        assert (await at.find(Bounds(bytes=3_000)))[BOB].state == "answer-too-large"

    searching(work)


def test_a_repository_under_another_key_than_its_document_s_is_not_believed():
    async def work(at: Search) -> None:
        bob = at.hosts[1].member(BOB, 7)
        await at.hosts[1].commit(bob, {f"{MOVES}/a": move()})
        bob.key = type(bob.key)(number=8)
        found = (await at.find())[BOB]
        assert (found.state, found.records) == ("commit-signature", 0)
        assert found.says

    searching(work)


def test_whoever_is_known_is_not_looked_into():
    async def work(at: Search) -> None:
        await at.hosts[1].commit(at.hosts[1].member(BOB, 7), {f"{MOVES}/a": move()})
        found = await at.find(skip=lambda did: did == BOB)
        assert list(found) == [GM]

    searching(work)


def test_a_host_that_was_asked_often_is_waited_for(monkeypatch: pytest.MonkeyPatch):
    async def work(at: Search) -> None:
        monkeypatch.setattr(discovery, "WAIT", 0.0)
        await at.hosts[1].commit(at.hosts[1].member(BOB, 7), {f"{MOVES}/a": move()})
        counted, left = Guarded._count, iter(range(3))

        def tired(client: Guarded, host: str) -> None:
            if host in at.hosts[1].url and next(left, None) is not None:
                raise discovery.HostLimit("asked often")
            counted(client, host)

        monkeypatch.setattr(Guarded, "_count", tired)
        assert (await at.find())[BOB].plays
        assert any("waiting" in each.doing for each in at.told)

    searching(work)


class Handles:
    """A client that knows what stands on the hosts of handles."""

    async def get(self, url: str, most: int) -> bytes:
        with suppress(KeyError):
            return {"https://alice.test.town/.well-known/atproto-did": f"{ALICE}\n".encode()}[url]
        raise discovery.AnswerTooLarge("no")


def test_a_handle_holds_where_its_host_names_the_account():
    client = cast("Guarded", Handles())
    assert asyncio.run(handle_holds(client, "alice.test.town", ALICE))
    assert not asyncio.run(handle_holds(client, "alice.test.town", BOB))
    assert not asyncio.run(handle_holds(client, "bob.test.town", BOB))


def test_only_the_handles_of_those_who_play_are_verified_and_only_where_that_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
):
    async def holds(_: Guarded, handle: str, did: str) -> bool:
        asked.append((handle, did))
        return did == BOB

    async def work(at: Search) -> None:
        await at.hosts[1].commit(at.hosts[1].member(BOB, 7), {f"{MOVES}/a": move()})
        await at.hosts[1].commit(at.hosts[1].member(CAT, 9), {f"{MOVES}/a": {"$type": MOVES}})
        found = await at.find(handles=True)
        assert [did for did, each in found.items() if each.verified] == [BOB]
        assert sorted(did for _, did in asked) == sorted([GM, BOB])

    asked = list[tuple[str, str]]()
    monkeypatch.setattr(discovery, "handle_holds", holds)
    searching(work)


@pytest.mark.parametrize(
    ("game", "code"),
    [
        (f"at://{GM}/{ROOT}/two", "root-absent"),
        (f"at://did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK/{ROOT}/one", "no-repository"),
        (f"at://{DAN}/{ROOT}/one", "did-gone"),
        (f"at://{GM}/{ROOT}", "bad-at-uri"),
    ],
)
def test_a_root_that_cannot_be_had_is_said_so_by_its_code(game: str, code: str):
    async def work(at: Search) -> None:
        await at.find()
        client, keeping = Guarded(loopback=True), Keeping(None)
        try:
            with pytest.raises(Refused) as refused:
                await fetch_root(client, Resolver(client, keeping, at.relay.url), game)
            assert refused.value.code == code
        finally:
            await client.close()
            keeping.close()

    searching(work)
