"""`weighbridge handover`: sign that a game's log goes on under another lister."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from weighbridge.errors import Refused

from weighbridge_services.commands import Subparsers, parser_of
from weighbridge_services.output import say_json

if TYPE_CHECKING:
    from weighbridge.identity import Signer

TEXT = """For when a game's lister is gone, or not to be trusted any more: the GM and the quorum in force each sign
that the log goes on under another lister after its first N entries, which --node holds; with --key the GM signs, else
the node's operator. Prints the signed record as a line of JSON. The new lister, whose own log ends at just N, puts all
of them into a file of its folder, names it under [games.source] (`handover = "handover.jsonl"`) with role = "lister",
and starts."""


class HoldsLess(Refused):
    """This node's log has fewer entries than are to be signed for."""

    code: ClassVar[str] = "holds-less"


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = parser_of(subparsers, "handover", "sign that another lister goes on with a game's log", TEXT)
    parser.add_argument("--node", metavar="DIR", type=Path, required=True, help="a node that holds the log")
    parser.add_argument("--to", metavar="DID", required=True, help="the operator who is to list")
    parser.add_argument(
        "--size", metavar="N", type=int, help="after how many entries; all that the node holds, else"
    )
    parser.add_argument("--game", metavar="AT-URI", help="the game; a node with one game needs none")
    parser.add_argument("--key", metavar="FILE", type=Path, help="the GM's key: 32 bytes in hex")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run `handover`."""
    from weighbridge.fold.records import HANDOVER  # noqa: PLC0415 - the list of commands needs none of it
    from weighbridge.identity import envelope_to_json, sign_record  # noqa: PLC0415

    from weighbridge_services.commands._games import game_in  # noqa: PLC0415
    from weighbridge_services.node import Node  # noqa: PLC0415
    from weighbridge_services.secret_files import read_key  # noqa: PLC0415
    from weighbridge_services.subjects import token  # noqa: PLC0415

    node = Node.open(args.node)
    game = game_in(node, args.game).uri
    size, root = end_of(node.folder, game, args.size)
    signer: Signer = node.keys.records if args.key is None else read_key(args.key)
    rkey = f"{size}-{token(args.to)}"
    value = {"game": game, "size": size, "root": root, "lister": args.to}
    say_json(envelope_to_json(sign_record(signer, game, HANDOVER, rkey, value)))
    return 0


def end_of(folder: Path, game: str, size: int | None) -> tuple[int, bytes]:
    """Return how many entries of its log a node stands for, and their root. Raises HoldsLess, LedgerMissing."""
    from weighbridge_services.folding.reading import read_ledger  # noqa: PLC0415

    with read_ledger(folder / "ledger" / "ingest.db") as ledger:
        log = ledger.log(game)
        chosen = log.size if size is None else size
        if not 0 < chosen <= log.size:
            raise HoldsLess(
                f"this node holds {log.size} entries of {game}; it can sign for no other than these"
            )
        return chosen, log.root(chosen)
