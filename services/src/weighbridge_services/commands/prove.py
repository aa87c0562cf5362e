"""`weighbridge prove`: the proof of a record from a log, as a CAR that others can verify by themselves."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from weighbridge.errors import Refused
from weighbridge.identity import parse_record_uri
from weighbridge.log.entries import Listed
from weighbridge.repos import OpenedRecord, open_carried

from weighbridge_services.commands import Subparsers, parser_of
from weighbridge_services.ingest.opening import proof_of
from weighbridge_services.logs import read_log
from weighbridge_services.output import say_json

TEXT: Final = """The CAR holds the repository's signed commit, the nodes of its tree down to the record, and the
record (or, of one that was deleted, the nodes that show its absence): what `com.atproto.sync.getRecord` answers. It is
verified before it is written; printed is what it says, with the key that signed and the CID of the DID document that
named that key when the record was listed. --version counts from 0; the newest without it."""


class NothingToProve(Refused):
    """The log does not list the record, or lists it with no proof of a repository."""

    code = "nothing-to-prove"


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = parser_of(subparsers, "prove", "write the proof of a listed record as a CAR", TEXT)
    parser.add_argument("uri", metavar="AT-URI")
    parser.add_argument("--log", metavar="FILE", type=Path, required=True, help="a log as CAR or JSONL")
    parser.add_argument("--out", metavar="FILE", type=Path, required=True, help="the CAR to write")
    parser.add_argument("--version", metavar="N", type=int, help="which listing of the record, from 0")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run `prove`."""
    parse_record_uri(args.uri)
    listings = [listed for listed in read_log(args.log) if listed.entry.uri == args.uri]
    number = len(listings) - 1 if args.version is None else args.version
    if not 0 <= number < len(listings):
        raise NothingToProve(f"{args.log} lists {args.uri} {len(listings)} times, and not as {number}")
    found = proved(listings[number])
    args.out.write_bytes(found.proof)
    say_json(
        {
            "uri": args.uri, "seq": listings[number].entry.seq, "cid": None if found.cid is None else str(found.cid),
            "rev": found.commit.rev, "commit": str(found.commit.cid), "key": found.prov["key"],
            "document": str(found.prov["doc"]), "grade": found.prov["grade"],
        }
    )  # fmt: skip
    return 0


def proved(listed: Listed) -> OpenedRecord:
    """Return the proof that an entry holds, verified. Raises NothingToProve, and what does not hold."""
    data = proof_of(listed)
    if data is None or "blocks" not in (listed.entry.prov or {}):
        raise NothingToProve(
            f"entry {listed.entry.seq} was signed by its author in an envelope, which the log itself holds"
        )
    return open_carried(data)
