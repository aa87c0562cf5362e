"""Whatever stops a fold, or wipes its broker's disk, it goes on as if nothing had happened."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

import coin
import pytest
from games import ANN, GAME, GM, Season, config, cosign, publish
from nodes import World, until, until_async
from running import Folding, die_at, folded, install_coin, records, transcript
from weighbridge.ledger import DiskFull, Ledger
from weighbridge.plugins import pin
from weighbridge_services.folding.rulesets import Running
from weighbridge_services.folding.store import FoldStore
from weighbridge_services.node import Node
from weighbridge_services.wire import AnswerRefused

pytestmark = pytest.mark.anyio


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    found = install_coin(tmp_path)
    monkeypatch.syspath_prepend(str(found))
    return found


@pytest.fixture
async def alma(world: World, site: Path) -> Node:
    node = world.make_node("alma", config=config("alma"))
    await world.start(node)
    return node


def played() -> Season:
    season = Season()
    for call in ("heads", "tails", "heads"):
        season.flip(ANN, call)
        season.note(ANN, call)
    return season


def leaves(messages: list[Any]) -> list[bytes]:
    return [leaf for message in messages for leaf in message["leaves"]]


async def settled(folding: Folding, season: Season) -> None:
    """Wait until all that a season calls for is published, and hold it against a fold of its own."""
    said = await folding.statement(season.size)
    expected = folded(season)
    assert said.statement.root == expected.transcript.root()

    async def complete() -> bool:
        return len(leaves(await transcript(folding.bus, folding.node))) == season.size

    await until_async(complete)
    log = type(expected.transcript)()
    for leaf in leaves(await transcript(folding.bus, folding.node)):
        log.append(leaf)
    assert log.root() == expected.transcript.root()
    assert len(await records(folding.bus, folding.node, "question")) == len(questions_of(season))


def questions_of(season: Season) -> set[str]:
    """Every question that a season has ever opened."""
    fold = folded(Season())
    fold = type(fold)(GAME, fold.world.ruleset)
    changed = [dict(fold.fold(listed).delta) for listed in season.entries]
    return {key for delta in changed for key, cid in delta.items() if key.startswith("_/question/") and cid}


@pytest.mark.parametrize("point", ["fold.after-fold", "fold.after-persist", "fold.after-publish"])
async def test_after_dying_at_any_place_nothing_is_missing_and_nothing_twice(
    world: World, alma: Node, site: Path, point: str
) -> None:
    season = played()
    bus = await world.bus(alma)
    done = await publish(bus, alma, season)
    await cosign(bus, alma, season)
    await die_at(alma, site, point)
    season.note(ANN, "after that")
    await publish(bus, alma, season, done)
    await cosign(bus, alma, season)
    folding = await Folding(world, alma).start()
    await settled(folding, season)
    sizes = [said.statement.size for said in await folding.statements()]
    assert sorted(sizes) == [done, season.size]
    await folding.stop()


async def test_a_restart_goes_on_from_its_snapshot(world: World, alma: Node) -> None:
    season = played()
    folding = await Folding(world, alma).start()
    done = await publish(folding.bus, alma, season)
    await until(lambda: folding.service.health()["folded"] == done)
    await folding.stop()
    with Ledger.open(alma.folder / "ledger" / "fold.db") as ledger:
        assert FoldStore(ledger, GAME).snapshot_sizes(done) == [done]
    season.flip(ANN)
    again = await Folding(world, alma).start()
    await publish(again.bus, alma, season, done)
    await cosign(again.bus, alma, season)
    await settled(again, season)
    await again.stop()


async def test_a_fold_whose_ledger_is_gone_folds_again_and_contradicts_nothing(
    world: World, alma: Node
) -> None:
    season = played()
    folding = await Folding(world, alma).start()
    done = await publish(folding.bus, alma, season)
    await cosign(folding.bus, alma, season)
    await settled(folding, season)
    await folding.stop()
    (alma.folder / "ledger" / "fold.db").unlink()
    again = await Folding(world, alma).start()
    season.note(ANN, "afterwards")
    await publish(again.bus, alma, season, done)
    await cosign(again.bus, alma, season)
    await settled(again, season)
    assert sorted(said.statement.size for said in await again.statements()) == [done, season.size]
    await again.stop()


async def test_what_a_wiped_broker_lost_is_published_again_at_its_old_places(
    world: World, alma: Node, tmp_path: Path
) -> None:
    season = played()
    folding = await Folding(world, alma).start()
    done = await publish(folding.bus, alma, season)
    await cosign(folding.bus, alma, season)
    season.note(ANN, "a second message")
    await publish(folding.bus, alma, season, done)
    await cosign(folding.bus, alma, season)
    await settled(folding, season)
    before = await transcript(folding.bus, alma)
    said = sorted(each.cid for each in await folding.statements())
    await folding.stop()
    await world.stop()
    world.buses.clear()
    shutil.rmtree(alma.folder / "broker")
    await world.start(alma)
    again = await Folding(world, alma).start()
    await settled(again, season)
    assert await transcript(again.bus, alma) == before
    assert sorted(each.cid for each in await again.statements()) == said
    await again.stop()


async def test_a_ruling_that_reaches_behind_the_snapshot_is_folded_from_an_older_one(
    world: World, alma: Node
) -> None:
    season = Season(rules={"perDay": 20})
    struck = [season.flip(ANN, call) for call in ("heads", "tails", "heads", "tails")]
    season.note(ANN, "all of that stands")
    folding = await Folding(world, alma).start()
    done = await publish(folding.bus, alma, season)
    await until(lambda: folding.service.health()["folded"] == done)
    await folding.stop()
    season.put(GM, "move", {"kind": "strike", "subject": struck[0]})
    season.put(GM, "move", {"kind": "strike", "subject": struck[1]})
    season.note(ANN, "and goes on")
    again = await Folding(world, alma).start()
    await publish(again.bus, alma, season, done)
    await cosign(again.bus, alma, season)
    await settled(again, season)
    await again.stop()


class Slow(coin.Coin):
    """The coin game on a machine that takes half a second for one of its notes."""

    def apply(self, table: Any, docket: Any, ctx: Any) -> None:
        if docket.value.get("text") == "note 1500":
            time.sleep(0.5)
        super().apply(table, docket, ctx)


class Slowly:
    """Rule sets of such a machine, under the pin of the game's own."""

    def first(self, root: Any) -> Running:
        return Running(Slow(), str(pin(coin.RULES)))

    def named(self, root: Any, name: str | None, wanted: str | None) -> Running:
        return self.first(root)

    def attachments(self, root: Any) -> dict[str, Any]:
        return {}


