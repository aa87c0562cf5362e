"""An operator that computed something else is told apart: by itself first, then by the first leaf that differs."""

from __future__ import annotations

import asyncio
import hashlib
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from games import ANN, BOB, GAME, Season
from nodes import World, until, until_async
from operators import Operator, Other, everyone_takes, season_of, three_operators
from running import TOYS, die_at, environment, folded, install_coin
from weighbridge import codec
from weighbridge.logfile import CarReader
from weighbridge_services.node import Node

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


async def test_a_node_that_computed_something_else_finds_out_by_folding_again_and_abstains(
    three: list[Operator],
) -> None:
    """The rule set installed is right; what runs is not, as after a fault of memory."""
    season = season_of(three)
    for each in three[:2]:
        await each.start()
    await three[2].start(rulesets=Other())
    for call in ("heads", "tails"):
        season.flip(ANN, call)
        season.flip(BOB, call)
    await everyone_takes(three, season)
    assert await three[2].until_said("abstain") == "self-check"
    found = await three[0].until_found("divergence")
    assert found["with"] == three[2].node.did
    season.note(ANN, "the game goes on")
    await everyone_takes(three, season)
    await three[1].folding.statement(season.size)

    async def settled() -> bool:
        agreed = (await three[0].agreed())["agreed"]
        return bool(agreed["size"] == season.size and len(agreed["operators"]) == 2)

    await until_async(settled)
    assert season.size not in [said.statement.size for said in await three[2].folding.statements()]


async def test_the_first_differing_entry_and_its_cells_are_found_and_written_down(
    three: list[Operator],
) -> None:
    season = season_of(three)
    for each in three[:2]:
        await each.start()
    await three[2].start(rulesets=Other())
    for n in range(20):
        season.note(ANN, f"nothing differs at note {n}")
    first = await first_win(season)
    for n in range(20):
        season.note(BOB, f"everything after note {n}")
    await everyone_takes(three, season)
    found = await three[0].until_found("divergence")
    assert (found["index"], found["kind"], found["cells"]) == (first, "delta", [f"purse/{ANN.did}"])
    assert found["exchanges"] <= (season.size - 1).bit_length() + 1
    evidence = three[0].node.folder / "evidence" / f"{found['evidence']}.car"
    blocks = {block.cid: block.data for block in CarReader([evidence.read_bytes()]).blocks()}
    manifest: Any = codec.decode(blocks[found["evidence"]])
    assert [side["operator"] for side in manifest["sides"]] == [three[0].node.did, three[2].node.did]
    scores = [codec.decode(blocks[side["cells"][f"purse/{ANN.did}"]])["score"] for side in manifest["sides"]]
    assert scores == [1, 2]


async def first_win(season: Season) -> int:
    """Let Ann flip until she wins; return the entry that shows it."""
    fold = folded(season)
    while True:
        for call in ("heads", "tails"):
            season.flip(ANN, call)
            for listed in season.entries[fold.size :]:
                fold.fold(listed)
                if fold.table.get(f"purse/{ANN.did}", {}).get("score"):
                    return int(listed.entry.seq)


