"""`demo --live`: a table of bots that plays now, on four nodes, with the dice of a chain of its own, until Ctrl-C."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
from weighbridge import codec
from weighbridge.chain import chain_value
from weighbridge.cid import Cid
from weighbridge.contract import View
from weighbridge.errors import Unavailable
from weighbridge.identity import Envelope, encode_envelope, envelope_to_json, sign_record
from weighbridge.local_chain import LocalChain

from weighbridge_services.broker import url_of
from weighbridge_services.demo import nodes
from weighbridge_services.demo.cast import GM, LANE, PLAYERS, ROW, Player, signer
from weighbridge_services.demo.driver import rules
from weighbridge_services.demo.errors import DemoStuck
from weighbridge_services.demo.nodes import FOLLOWERS, LISTER, Operators, Setup
from weighbridge_services.demo.processes import Processes, broker_of
from weighbridge_services.demo.story import rules as town
from weighbridge_services.ending import undisturbed
from weighbridge_services.inspecting import declared
from weighbridge_services.submitting import Place, submit
from weighbridge_services.wire import Bus
from weighbridge_services.wire.login import Login

SEED: Final = b"weighbridge demo: a chain whose dice everybody can know in advance"
PERIOD: Final = 3
MARGIN: Final = 3
ROLL_WITHIN: Final = 30.0
PAUSE: Final = 1.0
"""Seconds between one act and the next: a table that can be read along."""
PAGE: Final = "https://delve.example/live"
DONE: Final = ("rolled", "untimely", "refused", "void", "unwitnessed")
PROMPT_DAYS: Final = 7
Say = Callable[[str], None]


class Played(NamedTuple):
    """What was played until somebody had enough: the board, the log's size, and the rolls."""

    view: View | None
    size: int
    rolls: int


async def play_live(folder: Path, say: Say) -> Played:
    """Play until cancelled; return the board as it stands then."""
    operators = nodes.create(folder, (LISTER, *FOLLOWERS))
    processes = Processes()
    try:
        return await _play(operators, processes, say)
    finally:
        await undisturbed(processes.stop())


async def _play(operators: Operators, processes: Processes, say: Say) -> Played:
    _, pin = rules()
    local = LocalChain(SEED, int(time.time()) - 60, PERIOD)
    game = f"at://{signer(GM).did}/town.delve.root/live-{local.chain.genesis}"
    await _start(operators, processes, game, local, pin)
    bus = Bus.connect(operators.lister, "demo")
    await bus.start()
    table = _Table(operators, bus, game, processes, say)
    try:
        await table.open()
        await table.play()
    except asyncio.CancelledError:
        return await undisturbed(table.board())
    finally:
        await undisturbed(bus.stop())
    return Played(None, 0, 0)


async def _start(operators: Operators, processes: Processes, game: str, local: LocalChain, pin: Cid) -> None:
    settings = {"seed": SEED.hex(), "genesis": local.chain.genesis, "period": PERIOD}
    setup = Setup(game, "system", ("local", settings), {"root": "root.json"})
    beacon = {"chain": chain_value(local.chain), "margin": MARGIN}
    per_day = {"perDay": {"action": 1000, "between": 1000}}
    value = {"gm": signer(GM).did, "rules": town() | per_day, "beacon": beacon, **operators.kernel(pin)}
    root = sign_record(signer(GM), None, "town.delve.root", game.rpartition("/")[2], value)
    nodes.configure_lister(operators, setup)
    (operators.lister.folder / "root.json").write_text(json.dumps(envelope_to_json(root)), encoding="utf-8")
    await processes.start(operators.lister)
    await broker_of(operators.lister, processes)
    await declared(operators.lister)
    nodes.configure_guests(operators, setup, url_of(operators.lister))
    for name in operators.guests:
        await processes.start(operators.nodes[name])


