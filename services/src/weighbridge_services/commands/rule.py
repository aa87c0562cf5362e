"""`weighbridge rule`: answer a question, or hand in a ruling of one's own accord."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path
from typing import Any

from weighbridge_services.commands import Subparsers, parser_of
from weighbridge_services.output import clean, say_json

TEXT = """Makes the record by which the game's rule set answers QUESTION with ANSWER, signs it with the GM's key, and
hands it to the node's desk. The desk tells at once whether it has the form of a ruling; what it does, the table says.
Exit code 0: taken; 2: refused, with the code. A ruling that answers no question, such as a strike, is signed and handed
in with `weighbridge submit FILE --key KEY`."""


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = parser_of(subparsers, "rule", "answer a question on the GM's desk", TEXT)
    parser.add_argument("question", metavar="QUESTION", help="its id, or the beginning of it")
    parser.add_argument("answer", metavar="ANSWER")
    parser.add_argument(
        "--key", metavar="FILE", type=Path, required=True, help="the GM's key: 32 bytes in hex"
    )
    parser.add_argument("--why", metavar="TEXT", help="the reason, for a rule set that keeps one")
    parser.add_argument("--node", metavar="DIR", type=Path, required=True, help="the node's folder")
    parser.add_argument("--game", metavar="AT-URI", help="the game; a node with one game needs none")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run `rule`."""
    found = asyncio.run(_rule(args))
    if args.json:
        say_json(found)
    elif "accepted" in found:
        print(clean(f"taken: {found['uri']} is handed to the lister"))
    else:
        print(clean(f"refused ({found['rejected']}): {found['says']}"))
    return 0 if "accepted" in found else 2


async def _rule(args: argparse.Namespace) -> dict[str, Any]:
    from weighbridge_services.commands._games import game_in  # noqa: PLC0415 - the list needs none of it
    from weighbridge_services.desking import desk_of  # noqa: PLC0415
    from weighbridge_services.node import Node  # noqa: PLC0415
    from weighbridge_services.secret_files import read_key  # noqa: PLC0415

    node = Node.open(args.node)
    signer = read_key(args.key)
    async with desk_of(node, game_in(node, args.game)) as desk:
        return await desk.rule(args.question, args.answer, args.why, signer)
