"""Delvetown, live: a lister and a follower with all their services on a real broker and a local chain."""

from __future__ import annotations

import asyncio
import json
import time
from datetime import UTC, datetime, timedelta
from typing import Any

from dice_games import GENESIS, LOCAL, SEED
from nodes import PATIENCE, World, until_async
from weighbridge import codec
from weighbridge.chain import chain_value
from weighbridge.cid import Cid
from weighbridge.fold.records import place_of
from weighbridge.identity import Envelope, Signer, encode_envelope, envelope_to_json, sign_record
from weighbridge_services.folding.statements import Statement, open_statement
from weighbridge_services.ingest.arrivals import ANSWER
from weighbridge_services.node import Node
from weighbridge_services.supervise.supervisor import Supervisor
from weighbridge_services.wire import NobodyAnswers

GM, ANN, BOB, CAT = (Signer(name * 32) for name in (b"g", b"a", b"b", b"c"))
GAME = f"at://{GM.did}/town.delve.root/one"
MOVE, SHEET, CREW = "town.delve.move", "town.delve.sheet", "town.delve.crew"
MARGIN = 3
SERVICES = ("ingest", "fold", "dice-witness", "trace-checker", "ruling-recorder")
DOTS = {"fetch": 2, "reckon": 2, "audit": 1, "mend": 1, "vouch": 1}
CONFIG = f"""
[node]
name = "{{name}}"
[broker]
port = 0
[plugins]
rulesets = ["delvetown"]
beacons = ["local"]
tracers = ["form"]
[[beacons]]
source = "local"
[beacons.settings]
seed = "{SEED}"
genesis = {GENESIS}
period = 1
[[games]]
uri = "{GAME}"
ruleset = "delvetown"
{{role}}
"""


class Shifted:
    """A clock that is off by as much as its owner wants."""

    def __init__(self, shift: int) -> None:
        self.shift = shift

    def now(self) -> int:
        return time.time_ns() // 1_000 + self.shift

    def advance(self, at: int) -> None:
        pass


def move(who: Signer, rkey: str, kind: str, **fields: Any) -> Envelope:
    value = {"game": GAME, "kind": kind, **{name.rstrip("_"): value for name, value in fields.items()}}
    return sign_record(who, GAME, MOVE, rkey, value)


def ask(who: Signer, rkey: str, **fields: Any) -> Envelope:
    trace = {"url": f"https://delve.example/{rkey}", "quote": "the ferry runs at dawn"}
    return move(who, rkey, "ask", **{"action": "fetch", "prompt": PROMPT.uri, "trace": trace, **fields})


def strike(rkey: str, subject: Envelope) -> Envelope:
    return move(GM, rkey, "strike", subject=subject.uri, why="no")


def release(rkey: str, subject: Envelope) -> Envelope:
    return move(GM, rkey, "rule", subject=subject.uri, answer="allow")


def sheet(who: Signer) -> Envelope:
    value = {
        "game": GAME,
        "name": "N",
        "look": "grey coat",
        "drive": "finish it",
        "dots": DOTS,
        "abilities": [],
    }
    return sign_record(who, GAME, SHEET, "self", value)


TODAY = datetime.now(UTC).date()
PROMPT = move(GM, "p1", "prompt", from_=TODAY.isoformat(), to=(TODAY + timedelta(days=1)).isoformat())
LAMPS = sign_record(
    ANN,
    GAME,
    CREW,
    "lamps",
    {"game": GAME, "name": "Lamps", "sheets": [each.did for each in (ANN, BOB, CAT)]},
)


