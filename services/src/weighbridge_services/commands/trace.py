"""`weighbridge trace`: the word of a person on what records point at."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from weighbridge.errors import Refused

from weighbridge_services.commands import Subparsers, group_of, parser_of
from weighbridge_services.output import clean

SAY_TEXT = """For operators who judge traces by hand: the node's configuration names the tracer "dictated" under
[plugins]. SUBJECT is the record's at-uri, record key or CID; the last word on it counts, until it is reported. The
node need not run."""
WORDS: Final = ("ok", "unresolved", "unavailable")


class NotDictated(Refused):
    """The node's configuration does not name the tracer that says what is dictated."""

    code = "not-dictated"


def register(subparsers: Subparsers) -> None:
    """Add the commands."""
    group = group_of(subparsers, "trace", "say what records point at")
    parser = parser_of(group, "say", "dictate the word on a record's trace", SAY_TEXT)
    parser.add_argument("subject", metavar="SUBJECT")
    parser.add_argument("verdict", metavar="VERDICT", choices=WORDS, help=", ".join(WORDS))
    parser.add_argument("--node", metavar="DIR", type=Path, required=True, help="the node's folder")
    parser.add_argument("--game", metavar="AT-URI", help="the game; a node with one game needs none")
    parser.add_argument("--dated", metavar="TIME", help="when what it points at was made (RFC 3339, UTC)")
    parser.add_argument("--detail", metavar="TEXT", help="a line for people")
    parser.set_defaults(run=say)


def say(args: argparse.Namespace) -> int:
    """Run `trace say`."""
    from weighbridge_services.commands._dicing import parse_time  # noqa: PLC0415 - the list needs none of it
    from weighbridge_services.commands._games import game_in  # noqa: PLC0415
    from weighbridge_services.node import Node  # noqa: PLC0415
    from weighbridge_services.trace_checker.tracers import dictated  # noqa: PLC0415

    node = Node.open(args.node)
    game = game_in(node, args.game)
    if "dictated" not in node.config.plugins.tracers:
        raise NotDictated(
            f'{args.node}/weighbridge.toml does not have "dictated" in plugins.tracers; add it there'
        )
    path, _ = dictated.settings_of(game.traces.get("dictated", {}), str(node.folder))
    dated = None if args.dated is None else parse_time(args.dated)
    dictated.say(path, dictated.Line(args.subject, args.verdict, dated, args.detail))
    print(clean(f"{args.subject}: {args.verdict}, in {path}"))
    return 0
