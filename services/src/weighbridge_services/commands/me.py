"""`weighbridge me`: what of a game concerns one player."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from weighbridge_services.commands import Subparsers, parser_of
from weighbridge_services.output import clean, say_json

TEXT = """What of yours waits for evidence, what is asked about your records or of you, what is reported on them, and
the cells that the rule set keeps under your DID: a day's ration, a sheet, a score. The node may run or not."""


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = parser_of(subparsers, "me", "what of a game concerns one player", TEXT)
    parser.add_argument(
        "game", metavar="GAME", nargs="?", help="the root's at-uri; a node with one game needs none"
    )
    parser.add_argument("--node", metavar="DIR", type=Path, required=True, help="the node's folder")
    parser.add_argument("--did", metavar="DID", help="the player; without it, the node's operator")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=show)


def show(args: argparse.Namespace) -> int:
    """Run the command."""
    from weighbridge_services.commands._games import game_in  # noqa: PLC0415 - the list of commands needs none of it
    from weighbridge_services.folding.standing import of_player  # noqa: PLC0415
    from weighbridge_services.node import Node  # noqa: PLC0415

    node = Node.open(args.node)
    found = readable(of_player(node, game_in(node, args.game), args.did or node.did))
    if args.json:
        say_json(found)
    else:
        for line in lines(found):
            print(clean(line))
    return 0


def readable(told: dict[str, Any]) -> dict[str, Any]:
    """Return an answer as plain JSON: cells as their values."""
    from weighbridge import codec  # noqa: PLC0415

    cells: dict[str, Any] = {}
    for key, data in told["cells"].items():
        value = codec.decode_own(data)
        try:
            cells[key] = codec.to_json(value)
        except codec.CodecRefused:
            # A map that a player wrote may have a key `$link`, which AT Protocol JSON has no way to say.
            cells[key] = {"dagCbor": codec.to_json(data)}
    return {**told, "cells": cells}


def lines(told: dict[str, Any]) -> Iterator[str]:
    """Yield an answer for a person."""
    from weighbridge_services.commands.log import time_of  # noqa: PLC0415

    yield f"{told['did']}, after {told['size']} entries ({time_of(told['at'])})"
    for each in told["pending"]:
        awaits = [*(["its trace"] if each["trace"] else []), *_dice(each, told["chain"])]
        yield f"pending   {each['uri']} waits for {' and '.join(awaits) or 'its day to end'}"
    for each in told["questions"]:
        options = f" ({' / '.join(each['options'])})" if each.get("options") else ""
        yield f"question  {each['kind']} about {each['about']}: {each['words']}{options}"
    for key, codes in told["reports"].items():
        about = key.removeprefix("_/report/")
        yield from (f"report    {code}: {about}: {says}" for code, says in sorted(codes.items()))
    for key, value in told["cells"].items():
        yield f"cell      {key}: {json.dumps(value, ensure_ascii=False)}"


def _dice(pending: dict[str, Any], chain: str | None) -> list[str]:
    if not pending["dice"] or pending["roll"] == "untimely":
        return []
    return [f"the beacon of round {pending['round']} of {chain}" if pending["round"] else "its dice"]
