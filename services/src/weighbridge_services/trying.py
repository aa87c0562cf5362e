"""`dry-run`, for any rule set and for a plugin's own command: its arguments, and how its answer is told."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
from weighbridge import codec
from weighbridge.changes import differences
from weighbridge.dry_run import Changed, DryRun, Field, Outlook, Tried, dry_run
from weighbridge.errors import Refused
from weighbridge.fold import SnapshotTooYoung

from weighbridge_services.commands import Subparsers, parser_of
from weighbridge_services.drafting import drafts_in
from weighbridge_services.output import clean, say_json
from weighbridge_services.standing import standing

TEXT = """GAME is a game's log in a file (CAR or JSONL), a scenario file, or the folder of a node, which may run.
FILE holds records as JSON, one or a list, or one a line: envelopes, or {"by", "collection" or "kind", "value"}, where
"kind" is the last name of the collection. They are folded on top of the game in their order and listed nowhere.

What must be looked at (a trace) is taken to be found ok, or as --trace says. Dice are rolled where the beacon is in
the log or in FILE; else every way for them to fall is counted, and each chance is exact.

Exit code 0: done, whatever would come of it; 2: GAME or FILE cannot be read."""

More = Callable[[Tried], Iterable[str]]
"""Returns what a rule set's own command adds about a record, a line each."""
LONG = 72
"""Characters of a value that are printed."""


def add_dry_run(subparsers: Subparsers, ruleset: str | None = None, more: More | None = None) -> None:
    """Add the command: for every rule set, or for the one named, with what it adds."""
    parser = parser_of(subparsers, "dry-run", "show what records would change, and publish nothing", TEXT)
    parser.add_argument("game", metavar="GAME", type=Path)
    parser.add_argument("file", metavar="FILE", type=Path)
    parser.add_argument("--of", metavar="AT-URI", help="which game, of a node with several")
    if ruleset is None:
        parser.add_argument("--ruleset", metavar="NAME", help="the rule set, where a log's root names none")
    parser.add_argument("--at", metavar="TIME", help="when they are listed (default: with the last entry)")
    parser.add_argument(
        "--trace",
        choices=("ok", "unresolved", "unsettled"),
        default="ok",
        help="what traces are found to be (ok)",
    )
    parser.add_argument("--cells", action="store_true", help="show what only the fold reads as well")
    parser.add_argument("--json", action="store_true", help="print JSON")

    def run_it(args: argparse.Namespace) -> int:
        return run(args, ruleset, more)

    parser.set_defaults(run=run_it)


def run(args: argparse.Namespace, ruleset: str | None = None, more: More | None = None) -> int:
    """Run the command."""
    named = ruleset if ruleset is not None else args.ruleset
    try:
        told = _tried(args, named, whole=False)
    except SnapshotTooYoung:
        told = _tried(args, named, whole=True)
    if args.json:
        say_json(plain(msgspec.structs.asdict(told)))
    else:
        for line in lines(told, cells=args.cells, more=more):
            print(clean(line))
    return 0


def _tried(args: argparse.Namespace, ruleset: str | None, *, whole: bool) -> DryRun:
    with standing(args.game, ruleset, args.of, whole=whole) as game:
        fold = game.to_the_end()
        attached = [nsid for each in fold.world.attachments.values() for nsid in each.collections]
        drafts = drafts_in(args.file, fold.game, [*fold.world.ruleset.collections, *attached], game.names)
        at = None if args.at is None else _time(args.at, fold.world.at)
        return dry_run(fold, drafts, at, args.trace)


def _time(text: str, last: int) -> int:
    """Return a time (µs) that is not before that of the last entry. Raises BadTime."""
    from weighbridge_services.commands import _dicing as dicing  # noqa: PLC0415 - only where a time is given

    at = dicing.parse_time(text)
    if at < last:
        raise dicing.BadTime(
            f"--at {text} is before the last entry, listed at {dicing.shown_time(last)}; give that time or a later one"
        )
    return at


def plain(value: Any) -> Any:
    """Return what a dry run told as JSON; a cell's value as AT Protocol JSON."""
    if isinstance(value, msgspec.Struct):
        return plain(msgspec.structs.asdict(value))
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    try:
        return codec.to_json(value)
    except Refused:
        return repr(value)


