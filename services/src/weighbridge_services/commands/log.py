"""`weighbridge log`: look at a game's log, in a file or as it grows, and verify it."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from weighbridge.log import CompactRange
from weighbridge.log.entries import Listed
from weighbridge.logfile import log_to_jsonl

from weighbridge_services.commands import Subparsers, group_of, parser_of
from weighbridge_services.logs import read_log
from weighbridge_services.output import clean, say_json

VERIFY_TEXT = """Every entry's encoding and hash, its link to the one before, its time, and that its record
is the one it names. Prints the size and the root, which a checkpoint signs; with --root, compares. Exit
code 1: another root."""
SHOW_TEXT = """With --grades the log is folded, and before each record stands how far the log itself proves whose key
signed it: proved-now (a did:key, which is its own key), seen-by-quorum (by receipts of a majority of the operators
beside the lister), lister-says. FILE may then be the folder of a node, too, which may run."""
TAIL_TEXT = (
    """What the node itself has verified, from its own stream; its broker has to run. Ctrl-C ends it."""
)


def register(subparsers: Subparsers) -> None:
    """Add the commands."""
    group = group_of(subparsers, "log", "look at a game's log, in a file or as it grows, and verify it")
    shown = parser_of(group, "show", "list the entries, one on a line", SHOW_TEXT)
    shown.add_argument("file", metavar="FILE", type=Path, help="a log as CAR or JSONL")
    shown.add_argument(
        "--from", dest="start", type=int, default=0, metavar="SEQ", help="the first entry to show"
    )
    shown.add_argument("--count", type=int, metavar="N", help="how many to show at most")
    form = shown.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="as JSONL: entry and record on a line")
    form.add_argument("--grades", action="store_true", help="with the grade of each entry")
    shown.add_argument("--ruleset", metavar="NAME", help="for --grades, where the log's root names none")
    shown.set_defaults(run=show)
    tailed = parser_of(group, "tail", "print the entries of a node's log as they come", TAIL_TEXT)
    tailed.add_argument("game", metavar="GAME", nargs="?", help="its at-uri; a node with one game needs none")
    tailed.add_argument("--node", metavar="DIR", type=Path, required=True, help="the node's folder")
    tailed.add_argument(
        "--from", dest="start", type=int, metavar="SEQ", help="the first entry (default: the last ten)"
    )
    tailed.add_argument("--count", type=int, metavar="N", help="stop after so many")
    tailed.add_argument("--json", action="store_true", help="as JSONL: entry and record on a line")
    tailed.set_defaults(run=tail)
    verified = parser_of(group, "verify", "verify every entry of a log", VERIFY_TEXT)
    verified.add_argument("file", metavar="FILE", type=Path, help="a log as CAR or JSONL")
    verified.add_argument("--root", metavar="HEX", help="the root that it must have")
    verified.add_argument("--json", action="store_true", help="print game, size, root and times as JSON")
    verified.set_defaults(run=verify)


def tail(args: argparse.Namespace) -> int:
    """Run `log tail`."""
    from weighbridge_services import journal  # noqa: PLC0415 - files are looked at without a broker
    from weighbridge_services.tailing import tail_of  # noqa: PLC0415

    with journal.aside():
        return asyncio.run(_tail(args, tail_of(args.node, args.game, args.start)))


async def _tail(args: argparse.Namespace, entries: AsyncGenerator[Listed]) -> int:
    left = args.count
    async with aclosing(entries):
        while left is None or left > 0:
            listed = await anext(entries)
            text = next(iter(log_to_jsonl([listed]))).decode().rstrip("\n") if args.json else line_of(listed)
            print(text, flush=True)
            left = None if left is None else left - 1
    return 0


def show(args: argparse.Namespace) -> int:
    """Run `log show`."""
    start = max(args.start, 0)
    stop = None if args.count is None else start + max(args.count, 0)
    if args.grades:
        return _show_grades(args, start, stop)
    shown = islice(read_log(args.file), start, stop)
    lines = (line.decode().rstrip("\n") for line in log_to_jsonl(shown)) if args.json else map(line_of, shown)
    for line in lines:
        print(line)
    return 0


def _show_grades(args: argparse.Namespace, start: int, stop: int | None) -> int:
    from weighbridge.fold.grades import grade_of  # noqa: PLC0415 - to list entries, none is folded

    from weighbridge_services.standing import standing  # noqa: PLC0415

    with standing(args.file, args.ruleset) as game:
        fold = game.to_the_end()
        for seq in range(start, fold.size if stop is None else min(stop, fold.size)):
            grade = grade_of(fold.world, seq) or "-"
            print(f"{grade:14} {line_of(fold.world.history.listed(seq))}")
    return 0


def verify(args: argparse.Namespace) -> int:
    """Run `log verify`."""
    frontier = CompactRange()
    first = last = None
    for listed in read_log(args.file, "verify"):
        frontier.append(listed.data)
        first, last = first or listed, listed
    root = frontier.root().hex()
    holds = args.root is None or args.root.lower() == root
    found: dict[str, Any] = {"holds": holds, "size": frontier.size, "root": root}
    if first is not None and last is not None:
        found |= {"game": first.entry.game, "from": time_of(first.entry.at), "to": time_of(last.entry.at)}
    if args.json:
        say_json(found)
    else:
        print("\n".join(f"{name:6} {value}" for name, value in found.items() if name != "holds"))
        print("every entry holds" if holds else f"the root is not {clean(str(args.root))}")
    return 0 if holds else 1


def line_of(listed: Listed) -> str:
    """Return an entry as one line for a person."""
    entry = listed.entry
    return clean(" ".join([f"{entry.seq:>7}", time_of(entry.at), f"{entry.op:6}", *_about(listed)])).rstrip()


def _about(listed: Listed) -> Iterator[str]:
    entry = listed.entry
    if entry.count is not None:
        yield f"{entry.count} records of {entry.author or 'authors without standing'} not listed"
    if entry.uri is not None:
        did, collection, rkey = entry.uri.removeprefix("at://").split("/", 2)
        yield f"{collection}/{rkey} {did}"


def time_of(at: int) -> str:
    """Return a time (µs) as RFC 3339 in UTC, to the microsecond where it has any; beyond the calendar, its seconds."""
    try:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=at)
    except OverflowError:
        return f"{at // 1_000_000} s"
    return moment.isoformat().replace("+00:00", "Z")
