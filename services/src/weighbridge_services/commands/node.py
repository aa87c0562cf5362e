"""`weighbridge node`: make a node, run it, look at it."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path
from typing import Any

from weighbridge_services.commands import Subparsers, group_of, parser_of
from weighbridge_services.output import clean, say_json

INIT_TEXT = """The folder must be empty or not there. It gets weighbridge.toml, commented and ready to be
edited, and keys/, which only you can read. Nothing is ever half-made."""
UP_TEXT = """With its broker, where that is embedded, whose streams are declared first. All services run in
this process, or with --processes in one each. Ctrl-C or SIGTERM stops all of it in good order."""
STREAMS_TEXT = """Declares every stream the node is to have, puts settings right where the broker lets it, and says
what it did. The broker has to run. Nothing else ever declares or changes a stream."""
DOCTOR_TEXT = """Looks at all that makes a node go wrong later: key files, ports, disk, clock, broker, plugins,
versions. Exit code 0: nothing bad; 1: something is."""


def register(subparsers: Subparsers) -> None:
    """Add the commands."""
    group = group_of(subparsers, "node", "make, run and look at a node")
    _register_init(group)
    for name, summary, text, run in (
        ("up", "run a node", UP_TEXT, up),
        ("status", "say what a node is and whether it runs", "", status),
        ("streams", "declare a node's streams", STREAMS_TEXT, streams),
        ("doctor", "look for what is wrong with a node", DOCTOR_TEXT, doctor),
    ):
        parser = parser_of(group, name, summary, text)
        parser.add_argument("--node", metavar="DIR", type=Path, required=True, help="the node's folder")
        if name == "up":
            parser.add_argument("--processes", action="store_true", help="one process per service")
        else:
            parser.add_argument("--json", action="store_true", help="print JSON")
        parser.set_defaults(run=run)


def _register_init(group: Subparsers) -> None:
    parser = parser_of(group, "init", "make a node in a new folder", INIT_TEXT)
    parser.add_argument("folder", metavar="DIR", type=Path)
    parser.add_argument(
        "--name", required=True, help="your name as an operator, like alma or witness.example.org"
    )
    parser.add_argument("--game", metavar="AT-URI", help="the root of the game it lists or follows")
    parser.add_argument("--role", choices=("lister", "follower"), default="lister")
    parser.add_argument("--lister", metavar="DID", help="whom a follower follows")
    parser.add_argument("--ruleset", metavar="NAME", help="the game's rule set")
    parser.add_argument("--port", type=int, default=4222, help="of the embedded broker; 0: any that is free")
    parser.add_argument("--url", help="use this broker instead of an embedded one")
    parser.add_argument(
        "--http-port", type=int, default=0, metavar="PORT", help="serve health and metrics there"
    )
    parser.add_argument(
        "--recorded", action="store_true", help="take the time from the log: a season of the past"
    )
    parser.set_defaults(run=init)


def init(args: argparse.Namespace) -> int:
    """Run `node init`."""
    from weighbridge_services.creating import create_node  # noqa: PLC0415 - the list of commands needs none of it
    from weighbridge_services.example import example  # noqa: PLC0415

    text = example(
        args.name,
        game=args.game,
        role=args.role,
        ruleset=args.ruleset,
        lister=args.lister,
        port=args.port,
        url=args.url,
        http=args.http_port,
        recorded=args.recorded,
    )
    node = create_node(args.folder, text)
    print(f"{args.folder}: a node for {node.did}")
    print(f"Look through {args.folder}/weighbridge.toml, then: weighbridge node up --node {args.folder}")
    return 0


def up(args: argparse.Namespace) -> int:
    """Run `node up`."""
    from weighbridge_services import journal  # noqa: PLC0415
    from weighbridge_services.node import Node  # noqa: PLC0415
    from weighbridge_services.service import names  # noqa: PLC0415
    from weighbridge_services.supervise import run  # noqa: PLC0415

    node = Node.open(args.node)
    node.plugins.check()
    journal.set_up(node.config.log)
    return run(node, names(), whole=True, processes=args.processes)


def status(args: argparse.Namespace) -> int:
    """Run `node status`."""
    from weighbridge_services.inspecting import status_of  # noqa: PLC0415
    from weighbridge_services.node import Node  # noqa: PLC0415

    found = asyncio.run(status_of(Node.open(args.node)))
    if args.json:
        say_json(found)
        return 0
    print(f"{found['name']}  {found['did']}")
    print(f"broker   {found['broker']['url']}: {found['broker']['state']}")
    print(f"running  {', '.join(f'{name} ({pid})' for name, pid in found['running'].items()) or 'nothing'}")
    for game in found["games"]:
        dice = "not opened" if game["chain"] is None else f"dice of {game['chain']}"
        print(clean(f"game     {game['uri']}  {game['role']}, {game['ruleset']}, {dice}"))
        for stream in game["streams"]:
            print(f"  {stream['kind']:<11}{stream['messages']:>9,} messages {stream['bytes']:>13,} bytes")
    return 0


def streams(args: argparse.Namespace) -> int:
    """Run `node streams`."""
    from weighbridge_services.inspecting import declared  # noqa: PLC0415
    from weighbridge_services.node import Node  # noqa: PLC0415

    found = asyncio.run(declared(Node.open(args.node)))
    if args.json:
        say_json([each._asdict() for each in found])
    for each in found if not args.json else ():
        settings = f" ({', '.join(each.settings)})" if each.settings else ""
        print(f"{each.name}: {each.done}{settings}")
    return 0


def doctor(args: argparse.Namespace) -> int:
    """Run `node doctor`."""
    from weighbridge_services.doctor import BAD, examine  # noqa: PLC0415

    found = asyncio.run(examine(args.node))
    if args.json:
        say_json([each._asdict() for each in found])
    else:
        _say_findings(found)
    return 1 if any(each.level == BAD for each in found) else 0


def _say_findings(found: list[Any]) -> None:
    for each in found:
        print(clean(f"{each.level:<5}{each.check:<10}{each.says}"))
