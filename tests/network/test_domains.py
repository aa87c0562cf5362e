"""Operators with a broker each, in JetStream domains of their own, that meet as leaf nodes."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from ingest_games import FOLLOWER, GAME, LISTER, Table, data_of, flip, note, player, root
from nodes import PATIENCE, World, until_async
from weighbridge import codec
from weighbridge.identity import envelope_to_json, open_envelope
from weighbridge_services.broker.rights import PLAYER, player_inbox
from weighbridge_services.node import Node
from weighbridge_services.streams import declare_all
from weighbridge_services.submitting import Place, submit
from weighbridge_services.wire.elsewhere import length_of, message_of
from weighbridge_services.wire.login import Login

pytestmark = pytest.mark.anyio


class Apart(Table):
    """A lister and a follower, each on a broker of its own."""

    urls: dict[str, str]

    async def lay_apart(self) -> None:
        world, port = self.world, self.world.free_port()
        alma = world.make_node("alma", config=LISTER.format(name="alma", game=GAME, clock=""))
        bela = world.make_node("bela", config=FOLLOWER.format(name="bela", game=GAME, lister=alma.did))
        password = bela.folder / "keys" / "broker.password"
        guest = f'[[broker.operators]]\ndid = "{bela.did}"\npassword-file = "{password}"\n'
        _write(
            alma.folder,
            f'domain = "alma"\n[broker.leaf]\nport = {port}\n{guest}',
            f'[[games.peers]]\ndid = "{bela.did}"\ndomain = "bela"\n[games.source]\nroot = "root.json"\n',
        )
        hub = f"nats-leaf://{bela.subjects(GAME).operator}:{password.read_text().strip()}@127.0.0.1:{port}"
        _write(
            bela.folder,
            f'domain = "bela"\n[broker.leaf]\nhubs = ["{hub}"]\n',
            f'[[games.peers]]\ndid = "{alma.did}"\ndomain = "alma"\n',
        )
        first = root(lister=alma.did, policy={"dids": [alma.did, bela.did], "quorum": 2})
        (alma.folder / "root.json").write_text(json.dumps(envelope_to_json(first)))
        self.nodes = [Node.open(alma.folder), Node.open(bela.folder)]
        self.urls = {node.name: (await world.start(node)).url for node in self.nodes}
        for node in self.nodes:
            await world.bus(node, "declare")

    async def as_player(self, node: Node, data: bytes) -> dict[str, Any]:
        """Hand a record in at a node as players do, and return the answer."""
        password = (node.folder / "keys" / "player.password").read_text().strip()
        subjects = node.subjects(GAME)
        login = Login(self.urls[node.name], PLAYER, password, None, player_inbox(subjects.operator))
        answers = submit(Place(login, subjects), [data], PATIENCE)
        try:
            return await anext(answers)
        finally:
            await answers.aclose()


def _write(folder: Path, broker: str, game: str) -> None:
    path = folder / "weighbridge.toml"
    text = path.read_text().replace("[broker]\nport = 0\n", f"[broker]\nport = 0\n{broker}")
    path.write_text(text + game)


@pytest.fixture
async def apart(world: World) -> AsyncIterator[Apart]:
    made = Apart(world)
    await made.lay_apart()
    yield made
    await made.clear()


def listed(log: list[dict[str, Any]], collection: str) -> list[str]:
    return [each["uri"] for each in log if collection in (each["uri"] or "")]


async def test_what_is_handed_in_at_a_follower_is_listed_and_the_player_hears_of_it(apart: Apart) -> None:
    alma, bela = apart.nodes
    await apart.up("alma")
    await apart.up("bela")
    answer = await apart.as_player(bela, data_of(flip(player(1), "a")))
    assert answer["listed"] >= 1
    assert (await apart.as_player(alma, data_of(note(player(2), "b"))))["listed"] > answer["listed"]
    assert (await apart.as_player(bela, b"\xa1aa\x01"))["rejected"] == "bad-envelope"

    async def follower_holds_it() -> bool:
        return listed(await apart.log(1), "flip") != []

    await until_async(follower_holds_it)

    async def receipted() -> list[str]:
        return [uri for uri in listed(await apart.log(0), "receipt") if bela.did in uri]

    await until_async(receipted)  # his receipts come to her as a mirror, and are listed

    async def heard_of_the_rejection() -> bool:
        subjects = alma.subjects(GAME)
        found = await apart.bus(1).last(subjects.stream("INBOX"), subjects.rejected)
        return found is not None and codec.decode(found.data)["from"] == bela.did

    await until_async(heard_of_the_rejection)


async def test_a_lister_that_lost_everything_takes_the_log_from_a_follower_in_another_domain(
    apart: Apart,
) -> None:
    alma, bela = apart.nodes
    await apart.up("alma")
    await apart.up("bela")
    for number in range(3):
        await apart.as_player(alma, data_of(note(player(1), f"n{number}")))
    theirs = bela.subjects(GAME)

    async def receipt() -> Any:
        found = await apart.bus(0).last(theirs.stream("RECORDS"), f"{theirs.prefix}.checkpoint.*")
        size = 0 if found is None else int(found.subject.rpartition(".")[2])
        return open_envelope(codec.decode(found.data)["envelope"]) if found and size > 4 else None

    await until_async(receipt)
    await apart.down("alma")
    before = await apart.log(1)
    (alma.folder / "ledger" / "ingest.db").unlink()
    for rest in (alma.folder / "ledger").glob("ingest.db-*"):
        rest.unlink()
    await _wipe(apart, alma)
    await apart.up("alma")
    answer = await apart.as_player(alma, data_of(note(player(1), "after")))
    after = await apart.log(0)
    assert after[: len(before)] == before
    assert answer["listed"] >= len(before)

    async def followed() -> bool:  # her new stream has its old sequences, so that his mirror of it goes on
        return any("after" in (each["uri"] or "") for each in await apart.log(1))

    await until_async(followed)


async def _wipe(apart: Apart, node: Node) -> None:
    server = apart.world.servers[apart.nodes.index(node)]
    apart.world.server = server
    assert apart.world.nodes[0].name == node.name
    await apart.world.wipe_broker()
    await apart.declare(node)


async def test_a_transcript_in_another_domain_is_read_where_it_is(apart: Apart) -> None:
    for here, there in ((0, 1), (1, 0)):
        writer, reader = apart.nodes[there], apart.nodes[here]
        theirs = writer.subjects(GAME)
        assert await length_of(apart.bus(here), reader, theirs, "TRANSCRIPT") == 0
        await apart.bus(there).append_many(theirs.transcript, [b"one", b"two"], 0)
        assert await length_of(apart.bus(here), reader, theirs, "TRANSCRIPT") == 2
        assert await message_of(apart.bus(here), reader, theirs, "TRANSCRIPT", 2) == b"two"
        assert await message_of(apart.bus(here), reader, theirs, "TRANSCRIPT", 3) is None
        assert {each.done for each in await declare_all(apart.bus(here).js, reader)} == {"as it should be"}
