"""The relays' source against servers that answer as each kind of relay does, and as none should."""

from __future__ import annotations

import asyncio
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from drand_loopback import (
    CHAIN,
    DUE,
    LOCAL,
    NOW,
    Clock,
    Handler,
    Relay,
    answering,
    body,
    giving,
    honest,
    run,
    serving,
    source,
)
from weighbridge.ports import Beacon, BeaconNotYet, BeaconUnavailable, randomness_of
from weighbridge_drand import RelayBeacons
from weighbridge_drand.settings import Relay as Named


async def fetched(
    *handlers: Handler, round: int = 50, **settings: Any
) -> tuple[Any, RelayBeacons, list[Relay]]:
    """Fetch a round from such relays; return the beacon or the error, the source and the relays."""
    async with serving(*handlers) as relays:
        beacons = source(relays, **settings)
        try:
            return await beacons.fetch(CHAIN, 50), beacons, relays
        except (BeaconNotYet, BeaconUnavailable) as error:
            return error, beacons, relays
        finally:
            await beacons.close()


def words(beacons: RelayBeacons) -> list[str]:
    return [word for _, word in beacons.faults]


def test_a_round_comes_from_an_honest_relay_with_its_randomness() -> None:
    beacon, _, relays = run(fetched(honest))

    signature = LOCAL.sign(50)
    assert beacon == Beacon(CHAIN.hash, 50, signature, randomness_of(signature))
    assert relays[0].asked == [f"/{CHAIN.hash}/public/50"]


def test_the_second_interface_has_other_paths_and_no_randomness() -> None:
    async def whole() -> None:
        async with serving(giving(body(50, randomness=None))) as [relay]:
            beacons = RelayBeacons([Named(relay.url, "v2")], Clock(NOW))
            assert (await beacons.fetch(CHAIN, 50)).signature == LOCAL.sign(50)
            assert relay.asked == [f"/v2/chains/{CHAIN.hash}/rounds/50"]
            await beacons.close()

    run(whole())


def test_nobody_is_asked_before_a_round_is_due_and_a_second_has_passed() -> None:
    async def whole() -> None:
        async with serving(honest) as [relay]:
            beacons = source([relay], DUE + 999_999)
            with pytest.raises(BeaconNotYet) as error:
                await beacons.fetch(CHAIN, 50)
            assert error.value.detail["due"] == DUE // 1_000_000
            assert relay.asked == []
            await beacons.close()

            due = source([relay], DUE + 1_000_000)
            await due.fetch(CHAIN, 50)
            assert len(relay.asked) == 1
            await due.close()

    run(whole())


NOT_OUT = [
    pytest.param(answering(425, "Requested future beacon"), id="425 in plain text"),
    pytest.param(answering(404, b""), id="404 with nothing"),
    pytest.param(answering(404, '{"error":"round or chain not found"}'), id="404 with an error in JSON"),
    pytest.param(answering(404, json.dumps(body(50))), id="404 with a beacon, which is not read"),
    pytest.param(answering(503, "busy"), id="503"),
    pytest.param(answering(500, "<html>"), id="500 with a page"),
]


@pytest.mark.parametrize("handler", NOT_OUT)
def test_a_round_that_is_due_and_not_out_is_not_yet(handler: Handler) -> None:
    error, beacons, _ = run(fetched(handler, handler))

    assert isinstance(error, BeaconNotYet)
    assert words(beacons) == ["not-yet", "not-yet"]


@pytest.mark.parametrize("handler", NOT_OUT)
def test_the_next_relay_is_asked_for_a_round_that_the_first_has_not_yet(handler: Handler) -> None:
    beacon, _, _ = run(fetched(handler, honest))

    assert beacon.round == 50


def test_a_held_request_is_waited_for() -> None:
    async def whole() -> None:
        asked, out = asyncio.Event(), asyncio.Event()

        async def holding(request: web.Request) -> web.Response:
            asked.set()
            await out.wait()
            return await honest(request)

        async with serving(holding) as relays:
            beacons = source(relays)
            fetch = asyncio.ensure_future(beacons.fetch(CHAIN, 50))
            await asked.wait()
            assert not fetch.done()
            out.set()
            assert (await fetch).round == 50
            await beacons.close()

    run(whole())


