"""`weighbridge explain`: why a cell is as it is."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from weighbridge_services.commands import Subparsers, parser_of
from weighbridge_services.output import clean, say_json

TEXT = """CELL is a cell's key, such as crew/did:plc:ann:lamps; in a scenario its names will do (crew/id:lamps). Every
entry that changed it is told, with what it changed, the rule set's own words for why, and what was reported on the
record. --log reads a log or a scenario and needs no node; --node reads the ledger of a node, which may run.

Exit code 0: the cell has a history; 1: nothing ever stood there."""


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = parser_of(subparsers, "explain", "tell why a cell is as it is", TEXT)
    parser.add_argument("cell", metavar="CELL")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--log", metavar="FILE", type=Path, help="a log (CAR or JSONL), or a scenario file")
    where.add_argument("--node", metavar="DIR", type=Path, help="a node's folder")
    parser.add_argument("--game", metavar="AT-URI", help="the game; a node with one game needs none")
    parser.add_argument("--ruleset", metavar="NAME", help="the rule set, where a log's root names none")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=explain)


def explain(args: argparse.Namespace) -> int:
    """Run the command."""
    told = _in_log(args) if args.log is not None else _in_node(args)
    if args.json:
        from weighbridge_services.trying import plain  # noqa: PLC0415

        say_json(plain(told))
    else:
        for line in lines(told):
            print(clean(line))
    return 0 if told["changes"] else 1


def _in_log(args: argparse.Namespace) -> dict[str, Any]:
    from weighbridge.changes import history, reports_on  # noqa: PLC0415 - the list of commands needs none of it

    from weighbridge_services.outcome import chain_label  # noqa: PLC0415
    from weighbridge_services.standing import standing  # noqa: PLC0415

    with standing(args.log, args.ruleset) as game:
        key, fold = game.names.key(args.cell), game.fold
        found = history(fold, game.entries, key)
        changes = [
            {
                **_entry(moment.listed.entry),
                "before": _value(moment.before), "after": _value(moment.after), "says": list(moment.says),
                "reports": reports_on(fold.world.cells.value, moment.listed.entry.uri),
            }
            for moment in found.moments
        ]  # fmt: skip
        told = {"key": key, "changes": changes, "left_out": found.left_out, "size": fold.size}
        return told | {"chain": chain_label(fold)}


def _entry(entry: Any) -> dict[str, Any]:
    return {name: getattr(entry, name) for name in ("seq", "at", "op", "uri", "author")}


def _in_node(args: argparse.Namespace) -> dict[str, Any]:
    from weighbridge_services.commands._games import game_in  # noqa: PLC0415
    from weighbridge_services.folding.chains import label_of  # noqa: PLC0415
    from weighbridge_services.folding.explaining import explain as explained  # noqa: PLC0415
    from weighbridge_services.folding.reading import read_ledger  # noqa: PLC0415
    from weighbridge_services.folding.store import LEDGER, FoldStore  # noqa: PLC0415
    from weighbridge_services.node import Node  # noqa: PLC0415

    node = Node.open(args.node)
    game = game_in(node, args.game)
    with read_ledger(args.node / "ledger" / f"{LEDGER}.db") as ledger:
        store = FoldStore(ledger, game.uri)
        told: dict[str, Any] = explained(store, args.cell, node.ruleset(game)) | {"chain": label_of(store)}
    for change in told["changes"]:
        change |= {name: _value(change[name]) for name in ("before", "after")}
        del change["record"]
    return told


def _value(data: bytes | None) -> Any:
    from weighbridge.codec import decode_own  # noqa: PLC0415

    return None if data is None else decode_own(data)


def lines(told: dict[str, Any]) -> Iterator[str]:
    """Yield a cell's history for a person."""
    from weighbridge.changes import differences  # noqa: PLC0415

    from weighbridge_services.commands.log import time_of  # noqa: PLC0415
    from weighbridge_services.trying import shown  # noqa: PLC0415

    dice = "" if told["chain"] is None else f"; the game's dice are of {told['chain']}"
    yield f"{told['key']}, after {told['size']} entries{dice}"
    if not told["changes"]:
        yield "nothing ever stood there"
        return
    if told["left_out"]:
        yield f"{told['left_out']} older changes are not told"
    for change in told["changes"]:
        yield ""
        yield f"entry {change['seq']}  {time_of(change['at'])}  {change['op']} {change['uri'] or ''}".rstrip()
        if change["after"] is None:
            yield "  the cell is gone"
        for path, before, after in differences(change["before"], change["after"]) if change["after"] else ():
            was = "" if change["before"] is None else f"{shown(before)} → "
            yield f"  {path}: {was}{shown(after)}" if path else f"  {was}{shown(after)}"
        yield from (f"  · {sentence}" for sentence in change["says"])
        yield from (f"  report {code}: {says}" for code, says in sorted(change["reports"].items()))
