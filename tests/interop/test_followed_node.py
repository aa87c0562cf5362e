"""A node made by `game follow --node` from a game's at-uri comes to the same cosigned size as the game's lister."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from pds_running import PASSWORD, Account, Pds, free_port
from relay_running import Relay, relaying

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "network"))

from dice_games import GENESIS, LOCAL, SEED
from nodes import World, until_async
from town import DOTS
from weighbridge import codec
from weighbridge.chain import chain_value
from weighbridge.errors import Refused, Unavailable
from weighbridge.identity import Signer
from weighbridge_services.cli import main
from weighbridge_services.creating import create_node
from weighbridge_services.folding.statements import Statement, open_statement
from weighbridge_services.node import Node
from weighbridge_services.wire import Bus

pytestmark = pytest.mark.interop

ROOT, SHEET = "town.delve.root", "town.delve.sheet"
SHEET_FITS = {"name": "N", "look": "grey coat", "drive": "finish it", "dots": DOTS, "abilities": []}
LISTER = f"""
[node]
name = "alma"
[broker]
port = {{port}}
[plugins]
rulesets = ["delvetown"]
beacons = ["local"]
tracers = ["form"]
sources = ["network"]
[[beacons]]
source = "local"
[beacons.settings]
seed = "{SEED}"
genesis = {GENESIS}
period = 1
[[games]]
uri = "{{game}}"
ruleset = "delvetown"
role = "lister"
[games.source]
plugin = "network"
index = "{{relay}}"
every = 1.0
directory = "{{directory}}"
development = true
collections = ["town.delve.crew", "town.delve.move", "town.delve.root", "town.delve.sheet"]
"""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Table:
    """Two PDSs, a relay, and whoever runs the game."""

    def __init__(self, folder: Path, first: Pds, second: Pds, relay: Relay) -> None:
        self.folder, self.first, self.second, self.relay = folder, first, second, relay
        (folder / "password").write_text(PASSWORD)
        (folder / "password").chmod(0o600)
        self.outward = ["--directory", first.directory, "--development"]
        self.game = ""

    async def run(self, *arguments: object) -> None:
        """Run a command as a person does."""
        code = await asyncio.to_thread(main, [str(each) for each in arguments])
        assert code == 0, arguments

    async def publish(self, who: Account, *what: object, **fields: Any) -> None:
        """Publish a record from a repository, by the commands."""
        path = self.folder / "record.json"
        path.write_text(json.dumps(fields))
        way = ["--host", who.pds.url, "--account", who.did, "--password-file", self.folder / "password"]
        await self.run(*what, path, *way, *self.outward)

    def lister(self, gm: Account, port: int) -> Node:
        self.game = f"at://{gm.did}/{ROOT}/one"
        text = LISTER.format(port=port, game=self.game, relay=self.relay.url, directory=self.first.directory)
        return create_node(self.folder / "alma", text)

    def let_in(self, lister: Node, guest: Node) -> None:
        """Do what the lister is asked to: let the new operator log in, and hear it."""
        path = lister.folder / "weighbridge.toml"
        password = guest.folder / "keys" / "broker.password"
        user = f'[[broker.operators]]\ndid = "{guest.did}"\npassword-file = "{password}"\ngames = ["{self.game}"]\n'
        path.write_text(f'{path.read_text()}\n[[games.peers]]\ndid = "{guest.did}"\n{user}')


@asynccontextmanager
async def up(node: Node) -> AsyncIterator[None]:
    """Run a node with `weighbridge node up` in a process of its own."""
    log = (node.folder.parent / f"{node.folder.name}.log").open("wb")
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "weighbridge_services", "node", "up", "--node", str(node.folder),
        stdout=log, stderr=asyncio.subprocess.STDOUT, env=dict(os.environ),
    )  # fmt: skip
    try:
        yield
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(60):
            await process.wait()
        log.close()


async def statements(bus: Bus, node: Node, game: str) -> set[tuple[int, bytes]]:
    """The sizes and roots to which a node has said ok."""
    subjects, found = node.subjects(game), set[tuple[int, bytes]]()
    state = (await bus.js.stream_info(subjects.stream("RECORDS"))).state
    for sequence in range(max(1, state.first_seq), state.last_seq + 1):
        message = await bus.js.get_msg(subjects.stream("RECORDS"), sequence)
        if str(message.subject).startswith(f"{subjects.prefix}.statement."):
            said: Statement = open_statement(message.data or b"", game, node.operator_record(game)).statement
            if said.verdict == "ok":
                found.add((said.size, said.root))
    return found


async def answered(bus: Bus, node: Node, game: str, name: str, **asked: Any) -> Any:
    """What a node's service answers; nothing while it starts."""
    try:
        return codec.decode(await bus.ask(node.subjects(game).rpc(name), codec.encode(asked)))
    except (Refused, Unavailable):
        return {}


