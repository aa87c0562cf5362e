"""What a fold answers, and what it refuses; and the same from its ledger when it does not run."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from games import ANN, BOB, GAME, Season, config, cosign, publish
from nodes import World
from running import Folding, folded, install_coin
from weighbridge import codec
from weighbridge.cid import Cid
from weighbridge.log.merkle import leaf_hash
from weighbridge.log.proofs import verify_inclusion
from weighbridge.tree.proof import verify
from weighbridge_services.cli import main
from weighbridge_services.node import Node
from weighbridge_services.wire import AnswerRefused

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
def season() -> Season:
    made = Season()
    for call in ("heads", "tails", "heads", "tails"):
        made.flip(ANN, call)
    made.note(BOB, "a note")
    made.put(BOB, "flip", {"call": "heads"})
    return made


@pytest.fixture
async def folding(world: World, alma: Node, season: Season) -> AsyncIterator[Folding]:
    made = await Folding(world, alma).start()
    await publish(made.bus, alma, season)
    await cosign(made.bus, alma, season)
    await made.statement(season.size)
    yield made
    await made.stop()


async def test_a_leaf_comes_with_the_proof_that_it_is_in_the_signed_transcript(
    folding: Folding, season: Season
) -> None:
    said = (await folding.statement(season.size)).statement
    index = 3
    found = await folding.ask("leaf", origin=said.origin, index=index, size=said.size)
    verify_inclusion(leaf_hash(found["leaf"]), index, said.size, found["proof"], said.root)
    assert found["leaf"] == Cid.of(found["entry"]).raw + Cid.of(found["delta"]).raw
    delta = dict(codec.decode(found["delta"]))
    assert {key: None if data is None else Cid.of(data) for key, data in found["cells"].items()} == delta


async def test_a_cell_or_its_absence_is_proved_against_the_state_root(
    folding: Folding, season: Season
) -> None:
    expected = folded(season)
    for key in (f"purse/{ANN.did}", "purse/nobody"):
        found = await folding.ask("cell", key=key)
        assert found["state"] == expected.state_root()
        proved = verify(found["state"], key, found["proof"])
        assert proved == (None if found["value"] is None else Cid.of(found["value"]))
        assert found["value"] == expected.world.cells.raw(key)


async def test_a_subtree_is_hashed_as_the_transcript_has_it(folding: Folding, season: Season) -> None:
    origin = (await folding.ask("status"))["origin"]
    found = await folding.ask("subtree", origin=origin, start=4, end=8)
    assert found["hash"] == folded(season).transcript.subtree_root(4, 8)


async def test_the_view_is_the_rule_sets_own(folding: Folding) -> None:
    found = await folding.ask("view")
    assert found["view"]["title"] == "Coin"


async def test_an_explanation_names_every_entry_that_changed_a_cell(folding: Folding, season: Season) -> None:
    key = f"purse/{ANN.did}"
    found = await folding.ask("explain", key=key)
    fold = type(folded(season))(GAME, folded(season).world.ruleset)
    changed = [listed.entry.seq for listed in season.entries if key in dict(fold.fold(listed).delta)]
    assert [change["seq"] for change in found["changes"]] == changed
    assert found["changes"][-1]["after"] == folded(season).world.cells.raw(key)
    assert found["changes"][1]["before"] == found["changes"][0]["after"]


async def test_entries_come_with_the_cells_they_changed_page_by_page(
    folding: Folding, season: Season
) -> None:
    first = await folding.ask("entries", start=0, count=4)
    rest = await folding.ask("entries", start=4, count=1_000)
    assert [each["entry"] for each in [*first["entries"], *rest["entries"]]] == [
        e.data for e in season.entries
    ]
    assert (await folding.ask("entries", start=season.size, count=10))["entries"] == []


async def test_grades_are_told_of_the_entries_asked_about(folding: Folding, season: Season) -> None:
    found = await folding.ask("grades", seqs=[0, season.size, -1])
    assert found == {"grades": ["proved-now", None, None], "size": season.size}


REFUSED = [
    pytest.param(
        "leaf", {"origin": "nowhere", "index": 0}, "no-such-leaf", id="a transcript that is not here"
    ),
    pytest.param("cell", {"key": ""}, "bad-question", id="a key that no cell can have"),
    pytest.param("cell", {"word": "a"}, "bad-question", id="a question of another form"),
    pytest.param("stop", {"statement": b""}, "truncated", id="a statement that is none"),
]


@pytest.mark.parametrize(("name", "asked", "code"), REFUSED)
async def test_what_cannot_be_answered_is_refused_with_a_code(
    folding: Folding, name: str, asked: dict[str, Any], code: str
) -> None:
    with pytest.raises(AnswerRefused) as refused:
        await folding.ask(name, **asked)
    assert refused.value.detail["refusal"] == code


async def test_a_leaf_beyond_the_last_is_refused(folding: Folding) -> None:
    origin = (await folding.ask("status"))["origin"]
    with pytest.raises(AnswerRefused) as refused:
        await folding.ask("leaf", origin=origin, index=10_000)
    assert refused.value.detail["refusal"] == "no-such-leaf"


async def test_before_the_first_entry_a_fold_refuses_to_answer(world: World, alma: Node) -> None:
    folding = await Folding(world, alma).start()
    with pytest.raises(AnswerRefused) as refused:
        await folding.ask("status")
    assert refused.value.detail["refusal"] == "not-folding"
    await folding.stop()


async def test_the_grades_of_a_running_node_s_log_are_shown(
    folding: Folding, season: Season, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await asyncio.to_thread(main, ["log", "show", str(folding.node.folder), "--grades"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines] == [
        ["-" if each.entry.uri is None else "proved-now", str(each.entry.seq)] for each in season.entries
    ]


async def test_a_player_learns_the_same_of_a_running_node_and_of_a_stopped_one(
    folding: Folding, season: Season, capsys: pytest.CaptureFixture[str]
) -> None:
    async def told(did: str) -> Any:
        arguments = ["me", GAME, "--node", str(folding.node.folder), "--did", did, "--json"]
        assert await asyncio.to_thread(main, arguments) == 0
        return json.loads(capsys.readouterr().out)

    ann, bob = await told(ANN.did), await told(BOB.did)
    assert list(ann["cells"]) == [f"purse/{ANN.did}"]
    assert ann["reports"]
    assert [each["dice"] for each in bob["pending"]] == [["flip"]]
    assert [each["kind"] for each in ann["questions"]] == ["mercy"] * len(ann["questions"])
    await folding.bus.quiet()
    await folding.service.stop()
    folding.service.games.clear()
    folding.service._ledger = None
    assert (await told(ANN.did), await told(BOB.did)) == (ann, bob)
    assert await asyncio.to_thread(main, ["me", "--node", str(folding.node.folder), "--did", BOB.did]) == 0
    assert "waits for the beacon of round" in capsys.readouterr().out
