"""`weighbridge submit`: hand records in at a node, and print what became of each."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weighbridge.errors import Refused

from weighbridge_services.commands import Subparsers, parser_of
from weighbridge_services.output import clean, say_json

if TYPE_CHECKING:
    from weighbridge_services.submitting import Place

TEXT = """FILE holds one envelope, as JSON or DAG-CBOR, or many, one JSON a line. With --key it holds a plain
record as JSON, which is signed on the way under --collection and --rkey. Each is answered by the game's lister:
its place in the log, the beacon round it rolls on, and a signed checkpoint that holds it.

At a node of your own: --node DIR. At somebody else's: --nats URL, --operator DID and --game AT-URI, with the file of
the players' password where the broker wants one. Exit code 0: all are listed; 2: one was rejected; 3: no answer."""


class NoPlace(Refused):
    """The arguments do not say where to hand in."""

    code = "no-place"


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = parser_of(subparsers, "submit", "hand records in at a node", TEXT)
    parser.add_argument("file", metavar="FILE", type=Path)
    parser.add_argument("--node", metavar="DIR", type=Path, help="the folder of a node of your own")
    parser.add_argument("--nats", metavar="URL", help="the broker of somebody else's node")
    parser.add_argument("--operator", metavar="DID", help="whose node that is")
    parser.add_argument(
        "--game", metavar="AT-URI", help="the game; a node of your own with one game needs none"
    )
    parser.add_argument(
        "--password-file", metavar="FILE", type=Path, help="the players' password at that broker"
    )
    parser.add_argument(
        "--key", metavar="FILE", type=Path, help="sign FILE's record with the key in this file"
    )
    parser.add_argument("--collection", metavar="NSID", help="the collection of a record to sign")
    parser.add_argument("--rkey", metavar="KEY", help="the record key of a record to sign")
    parser.add_argument(
        "--timeout", metavar="S", type=float, default=20.0, help="seconds to wait for each answer"
    )
    parser.add_argument(
        "--json", action="store_true", help="print the answers as JSON lines, with the receipts"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run `submit`."""
    place, game = place_of(args)
    return asyncio.run(_submit(args, place, envelopes_of(args, game)))


def envelopes_of(args: argparse.Namespace, game: str) -> list[bytes]:
    """Return what is to be handed in. Raises BadSubmission, BadKeyFile or NoPlace."""
    from weighbridge_services.secret_files import read_key  # noqa: PLC0415 - the list of commands needs none of it
    from weighbridge_services.submitting import envelopes_in, signed_value  # noqa: PLC0415

    if args.key is None:
        return envelopes_in(args.file)
    if args.collection is None or args.rkey is None:
        raise NoPlace("a record that is signed on the way needs --collection and --rkey")
    return [signed_value(args.file, read_key(args.key), game, args.collection, args.rkey)]


def place_of(args: argparse.Namespace) -> tuple[Place, str]:
    """Return where to hand in, and the game. Raises NoPlace, and what opening a node raises."""
    from weighbridge_services.subjects import Subjects  # noqa: PLC0415
    from weighbridge_services.submitting import Place  # noqa: PLC0415
    from weighbridge_services.wire.login import Login  # noqa: PLC0415

    if args.node is not None:
        from weighbridge_services.node import Node  # noqa: PLC0415

        node = Node.open(args.node)
        game = game_of(args.game, [each.uri for each in node.games])
        return Place(Login.of(node), node.subjects(game)), game
    if args.nats is None or args.operator is None or args.game is None:
        raise NoPlace("say where to hand in: --node DIR, or --nats URL with --operator DID and --game AT-URI")
    return Place(player_login(args), Subjects.of(args.operator, args.game)), args.game


def player_login(args: argparse.Namespace) -> Any:
    """Return the login of a player. Raises BadKeyFile."""
    from weighbridge_services.broker.rights import PLAYER, player_inbox  # noqa: PLC0415
    from weighbridge_services.secret_files import read_secret  # noqa: PLC0415
    from weighbridge_services.subjects import token  # noqa: PLC0415
    from weighbridge_services.wire.login import Login  # noqa: PLC0415

    password = None if args.password_file is None else read_secret(args.password_file)
    return Login(args.nats, PLAYER, password, None, player_inbox(token(args.operator)))


def game_of(asked: str | None, games: list[str]) -> str:
    """Return the game that is meant. Raises NoPlace."""
    if asked is not None and (asked in games or not games):
        return asked
    if asked is None and len(games) == 1:
        return games[0]
    raise NoPlace(f"name one of this node's games with --game: {', '.join(games) or 'it has none'}")


async def _submit(args: argparse.Namespace, place: Place, envelopes: list[bytes]) -> int:
    from weighbridge.identity import decode_envelope  # noqa: PLC0415

    from weighbridge_services.submitting import submit  # noqa: PLC0415

    code, number = 0, 0
    async for answer in submit(place, envelopes, args.timeout):
        uri = decode_envelope(envelopes[number]).uri
        number += 1
        code = code if "listed" in answer else 2
        if args.json:
            say_json({"uri": uri, **answer})
        else:
            print(line_of(uri, answer))
    return code


def line_of(uri: str, answer: dict[str, Any]) -> str:
    """Return one answer as a line for a person."""
    if "listed" in answer:
        rolls = "" if answer["round"] is None else f", round {answer['round']} of {answer['chain']}"
        return clean(f"{uri}: listed as {answer['listed']}{rolls}")
    return clean(f"{uri}: rejected ({answer.get('rejected')}): {answer.get('says')}")