def refold_with(changed: Path, site: Path) -> Any:
    """A refold in a fresh process that has another coin game installed, whatever pin the configuration goes by."""

    async def refold(node: Node, game: str, origin: str, size: int) -> bytes:
        process = await asyncio.create_subprocess_exec(
            sys.executable, str(Path(__file__).with_name("refolding.py")), str(node.folder), game, origin, str(size),
            env=environment(site, PYTHONPATH=str(changed)), stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        out, _ = await process.communicate()
        return bytes.fromhex(out.decode())

    return refold


async def test_a_node_in_the_minority_that_is_sure_of_itself_says_so_and_stops_cosigning(
    three: list[Operator], site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its rule set gives the same again in a fresh process: nobody can say who is right, and the quorum has spoken."""
    changed = tmp_path / "changed"
    changed.mkdir()
    honest = (TOYS / "coin.py").read_text()
    (changed / "coin.py").write_text(honest.replace('purse["score"] + points', 'purse["score"] + 2 * points'))
    season = season_of(three)
    for each in three[:2]:
        await each.start()
    await three[2].start(rulesets=Other())
    monkeypatch.setattr(three[2].check.games[0], "refold", refold_with(changed, site))
    for call in ("heads", "tails"):
        season.flip(ANN, call)
    await everyone_takes(three, season)
    assert await three[2].until_said("disagree") == "delta"
    assert await three[2].until_said("abstain") == "outvoted"
    assert len([each for each in await three[2].findings() if each["code"] == "divergence"]) >= 1
    assert await three[0].until_said("disagree") == "delta"
    assert three[2].folding.service.health()["unhealthy"][0].startswith("outvoted")
    # What weakens the game is said with every statement, `disagree` among them.
    assert all({"private chain", "no witnesses"} <= set(each.says) for each in await three[0].statements())


async def test_a_difference_is_found_without_the_other_nodes_answers_from_its_transcript(
    three: list[Operator],
) -> None:
    season = season_of(three)
    for each in three[:2]:
        await each.folding.start()
    await three[2].folding.start(rulesets=Other())
    for call in ("heads", "tails"):
        season.flip(ANN, call)
    await everyone_takes(three, season)
    await three[2].folding.statement(season.size)
    await three[2].folding.stop()
    await three[0].start_check()
    found = await three[0].until_found("divergence")
    assert (found["kind"], found["exchanges"]) == ("delta", 0)
    await three[0].bus.quiet()
    await three[0].check.stop()
    for each in three[:2]:
        await each.folding.stop()
    del three[0].check


async def test_a_self_check_that_cannot_be_made_accuses_nobody(
    three: list[Operator], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`self-check-failed`: without the rule set nothing can be folded again."""
    season = season_of(three)
    monkeypatch.delenv("PYTHONPATH")
    await three[0].start()
    await three[1].folding.start(rulesets=Other())
    for call in ("heads", "tails"):
        season.flip(ANN, call)
    await everyone_takes(three[:2], season)
    await until(lambda: three[0].check.health().get("unhealthy"))
    assert three[0].check.health()["unhealthy"][0].startswith("self-check-failed")
    assert await three[0].findings() == []
    await three[1].folding.stop()


async def test_a_node_whose_answers_do_not_bear_out_what_it_signed_is_told_so(three: list[Operator]) -> None:
    season = season_of(three)
    await three[0].folding.start()
    await three[1].folding.start(rulesets=Other())
    for call in ("heads", "tails"):
        season.flip(ANN, call)
    await everyone_takes(three[:2], season)
    said = (await three[1].folding.statement(season.size)).statement
    shown = await three[0].folding.bus.ask(
        three[0].node.subjects(GAME).rpc("leaf"),
        codec.encode({"origin": said.origin, "index": 0, "size": said.size}),
    )
    await three[1].folding.stop()
    liar, subjects = await three[1].world.bus(three[1].node, "liar"), three[1].node.subjects(GAME)

    async def hash_of(_: bytes) -> bytes:
        return codec.encode({"hash": hashlib.sha256(b"whatever").digest()})

    async def leaf_of(_: bytes) -> bytes:
        return shown

    await liar.serve(subjects.rpc("subtree"), hash_of)
    await liar.serve(subjects.rpc("leaf"), leaf_of)
    await three[0].start_check()
    assert await three[0].until_said("disagree") == "not-borne-out"
    found = await three[0].until_found("divergence")
    assert found["about"] == three[1].node.did


@pytest.mark.parametrize(
    "point",
    [
        "after-read",
        "after-compare",
        "after-self-check",
        "after-evidence",
        "after-persist",
        "after-publish",
    ],
)
async def test_killed_at_any_point_it_says_once_who_differs(
    three: list[Operator], site: Path, point: str
) -> None:
    """Nothing is handed on by later statements: the game is at rest when the service dies, and stays so."""
    season = season_of(three)
    for each in three[:2]:
        await each.folding.start()
    await three[2].folding.start(rulesets=Other())
    for call in ("heads", "tails"):
        season.flip(ANN, call)
    await everyone_takes(three, season)
    for each in three:
        await each.folding.statement(season.size)
    await die_at(three[0].node, site, f"cross-check.{point}")
    await three[0].start_check()
    found = await three[0].until_found("divergence")
    assert (found["with"], found["kind"]) == (three[2].node.did, "delta")
    assert await three[0].until_said("disagree") == "delta"
    await until(lambda: not three[0].check.health()["differing"])
    assert len(await three[0].findings()) == 1
    assert await three[0].verdicts() == [("disagree", "delta")]
    bundles = [path.stem for path in (three[0].node.folder / "evidence").iterdir()]
    assert bundles == [str(found["evidence"])]
    await three[0].bus.quiet()
    await three[0].check.stop()
    for each in three:
        await each.folding.stop()
    del three[0].check


async def test_killed_before_its_fold_was_stopped_it_stops_it_after_the_start(
    three: list[Operator], site: Path
) -> None:
    """The statement that it abstains is in its ledger, and the fold would sign on."""
    season = season_of(three)
    for each in three[:2]:
        await each.folding.start()
    await three[2].folding.start(rulesets=Other())
    for call in ("heads", "tails"):
        season.flip(ANN, call)
    await everyone_takes(three, season)
    for each in three:
        await each.folding.statement(season.size)
    await die_at(three[2].node, site, "cross-check.after-persist")
    assert "unhealthy" not in three[2].folding.service.health()
    await three[2].start_check()
    assert await three[2].until_said("abstain") == "self-check"
    await until(lambda: three[2].folding.service.health().get("unhealthy"))
    assert await three[2].verdicts() == [("abstain", "self-check")]
    await three[2].bus.quiet()
    await three[2].check.stop()
    for each in three:
        await each.folding.stop()
    del three[2].check