@pytest.mark.anyio
async def test_a_node_made_from_an_at_uri_alone_comes_to_the_lister_s_cosigned_size(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    first = await asyncio.to_thread(Pds, tmp_path / "one")
    second = await asyncio.to_thread(lambda: Pds(tmp_path / "two", beside=first))
    world = World(tmp_path)
    try:
        async with relaying(first, second) as relay, asyncio.timeout(240):
            await followed(Table(tmp_path, first, second, relay), world, capsys)
    finally:
        await world.stop()
        await asyncio.to_thread(second.stop)
        await asyncio.to_thread(first.stop)


async def followed(at: Table, world: World, capsys: pytest.CaptureFixture[str]) -> None:
    gm = await asyncio.to_thread(at.first.account, "gamemaster8")
    ann, bob = [await asyncio.to_thread(at.second.account, name) for name in ("annabel8", "robert8")]
    port = free_port()
    lister = at.lister(gm, port)
    # Of the operators that the root names one has not come yet: nobody waits for it.
    absent = Signer(bytes([9] * 32)).did
    policy = {"dids": [lister.did, absent], "quorum": 1}
    beacon = {"chain": json.loads(json.dumps(chain_value(LOCAL.chain))), "margin": 3}
    root = {"gm": gm.did, "lister": lister.did, "policy": policy, "beacon": beacon}
    await at.publish(gm, "game", "new", ROOT, "--rkey", "one", **root)
    await at.publish(ann, "sheet", at.game, **SHEET_FITS)
    await at.relay.until_indexed(ann.did, SHEET)
    await at.relay.until_indexed(gm.did, ROOT)

    # A third party knows the at-uri, and nothing else but where the lister's log is read.
    url = f"nats://127.0.0.1:{port}"
    await at.run(
        "game", "follow", at.game, "--node", at.folder / "bela", "--nats", url, "--relay", at.relay.url,
        *at.outward,
    )  # fmt: skip
    assert f"weighbridge node up --node {at.folder / 'bela'}" in capsys.readouterr().out
    guest = Node.open(at.folder / "bela")
    assert [each.did for each in guest.games[0].peers] == [lister.did, absent]
    at.let_in(lister, guest)
    lister = Node.open(lister.folder)

    async with up(lister):
        watching = await world.bus(lister, "looking-on", declare=False)
        await at.run("node", "streams", "--node", guest.folder)
        async with up(guest):
            asking = await world.bus(guest, "looking-on", declare=False)
            await at.publish(bob, "sheet", at.game, **SHEET_FITS)
            cat = await handed_in(at, lister, capsys)

            async def has(who: str) -> bool:
                found = [
                    await answered(bus, node, at.game, "cell", key=f"sheet/{who}")
                    for bus, node in ((watching, lister), (asking, guest))
                ]
                return all(each.get("value") for each in found)

            for who in (ann.did, bob.did, cat):
                await until_async(lambda who=who: has(who), 90, f"the sheet of {who} on both nodes")
            size = (await answered(watching, lister, at.game, "status"))["size"]

            async def agreed() -> bool:
                both = [
                    await statements(bus, node, at.game)
                    for bus, node in ((watching, lister), (asking, guest))
                ]
                return any(number >= size - 4 for number, _ in both[0] & both[1])

            await until_async(agreed, 60, "a statement of both at one size and root")


async def handed_in(at: Table, lister: Node, capsys: pytest.CaptureFixture[str]) -> str:
    """A player without a repository signs a sheet and hands it in; whose it is."""
    key = at.folder / "cat.key"
    key.write_text("07" * 32)
    key.chmod(0o600)
    record, envelope = at.folder / "cat.json", at.folder / "cat.envelope"
    record.write_text(json.dumps(SHEET_FITS))
    capsys.readouterr()
    await at.run("sheet", at.game, record, "--key", key)
    envelope.write_text(capsys.readouterr().out)
    await at.run("submit", envelope, "--node", lister.folder, "--timeout", 60)
    assert "/town.delve.sheet/self: listed as" in capsys.readouterr().out
    return Signer(bytes([7] * 32)).did
