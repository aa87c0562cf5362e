"""The local chain over the paths of a relay: what it answers, and our own source reading it."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from aiohttp import web
from drand_loopback import DUE, LOCAL, NOW, Clock, run, serving
from weighbridge.ports import BeaconNotYet, randomness_of
from weighbridge_drand import ChainApp, RelayBeacons, reply
from weighbridge_drand.settings import Relay

CHAIN = LOCAL.chain
V1, V2 = f"/{CHAIN.hash}", f"/v2/chains/{CHAIN.hash}"
SECOND = 1_000_000


def got(path: str, now: int = DUE) -> Any:
    answer = reply(LOCAL, path, now)
    assert (answer.status, answer.kind) == (200, "application/json")
    return json.loads(answer.body)


@pytest.mark.parametrize("path", [f"{V1}/public/50", "/public/50"])
def test_the_first_interface_gives_a_round_with_its_randomness(path: str) -> None:
    signature = LOCAL.sign(50)

    assert got(path) == {
        "round": 50,
        "randomness": randomness_of(signature).hex(),
        "signature": signature.hex(),
    }


@pytest.mark.parametrize("path", [f"{V2}/rounds/50", f"/v2/beacons/{LOCAL.beacon_id}/rounds/50"])
def test_the_second_interface_gives_a_round_without_its_randomness(path: str) -> None:
    assert got(path) == {"round": 50, "signature": LOCAL.sign(50).hex()}


@pytest.mark.parametrize("path", [f"{V1}/public/latest", f"{V1}/public/0", f"{V2}/rounds/latest"])
def test_the_latest_is_the_round_that_is_due(path: str) -> None:
    assert got(path)["round"] == 50
    assert got(path, DUE - 1)["round"] == 49
    assert reply(LOCAL, path, DUE).cache == "no-cache"


def test_a_numbered_round_may_be_kept_for_ever() -> None:
    assert "immutable" in reply(LOCAL, f"{V1}/public/50", DUE).cache


@pytest.mark.parametrize("path", [f"{V1}/public/51", f"{V2}/rounds/51", f"{V2}/rounds/next"])
def test_the_next_round_is_held_until_it_is_due(path: str) -> None:
    answer = reply(LOCAL, path, DUE)

    assert (answer.status, answer.held) == (425, DUE // SECOND + 3)
    assert reply(LOCAL, f"{V1}/public/51", DUE + 3 * SECOND).status == 200


@pytest.mark.parametrize("path", [f"{V1}/public/52", f"{V2}/rounds/18446744073709551615"])
def test_a_later_round_is_too_early(path: str) -> None:
    answer = reply(LOCAL, path, DUE)

    assert (answer.status, answer.held) == (425, None)


def test_the_facts_of_the_chain_come_in_the_words_of_each_interface() -> None:
    first, second = got(f"{V1}/info"), got(f"{V2}/info")

    assert first["hash"] == second["chain_hash"] == CHAIN.hash
    assert first["public_key"] == second["public_key"] == CHAIN.public_key.hex()
    assert first["schemeID"] == second["scheme"] == "bls-unchained-g1-rfc9380"
    assert first["groupHash"] == second["genesis_seed"] == LOCAL.group_hash.hex()
    assert got("/chains") == got("/v2/chains") == [CHAIN.hash]
    assert got("/v2/beacons") == [LOCAL.beacon_id]
    assert got(f"{V1}/health") == got("/health") == {"current": 50, "expected": 50}


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/", 404),
        (f"/{'0' * 64}/public/1", 404),
        (f"/v2/chains/{'0' * 64}/info", 404),
        ("/v2/beacons/quicknet/info", 404),
        (f"{V1}/public/-1", 404),
        (f"{V1}/public/99999999999999999999", 400),
        (f"{V1}/public/" + "9" * 5000, 404),
    ],
)
def test_other_paths_are_answered_as_a_relay_would(path: str, status: int) -> None:
    assert reply(LOCAL, path, DUE).status == status


async def call(app: ChainApp, path: str, method: str = "GET") -> tuple[int, bytes]:
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request"}

    async def send(message: Any) -> None:
        sent.append(message)

    await app({"type": "http", "method": method, "path": path}, receive, send)
    return sent[0]["status"], sent[1]["body"]


def test_a_request_for_the_next_round_is_answered_once_the_clock_says_so() -> None:
    clock = Clock(DUE)

    async def whole() -> None:
        clock.now = DUE + 3 * SECOND - 1
        held = asyncio.ensure_future(call(ChainApp(LOCAL, clock), f"{V1}/public/51"))
        await asyncio.sleep(0)
        assert not held.done()
        clock.now = DUE + 3 * SECOND
        status, body = await held
        assert (status, json.loads(body)["round"]) == (200, 51)

    run(whole())


def test_a_chain_that_begins_in_a_year_holds_nobody() -> None:
    early = CHAIN.genesis * SECOND - 365 * 86_400 * SECOND

    assert run(call(ChainApp(LOCAL, Clock(early)), f"{V1}/public/latest"))[0] == 425


def test_only_get_is_answered() -> None:
    assert run(call(ChainApp(LOCAL, Clock(DUE)), "/chains", "POST"))[0] == 405


def test_the_server_is_told_that_the_application_is_up_and_down() -> None:
    said: list[str] = []

    async def whole() -> None:
        events = iter([{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}])

        async def receive() -> Any:
            return next(events)

        async def send(message: Any) -> None:
            said.append(message["type"])

        await ChainApp(LOCAL, Clock(DUE))({"type": "lifespan"}, receive, send)

    run(whole())
    assert said == ["lifespan.startup.complete", "lifespan.shutdown.complete"]


@pytest.mark.parametrize("api", ["v1", "v2"])
def test_our_own_source_reads_what_is_served(api: Any) -> None:
    async def served(request: web.Request) -> web.Response:
        answer = reply(LOCAL, request.path, NOW)
        return web.Response(status=answer.status, body=answer.body, content_type=answer.kind.split(";")[0])

    async def whole() -> None:
        async with serving(served) as [server]:
            beacons = RelayBeacons([Relay(server.url, api)], Clock(NOW + 30 * SECOND))
            assert (await beacons.fetch(CHAIN, 50)).signature == LOCAL.sign(50)
            assert (await beacons.latest(CHAIN)).round == 53
            with pytest.raises(BeaconNotYet):
                await beacons.fetch(CHAIN, 60)
            await beacons.close()

    run(whole())
