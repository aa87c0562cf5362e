"""`weighbridge delvetown sheet new`: a few questions, or flags, and a sheet that the fold would pin."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from weighbridge.contract import Problem
from weighbridge.errors import Refused
from weighbridge_delvetown.options import Options
from weighbridge_services.for_plugins import Subparsers, clean, parser_of

from weighbridge_delvetown_tools.reading import check_whole, rules_in

TEXT = """Asks at a terminal for what no flag gives, again and again until an answer will do, and says why one will not.
Without a terminal every question needs its flag. The sheet is printed, or written to --out, and is well-formed: what is
not is refused, with every reason, and nothing is written."""
DOTS = "how many dots each action has, such as: fetch 2, reckon 2, audit 1, mend 1, vouch 1"

_DOTS = re.compile(r"\s*([^\s=:,]+)\s*[=: ]\s*(-?[0-9]{1,4})\s*", re.ASCII)


class BadSheet(Refused):
    """The answers make no well-formed sheet; every reason is said."""

    code: ClassVar[str] = "bad-sheet-answers"


class FileThere(Refused):
    """The file to write is there already."""

    code: ClassVar[str] = "file-exists"


Read = Callable[[str], str]
"""Asks a question and returns the line that was answered; raises EOFError where nobody answers."""


def add_new(group: Subparsers) -> None:
    """Add the command."""
    parser = parser_of(group, "new", "write a sheet, from a few questions or from flags", TEXT)
    parser.add_argument("--name", metavar="TEXT", help="the character's name")
    parser.add_argument("--look", metavar="TEXT", help="how they look, in a line")
    parser.add_argument("--drive", metavar="TEXT", help="what they are after, in a line")
    parser.add_argument("--dots", metavar="LIST", help=DOTS)
    parser.add_argument("--ability", metavar="TEXT", action="append", help="in your own words; '' for none")
    parser.add_argument("--operator", metavar="DID", help="who runs the account, if that is another")
    parser.add_argument("--game", metavar="AT-URI", help="the root of the game it is for")
    parser.add_argument("--root", metavar="FILE", type=Path, help="the game's root, where its rules differ")
    parser.add_argument("--out", metavar="FILE", type=Path, help="the file to write, which must not be there")
    parser.set_defaults(run=new)


def new(args: argparse.Namespace) -> int:
    """Run `sheet new`."""
    read = _ask if sys.stdin.isatty() else None
    sheet = answered(args, rules_in(args.root), read)
    text = json.dumps(sheet, ensure_ascii=False, indent=2) + "\n"
    if args.out is None:
        print(text, end="")
    else:
        _write(args.out, text)
    return 0


def _write(path: Path, text: str) -> None:
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise FileThere(f"{path} is there already; name another file") from error


def _ask(question: str) -> str:
    # Questions go beside the sheet, which alone is printed on standard output.
    print(question, end=" ", file=sys.stderr, flush=True)
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line.rstrip("\n")


# --- questions ---------------------------------------------------------------------------------------------


def answered(args: argparse.Namespace, rules: Options, read: Read | None) -> dict[str, Any]:
    """Return the sheet that flags and answers make. Raises BadSheet."""
    sheet: dict[str, Any] = {}
    try:
        for field, question in _questions(rules).items():
            _answer(
                sheet,
                field,
                question,
                getattr(args, "ability" if field == "abilities" else field),
                rules,
                read,
            )
    except EOFError as error:
        raise BadSheet(
            "nobody answers any more; the sheet is not finished, and nothing is written"
        ) from error
    sheet |= {name: value for name in ("operator", "game") if (value := getattr(args, name)) is not None}
    problems = check_whole(sheet, rules).problems
    if problems:
        raise BadSheet(f"this makes no sheet: {_said(problems)}")
    return sheet


def _questions(rules: Options) -> dict[str, str]:
    actions = ", ".join(rules.actions)
    return {
        "name": "Name:",
        "look": "Look, in a line:",
        "drive": "Drive, in a line:",
        "dots": f"Dots, {rules.dots} in all and {rules.dots_create} at most in one of {actions} (fetch 2, mend 1, …):",
        "abilities": f"Ability, in your own words, {rules.abilities_max} characters at most (empty for none):",
    }


def _answer(
    sheet: dict[str, Any], field: str, question: str, flag: Any, rules: Options, read: Read | None
) -> None:
    if flag is not None:
        sheet[field] = _value(field, flag)
        return
    if read is None:
        if field != "abilities":
            name = f"--{field}"
            raise BadSheet(f"{name} is missing, and there is no terminal to ask at; give every flag")
        sheet[field] = []
        return
    while True:
        try:
            sheet[field] = _value(field, read(question))
        except BadSheet as bad:
            print(clean(bad.message), file=sys.stderr)
            continue
        problems = [p for p in check_whole(sheet, rules).problems if _is_in(p.path, field)]
        if not problems:
            return
        print(clean(_said(problems)), file=sys.stderr)


def _is_in(path: str, field: str) -> bool:
    return re.match(rf"\$\.{field}(\W|$)", path) is not None


def _value(field: str, answer: Any) -> Any:
    if field == "dots":
        return read_dots(str(answer))
    if field == "abilities":
        return [text for text in ([answer] if isinstance(answer, str) else answer) if text]
    return answer


def read_dots(text: str) -> dict[str, int]:
    """Return the dots that a list names: `fetch 2, mend 1`, or with = for the space. Raises BadSheet."""
    dots: dict[str, int] = {}
    for part in text.split(","):
        found = _DOTS.fullmatch(part)
        if found is None:
            raise BadSheet(f"{part!r} says no dots; give {DOTS}")
        if found[1] in dots:
            raise BadSheet(f"{found[1]} is named twice; give each action once")
        dots[found[1]] = int(found[2])
    return dots


def _said(problems: tuple[Problem, ...] | list[Problem]) -> str:
    return "; ".join(f"{problem.path}: {problem.says}" for problem in problems)
