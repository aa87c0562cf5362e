"""What a root attaches is held against its pin, and a root that attaches otherwise moves the game."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import coin
import listening
import pytest
from games import ANN, Season, config, cosign, install, publish, root_naming
from nodes import World, until
from running import Folding, install_coin
from weighbridge import codec
from weighbridge.plugins import pin

pytestmark = pytest.mark.anyio
OTHER_PIN = str(codec.cid_of("another pin"))


@pytest.fixture(autouse=True)
def coin_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(install_coin(tmp_path)))


@pytest.fixture
async def attaching(world: World, tmp_path: Path) -> AsyncIterator[Folding]:
    """A node that has, besides the coin game, something that can be attached to it."""
    install(tmp_path / "site", "weighbridge.rulesets", "listening", "listening:RULES")
    node = world.make_node("alma", config=config("alma", rulesets=("coin", "listening")))
    await world.start(node)
    made = Folding(world, node)
    yield made
    await made.stop()


def attaches(**settings: Any) -> dict[str, Any]:
    return {"with": {"name": "listening", **settings}}


async def test_an_attachment_that_is_here_with_another_pin_is_answered_with_cannot_run(
    attaching: Folding,
) -> None:
    season = Season(fold={"name": "coin", **attaches(pin=OTHER_PIN)})
    await attaching.start()
    await publish(attaching.bus, attaching.node, season)
    assert (await attaching.verdict())[:2] == ("cannot-run", "pin-mismatch")


async def test_what_a_later_root_attaches_is_heard_in_a_transcript_of_its_own_also_after_a_restart(
    world: World, attaching: Folding
) -> None:
    season = Season()
    season.now += 1
    season.root(root_naming(**attaches(pin=str(pin(listening.RULES)))))
    before = season.size
    for call in ("heads", "tails"):
        season.flip(ANN, call)
    first = await Folding(world, attaching.node).start()
    done = await publish(first.bus, attaching.node, season)
    await until(lambda: first.service.health()["folded"] == done)
    await first.stop()
    season.flip(ANN, "heads")
    await attaching.start()
    await publish(attaching.bus, attaching.node, season, done)
    await cosign(attaching.bus, attaching.node, season)
    said = (await attaching.statement(season.size - before + 1)).statement
    own = pin(coin.RULES, {"listening": pin(listening.RULES)})
    assert said.origin.endswith(f"/coin@{own}+k1")
    assert codec.decode((await attaching.ask("cell", key="heard/-"))["value"]) == 3


async def test_a_root_that_attaches_another_version_ends_the_transcript_and_then_the_folding(
    attaching: Folding,
) -> None:
    season = Season(fold=attaches())
    season.now += 1
    season.root(root_naming(**attaches(pin=OTHER_PIN)))
    season.note(ANN, "nobody folds this here")
    await attaching.start()
    await publish(attaching.bus, attaching.node, season)
    said, reason, origin, size = await attaching.verdict()
    assert (said, reason, size) == ("cannot-run", "pin-mismatch", 1)
    asked = pin(coin.RULES, {"listening": codec.cid_of("another pin")})
    assert origin.endswith(f"/coin@{asked}+k1")


async def test_an_attachment_that_is_not_here_is_waited_for_before_its_root_is_folded(
    world: World,
) -> None:
    """Whether it fits the game is its own to say, and no node's to guess."""
    node = world.make_node("alma", config=config("alma"))
    await world.start(node)
    season = Season()
    season.now += 1
    season.root(root_naming(**attaches()))
    folding = await Folding(world, node).start()
    await publish(folding.bus, node, season)
    assert (await folding.verdict())[:2] == ("cannot-run", "plugin-unknown")
    await folding.stop()