class _Table:
    """The bots and their GM."""

    def __init__(self, operators: Operators, bus: Bus, game: str, processes: Processes, say: Say) -> None:
        self._bus, self._game, self._processes, self._say = bus, game, processes, say
        self._operators = operators
        self._own = operators.lister.subjects(game)
        self._place = Place(Login.of(operators.lister), self._own)
        self._prompt = ""
        self._until = datetime.now(UTC)
        self._number = count(1)
        self._rolls = 0

    # --- records -------------------------------------------------------------------------------------------

    async def open(self) -> None:
        """Seven sheets, two crews."""
        for player in PLAYERS:
            await self._put(
                player.key, "sheet", name=player.name, look=player.look, drive=player.drive, dots=player.dots,
                abilities=[player.ability],
            )  # fmt: skip
        for name, members in (("Lantern Row", ROW), ("Ferry Lane", LANE)):
            sheets = [signer(member).did for member in members]
            crew = await self._put(members[0], "crew", name=name, sheets=sheets)
            for member in members:
                await self._move(member, "join", crew=crew.uri)
        self._say(f"{len(PLAYERS)} players sit down at {self._game}")

    async def _put(self, by: str, what: str, **value: Any) -> Envelope:
        envelope, _ = await self._listed(by, what, value)
        return envelope

    async def _move(self, by: str, kind: str, **value: Any) -> tuple[Envelope, dict[str, Any]]:
        return await self._listed(by, "move", {"kind": kind, **value})

    async def _listed(self, by: str, what: str, value: dict[str, Any]) -> tuple[Envelope, dict[str, Any]]:
        self._processes.refuse_ended(self._operators.folder)
        key = f"{what}-{next(self._number)}"
        filled = {"game": self._game, **value}
        envelope = sign_record(signer(by), self._game, f"town.delve.{what}", key, filled)
        async for answer in submit(self._place, [encode_envelope(envelope)], ROLL_WITHIN):
            if "listed" not in answer:
                raise DemoStuck(f"{envelope.uri} is not listed: {answer.get('says')}")
            return envelope, answer
        raise DemoStuck(f"{envelope.uri} was handed in, and nobody answers")

    # --- playing -------------------------------------------------------------------------------------------

    async def play(self) -> None:
        """Play, one act after the other, without end."""
        for number in count():
            await self._see_to_prompt()
            await self._act(PLAYERS[number % len(PLAYERS)], number)
            await asyncio.sleep(PAUSE)

    async def _see_to_prompt(self) -> None:
        if self._prompt and datetime.now(UTC) < self._until:
            return
        first = datetime.now(UTC).date()
        last = first + timedelta(days=PROMPT_DAYS)
        target = {"place": "ferry-lane"}
        clock = {"name": "The tide ledger", "size": 8, "kind": "faction"}
        fields = {"from": first.isoformat(), "to": last.isoformat(), "target": target, "clock": clock}
        prompt, _ = await self._move(GM, "prompt", **fields)
        self._prompt, self._until = prompt.uri, datetime(last.year, last.month, last.day, tzinfo=UTC)
        self._say("the GM opens a score at Ferry Lane")

    async def _act(self, player: Player, number: int) -> None:
        actions = sorted(player.dots)
        action = actions[number // len(PLAYERS) % len(actions)]
        ask, answer = await self._move(
            player.key, "ask", action=action, prompt=self._prompt, trace=trace_of(action, number)
        )
        self._say(
            f"{player.name} asks: {action}. Listed as {answer['listed']}, and rolls on round {answer['round']}"
            f" of {answer['chain']}"
        )
        cell = await self._rolled(ask)
        if cell.get("dice"):
            self._rolls += 1
            dice = " ".join(str(face) for face in cell["dice"])
            self._say(f"    {dice} → {'crit' if cell['crit'] else cell['result']}, {cell['position']}")
        if cell.get("status") == "rolled" and cell["result"] != "clean":
            await self._pick(ask, number)

    async def _rolled(self, ask: Envelope) -> dict[str, Any]:
        key = f"ask/{ask.author}:{ask.rkey}"
        deadline = time.monotonic() + ROLL_WITHIN
        while time.monotonic() < deadline:
            answer: Any = codec.decode(await self._bus.ask(self._own.rpc("cell"), codec.encode({"key": key})))
            cell: Any = codec.decode(answer["value"]) if answer["value"] is not None else {}
            if cell.get("status") in DONE:
                return dict(cell)
            await asyncio.sleep(0.1)
        return {}

    async def _pick(self, ask: Envelope, number: int) -> None:
        status: Any = codec.decode(
            await self._bus.ask(self._own.rpc("me"), codec.encode({"did": ask.author}))
        )
        for question in status["questions"]:
            if question["about"] == ask.uri and question["kind"] == "consequence":
                pick = question["options"][number % len(question["options"])]
                await self._move(GM, "consequence", ask=ask.uri, pick=pick)
                self._say(f"    the GM picks {pick}")

    # --- the end -------------------------------------------------------------------------------------------

    async def board(self) -> Played:
        """Return the board as it stands; without one if the fold does not answer any more."""
        try:
            answer: Any = codec.decode(await self._bus.ask(self._own.rpc("view"), codec.encode({})))
        except Unavailable:
            return Played(None, 0, self._rolls)
        return Played(msgspec.convert(answer["view"], View), int(answer["size"]), self._rolls)


def trace_of(action: str, number: int) -> dict[str, Any]:
    """Return a trace of the form that an action asks for."""
    page = f"{PAGE}/{number}"
    forms: dict[str, dict[str, Any]] = {
        "fetch": {"url": page, "quote": "as it says there"},
        "trace": {"uris": [f"at://{signer(GM).did}/town.delve.move/{number}"]},
        "reckon": {"number": number, "method": page},
        "audit": {"claim": page, "check": f"{page}/check"},
        "build": {"made": page},
        "draw": {"image": page},
        "mend": {"before": f"{page}/before", "after": f"{page}/after"},
        "keep": {"url": page},
        "sway": {"post": page, "reply": f"{page}/reply"},
        "vouch": {"vouchFor": page},
        "bargain": {"offer": page, "acceptance": f"{page}/yes"},
        "convene": {"thread": page},
    }
    return forms[action]
