"""The GM's desk on a real broker: questions come in, rulings go on, and the table closes what is answered."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from dice_games import GAME, GM, LOCAL, SEED, ReadingStage, make_dice_node, run_until_end, with_sources
from ingest_games import coin_on_path, flip, player, root
from nodes import PATIENCE, World, until, until_async
from weighbridge import codec
from weighbridge.chain import chain_value
from weighbridge.cid import Cid
from weighbridge.errors import WeighbridgeError
from weighbridge.identity import Signer, encode_envelope, envelope_to_json, sign_record
from weighbridge_services.creating import create_node
from weighbridge_services.ruling_recorder.app import Service
from weighbridge_services.wire.crashing import EXIT

pytestmark = pytest.mark.anyio

FLIP = f"at://{player(1).did}/example.coin.flip/a"


def question(id: str, about: str = FLIP, **fields: Any) -> dict[str, Any]:
    facts = {"kind": "mercy", "about": about, "words": "Will you be merciful?", "options": ["yes", "no"]}
    return {"id": id, "game": GAME, "to": "gm", "asked": 0, "default": "no", **facts, **fields}


def ruling(answer: str = "yes", who: Signer = GM, rkey: str = "r1", about: str = FLIP) -> bytes:
    value = {"game": GAME, "kind": "mercy", "subject": about, "answer": answer}
    return encode_envelope(sign_record(who, GAME, "example.coin.move", rkey, value))


class Stage(ReadingStage[Service]):
    """A node with questions, a fold that says which are open, and its desk."""

    kind = Service
    standing: list[dict[str, Any]]
    size = 1

    async def begin(self) -> None:
        await self.log.begin()
        self.standing = []

        async def answer(_: bytes) -> bytes:
            open_now = [{k: v for k, v in each.items() if k != "game"} for each in self.standing]
            return codec.encode({"questions": open_now, "size": self.size})

        await self.bus.serve(self.subjects.rpc("questions"), answer)

    async def put(self, *questions: dict[str, Any]) -> None:
        for each in questions:
            self.standing.append(each)
            await self.bus.publish_once(self.subjects.question(GM.did, each["id"]), codec.encode(each))

    async def rule(self, envelope: bytes, id: str = "q1", answer: str = "yes") -> dict[str, Any]:
        asked = {"envelope": envelope, "question": id, "answer": answer}
        found: Any = codec.decode(await self.ask_bytes("rule", codec.encode(asked)))
        return found  # type: ignore[no-any-return]

    async def states(self, **asked: Any) -> dict[str, str]:
        answer = await self.ask("desk", **asked)
        return {each["id"]: each.get("state", "open") for each in answer["questions"]}


Open = Callable[..., Awaitable[Stage]]


@pytest.fixture
async def stage(world: World) -> AsyncIterator[Open]:
    made: list[Stage] = []

    async def make() -> Stage:
        node = make_dice_node(world)
        await world.start(node)
        found = Stage(world, with_sources(node), await world.bus(node))
        await found.begin()
        made.append(found)
        return found

    try:
        yield make
    finally:
        for each in made:
            while each.running:
                await each.down()


async def begun(on: Stage) -> Service:
    """Start the desk and wait until it knows the rules and its questions."""
    service = await on.up()
    await until(lambda: service.desks[0].size == 1 and len(service.desks[0].items) >= len(on.standing))
    return service


async def test_a_question_is_answered_once_and_its_ruling_handed_on(stage: Open) -> None:
    on = await stage()
    await on.put(question("q1"), question("q2", about=FLIP.replace("flip/a", "flip/b")))
    await begun(on)
    assert await on.states() == {"q1": "open", "q2": "open"}
    envelope = ruling()
    answer = await on.rule(envelope)
    assert answer["accepted"] == str(Cid.of(envelope))
    assert await on.states() == {"q1": "answered", "q2": "open"}
    published = await until_async(lambda: on.records("ruling"))
    assert [encode_envelope(each) for each in published] == [envelope]
    assert (await on.rule(ruling("no", rkey="r2"), answer="no"))["rejected"] == "already-answered"
    assert await on.rule(envelope) == answer
    on.standing.pop(0)
    assert await on.states() == {"q2": "open"}
    assert await on.states(all=True) == {"q1": "closed", "q2": "open"}
    assert (await on.rule(ruling("no", rkey="r3"), answer="no"))["rejected"] == "question-closed"


@pytest.mark.parametrize(
    ("envelope", "id", "answer", "code"),
    [
        pytest.param(ruling(who=player(1)), "q1", "yes", "not-addressed", id="another-signer"),
        pytest.param(ruling("perhaps"), "q1", "perhaps", "no-such-answer", id="no-option"),
        pytest.param(ruling("no"), "q1", "yes", "not-that-answer", id="another-answer"),
        pytest.param(ruling(), "q7", "yes", "no-such-question", id="another-question"),
        pytest.param(b"nothing", "q1", "yes", "truncated", id="no-envelope"),
    ],
)
async def test_what_is_no_ruling_is_refused_and_published_nowhere(
    stage: Open, envelope: bytes, id: str, answer: str, code: str
) -> None:
    on = await stage()
    await on.put(question("q1"))
    service = await begun(on)
    found = await on.rule(envelope, id, answer)
    assert found["rejected"] == code
    assert found["says"]
    assert await on.records("ruling") == []
    assert await on.states() == {"q1": "open"}
    assert service.desks[0].refused == {code: 1}


async def test_a_ruling_that_was_folded_and_took_nothing_leaves_the_question_open(stage: Open) -> None:
    on = await stage()
    await on.put(question("q1"))
    service = await begun(on)
    await on.rule(ruling())
    (published,) = await until_async(lambda: on.records("ruling"))
    await on.log.put(published)
    await until(lambda: service.desks[0].size == 2)
    assert await on.states() == {"q1": "answered"}
    on.size = 2
    assert await on.states() == {"q1": "open"}
    assert "accepted" in await on.rule(ruling("no", rkey="r2"), answer="no")


async def test_without_the_fold_the_desk_shows_what_was_published_and_says_so(
    stage: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weighbridge_services.ruling_recorder.desk.FOLD", 0.2)
    on = await stage()
    await on.put(question("q1"))
    await begun(on)
    await on.bus.quiet()
    answer = await on.ask("desk")
    assert answer["folded"] is None
    assert [each["id"] for each in answer["questions"]] == ["q1"]
    assert answer["gm"] == GM.did


async def test_after_a_restart_the_queue_is_as_it_was(stage: Open) -> None:
    on = await stage()
    await on.put(question("q1"), question("q2"))
    await begun(on)
    await on.rule(ruling())
    await on.down()
    await on.put(question("q3"))
    await begun(on)
    assert await on.states() == {"q1": "answered", "q2": "open", "q3": "open"}


async def test_after_the_broker_lost_its_disk_the_rulings_are_published_again(
    stage: Open, world: World
) -> None:
    on = await stage()
    await on.put(question("q1"))
    await begun(on)
    await on.rule(ruling())
    await until_async(lambda: on.records("ruling"))
    await world.wipe_broker()
    await world.bus(on.node, "declare")
    await until_async(lambda: on.records("ruling"))


@pytest.mark.parametrize("point", ["after-persist", "after-publish"])
async def test_killed_at_any_point_it_hands_the_ruling_on_once(
    stage: Open, tmp_path: Path, point: str
) -> None:
    on = await stage()
    await on.put(question("q1"))
    envelope = ruling()

    asked = codec.encode({"envelope": envelope, "question": "q1", "answer": "yes"})

    async def keep_asking() -> None:
        while True:
            # The process that is to die answers nothing, or only until it has published.
            with contextlib.suppress(WeighbridgeError):
                await on.bus.ask(on.subjects.rpc("rule"), asked, timeout=0.5)
            await asyncio.sleep(0.05)

    asking = asyncio.create_task(keep_asking())
    try:
        assert (
            await run_until_end(on.node, "ruling-recorder", tmp_path, crash=f"ruling-recorder.{point}")
            == EXIT
        )
    finally:
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
    await begun(on)
    published = await until_async(lambda: on.records("ruling"))
    assert [encode_envelope(each) for each in published] == [envelope]
    assert (await on.rule(envelope))["accepted"] == str(Cid.of(envelope))
    assert len(await on.records("ruling")) == 1


async def test_killed_while_it_reads_questions_it_reads_them_again(stage: Open, tmp_path: Path) -> None:
    on = await stage()
    await on.put(question("q1"))
    assert (
        await run_until_end(on.node, "ruling-recorder", tmp_path, crash="ruling-recorder.after-questions")
        == EXIT
    )
    await begun(on)
    assert await on.states() == {"q1": "open"}


# --- a whole node ------------------------------------------------------------------------------------------

NODE = """
[node]
name = "alma"
[broker]
port = 0
[log]
level = "warning"
[plugins]
rulesets = ["coin"]
beacons = ["local"]
sources = ["jsonl"]
[[beacons]]
source = "local"
[beacons.settings]
seed = "{seed}"
genesis = {genesis}
period = 1
[[games]]
uri = "{game}"
role = "lister"
ruleset = "coin"
[games.source]
root = "root.json"
"""


class WholeNode:
    """A lister's node as `weighbridge node up` runs it, and the command line beside it."""

    def __init__(self, folder: Path, toys: Path) -> None:
        self.folder = folder
        path = os.pathsep.join([str(toys), os.environ.get("PYTHONPATH", "")])
        self.environment = {**os.environ, "PYTHONPATH": path}
        self.process: asyncio.subprocess.Process | None = None

    async def up(self) -> None:
        self.process = await self.start("node", "up", "--node", str(self.folder))
        await until_async(self._answers, what="the node answers")

    async def _answers(self) -> bool:
        assert self.process is not None
        if self.process.returncode is not None:
            out, _ = await self.process.communicate()
            pytest.fail(out.decode())
        code, _ = await self.run("desk", "--node", str(self.folder), "--json")
        return code == 0

    async def run(self, *words: str) -> tuple[int, str]:
        process = await self.start(*words)
        out, _ = await process.communicate()
        assert process.returncode is not None
        return process.returncode, out.decode()

    async def start(self, *words: str) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            sys.executable, "-m", "weighbridge_services", *words, env=self.environment,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        )  # fmt: skip

    async def down(self) -> None:
        if self.process is not None and self.process.returncode is None:
            self.process.terminate()
            await self.process.communicate()