# --- for people --------------------------------------------------------------------------------------------


def lines(told: DryRun, *, cells: bool = False, more: More | None = None) -> Iterator[str]:
    """Yield a dry run for a person."""
    yield "nothing of this is listed or published"
    if told.by_time:
        yield ""
        yield "by the passing of time"
        yield from _changes(told.by_time, cells)
    for each in told.records:
        yield ""
        yield f"{each.uri.rpartition('/')[2]}  {each.uri}"
        yield from _record(each, cells)
        for line in more(each) if more is not None else ():
            yield f"  {line}"


def _record(each: Tried, cells: bool) -> Iterator[str]:
    begun = list(_changes(each.changes, cells))
    yield from begun or ["  changes nothing that a person reads"]
    if each.verdict is not None and each.outlook is None:
        yield f"  when its trace is found {each.verdict}"
        found = [f"  {line}" for line in _changes(each.by_verdict, cells)]
        yield from found or ["    nothing changes that a person reads"]
    if each.outlook is not None:
        yield from _outlook(each, each.outlook, cells)


def _changes(changes: Iterable[Changed], cells: bool) -> Iterator[str]:
    speaks = any(change.says for change in changes)
    for change in changes:
        if change.key.startswith("_/"):
            yield from _of_kernel(change)
        elif cells or change.says or not speaks:
            yield f"  {change.key}{'' if change.before is not None else '  (new)'}"
            for path, before, after in differences(change.before, change.after):
                was = "" if change.before is None else f"{shown(before)} → "
                yield f"    {path}: {was}{shown(after)}" if path else f"    {was}{shown(after)}"
            yield from (f"    · {sentence}" for sentence in change.says)


def _of_kernel(change: Changed) -> Iterator[str]:
    before, after = change.before or {}, change.after or {}
    if change.key.startswith("_/report/"):
        about = change.key.rpartition("/")[2]
        yield from (
            f"  report {code}: {after[code]}  ({about})" for code in sorted(after) if code not in before
        )
        yield from (
            f"  report {code} is withdrawn  ({about})" for code in sorted(before) if code not in after
        )
    elif change.key.startswith("_/question/") and not before:
        options = f" ({' / '.join(after['options'])})" if after["options"] else ""
        yield f"  question {after['kind']}: {after['words']}{options}"
    elif change.key.startswith("_/question/") and not after:
        yield f"  question {before['kind']} is closed"


def _outlook(each: Tried, outlook: Outlook, cells: bool) -> Iterator[str]:
    when = f" of round {outlook.round}" if outlook.round is not None else ""
    trace = "" if each.verdict is None else f", its trace found {each.verdict}"
    if not outlook.whole:
        yield f"  its dice{when} can fall in too many ways to count{trace}"
        return
    yield f"  when its dice{when} are out{trace}: {outlook.ways} ways"
    speaks = any(field.said for field in outlook.fields if not field.key.startswith("_/"))
    last = ""
    for field in outlook.fields:
        if not (cells or field.said or not speaks) or field.key.startswith("_/question/"):
            continue
        if field.key.startswith("_/report/"):
            yield f"    report {field.path}: {_weight(field)}/{outlook.whole}"
            continue
        if field.key != last:
            yield f"    {field.key}"
        last = field.key
        yield f"      {field.path}: {_chances(field, outlook.whole)}"


def _weight(field: Field) -> int:
    """Return in how many ways of the whole something stands in a field."""
    return sum(weight for value, weight in field.chances if value is not None)


def _chances(field: Field, whole: int) -> str:
    if not field.chances:
        return f"{field.different} different values"
    if len(field.chances) == 1:
        was = "" if field.before is None else f"{shown(field.before)} → "
        return f"{was}{shown(field.chances[0][0])}, certainly"
    return " · ".join(f"{shown(value)}: {weight}/{whole}" for value, weight in field.chances)


def shown(value: Any) -> str:
    """Return a value of a cell for a person, in one short piece."""
    text = "nothing" if value is None else value if isinstance(value, str) else _json(value)
    return text if len(text) <= LONG else f"{text[: LONG - 1]}…"


def _json(value: Any) -> str:
    return str(msgspec.json.encode(plain(value)), "utf-8")
