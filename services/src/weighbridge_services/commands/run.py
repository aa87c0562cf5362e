"""`weighbridge run`: one service of a node, in this process."""

from __future__ import annotations

import argparse
from pathlib import Path

from weighbridge_services.commands import Subparsers, parser_of

TEXT = """The node's broker has to run already (`weighbridge node up`, or a broker of your own), and its
streams to be declared (`weighbridge node streams`). Ctrl-C or SIGTERM stops it in good order."""


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = parser_of(subparsers, "run", "run one service of a node", TEXT)
    parser.add_argument("service", metavar="SERVICE")
    parser.add_argument("--node", metavar="DIR", type=Path, required=True, help="the node's folder")
    parser.set_defaults(run=run_service)


def run_service(args: argparse.Namespace) -> int:
    """Run `run`."""
    from weighbridge_services import journal  # noqa: PLC0415 - the list of commands needs no broker
    from weighbridge_services.node import Node  # noqa: PLC0415
    from weighbridge_services.service import named  # noqa: PLC0415
    from weighbridge_services.supervise import run  # noqa: PLC0415

    named(args.service)
    node = Node.open(args.node)
    journal.set_up(node.config.log)
    return run(node, [args.service], whole=False)
