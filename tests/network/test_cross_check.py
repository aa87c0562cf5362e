"""Operators compare what they found, and the one that differs is told apart."""

from __future__ import annotations

import asyncio
import hashlib
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import coin
import pytest
from games import ANN, BOB, GAME, Season, config, cosign, publish
from nodes import World, until, until_async
from running import TOYS, Folding, environment, folded, install_coin, records
from weighbridge import codec
from weighbridge.contract import Table
from weighbridge.identity import encode_envelope, open_envelope
from weighbridge.logfile import CarReader
from weighbridge.plugins import pin
from weighbridge_services.cross_check.app import Service as CrossCheck
from weighbridge_services.folding.rulesets import Running
from weighbridge_services.folding.statements import Statement, cosigned, open_statement, sign_statement
from weighbridge_services.node import Node
from weighbridge_services.wire import AnswerRefused

pytestmark = pytest.mark.anyio


class Generous(coin.Coin):
    """The coin game with one constant changed: a won flip counts two."""

    def _score(self, table: Table, who: str, points: int) -> None:
        super()._score(table, who, 2 * points)


class Other:
    """Rule sets that say they are the game's own, by its very pin, and are not."""

    def first(self, root: Any) -> Running:
        return Running(Generous(), str(pin(coin.RULES)))

    def named(self, root: Any, name: str | None, wanted: str | None) -> Running:
        return self.first(root)

    def attachments(self, root: Any) -> dict[str, Any]:
        return {}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    found = install_coin(tmp_path)
    monkeypatch.syspath_prepend(str(found))
    monkeypatch.setenv("PYTHONPATH", environment(found)["PYTHONPATH"])
    return found


class Operator:
    """One operator: a node with fold and cross-check."""

    def __init__(self, world: World, node: Node) -> None:
        self.world, self.node = world, node
        self.folding = Folding(world, node)
        self.published = 0

    async def start(self, **options: Any) -> None:
        await self.folding.start(**options)
        await self.start_check()

    async def start_check(self) -> None:
        self.bus = await self.world.bus(self.node, "cross-check")
        self.check = CrossCheck(self.node, self.bus, self.node.clock())
        await self.check.start()

    async def stop(self) -> None:
        await self.bus.quiet()
        await self.check.stop()
        await self.folding.stop()

    async def take(self, season: Season) -> None:
        self.published = await publish(self.folding.bus, self.node, season, self.published)

    async def agreed(self) -> Any:
        return codec.decode(await self.bus.ask(self.node.subjects(GAME).rpc("agreed"), codec.encode({})))

    async def verdicts(self) -> list[tuple[str, str | None]]:
        found = await records(self.bus, self.node, "statement")
        said = [open_statement(data, GAME, self.node.operator_record(GAME)).statement for data in found]
        return [(each.verdict, each.reason) for each in said if each.verdict != "ok"]

    async def findings(self) -> list[dict[str, Any]]:
        return [open_envelope(data).value for data in await records(self.bus, self.node, "finding")]

    async def until_found(self, code: str) -> dict[str, Any]:
        async def there() -> list[dict[str, Any]]:
            return [each for each in await self.findings() if each["code"] == code]

        return (await until_async(there, 30, f"a finding {code}"))[0]

    async def until_said(self, verdict: str) -> str | None:
        async def there() -> list[Any]:
            return [reason for said, reason in await self.verdicts() if said == verdict]

        return (await until_async(there, 30, f"a statement {verdict}"))[0]


@pytest.fixture
async def three(world: World, site: Path) -> AsyncIterator[list[Operator]]:
    """A lister and two followers on one broker, nothing started."""
    names = ("alma", "bela", "cleo")
    nodes = [world.make_node(name, config=config(name)) for name in names]
    for node in nodes:
        others = [each for each in nodes if each is not node]
        lister = None if node is nodes[0] else nodes[0]
        (node.folder / "weighbridge.toml").write_text(config(node.name, lister=lister, peers=others))
    nodes = world.use_broker_of(Node.open(nodes[0].folder), [Node.open(node.folder) for node in nodes[1:]])
    await world.start(nodes[0])
    made = [Operator(world, node) for node in [nodes[0], *map(world.point_to_broker, nodes[1:])]]
    yield made
    for each in made:
        if hasattr(each, "check"):
            await each.stop()


def season_of(operators: list[Operator], quorum: int = 2) -> Season:
    """A game whose policy is some of these operators, with their keys listed."""
    nodes = [each.node for each in operators]
    season = Season(policy={"dids": [node.did for node in nodes], "quorum": quorum}, lister=nodes[0])
    for node in nodes:
        season.operator(node)
    season.witnesses = nodes[1:]
    return season


async def everyone_takes(operators: list[Operator], season: Season) -> None:
    for each in operators:
        await each.take(season)
    await cosign(operators[0].folding.bus, operators[0].node, season)


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
    await until(lambda: three[0].check.health().get("unhealthy"), 30)
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
