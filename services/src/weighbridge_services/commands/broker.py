"""`weighbridge broker`: what a NATS server that is not embedded needs to know of operators and players."""

from __future__ import annotations

import argparse
import json
import re
from typing import Any, ClassVar

from weighbridge.errors import Refused

from weighbridge_services.commands import Subparsers, group_of, parser_of

TEXT = """Prints an entry for `users` in the configuration of a NATS server: the login name that the node of that
DID uses, and the rights that keep it to its own subjects. The password is a variable, to be defined in a file
that only the server reads, as PASSWORD = "…". The same entry serves a leaf node that comes in."""
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class BadUser(Refused):
    """No user of a broker can be made of these arguments."""

    code: ClassVar[str] = "bad-broker-user"


def register(subparsers: Subparsers) -> None:
    """Add the commands."""
    group = group_of(subparsers, "broker", "what a NATS server of your own needs to know")
    parser = parser_of(group, "user", "print a user of a NATS server: an operator, or the players", TEXT)
    who = parser.add_mutually_exclusive_group(required=True)
    who.add_argument("--did", help="an operator's DID")
    who.add_argument("--players", action="store_true", help="the login that all players share")
    parser.add_argument(
        "--game", metavar="AT-URI", action="append", default=[], help="a game of the operator; once for each"
    )
    parser.add_argument(
        "--password", metavar="VARIABLE", default="PASSWORD", help="the variable that holds the password"
    )
    parser.set_defaults(run=user)


def user(args: argparse.Namespace) -> int:
    """Run `broker user`."""
    from weighbridge.identity.syntax import is_did  # noqa: PLC0415 - the list of commands needs none of it

    from weighbridge_services.broker.rights import PLAYER, operator_rights, player_rights  # noqa: PLC0415
    from weighbridge_services.subjects import token  # noqa: PLC0415

    if VARIABLE.fullmatch(args.password) is None:
        raise BadUser(f"{args.password!r} is no name of a variable: letters, digits and _, not a digit first")
    if args.players:
        print(entry("the players", PLAYER, args.password, player_rights()))
        return 0
    if not is_did(args.did):
        raise BadUser(f"{args.did!r} is no DID; `weighbridge node status --node DIR` says a node's")
    for game in args.game:
        if not game.startswith("at://"):
            raise BadUser(f"{game!r} is no game: give the at-uri of its root")
    if not args.game:
        raise BadUser("an operator's rights are for its games: give at least one --game")
    print(entry(args.did, token(args.did), args.password, operator_rights(args.did, args.game)))
    return 0


def entry(comment: str, name: str, variable: str, permissions: dict[str, Any]) -> str:
    """Return an entry for `users`, as nats-server reads it."""
    rights = json.dumps(permissions, indent=2).replace("\n", "\n  ")
    return (
        f"# {comment}\n{{\n  user: {json.dumps(name)}\n  password: ${variable}\n  permissions: {rights}\n}}"
    )
