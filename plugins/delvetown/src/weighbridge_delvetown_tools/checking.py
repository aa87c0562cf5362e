"""`weighbridge delvetown sheet check`: everything that is wrong with a sheet, at once."""

from __future__ import annotations

import argparse
from pathlib import Path

from weighbridge.contract import Shape
from weighbridge_services.for_plugins import Subparsers, clean, parser_of, say_json

from weighbridge_delvetown_tools.reading import check_whole, read_json, rules_in

TEXT = """FILE holds the sheet's record as JSON; it need not name a game yet. Fields that nobody knows are printed as
well: they are kept, and change nothing. Exit code 0: well-formed, and the game's fold would pin it; 1: it is not, and
every problem is printed with its path; 2: the file cannot be read."""


def add_check(group: Subparsers) -> None:
    """Add the command."""
    parser = parser_of(group, "check", "check a sheet: dots, caps, abilities, unknown fields", TEXT)
    parser.add_argument("file", metavar="FILE", type=Path)
    parser.add_argument("--root", metavar="FILE", type=Path, help="the game's root, where its rules differ")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=check)


def check(args: argparse.Namespace) -> int:
    """Run `sheet check`."""
    shape = check_whole(read_json(args.file), rules_in(args.root))
    if args.json:
        problems = [{"path": each.path, "says": each.says} for each in shape.problems]
        say_json({"wellFormed": not problems, "problems": problems, "unknown": list(shape.unknown)})
    else:
        _say(shape)
    return 1 if shape.problems else 0


def _say(shape: Shape) -> None:
    for problem in shape.problems:
        print(clean(f"{problem.path}: {problem.says}"))
    for path in shape.unknown:
        print(clean(f"{path}: a field that nobody knows; it is kept, and changes nothing"))
    count = len(shape.problems)
    print(f"not well-formed: {count} problem{'s' if count > 1 else ''}" if count else "well-formed")
