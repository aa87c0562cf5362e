"""The fold service follows a log and publishes transcript, questions and statements."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from games import ANN, BOB, GM, Season, config, cosign, publish
from nodes import World, until, until_async
from running import Folding, folded, install_coin, records, transcript
from weighbridge import codec
from weighbridge_services.node import Node

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def coin_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(install_coin(tmp_path)))


@pytest.fixture
async def alma(world: World) -> Node:
    node = world.make_node("alma", config=config("alma"))
    await world.start(node)
    return node


@pytest.fixture
async def folding(world: World, alma: Node) -> AsyncIterator[Folding]:
    made = await Folding(world, alma).start()
    yield made
    await made.stop()


async def test_a_statement_stands_at_the_size_of_each_checkpoint_and_nowhere_else(folding: Folding) -> None:
    season = Season()
    season.operator(folding.node)
    done = await publish(folding.bus, folding.node, season)
    await cosign(folding.bus, folding.node, season)
    for text in ("one", "two", "three"):
        season.note(ANN, text)
    await publish(folding.bus, folding.node, season, done)
    await cosign(folding.bus, folding.node, season)
    said = await folding.statement(season.size)
    expected = folded(season)
    assert (said.statement.verdict, said.statement.origin) == ("ok", expected.origin)
    assert said.statement.root == expected.transcript.root()
    assert sorted(each.statement.size for each in await folding.statements()) == [done, season.size]


async def test_the_transcript_holds_every_leaf_and_delta_once_in_order(folding: Folding) -> None:
    season = Season()
    done = 0
    for text in ("one", "two", "three"):
        season.note(ANN, text)
        season.note(BOB, text)
        done = await publish(folding.bus, folding.node, season, done)
        await cosign(folding.bus, folding.node, season)
        await folding.statement(season.size)
    messages = await transcript(folding.bus, folding.node)
    assert [message["from"] for message in messages] == [0, 3, 5]
    expected = folded(season)
    log = type(expected.transcript)()
    for leaf in (leaf for message in messages for leaf in message["leaves"]):
        log.append(leaf)
    assert log.root() == expected.transcript.root()


async def test_a_question_is_published_once_to_whom_it_is_for(folding: Folding) -> None:
    season = Season()
    for _ in range(3):
        season.flip(ANN, "heads")
    await publish(folding.bus, folding.node, season)

    async def asked() -> list[bytes]:
        return await records(folding.bus, folding.node, "question")

    found = [codec.decode(data) for data in await until_async(asked)]
    expected = folded(season).table
    assert sorted(each["id"] for each in found) == sorted(
        k.removeprefix("_/question/") for k in expected.keys("_/question/")
    )
    assert {each["kind"] for each in found} == {"mercy"}
    subject = folding.subjects.question(GM.did, found[0]["id"])
    assert await folding.bus.last(folding.subjects.stream("RECORDS"), subject) is not None


async def test_a_statement_says_what_weakens_the_game(folding: Folding) -> None:
    season = Season()
    await publish(folding.bus, folding.node, season)
    await cosign(folding.bus, folding.node, season)
    said = await folding.statement(season.size)
    assert said.statement.says == ["private chain", "lister-timed", "no witnesses"]


async def test_the_fold_says_where_it_stands_and_what_is_awaited(folding: Folding) -> None:
    season = Season()
    uri = season.put(ANN, "flip", {"call": "heads"})
    await publish(folding.bus, folding.node, season)
    await until(lambda: folding.service.health()["folded"] == season.size)
    status = await folding.ask("status")
    assert (status["size"], status["leaves"]) == (season.size, season.size)
    assert [(each["uri"], each["dice"]) for each in status["pending"]] == [(uri, ["flip"])]
    assert status["pending"][0]["round"] is not None
    assert status["due"]
