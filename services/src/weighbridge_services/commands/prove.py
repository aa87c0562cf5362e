"""`weighbridge prove`: the proof of a record from a log or a node, as a CAR that others can verify by themselves."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, Final, NamedTuple

from weighbridge.cid import Cid
from weighbridge.errors import Refused
from weighbridge.identity import open_envelope, parse_record_uri
from weighbridge.log.entries import Listed
from weighbridge.logfile.car import write_car
from weighbridge.repos import is_carried, open_carried

from weighbridge_services.commands import Subparsers, parser_of
from weighbridge_services.ingest.opening import proof_of
from weighbridge_services.output import say_json

TEXT: Final = """Of a record of a repository the CAR holds the signed commit, the nodes of the tree down to the
record, and the record (or, of one that was deleted, the nodes that show its absence): what
`com.atproto.sync.getRecord` answers. Of a record that its author's did:key signed it holds the signed envelope. It is
verified before it is written; printed is what it says, with the key that signed and, of a repository, the CID of the
DID document that named that key when the record was listed. --log reads a log and needs no node; --node reads the
ledger of a node, which may run. Of several versions the newest is proved; --version counts from 0."""


class NothingToProve(Refused):
    """The log does not list the record, or not so many versions of it, or lists it with no proof."""

    code = "nothing-to-prove"


class Proof(NamedTuple):
    """A CAR, and what it says."""

    car: bytes
    says: dict[str, Any]


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = parser_of(subparsers, "prove", "write the proof of a listed record as a CAR", TEXT)
    parser.add_argument("uri", metavar="AT-URI")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--log", metavar="FILE", type=Path, help="a log as CAR or JSONL")
    where.add_argument("--node", metavar="DIR", type=Path, help="a node's folder")
    parser.add_argument("--game", metavar="AT-URI", help="the game; a node with one game needs none")
    parser.add_argument("--out", metavar="FILE", type=Path, required=True, help="the CAR to write")
    parser.add_argument("--version", metavar="N", type=int, help="which listing of the record, from 0")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run `prove`."""
    parse_record_uri(args.uri)
    listings = _in_log(args.log, args.uri) if args.log is not None else _in_node(args)
    where = args.log if args.log is not None else args.node
    if not listings:
        raise NothingToProve(f"{where} lists no record {args.uri}")
    number = len(listings) - 1 if args.version is None else args.version
    if not 0 <= number < len(listings):
        says = f"{where} lists {len(listings)} versions of {args.uri}, from 0 to {len(listings) - 1}"
        raise NothingToProve(f"{says}, and none of them is {number}")
    entry, found = listings[number].entry, proved(listings[number])
    args.out.write_bytes(found.car)
    place = {"uri": args.uri, "seq": entry.seq, "op": entry.op, "version": number, "versions": len(listings)}
    say_json({**place, **found.says})
    return 0


def _in_log(path: Path, uri: str) -> list[Listed]:
    from weighbridge_services.logs import read_log  # noqa: PLC0415 - the list of commands needs none of it

    return [listed for listed in read_log(path) if listed.entry.uri == uri]


def _in_node(args: argparse.Namespace) -> list[Listed]:
    from weighbridge_services.commands._games import game_in  # noqa: PLC0415
    from weighbridge_services.folding.reading import read_ledger  # noqa: PLC0415
    from weighbridge_services.node import Node  # noqa: PLC0415

    game = game_in(Node.open(args.node), args.game)
    with read_ledger(args.node / "ledger" / "ingest.db") as ledger:
        log = ledger.log(game.uri)
        return [log.listed(seq) for seq in log.about(args.uri)]


def proved(listed: Listed) -> Proof:
    """Return the proof that an entry holds, verified. Raises NothingToProve, and what does not hold."""
    data = proof_of(listed)
    if data is None:
        raise NothingToProve(f"entry {listed.entry.seq} holds nothing by which its author signed it")
    return _of_repository(data) if is_carried(data) else _of_envelope(data)


def _of_repository(data: bytes) -> Proof:
    found = open_carried(data)
    says = {
        "cid": None if found.cid is None else str(found.cid), "rev": found.commit.rev,
        "commit": str(found.commit.cid), "key": found.prov["key"], "document": str(found.prov["doc"]),
        "grade": found.prov["grade"],
    }  # fmt: skip
    return Proof(found.proof, says)


def _of_envelope(data: bytes) -> Proof:
    envelope, cid = open_envelope(data), Cid.of(data)
    says = {"cid": str(envelope.cid), "envelope": str(cid), "key": envelope.author}
    return Proof(b"".join(write_car([cid], [(cid, data)])), says)