class Town:
    """The town, its nodes and whoever plays in it."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.nodes: list[Node] = []
        self._running: list[Supervisor] = []

    async def open(self, beacon: dict[str, Any] | None = None, shift: int = 0, **rules: Any) -> None:
        """Make both nodes and start all their services; `shift`: by how much (µs) the lister's clock is off."""
        lister = self.world.make_node("alma", config=CONFIG.format(name="alma", role='role = "lister"'))
        role = f'role = "follower"\nlister = "{lister.did}"\n[[games.peers]]\ndid = "{lister.did}"'
        guest = self.world.make_node("bela", config=CONFIG.format(name="bela", role=role))
        path = lister.folder / "weighbridge.toml"
        path.write_text(
            f'{path.read_text()}\n[[games.peers]]\ndid = "{guest.did}"\n[games.source]\nroot = "root.json"\n'
        )
        policy = {"dids": [lister.did, guest.did], "quorum": 2}
        fixed = {"chain": chain_value(LOCAL.chain), "margin": MARGIN} if beacon is None else beacon
        value = {"gm": GM.did, "lister": lister.did, "policy": policy, "beacon": fixed, "rules": rules}
        first = sign_record(GM, None, "town.delve.root", "one", value)
        (lister.folder / "root.json").write_text(json.dumps(envelope_to_json(first)))
        (host,) = self.world.use_broker_of(lister, [guest])[:1]
        await self.world.start(host)
        self.nodes = [host, self.world.point_to_broker(guest)]
        if shift:
            self.nodes[0]._clock = Shifted(shift)
        for node in self.nodes:
            await self.world.bus(node, "looking-on")
        for node in self.nodes:
            supervisor = Supervisor(node, SERVICES, whole=False)
            self._running.append(supervisor)
            await supervisor.start()

    async def people(self) -> None:
        """Let three players join a crew, and the GM open a prompt."""
        joins = [move(who, "j", "join", crew=LAMPS.uri) for who in (ANN, BOB, CAT)]
        await self.submit(*(sheet(who) for who in (ANN, BOB, CAT)), LAMPS, *joins, PROMPT)

    async def close(self) -> None:
        for supervisor in self._running:
            await supervisor.stop()

    # --- doing ---------------------------------------------------------------------------------------------

    async def submit(self, *envelopes: Envelope) -> list[dict[str, Any]]:
        """Hand records in at the lister, one after the other, and return the answers."""
        bus, subjects = self.world.buses[0], self.nodes[0].subjects(GAME)
        found: list[dict[str, Any]] = []
        for envelope in envelopes:
            answers = asyncio.Queue[bytes]()
            inbox = bus.nc.new_inbox()

            async def take(message: Any, answers: asyncio.Queue[bytes] = answers) -> None:
                answers.put_nowait(message.data)

            subscription = await bus.nc.subscribe(inbox, cb=take)
            data = encode_envelope(envelope)
            await bus.put(subjects.submit(str(Cid.of(data))), data, {ANSWER: inbox})
            answer: Any = codec.decode(await asyncio.wait_for(answers.get(), PATIENCE))
            while "unavailable" in answer:
                answer = codec.decode(await asyncio.wait_for(answers.get(), PATIENCE))
            found.append(answer)
            await subscription.unsubscribe()
        return found

    async def rule(self, envelope: Envelope) -> dict[str, Any]:
        """Hand a ruling to the lister's desk."""
        return await self.rpc("rule", envelope=encode_envelope(envelope))  # type: ignore[no-any-return]

    # --- looking -------------------------------------------------------------------------------------------

    async def rpc(self, name: str, number: int = 0, **asked: Any) -> Any:
        """Ask a node's service, which may be starting still."""
        subjects = self.nodes[number].subjects(GAME)

        async def answer() -> bytes:
            try:
                return await self.world.buses[number].ask(subjects.rpc(name), codec.encode(asked))
            except NobodyAnswers:
                return b""

        return codec.decode(await until_async(answer))

    async def cell(self, key: str) -> Any:
        """Return a cell, the same on both nodes once both have folded the same; wait for that."""

        async def alike() -> tuple[Any] | None:
            one, other = [await self.rpc("cell", number, key=key) for number in (0, 1)]
            if one["value"] != other["value"]:
                return None
            return (None if one["value"] is None else codec.decode(one["value"]),)

        return (await until_async(alike, what=f"the same {key} on both nodes"))[0]

    async def act(self, envelope: Envelope) -> dict[str, Any]:
        """Return an ask's cell."""
        found = await self.cell(f"ask/{envelope.author}:{envelope.rkey}")
        return found or {}

    async def until_act(self, envelope: Envelope, **facts: Any) -> dict[str, Any]:
        """Wait until an ask's cell says so on both nodes."""

        async def there() -> dict[str, Any] | None:
            found = await self.act(envelope)
            return found if all(found.get(name) == value for name, value in facts.items()) else None

        return await until_async(there, what=f"{envelope.rkey}: {facts}")  # type: ignore[return-value]

    async def reports(self, uri: str) -> list[str]:
        """Return the codes that stand on a record."""
        return sorted(await self.cell(f"_/report/{place_of(uri)}") or {})

    async def until_reports(self, uri: str, *codes: str) -> None:
        """Wait until these codes stand on a record, on both nodes, and no others."""

        async def there() -> bool:
            return await self.reports(uri) == sorted(codes)

        await until_async(there, what=f"{uri}: {codes}")

    async def pending(self, envelope: Envelope) -> dict[str, Any] | None:
        """Return what an ask awaits, as the follower's fold has it."""
        status = await self.rpc("status", 1)
        return next((each for each in status["pending"] if each["uri"] == envelope.uri), None)

    async def statements(self, number: int) -> list[Statement]:
        """Return the statements that a node has published."""
        node, bus = self.nodes[number], self.world.buses[number]
        subjects, stream = node.subjects(GAME), node.subjects(GAME).stream("RECORDS")
        state, found = (await bus.js.stream_info(stream)).state, list[Statement]()
        for sequence in range(max(1, state.first_seq), state.last_seq + 1):
            message = await bus.js.get_msg(stream, sequence)
            if str(message.subject).startswith(f"{subjects.prefix}.statement."):
                own = node.operator_record(GAME)
                found.append(open_statement(message.data or b"", GAME, own).statement)
        return found
