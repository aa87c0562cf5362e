"""`weighbridge demo`: a recorded season on five nodes of this machine, one of which is wrong, and the board."""

from __future__ import annotations

import argparse
from pathlib import Path

from weighbridge_services.commands import Subparsers, parser_of

TEXT = """Seven players, 59 asks, eleven days of 2023 whose dice come from real beacons of the League of Entropy. One
operator lists the game, three more follow, verify, fold and cosign, each a process with its own keys and
ledger on one broker; a fifth runs rules with one constant changed and is caught. Everything is checked once
more from the log before anything is claimed. Exit code 0: all of it held; nothing is left running, and
without --keep nothing is left on disk."""


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = parser_of(
        subparsers, "demo", "watch five operators recompute one game, one of them wrongly", TEXT
    )
    parser.add_argument("--keep", metavar="DIR", type=Path, help="leave the nodes and the game's log there")
    parser.add_argument("--json", action="store_true", help="print what was shown as JSON")
    parser.add_argument(
        "--live", action="store_true", help="a small table that plays now, until Ctrl-C, with a local chain"
    )
    parser.set_defaults(run=demo)


def demo(args: argparse.Namespace) -> int:
    """Run `demo`."""
    from weighbridge_services.demo.running import run, run_live  # noqa: PLC0415 - the list of commands needs none of it

    return run_live(args.keep, json=args.json) if args.live else run(args.keep, json=args.json)
