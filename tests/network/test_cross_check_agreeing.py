"""Operators compare what they signed: who agrees, which quorum that reaches, who contradicts itself."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import coin
import pytest
from games import ANN, GAME, Season
from nodes import World, until, until_async
from operators import Operator, Other, everyone_takes, season_of, three_operators
from running import environment, install_coin
from weighbridge import codec
from weighbridge.identity import encode_envelope
from weighbridge_services.folding.rulesets import Running
from weighbridge_services.folding.statements import Statement, cosigned, sign_statement
from weighbridge_services.wire import AnswerRefused

pytestmark = pytest.mark.anyio


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    found = install_coin(tmp_path)
    monkeypatch.syspath_prepend(str(found))
    monkeypatch.setenv("PYTHONPATH", environment(found)["PYTHONPATH"])
    return found


@pytest.fixture
async def three(world: World, site: Path) -> AsyncIterator[list[Operator]]:
    made = await three_operators(world)
    yield made
    for each in made:
        if hasattr(each, "check"):
            await each.stop()


async def test_three_operators_agree_and_say_which_quorum_they_reached(three: list[Operator]) -> None:
    season = season_of(three)
    for each in three:
        await each.start()
    for text in ("one", "two"):
        season.note(ANN, text)
    await everyone_takes(three, season)

    async def all_agree() -> bool:
        found = [(await each.agreed())["agreed"] for each in three]
        return all(a is not None and a["size"] == season.size and len(a["operators"]) == 3 for a in found)

    await until_async(all_agree)
    agreed = (await three[1].agreed())["agreed"]
    assert agreed["reached"]
    assert agreed["tallies"] == [{"path": "$.policy", "signed": 3, "quorum": 2, "of": 3}]
    assert [await each.findings() for each in three] == [[], [], []]


async def test_a_game_without_a_policy_says_that_no_quorum_is_reached(three: list[Operator]) -> None:
    season = Season()
    for each in three:
        season.operator(each.node)
        await each.start()
    await everyone_takes(three, season)

    async def agree() -> Any:
        found = (await three[0].agreed())["agreed"]
        return found if found is not None and len(found["operators"]) == 3 else None

    assert not (await until_async(agree))["reached"]


async def test_two_roots_of_one_size_by_one_key_are_published_with_both_notes(three: list[Operator]) -> None:
    season = season_of(three)
    for each in three[:2]:
        await each.start()
    await everyone_takes(three[:2], season)
    origin = (await three[0].folding.statement(season.size)).statement.origin
    cleo = three[2].node
    bus = await three[2].world.bus(cleo, "liar")
    for word in (b"one", b"another"):
        root = hashlib.sha256(word).digest()
        note = cosigned(cleo.keys.recompute, cleo.name, origin, 3, root, 1_800_000_000)
        envelope = sign_statement(cleo.keys.records, Statement(GAME, "ok", origin, 3, root, note=note))
        await bus.publish_once(cleo.subjects(GAME).statement(str(envelope.cid)), encode_envelope(envelope))
    found = await three[0].until_found("equivocation")
    assert found["about"] == cleo.did
    assert len(set(found["notes"])) == 2


async def test_nobody_but_the_node_itself_makes_its_fold_stop(three: list[Operator]) -> None:
    season = season_of(three)
    for each in three[:2]:
        await each.start()
    await everyone_takes(three[:2], season)
    said = (await three[0].folding.statement(season.size)).statement
    alma, bela = three[0].node, three[1].node
    abstain = Statement(GAME, "abstain", said.origin, said.size, said.root, reason="outvoted")
    foreign = encode_envelope(sign_statement(bela.keys.records, abstain))
    with pytest.raises(AnswerRefused, match="no statement"):
        await three[1].bus.ask(alma.subjects(GAME).rpc("stop"), codec.encode({"statement": foreign}))
    assert "unhealthy" not in three[0].folding.service.health()


async def test_a_statement_of_an_operator_nobody_has_listed_waits_for_its_keys(three: list[Operator]) -> None:
    season = Season(
        policy={"dids": [three[0].node.did, three[1].node.did], "quorum": 2}, lister=three[0].node
    )
    season.operator(three[0].node)
    for each in three[:2]:
        await each.start()
    await everyone_takes(three[:2], season)
    await three[1].folding.statement(season.size)
    season.operator(three[1].node)
    await everyone_takes(three[:2], season)

    async def both() -> bool:
        agreed = (await three[0].agreed())["agreed"]
        return agreed is not None and agreed["reached"]

    await until_async(both)


class Elsewhere(Other):
    """The game's own rule set, of another version than the lister's."""

    def first(self, root: Any) -> Running:
        return Running(coin.RULES, str(codec.cid_of("another pin")))


async def test_a_follower_with_another_pin_than_the_listers_says_so_and_does_not_cosign(
    three: list[Operator],
) -> None:
    """The root names no pin: it takes the lister's."""
    season = season_of(three[:2])
    await three[0].start()
    await three[1].start(rulesets=Elsewhere())
    await everyone_takes(three[:2], season)
    assert await three[1].until_said("abstain") == "pin-mismatch"
    found = await three[0].until_found("divergence")
    assert (found["about"], found["kind"]) == (three[1].node.did, "pin")
    assert await three[0].until_said("disagree") == "pin"
    assert "unhealthy" not in three[0].folding.service.health()
    await until(lambda: three[1].folding.service.health().get("unhealthy"))
