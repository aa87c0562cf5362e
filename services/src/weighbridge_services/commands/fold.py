"""`weighbridge fold`: a game's log to its table, transcript and reports."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from weighbridge.contract import View
from weighbridge.fold import Fold

from weighbridge_services.commands import Subparsers, parser_of
from weighbridge_services.installed import fold_of
from weighbridge_services.logs import read_log
from weighbridge_services.outcome import Places, as_json, chain_label, questions, reports, transcript
from weighbridge_services.output import clean, console, say_json
from weighbridge_services.render import page
from weighbridge_services.standing import EmptyLog

TEXT = """LOG is a CAR or JSONL file. The rule set is the one that the root names (`fold.name`), or
--ruleset. Prints the table as the rule set shows it, what is reported and asked, and the transcript, which
is what operators compare."""


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = parser_of(subparsers, "fold", "fold a game's log to its table, transcript and reports", TEXT)
    parser.add_argument("log", metavar="LOG", type=Path)
    parser.add_argument("--ruleset", metavar="NAME", help="the rule set, where the root names none")
    parser.add_argument("--json", action="store_true", help="print all of that as JSON")
    parser.add_argument("--cells", action="store_true", help="with --json: every cell too")
    parser.set_defaults(run=fold_log)


def fold_log(args: argparse.Namespace) -> int:
    """Run the command."""
    fold: Fold | None = None
    places = Places()
    for listed in read_log(args.log, "fold"):
        fold = fold or fold_of(listed, args.ruleset)
        for alert in fold.fold(listed).alerts:
            said = f"alert     entry {alert.seq}, {alert.hook} of {alert.about}: {alert.error}"
            print(clean(said), file=sys.stderr)
        places.note(listed.entry.uri)
    if fold is None:
        raise EmptyLog(f"{args.log} holds no entry")
    view = fold.world.ruleset.view(fold.table)
    if args.json:
        say_json(as_json(fold, view, places, args.cells))
    else:
        _say(fold, view, places)
    return 0


def _say(fold: Fold, view: View, places: Places) -> None:
    page(view, console())
    print()
    for uri, code, sentence in reports(fold.table, places):
        print(clean(f"report    {code}: {uri}\n          {sentence}"))
    for question in questions(fold.table):
        options = f" ({' / '.join(question['options'])})" if question.get("options") else ""
        print(
            clean(
                f"question  {question['kind']}: {question['about']}\n          {question['words']}{options}"
            )
        )
    told = transcript(fold)
    for before in told.get("before", ()):
        print(
            clean(f"before    {before['origin']}\n          {before['size']} leaves, root {before['root']}")
        )
    print(clean(f"origin    {told['origin']}"))
    print(f"entries   {fold.size}")
    print(f"dice      of {chain_label(fold) or 'no chain: the game is not open'}")
    print(f"root      {told['root']} of {told['size']} leaves")
    print(f"state     {told['stateRoot']}")