async def test_while_a_long_log_is_folded_questions_are_answered(world: World, alma: Node) -> None:
    season = Season()
    for number in range(3_000):
        season.note(ANN, f"note {number}")
    bus = await world.bus(alma)
    await publish(bus, alma, season)
    await cosign(bus, alma, season)
    folding = await Folding(world, alma).start(rulesets=Slowly())
    answers: list[int] = []
    while not answers or answers[-1] < season.size:
        answers.append(await size_now(folding))
    assert any(size < season.size for size in answers)
    await settled(folding, season)
    await folding.stop()


async def size_now(folding: Folding) -> int:
    """How many entries a fold says it has folded; -1 while it says that it has not caught up."""
    try:
        return int((await folding.ask("status"))["size"])
    except AnswerRefused as error:
        return -1 if error.detail["refusal"] == "not-folding" else -2


@pytest.mark.parametrize("written", ["leaf-written", "checkpoint-written", "flushed"])
@pytest.mark.parametrize("times", [1, 2, 4])
async def test_a_disk_that_is_full_for_a_while_costs_nothing_but_time(
    world: World, alma: Node, written: str, times: int
) -> None:
    """What is in memory must not go on from a batch that was undone, however often that happens."""
    season = Season()
    folding = await Folding(world, alma).start()
    done = await publish(folding.bus, alma, season)
    await cosign(folding.bus, alma, season)
    await folding.statement(done)
    ledger = folding.service._ledger
    assert ledger is not None
    left = [times]

    def probe(point: str) -> None:
        if point == written and left[0]:
            left[0] -= 1
            raise DiskFull("no space left")

    ledger._db.probe = probe
    for call in ("heads", "tails", "heads"):
        season.flip(ANN, call)
        season.note(ANN, call)
    await publish(folding.bus, alma, season, done)
    await cosign(folding.bus, alma, season)
    await settled(folding, season)
    assert left == [0]
    await folding.stop()
