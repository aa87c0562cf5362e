"""`weighbridge ledger`: copies of what a node must not lose, also while it runs."""

from __future__ import annotations

import argparse
import os
import secrets
import shutil
from pathlib import Path
from typing import Any

from weighbridge.errors import Refused
from weighbridge.ledger import Fault, Ledger, LedgerCorrupt, LedgerLocked, Report, restore
from weighbridge.ledger.opening import remove_database

from weighbridge_services.commands import Subparsers, group_of, parser_of
from weighbridge_services.creating import FolderInUse
from weighbridge_services.files import sync_folder
from weighbridge_services.locks import Lock
from weighbridge_services.output import say_json

BACKUP_TEXT = """Every ledger of the node is copied into FOLDER, which must be empty or not there, and each copy
is read and verified; all are there afterwards, or none. The node may run. Keys are not copied: keep them elsewhere."""
VERIFY_TEXT = """Reads every row, hash, chain and root. Of a node that runs, copies are made and read. Exit code
0: all sound; 1: faults, each on a line."""
RESTORE_TEXT = """Every ledger in FOLDER is verified and put in its place. The node must not run, and must not
have those ledgers: move its folder `ledger` away first."""


class NoLedgers(Refused):
    """There is no ledger in the folder."""

    code = "no-ledgers"


class NodeRuns(Refused):
    """The node runs, and what is asked for needs it stopped."""

    code = "node-runs"


def register(subparsers: Subparsers) -> None:
    """Add the commands."""
    group = group_of(subparsers, "ledger", "back up, verify and restore a node's ledgers")
    for name, summary, text, run in (
        ("backup", "copy a node's ledgers", BACKUP_TEXT, backup),
        ("verify", "read a node's ledgers and report every fault", VERIFY_TEXT, verify),
        ("restore", "put copies of ledgers back into a node", RESTORE_TEXT, restore_all),
    ):
        parser = parser_of(group, name, summary, text)
        parser.add_argument("--node", metavar="DIR", type=Path, required=True, help="the node's folder")
        if name != "verify":
            parser.add_argument("folder", metavar="FOLDER", type=Path)
        parser.add_argument("--json", action="store_true", help="print JSON")
        parser.set_defaults(run=run)


def backup(args: argparse.Namespace) -> int:
    """Run `ledger backup`."""
    ledgers, folder = ledgers_in(args.node / "ledger"), args.folder
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FolderInUse(f"{folder} holds something already; name a folder that is empty or not there")
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Beside, then renamed: a backup that was interrupted would be restored with ledgers missing.
    beside = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}.tmp")
    try:
        beside.mkdir(mode=0o700)
        reports = {path.name: restore(path, beside / path.name) for path in ledgers}
        os.replace(beside, folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    sync_folder(folder.parent)
    say(args, reports)
    return 0


def verify(args: argparse.Namespace) -> int:
    """Run `ledger verify`."""
    reports = {path.name: verified(path) for path in ledgers_in(args.node / "ledger")}
    say(args, reports)
    return 0 if all(each.sound for each in reports.values()) else 1


def restore_all(args: argparse.Namespace) -> int:
    """Run `ledger restore`."""
    running = sorted(
        path.stem for path in (args.node / "run").glob("*.lock") if Lock(args.node, path.stem).holder
    )
    if running:
        raise NodeRuns(f"{args.node}: {', '.join(running)} still run; stop the node first")
    target = args.node / "ledger"
    target.mkdir(mode=0o700, exist_ok=True)
    say(args, {path.name: restore(path, target / path.name) for path in ledgers_in(args.folder)})
    return 0


def ledgers_in(folder: Path) -> list[Path]:
    """Return the ledgers in a folder, sorted. Raises NoLedgers."""
    found = sorted(folder.glob("*.db")) if folder.is_dir() else []
    if not found:
        raise NoLedgers(
            f"there is no ledger in {folder}; the node has not run yet, or this is another folder"
        )
    return found


def verified(path: Path) -> Report:
    """Return what is wrong with a ledger, of one in use with a copy of it."""
    try:
        with Ledger.open(path, create=False) as ledger:
            return ledger.verify()
    except LedgerLocked:
        copy = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}.copy")
        try:
            return restore(path, copy)
        except LedgerCorrupt as error:
            return faulty(error)
        finally:
            remove_database(copy)
    except LedgerCorrupt as error:
        return faulty(error)


def faulty(error: LedgerCorrupt) -> Report:
    """Return the report of a ledger that is too damaged to be opened."""
    return Report({}, (Fault(str(error.detail.get("table")), str(error.detail.get("key")), error.message),))


def say(args: argparse.Namespace, reports: dict[str, Report]) -> None:
    """Print what was found."""
    if args.json:
        say_json({name: as_json(each) for name, each in reports.items()})
        return
    for name, each in reports.items():
        counts = ", ".join(f"{count} {what}" for what, count in each.counts.items() if count)
        print(f"{name}: {'sound' if each.sound else 'NOT SOUND'} ({counts or 'empty'})")
        for fault in each.faults:
            print(f"  {fault.table}, {fault.key}: {fault.says}")


def as_json(report: Report) -> dict[str, Any]:
    """Return a report as JSON."""
    return {
        "sound": report.sound,
        "counts": report.counts,
        "faults": [each._asdict() for each in report.faults],
    }