async def never(_: web.Request) -> web.Response:
    await asyncio.Event().wait()
    raise AssertionError("never")


async def dripping(request: web.Request) -> web.StreamResponse:
    """Send the status, half a beacon and no more."""
    response = web.StreamResponse()
    await response.prepare(request)
    await response.write(json.dumps(body(50)).encode()[:40])
    await asyncio.Event().wait()
    return response


async def endless(request: web.Request) -> web.StreamResponse:
    """Send a body for as long as anyone reads it."""
    response = web.StreamResponse()
    await response.prepare(request)
    while True:
        await response.write(b" " * 65536)


REAL = LOCAL.sign(50).hex()
PACKED = gzip.compress(json.dumps(body(50)).encode())
BAD = [
    pytest.param(answering(200, "<html>you have a bug</html>"), "no-beacon", id="a page with 200"),
    pytest.param(answering(200, b""), "no-beacon", id="nothing with 200"),
    pytest.param(answering(200, b"\xff\xfe"), "no-beacon", id="no text"),
    pytest.param(answering(200, "[" * 4000), "no-beacon", id="4,000 open brackets"),
    pytest.param(giving([body(50)]), "no-beacon", id="a list"),
    pytest.param(giving({"round": 50}), "no-beacon", id="no signature"),
    pytest.param(giving(body(50, round="50")), "no-beacon", id="a round in text"),
    pytest.param(giving(body(50, round=50.5)), "no-beacon", id="half a round"),
    pytest.param(giving(body(50, round=-1)), "other-round", id="a negative round"),
    pytest.param(giving(body(49)), "other-round", id="another round, genuine"),
    pytest.param(giving(body(49, round=50)), "signature-wrong", id="another round, renamed"),
    pytest.param(giving(body(50, randomness="00" * 32)), "other-randomness", id="tampered randomness"),
    pytest.param(giving(body(50, randomness="deadbeef")), "other-randomness", id="short"),
    pytest.param(giving(body(50, randomness=7)), "no-beacon", id="randomness in a number"),
    pytest.param(giving(body(50, previous_signature=REAL)), "other-scheme", id="a previous signature"),
    pytest.param(giving(body(50, signature=REAL.upper())), "signature-text", id="upper-case hex"),
    pytest.param(giving(body(50, signature="0x" + REAL)), "signature-text", id="0x in front"),
    pytest.param(giving(body(50, signature="c0" + "00" * 47)), "signature-infinity", id="infinity"),
    pytest.param(answering(200, json.dumps(body(50)) + " " * 5000), "too-long", id="a huge body"),
    pytest.param(endless, "too-long", id="an endless body"),
    pytest.param(answering(200, PACKED, **{"Content-Encoding": "gzip"}), "no-beacon", id="compressed"),
    pytest.param(answering(302, b"", Location="http://127.0.0.1:9/"), "redirect", id="a redirect elsewhere"),
    pytest.param(answering(400, "no"), "status", id="400"),
    pytest.param(answering(429, "slow down"), "status", id="429"),
    pytest.param(answering(204, b""), "status", id="204"),
]  # fmt: skip


@pytest.mark.parametrize(("handler", "word"), BAD)
def test_an_answer_that_is_no_beacon_is_counted_by_its_reason_and_the_next_relay_asked(
    handler: Handler, word: str
) -> None:
    beacon, beacons, relays = run(fetched(handler, honest))

    assert beacon.signature == LOCAL.sign(50)
    assert beacons.faults == {(relays[0].url, word): 1}


@pytest.mark.parametrize("handler", [never, dripping], ids=["no answer", "half a body"])
def test_a_relay_that_takes_too_long_is_left_for_the_next(handler: Handler) -> None:
    beacon, beacons, _ = run(fetched(handler, honest, seconds=1))

    assert beacon.round == 50
    assert words(beacons) == ["slow"]


