"""The demo from beginning to end: five nodes made, started, watched and stopped; what they came to, checked."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, Final, NamedTuple

from weighbridge.cid import Cid
from weighbridge.contract import RuleSet
from weighbridge.identity import lint
from weighbridge.plugins import Plugins

from weighbridge_services.broker import url_of
from weighbridge_services.demo import nodes
from weighbridge_services.demo.caught import Caught, evidence_of
from weighbridge_services.demo.checking import Checked, check
from weighbridge_services.demo.crooked import CHANGE, environment, tamper
from weighbridge_services.demo.errors import DemoStuck, DemoUntrue
from weighbridge_services.demo.nodes import CROOK, FOLLOWERS, LISTER, RULESET, Operators
from weighbridge_services.demo.processes import LOG, Processes, broker_of
from weighbridge_services.demo.progress import Shown
from weighbridge_services.demo.season import GAME, Given, Season, lines
from weighbridge_services.demo.story import tell
from weighbridge_services.demo.watching import Watch
from weighbridge_services.ending import undisturbed
from weighbridge_services.folding.statements import Statement
from weighbridge_services.inspecting import declared
from weighbridge_services.wire import Bus

STUCK_AFTER: Final = 40.0
"""Seconds without anything new after which the demo gives up."""
LINE_TIMEOUT: Final = 30
"""Seconds that the recording waits for receipts or a beacon before it goes on without."""
LOOK: Final = 0.25


class Agreed(NamedTuple):
    """What a quorum signed: the statement, the lister's checkpoint over the same entries, and who signed."""

    statement: Statement
    note: bytes
    operators: list[str]


class Outcome(NamedTuple):
    """All that the demo showed. `named`: the operators of the policy; `rejected`: what the lister did not list."""

    operators: Operators
    season: Season
    agreed: Agreed
    caught: Caught
    checked: Checked
    rejected: list[dict[str, Any]]
    seconds: float


def rules() -> tuple[RuleSet, Cid]:
    """Return the rule set of the demo and its pin. Raises what `Plugins` raises where it is not installed."""
    plugins = Plugins({"weighbridge.rulesets": [RULESET]})
    return plugins.ruleset(RULESET), plugins.pin(RULESET)


async def play(folder: Path) -> Outcome:
    """Play the season on nodes in a folder. Raises DemoStuck or DemoUntrue if it does not go as it should."""
    ruleset, pin = rules()
    operators = nodes.create(folder, (LISTER, *FOLLOWERS, CROOK))
    season = tell(operators.kernel(pin), [operators.record_of(CROOK)])
    total = sum(isinstance(item, Given) for item in season.items)
    processes = Processes()
    with Shown(total) as shown:
        try:
            return await _play(operators, season, processes, shown, ruleset, pin)
        finally:
            shown.doing("stopping the nodes")
            await undisturbed(processes.stop())


async def _play(
    operators: Operators, season: Season, processes: Processes, shown: Shown, ruleset: RuleSet, pin: Cid
) -> Outcome:
    _refuse_weak(operators.policy())
    await _start(operators, season, processes, shown)
    watch = Watch(operators, shown.heard)
    bus = Bus.connect(operators.lister, "demo")
    await bus.start()
    try:
        watch.follow(bus)
        agreed = await _agreement(operators, season, processes, watch, shown)
        caught = await _caught(operators, processes, watch, shown)
    finally:
        await undisturbed(bus.stop())
    shown.doing("checking every signature, beacon and die again")
    checked = _check(operators, watch, agreed, ruleset, pin)
    shown.say(
        f"checked again from the log: {len(checked.listed)} entries, {len(checked.rolls)} rolls, {checked.dice} dice"
    )
    return Outcome(operators, season, agreed, caught, checked, watch.rejected, shown.seconds)


def _refuse_weak(policy: object) -> None:
    """Raise DemoUntrue if the linter has a word to say about the policy."""
    _, remarks = lint(policy)
    if remarks:
        raise DemoUntrue(f"the demo's policy is not sound: {remarks[0].path}: {remarks[0].says}")


