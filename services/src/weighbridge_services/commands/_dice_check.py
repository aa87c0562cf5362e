"""`weighbridge dice check`: the whole chain of reasoning behind one record's dice, from its game's log."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from weighbridge.chain import SECOND, chain_value
from weighbridge.fold import Fold, Step
from weighbridge.log.entries import Listed
from weighbridge.reasoning import PurposeDice, Reasoning, RecordNotInLog, explain
from weighbridge.scenario import Scenario, load, run

from weighbridge_services.commands import Subparsers, parser_of
from weighbridge_services.commands import _dicing as dicing
from weighbridge_services.installed import attachments_for, rules_of, ruleset_named
from weighbridge_services.logs import read_log
from weighbridge_services.output import clean, say_json
from weighbridge_services.standing import is_scenario

CHECK_TEXT = """GAME is the game's log in a file, a scenario file or the folder of a node, which may run; with
--node DIR it is the game's at-uri, and a node with one game needs none. RECORD is the record's at-uri (in a
scenario, its name will do). Everything is worked out anew from the log: the time it was listed at, the
round that this fixes, the beacon and its signature, the randomness, each block of hashes and each die. Exit
code 0: the record has rolled; 1: it still waits."""


def add_check(group: Subparsers) -> None:
    """Add the command."""
    parser = parser_of(group, "check", "tell why a record's dice are what they are", CHECK_TEXT)
    parser.add_argument("game", metavar="GAME", nargs="?")
    parser.add_argument("record", metavar="RECORD")
    parser.add_argument("--node", metavar="DIR", type=Path, help="read the game from this node's ledger")
    parser.add_argument("--ruleset", metavar="NAME", help="the rule set, where a log's root names none")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=check, usage=parser.error)


def check(args: argparse.Namespace) -> int:
    """Run `dice check`."""
    if args.game is None and args.node is None:
        args.usage("name the game: a log, a scenario, a node's folder, or --node DIR")
    told = _told(args)
    if args.json:
        say_json(_plain(told))
    else:
        print("\n".join(clean(line) for line in _lines(told)))
    return 0 if told.dice else 1


def _plain(told: Reasoning) -> dict[str, Any]:
    return {
        "game": told.game,
        "record": told.uri,
        "cid": told.cid,
        "seq": told.seq,
        "at": dicing.shown_time(told.at),
        "chain": told.chain.label,
        "chainNamed": chain_value(told.chain),
        "margin": told.margin,
        "round": told.round,
        "due": None if told.due is None else dicing.shown_time(told.due * SECOND),
        "beacon": told.beacon,
        "signature": None if told.signature is None else told.signature.hex(),
        "randomness": None if told.randomness is None else told.randomness.hex(),
        "roll": told.roll,
        "purposes": list(told.purposes),
        "dice": [_plain_purpose(each) for each in told.dice],
    }


def _plain_purpose(dice: PurposeDice) -> dict[str, Any]:
    return {
        "purpose": dice.purpose,
        "sealed": dice.sealed,
        "randomness": None if dice.randomness is None else dice.randomness.hex(),
        "blocks": [block.hex() for block in dice.blocks],
        "dice": [{"sides": sides, "face": face} for sides, face in dice.draws],
    }


def _lines(told: Reasoning) -> Iterator[str]:
    yield f"record      {told.uri}"
    yield f"            {told.cid}"
    yield f"listed      {dicing.shown_time(told.at)}, entry {told.seq} of {told.game}"
    yield f"awaits dice {', '.join(told.purposes)}"
    if told.round is None or told.due is None:
        yield "round       not fixed yet: the record's trace has not settled"
        return
    due = dicing.shown_time(told.due * SECOND)
    yield f"round       {told.round} of {told.chain.label}, due {due}: the first after {told.margin} s"
    if told.chain.private:
        yield f"            chain {told.chain.hash}: whoever has its key knew the dice"
    if told.signature is not None and told.randomness is not None:
        yield f"signature   {told.signature.hex()}"
        yield f"            verified under the chain's key; listed as {told.beacon}"
        yield f"randomness  {told.randomness.hex()}, the SHA-256 of the signature"
    yield f"roll        {told.roll or 'not decided yet'}"
    for dice in told.dice:
        yield from _purpose_lines(dice)
    if not told.dice:
        yield "dice        none drawn yet"


def _purpose_lines(dice: PurposeDice) -> Iterator[str]:
    yield f"dice        for {dice.purpose!r}{_made_of(dice)}"
    for c, block in enumerate(dice.blocks):
        yield f"  block {c}   {block.hex()}"
    for sides, face in dice.draws:
        yield f"  d{sides}: {face}"


def _made_of(dice: PurposeDice) -> str:
    if dice.randomness is None:
        return ", given by the scenario"
    return f", from the beacon with an opened seal: {dice.randomness.hex()}" if dice.sealed else ""


def _told(args: argparse.Namespace) -> Reasoning:
    if args.node is not None:
        return _of_node(args.node, args.game, args.record)
    path = Path(args.game)
    if path.is_dir():
        return _of_node(path, None, args.record)
    return _of_scenario(load(path.read_bytes()), args.record) if is_scenario(path) else _of_log(path, args)


def _of_log(path: Path, args: argparse.Namespace) -> Reasoning:
    entries = read_log(path, "dice check")
    first = next(entries, None)
    if first is None:
        raise RecordNotInLog(f"{path} holds no entry, so {args.record} is not among them")
    rules = rules_of(first, args.ruleset)
    return explain(chain([first], entries), uri=args.record, **rules._asdict())


def _of_node(folder: Path, game: str | None, record: str) -> Reasoning:
    # Only here, so that a log or a scenario is looked at without what a node needs.
    from weighbridge_services.commands._games import game_in  # noqa: PLC0415
    from weighbridge_services.folding.reading import read_ledger  # noqa: PLC0415
    from weighbridge_services.folding.replaying import first_value  # noqa: PLC0415
    from weighbridge_services.folding.rulesets import Configured, attacher, resolver  # noqa: PLC0415
    from weighbridge_services.folding.store import LEDGER, FoldStore  # noqa: PLC0415
    from weighbridge_services.node import Node  # noqa: PLC0415

    node = Node.open(folder)
    table = game_in(node, game)
    rulesets = Configured(node.config.plugins.rulesets, table.ruleset)
    with read_ledger(folder / "ledger" / f"{LEDGER}.db") as ledger:
        store = FoldStore(ledger, table.uri)
        root = first_value(store)
        running = rulesets.first(root)
        return explain(
            store.log.entries(0, store.log.size), running.ruleset, record,
            attachments=rulesets.attachments(root), pin=running.pin,
            resolve=resolver(rulesets), attach=attacher(rulesets),
        )  # fmt: skip


def _of_scenario(scenario: Scenario, record: str) -> Reasoning:
    ruleset, attachments = ruleset_named(scenario.ruleset), attachments_for(scenario.root)
    entries: list[Listed] = []

    class Kept(Fold):
        def fold(self, listed: Listed) -> Step:
            entries.append(listed)
            return super().fold(listed)

    result = run(
        scenario,
        ruleset,
        attachments=attachments,
        fold=lambda game: Kept(game, ruleset, scenario=True, attachments=attachments),
    )
    place = result.records.places.get(record)
    uri = record if place is None else place.uri
    return explain(entries, ruleset, uri, attachments=attachments, scenario=True)