@pytest.fixture
async def whole(tmp_path: Path, nats_server: Path) -> AsyncIterator[WholeNode]:
    toys = coin_on_path(tmp_path / "toys")
    config = NODE.format(seed=SEED, genesis=LOCAL.chain.genesis, game=GAME)
    node = create_node(tmp_path / "alma", config)
    first = root(lister=node.did, beacon={"chain": chain_value(LOCAL.chain), "margin": 3})
    (node.folder / "root.json").write_text(json.dumps(envelope_to_json(first)))
    (node.folder / "gm.key").write_text((b"g" * 32).hex() + "\n")
    (node.folder / "gm.key").chmod(0o600)
    made = WholeNode(node.folder, toys)
    try:
        await made.up()
        yield made
    finally:
        await made.down()


async def open_questions(whole: WholeNode, *more: str) -> list[dict[str, Any]]:
    code, said = await whole.run("desk", "--node", str(whole.folder), "--json", *more)
    assert code == 0, said
    found: list[dict[str, Any]] = json.loads(said)["questions"]
    return found


async def first_line(whole: WholeNode, *words: str) -> Any:
    process = await whole.start(*words)
    assert process.stdout is not None
    try:
        return json.loads(await asyncio.wait_for(process.stdout.readline(), PATIENCE))
    finally:
        process.terminate()
        await process.communicate()


