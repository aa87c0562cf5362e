"""The fold service follows a log and publishes transcript, questions and statements."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import coin
import pytest
from games import ANN, BOB, GAME, GM, Season, config, cosign, install, publish
from nodes import World, until, until_async
from weighbridge import codec
from weighbridge.fold import Fold
from weighbridge.plugins import pin
from weighbridge_services.fold.app import Service
from weighbridge_services.folding.statements import Said, open_statement
from weighbridge_services.node import Node
from weighbridge_services.wire import Bus


@pytest.fixture(autouse=True)
def coin_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(install(tmp_path / "site", "weighbridge.rulesets", "coin", "coin:RULES")))


@pytest.fixture
async def alma(world: World) -> Node:
    node = world.make_node("alma", config=config("alma"))
    await world.start(node)
    return node


class Folding:
    """A fold service that runs."""

    def __init__(self, world: World, node: Node) -> None:
        self.world, self.node = world, node
        self.subjects = node.subjects(GAME)

    async def start(self, **options: Any) -> Folding:
        self.bus = await self.world.bus(self.node, "fold")
        self.service = Service(self.node, self.bus, self.node.clock(), **options)
        await self.service.start()
        return self

    async def stop(self) -> None:
        await self.bus.quiet()
        await self.service.stop()

    async def ask(self, name: str, **fields: Any) -> Any:
        return codec.decode(await self.bus.ask(self.subjects.rpc(name), codec.encode(fields)))

    async def statements(self) -> list[Said]:
        found = await records(self.bus, self.node, "statement")
        return [open_statement(data, GAME, self.node.operator_record(GAME)) for data in found]

    async def statement(self, size: int) -> Said:
        async def there() -> list[Said]:
            return [said for said in await self.statements() if said.statement.size == size]

        return (await until_async(there, what=f"a statement at {size}"))[0]


async def records(bus: Bus, node: Node, kind: str) -> list[bytes]:
    """All messages of a kind in a node's stream of records."""
    subjects = node.subjects(GAME)
    stream = subjects.stream("RECORDS")
    state = (await bus.js.stream_info(stream)).state
    found = [await bus.js.get_msg(stream, seq) for seq in range(max(1, state.first_seq), state.last_seq + 1)]
    return [
        each.data or b"" for each in found if (each.subject or "").startswith(f"{subjects.prefix}.{kind}.")
    ]


async def transcript(bus: Bus, node: Node) -> list[Any]:
    """All messages of a node's transcript stream."""
    stream = node.subjects(GAME).stream("TRANSCRIPT")
    last = (await bus.js.stream_info(stream)).state.last_seq
    return [codec.decode((await bus.js.get_msg(stream, seq)).data or b"") for seq in range(1, last + 1)]


@pytest.fixture
async def folding(world: World, alma: Node) -> AsyncIterator[Folding]:
    made = await Folding(world, alma).start()
    yield made
    await made.stop()


def folded(season: Season) -> Fold:
    fold = Fold(GAME, coin.RULES, pin=str(pin(coin.RULES)))
    for listed in season.entries:
        fold.fold(listed)
    return fold


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
