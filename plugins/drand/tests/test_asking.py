"""Many who ask the relays' source at once; and the handed wrong answers with a real signature in them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from drand_loopback import CHAIN, LOCAL, giving, honest, run, serving, source
from weighbridge.ports import QUICKNET, BeaconNotYet, BeaconUnavailable
from weighbridge_drand.answers import Fault, read


def test_many_who_ask_for_one_round_at_once_share_one_request() -> None:
    async def whole() -> None:
        asked, out = asyncio.Event(), asyncio.Event()

        async def holding(request: web.Request) -> web.Response:
            asked.set()
            await out.wait()
            return await honest(request)

        async with serving(holding) as [relay]:
            beacons = source([relay])
            fetches = [asyncio.ensure_future(beacons.fetch(CHAIN, 50)) for _ in range(20)]
            await asked.wait()
            fetches[0].cancel()
            other = asyncio.ensure_future(beacons.fetch(CHAIN, 51))
            out.set()
            found = await asyncio.gather(*fetches[1:])
            assert {beacon.signature for beacon in found} == {LOCAL.sign(50)}
            assert (await other).round == 51
            assert fetches[0].cancelled()
            assert [path.rsplit("/", 1)[1] for path in relay.asked] == ["50", "51"]
            await beacons.close()

    run(whole())


def test_those_who_shared_a_request_in_vain_all_hear_why_and_the_next_asks_anew() -> None:
    async def whole() -> None:
        out = False

        async def late(request: web.Request) -> web.Response:
            return await honest(request) if out else web.Response(status=425)

        async with serving(late) as [relay]:
            beacons = source([relay])
            found = await asyncio.gather(
                *(beacons.fetch(CHAIN, 50) for _ in range(3)), return_exceptions=True
            )
            assert [type(each) for each in found] == [BeaconNotYet] * 3
            out = True
            assert (await beacons.fetch(CHAIN, 50)).round == 50
            assert len(relay.asked) == 2
            await beacons.close()

    run(whole())


def test_closing_gives_up_what_is_being_asked_for() -> None:
    async def whole() -> None:
        asked = asyncio.Event()

        async def holding(_: web.Request) -> web.Response:
            asked.set()
            await asyncio.Event().wait()
            raise AssertionError("never")

        async with serving(holding) as relays:
            beacons = source(relays)
            fetch = asyncio.ensure_future(beacons.fetch(CHAIN, 50))
            await asked.wait()
            await beacons.close()
            with pytest.raises(asyncio.CancelledError):
                await fetch

    run(whole())


NEGATIVES = Path(__file__).parents[3] / "tests" / "vectors" / "drand" / "negatives.json"
ANSWERS = json.loads(NEGATIVES.read_text())["response_cases"]
WORDS = {
    "wrong_scheme_shape": {"other-scheme"},
    "round_mismatch": {"other-round", "signature-wrong"},
    "randomness_mismatch": {"other-randomness"},
    "missing_signature": {"no-beacon"},
}


@pytest.mark.parametrize("case", ANSWERS, ids=lambda case: case["reason"])
def test_a_real_signature_in_a_wrong_answer_is_no_beacon_of_quicknet(case: dict[str, Any]) -> None:
    async def whole() -> None:
        async with serving(giving(case["response"])) as [relay]:
            beacons = source([relay], now=2_000_000_000_000_000)
            with pytest.raises(BeaconUnavailable) as error:
                await beacons.fetch(QUICKNET, case["requested_round"])
            (word,) = error.value.detail["relays"].values()  # type: ignore[attr-defined]
            assert word in WORDS[case["category"]]
            await beacons.close()

    run(whole())


def test_every_category_of_wrong_answers_and_every_word_for_them_is_met() -> None:
    assert {case["category"] for case in ANSWERS} == set(WORDS)
    words = [
        read(QUICKNET, case["requested_round"], 200, json.dumps(case["response"]).encode())
        for case in ANSWERS
    ]
    assert {word.word for word in words if isinstance(word, Fault)} == set().union(*WORDS.values())