async def test_flips_roll_on_their_beacons_and_the_gm_answers_what_they_ask_from_the_command_line(
    whole: WholeNode,
) -> None:
    flips = "\n".join(json.dumps(envelope_to_json(flip(player(n), f"f{n}"))) for n in range(1, 33))
    (whole.folder / "flips.jsonl").write_text(flips)
    code, said = await whole.run(
        "submit", str(whole.folder / "flips.jsonl"), "--node", str(whole.folder), "--json"
    )
    assert code == 0, said
    assert all(json.loads(line)["round"] for line in said.splitlines())
    _, said = await whole.run("node", "doctor", "--node", str(whole.folder), "--json")
    clocks = [each for each in json.loads(said) if each["check"] == "clock"]
    assert [each["level"] for each in clocks] == ["ok"], clocks
    assert "local (private chain)'s newest beacon is" in clocks[0]["says"]
    # Of thirty-two flips one is lost, but for one time in four thousand million: the GM is asked for mercy.
    asked = await until_async(lambda: open_questions(whole), what="a question")
    assert await first_line(whole, "desk", "--node", str(whole.folder), "--follow", "--json") == asked[0]
    key = str(whole.folder / "gm.key")
    rule = ["rule", asked[0]["id"][:22], "yes", "--key", key, "--node", str(whole.folder)]
    code, said = await whole.run(*rule)
    assert code == 0, said
    assert said.startswith("taken: ")

    async def closed() -> bool:
        found = {each["id"]: each for each in await open_questions(whole, "--all")}
        return bool(found[asked[0]["id"]].get("state") == "closed" and found[asked[0]["id"]].get("listed"))

    await until_async(closed, what="the ruling is listed and the question closed")
    code, said = await whole.run(*rule)
    assert code == 2
    assert "question-closed" in said
    code, said = await whole.run(*rule[:2], "perhaps", *rule[3:])
    assert (code, "not-an-answer" in said) == (2, True)
    code, said = await whole.run("rule", "zzz", "yes", *rule[3:])
    assert (code, "not-on-the-desk" in said) == (2, True)
    code, said = await whole.run("desk", "--node", str(whole.folder))
    assert code == 0
