"""Fold a game again in a fresh process and print the root: `python -m weighbridge_services.folding.refold`.

It reads the fold's ledger without its lock, the log in it alone, and whatever rule set is installed now.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from weighbridge.errors import WeighbridgeError

from weighbridge_services.folding.reading import read_ledger
from weighbridge_services.folding.replaying import Moving, Start, from_start, started_at
from weighbridge_services.folding.rulesets import Configured, RuleSets
from weighbridge_services.folding.store import LEDGER, Era, FoldStore
from weighbridge_services.node import Node

BATCH = 256


def refold(store: FoldStore, rulesets: RuleSets, origin: str, size: int) -> bytes:
    """Return the root (32 bytes) of the first `size` leaves of a transcript, folded anew.

    Raises NoSuchLeaf, and what folding raises.
    """
    era = store.era_named(origin)
    moving = Moving(_start(store, rulesets, era))
    end = era.seq_of(size)
    for at in range(moving.fold.size, end, BATCH):
        entries = list(store.log.entries(at, min(at + BATCH, end)))
        moving.fold.prepare(entries)
        for listed in entries:
            moving.step(listed)
    if moving.fold.origin == origin:
        return moving.fold.transcript.root(size)
    return next((root for of, _, root in moving.fold.eras if of == origin), b"")


def _start(store: FoldStore, rulesets: RuleSets, era: Era) -> Start:
    """Return the earliest fold there is of an era: its rule set need not run those before."""
    if not era.start:
        return from_start(store, rulesets)
    sizes = sorted(store.snapshot_sizes(store.folded))
    for size in sizes:
        if store.era_at(size) == era:
            found = started_at(store, rulesets, size)
            if found is not None:
                return found
    return from_start(store, rulesets)


def main(arguments: list[str]) -> int:
    """Run it; print one line of JSON: {"root": hex}, or {"code", "says"}."""
    parser = argparse.ArgumentParser(prog="refold")
    parser.add_argument("--node", type=Path, required=True)
    parser.add_argument("--game", required=True)
    parser.add_argument("--origin", required=True)
    parser.add_argument("--size", type=int, required=True)
    args = parser.parse_args(arguments)
    answer: dict[str, Any]
    try:
        answer = {"root": _root(args).hex()}
    except WeighbridgeError as error:
        answer = {"code": error.code, "says": error.message}
    print(json.dumps(answer))
    return 0


def _root(args: argparse.Namespace) -> bytes:
    node = Node.open(args.node)
    (table,) = [table for table in node.games if table.uri == args.game]
    rulesets = Configured(node.config.plugins.rulesets, table.ruleset)
    with read_ledger(args.node / "ledger" / f"{LEDGER}.db") as ledger:
        return refold(FoldStore(ledger, args.game), rulesets, args.origin, args.size)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