def test_a_relay_that_is_not_there_is_left_for_the_next() -> None:
    async def whole() -> None:
        async with serving(honest) as [gone]:
            pass
        async with serving(honest) as [there]:
            beacons = source([gone, there])
            assert (await beacons.fetch(CHAIN, 50)).round == 50
            assert words(beacons) == ["unreachable"]
            await beacons.close()

    run(whole())


def test_when_no_relay_gives_the_beacon_the_error_says_why_for_each() -> None:
    error, _, relays = run(fetched(giving(body(49)), answering(404, b"")))

    assert isinstance(error, BeaconUnavailable)
    assert error.detail["relays"] == {relays[0].url: "other-round", relays[1].url: "not-yet"}


def test_a_relay_that_failed_is_asked_last_the_next_time() -> None:
    async def whole() -> None:
        async with serving(answering(500, b""), honest) as [bad, good]:
            beacons = source([bad, good])
            for round in (48, 49, 50):
                await beacons.fetch(CHAIN, round)
            assert (len(bad.asked), len(good.asked)) == (1, 3)
            await beacons.close()

    run(whole())


def test_a_redirect_is_not_followed() -> None:
    async def whole() -> None:
        async with serving(honest) as [elsewhere]:
            moved = answering(301, b"", Location=f"{elsewhere.url}/{CHAIN.hash}/public/50")
            async with serving(moved) as [relay]:
                beacons = source([relay])
                with pytest.raises(BeaconUnavailable):
                    await beacons.fetch(CHAIN, 50)
                await beacons.close()
            assert elsewhere.asked == []

    run(whole())


def test_a_round_is_asked_for_once_and_then_kept_for_ever(tmp_path: Path) -> None:
    async def whole() -> None:
        async with serving(honest) as [relay]:
            beacons = source([relay], folder=tmp_path)
            first = await beacons.fetch(CHAIN, 50)
            assert await beacons.fetch(CHAIN, 50) == first
            await beacons.close()
        again = source([relay], folder=tmp_path)
        assert await again.fetch(CHAIN, 50) == first
        assert len(relay.asked) == 1
        await again.close()

    run(whole())


def test_what_was_kept_is_verified_again_and_asked_for_again_if_it_was_damaged(tmp_path: Path) -> None:
    kept = tmp_path / "beacons" / f"{CHAIN.hash}.jsonl"
    kept.parent.mkdir()
    false = json.dumps({"round": 50, "signature": LOCAL.sign(49).hex()})
    kept.write_text(f"{false}\n[[[\n\n" + json.dumps(body(51)) + "\n" + json.dumps(body(52))[:60])

    async def whole() -> None:
        async with serving(honest) as [relay]:
            beacons = source([relay], folder=tmp_path)
            for round in (50, 51, 52):
                assert (await beacons.fetch(CHAIN, round)).signature == LOCAL.sign(round)
            assert [path.rsplit("/", 1)[1] for path in relay.asked] == ["50", "52"]
            await beacons.close()

    run(whole())


def test_the_latest_is_the_newest_of_all_relays_and_its_round_is_whatever_it_is() -> None:
    async def whole() -> None:
        async with serving(giving(body(52)), honest, answering(503, b"")) as relays:
            beacons = source(relays)
            assert (await beacons.latest(CHAIN)).round == 53
            assert relays[0].asked == [f"/{CHAIN.hash}/public/latest"]
            await beacons.close()

    run(whole())


def test_without_a_latest_beacon_the_error_says_why_for_each() -> None:
    async def whole() -> None:
        async with serving(answering(503, b""), giving({})) as relays:
            beacons = source(relays)
            with pytest.raises(BeaconUnavailable) as error:
                await beacons.latest(CHAIN)
            assert list(error.value.detail["relays"].values()) == ["not-yet", "no-beacon"]  # type: ignore[attr-defined]
            await beacons.close()

    run(whole())
