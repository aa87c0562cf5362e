"""The arguments that the commands share."""

from __future__ import annotations

import argparse
from pathlib import Path

from weighbridge_atproto.resolving import DIRECTORY
from weighbridge_services.for_plugins import Subparsers, parser_of

from weighbridge_atproto_tools.publish import run_publish

TEXT = """FILE holds the record as JSON, as the game's rule set wants it; `game` and `$type` are filled in. It is held
against the rule set's Lexicon first, where that is installed here, and what does not fit is not published.

To a repository of your own: --host (your PDS), --account and --password-file, a file of mode 0600 with an app password.
Without a repository: --key, a file of mode 0600 with 64 hex digits (openssl rand -hex 32). The envelope it signs
is printed, to be handed in at a node with `weighbridge submit`."""


def add_publish(subparsers: Subparsers, name: str, summary: str) -> None:
    """Add a command that publishes: `new` (a root), `move` or `sheet`."""
    parser = parser_of(subparsers, name, summary, TEXT)
    if name == "new":
        parser.add_argument("collection", metavar="NSID", help="the rule set's root collection")
    else:
        parser.add_argument("game", metavar="AT-URI", help="the game's root")
        parser.add_argument(
            "--collection", metavar="NSID", help=f"where it is not the root's collection with .{name}"
        )
    parser.add_argument("file", metavar="FILE", type=Path, help="the record as JSON")
    parser.add_argument(
        "--rkey",
        metavar="KEY",
        default="self" if name == "sheet" else None,
        help="its record key; without it " + ("self" if name == "sheet" else "one made of the time"),
    )
    parser.add_argument("--key", metavar="FILE", type=Path, help="sign an envelope with it, and print that")
    parser.add_argument("--host", metavar="URL", help="the PDS to publish to")
    parser.add_argument("--account", metavar="NAME", help="handle or DID there")
    parser.add_argument("--password-file", metavar="FILE", type=Path, help="its (app) password")
    parser.add_argument(
        "--ruleset", metavar="NAME", help="the rule set, where its root's collection does not tell"
    )
    parser.add_argument(
        "--force", action="store_true", help="publish what does not fit, too, and say what it is"
    )
    add_outward(parser)
    parser.set_defaults(run=run_publish, name=None if name == "new" else name)


def add_outward(parser: argparse.ArgumentParser) -> None:
    """Add what concerns asking others."""
    parser.add_argument("--directory", metavar="URL", default=DIRECTORY, help="the PLC directory")
    parser.add_argument("--development", action="store_true", help="ask loopback addresses as well")