async def _start(operators: Operators, season: Season, processes: Processes, shown: Shown) -> None:
    setup = nodes.recorded(operators.folder)
    nodes.configure_lister(operators, setup)
    recording = "".join(lines(season.items, LINE_TIMEOUT))
    (operators.lister.folder / setup.source["file"]).write_text(recording, encoding="utf-8")
    changed = operators.folder / f"{CROOK}-rules"
    tamper(changed)
    shown.say(
        f"five nodes, each with its own keys: {LISTER} lists, {', '.join(FOLLOWERS)} and {CROOK} follow"
    )
    shown.doing(f"starting {LISTER} and its broker")
    await processes.start(operators.lister)
    await broker_of(operators.lister, processes)
    await declared(operators.lister)
    nodes.configure_guests(operators, setup, url_of(operators.lister))
    shown.doing(f"starting {', '.join(FOLLOWERS)} and {CROOK}")
    for name in operators.guests:
        await processes.start(operators.nodes[name], environment(changed) if name == CROOK else None)
    shown.say(f"all started; in {CROOK}'s copy of the rules {CHANGE.says}")


async def _agreement(
    operators: Operators, season: Season, processes: Processes, watch: Watch, shown: Shown
) -> Agreed:
    last = [item.envelope.uri for item in season.items if isinstance(item, Given)][-1]
    named = operators.named
    patience = _Patience(operators, processes, watch)
    wanted = len(named)
    while True:
        place = watch.places.get(last)
        found = None if place is None else watch.agreement(place + 1, named, wanted)
        if found is not None and found[0].size in watch.notes:
            break
        if place is not None and patience.idle > 5.0:
            wanted = operators.quorum
        await patience.wait()
    shown.end_day()
    statement, who = found
    names = ", ".join(operators.name_of(did) for did in who)
    shown.say(f"{len(who)} of {len(named)} cosigned one transcript of {statement.size} leaves: {names}")
    return Agreed(statement, watch.notes[statement.size], who)


async def _caught(operators: Operators, processes: Processes, watch: Watch, shown: Shown) -> Caught:
    shown.doing(f"comparing {CROOK} with the others")
    crook = operators.nodes[CROOK].did
    patience = _Patience(operators, processes, watch)
    while True:
        for found in watch.divergences:
            if found.about == crook and found.by in operators.named and found.evidence is not None:
                caught = evidence_of(operators.nodes[operators.name_of(found.by)].folder, found)
                if caught is not None:
                    shown.say(f"{CROOK} is caught by {operators.name_of(found.by)}, at entry {caught.entry}")
                    return caught
        await patience.wait()


class _Patience:
    """Waits for something new, and gives up when a node has ended or nothing comes."""

    def __init__(self, operators: Operators, processes: Processes, watch: Watch) -> None:
        self._operators, self._processes, self._watch = operators, processes, watch
        self._since = time.monotonic()
        self._size = -1

    @property
    def idle(self) -> float:
        """Seconds since something came."""
        return time.monotonic() - self._since

    async def wait(self) -> None:
        self._processes.refuse_ended(self._operators.folder)
        await self._watch.wait(LOOK)
        watch = self._watch
        size = len(watch.messages) + len(watch.ok) + len(watch.divergences) + len(watch.disagreed)
        if size != self._size:
            self._size, self._since = size, time.monotonic()
        elif self.idle > STUCK_AFTER:
            raise DemoStuck(
                f"nothing new for {STUCK_AFTER:.0f} s, after {len(watch.messages)} entries; what each node says is in"
                f" its {LOG}: run with --keep DIR to look at them"
            )


def _check(operators: Operators, watch: Watch, agreed: Agreed, ruleset: RuleSet, pin: Cid) -> Checked:
    key = operators.lister.operator_record(GAME).log
    checked = check(watch.messages, agreed.note, key, ruleset, str(pin))
    told = (checked.fold.origin, checked.fold.transcript.size, checked.fold.transcript.root())
    if told != (agreed.statement.origin, agreed.statement.size, agreed.statement.root):
        raise DemoUntrue(
            f"folding the log again gives {told[1]} leaves with root {told[2].hex()}, and the operators signed"
            f" {agreed.statement.size} with root {agreed.statement.root.hex()}"
        )
    return checked
