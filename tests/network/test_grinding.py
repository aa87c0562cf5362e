"""Grinding, live: each way of trying for better dice, played against running nodes, with what stops it.

Every table is read on both nodes, and has to be the same. The fold alone is attacked in tests/unit/fold.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from dice_games import LOCAL
from nodes import World, until_async
from town import ANN, BOB, CAT, GAME, GM, MARGIN, PROMPT, Town, ask, move, release, strike
from weighbridge.chain import QUICKNET, chain_value, round_after, round_at
from weighbridge.identity import sign_record

pytestmark = pytest.mark.anyio

SECOND = 1_000_000


@pytest.fixture
async def town(world: World) -> AsyncIterator[Town]:
    made = Town(world)
    try:
        yield made
    finally:
        await made.close()


async def test_a_gm_who_strikes_or_releases_an_assist_after_the_dice_are_public_gains_no_die(
    town: Town,
) -> None:
    await town.open(perDay={"action": 9})
    await town.people()
    helped, help_ = ask(ANN, "a1"), move(BOB, "s1", "assist", prompt=PROMPT.uri, for_=ANN.did)
    unhelped, struck_help = ask(CAT, "c1"), move(BOB, "s2", "assist", prompt=PROMPT.uri, for_=CAT.did)
    await town.submit(help_, helped, struck_help)
    assert "accepted" in await town.rule(strike("x1", struck_help))
    await town.until_reports(struck_help.uri, "struck")
    await town.submit(unhelped)
    rolled = await town.until_act(helped, status="rolled", pool=3)
    alone = await town.until_act(unhelped, status="rolled", pool=2)
    assert await town.reports(helped.uri) == await town.reports(unhelped.uri) == []

    assert "accepted" in await town.rule(strike("x2", help_))
    fewer = await town.until_act(helped, pool=2)
    assert fewer["dice"] == rolled["dice"][:2]  # the same dice, but for the last
    await town.until_reports(helped.uri, "overtaken")

    assert "accepted" in await town.rule(release("x3", struck_help))
    await town.until_reports(unhelped.uri, "overtaken")
    still = await town.act(unhelped)
    assert (still["pool"], still["dice"]) == (2, alone["dice"])


async def test_an_ask_posted_many_times_rolls_as_often_as_the_ration_says(town: Town) -> None:
    await town.open(perDay={"action": 1})
    await town.people()
    asks = [ask(ANN, f"a{n}", trace={"url": "https://delve.example/a", "quote": "x"}) for n in range(6)]
    answers = await town.submit(*asks)
    assert all("listed" in answer for answer in answers)
    rolled = await town.until_act(asks[0], status="rolled")
    assert len(rolled["dice"]) == 2
    for each in asks[1:]:
        assert await town.act(each) == {"status": "refused"}
        assert await town.reports(each.uri) == ["over-ration"]


async def test_a_player_whose_clock_and_record_keys_lag_rolls_on_the_listings_round(town: Town) -> None:
    await town.open(perDay={"action": 9})
    await town.people()
    late = ask(ANN, "3jzfcijpj2z2a", createdAt="2023-05-01T00:00:00Z")  # a record key of May 2023, too
    (answer,) = await town.submit(late)
    assert answer["round"] == round_after(LOCAL.chain, answer["at"], MARGIN)
    assert answer["round"] > round_at(LOCAL.chain, answer["at"])
    rolled = await town.until_act(late, status="rolled")
    assert rolled["result"]


async def test_what_a_bad_roll_rests_on_can_be_neither_changed_nor_posted_again(town: Town) -> None:
    await town.open(perDay={"action": 1})
    await town.people()
    first = ask(ANN, "a1")
    (answer,) = await town.submit(first)
    rolled = await town.until_act(first, status="rolled")
    changed = ask(ANN, "a1", action="reckon", trace={"number": 4, "method": "https://delve.example/m"})
    (later,) = await town.submit(changed)
    assert later["listed"] > answer["listed"]
    await town.until_reports(first.uri, "edited")
    (again,) = await town.submit(first)
    assert again["listed"] == answer["listed"]
    assert again["round"] == answer["round"]
    assert await town.act(first) == rolled
    assert await town.pending(first) is None


@pytest.mark.parametrize(
    "beacon",
    [
        pytest.param({"chain": chain_value(LOCAL.chain), "margin": -15}, id="a-negative-margin"),
        pytest.param(
            {"chain": {**chain_value(LOCAL.chain), "hash": QUICKNET.hash}},
            id="quicknets-name-for-another-key",
        ),
    ],
)
async def test_a_root_with_such_a_beacon_opens_nothing(town: Town, beacon: dict[str, Any]) -> None:
    await town.open(beacon)
    await town.people()
    (answer,) = await town.submit(ask(ANN, "a1"))
    assert answer["round"] is None
    await town.until_reports(GAME, "bad-root")
    assert await town.pending(ask(ANN, "a1")) is None


async def test_a_chain_of_the_gms_own_is_shown_for_good_as_a_private_chain(town: Town) -> None:
    await town.open(perDay={"action": 9})
    await town.people()
    value = {"gm": GM.did, "beacon": {"margin": 15}, "rules": {}}  # quicknet, now that people look
    await town.submit(sign_record(GM, None, "town.delve.root", "one", value))
    await town.until_reports(GAME, "bad-root")
    (answer,) = await town.submit(ask(ANN, "a1"))
    assert answer["chain"] == "private chain"
    await town.until_act(ask(ANN, "a1"), status="rolled")

    async def both_say_it() -> bool:
        said = [await town.statements(number) for number in (0, 1)]
        return all(any(each.size > answer["listed"] for each in found) for found in said)

    await until_async(both_say_it)
    for number in (0, 1):
        assert (await town.rpc("status", number))["chain"] == "private chain"
        statements = await town.statements(number)
        assert all("private chain" in each.says for each in statements if each.size > 1)


async def test_a_lister_that_holds_an_ask_and_dates_it_back_gets_a_roll_that_is_not_timely(
    town: Town,
) -> None:
    await town.open(shift=-20 * SECOND, perDay={"action": 9})
    await town.people()
    late = ask(ANN, "a1")
    (answer,) = await town.submit(late)
    # By its date it rolls on a round that had long been out when it was listed: the lister knew the dice.
    assert answer["round"] < round_at(LOCAL.chain, answer["at"] + 20 * SECOND)

    async def has_dice() -> dict[str, Any] | None:
        found = await town.pending(late)
        return found if found is not None and found["beacon"] and not found["trace"] else None

    found = await until_async(has_dice, what="the beacon and the verdict are listed")
    assert found is not None
    assert found["roll"] is None
    assert (await town.act(late))["status"] == "pending"


async def test_where_the_trace_comes_first_the_round_is_the_one_after_its_verdict(town: Town) -> None:
    await town.open(perDay={"action": 9}, rollAfter="trace")
    await town.people()
    first = ask(ANN, "a1")
    (answer,) = await town.submit(first)
    assert answer["round"] is None  # nobody can know it yet
    rolled = await town.until_act(first, status="rolled")
    assert len(rolled["dice"]) == 2
