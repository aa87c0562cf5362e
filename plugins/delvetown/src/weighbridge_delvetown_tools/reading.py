"""Sheets and roots in files, as a record's JSON: what no record can hold is found here, with its path."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from weighbridge import codec
from weighbridge.contract import Problem, Shape
from weighbridge.errors import Refused
from weighbridge.limits import MAX_NESTING, MAX_RECORD
from weighbridge.scenario.mentions import account, replace_value
from weighbridge_delvetown import RULES
from weighbridge_delvetown.options import Options
from weighbridge_delvetown.tools import check_sheet
from weighbridge_services.for_plugins import game_rules


class NoSheet(Refused):
    """The file holds no JSON, so no sheet that could be checked."""

    code: ClassVar[str] = "no-sheet-file"


class BadRules(Refused):
    """The root whose rules a sheet is to be checked by is none, or is not well-formed."""

    code: ClassVar[str] = "bad-rules"


class _Twice(str):
    """A value that stands under a key which stands there twice."""

    __slots__ = ()


def read_json(path: Path) -> Any:
    """Return what a file holds. Raises NoSheet."""
    try:
        return json.loads(path.read_bytes(), object_pairs_hook=_pairs)
    except RecursionError as error:
        raise NoSheet(f"{path} nests too deep to be a record") from error
    except ValueError as error:
        raise NoSheet(f"{path} holds no JSON: {error}") from error


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        found[key] = _Twice(key) if key in found else value
    return found


def rules_in(path: Path | None) -> Options:
    """Return the options of a root in a file, or those of a root without any. Raises NoSheet, BadRules."""
    if path is None:
        return Options()
    value = read_json(path)
    # A scenario's root will do as well, with the names in it.
    if isinstance(value, dict) and isinstance(value.get("root"), dict):
        value = replace_value(value["root"], lambda kind, name: account(name) if kind == "@" else name)
    if not isinstance(value, dict):
        raise BadRules(f"{path} holds no root: a root is an object, with the game's rules under `rules`")
    problems = list(_no_record(value, "$", 0)) or list(_unlistable(value))
    root = value if problems else codec.from_json(value)
    problems = problems or list(game_rules.problems_of_root(RULES, root))
    if problems:
        says = "; ".join(f"{problem.path}: {problem.says}" for problem in problems)
        raise BadRules(f"{path} holds no root of a game that is well-formed: {says}")
    return RULES.rules(root)[0]


def check_whole(value: Any, rules: Options) -> Shape:
    """Return everything that is wrong with a sheet read from JSON, each with its path, and the unknown fields."""
    found = {problem.path: problem for problem in _no_record(value, "$", 0)}
    shape = check_sheet(value, rules)
    for problem in shape.problems:
        found.setdefault(problem.path, problem)
    if not found:
        found = {problem.path: problem for problem in _unlistable(value)}
    return Shape(tuple(found.values()), shape.unknown)


def _no_record(value: Any, path: str, depth: int) -> Iterator[Problem]:
    if isinstance(value, _Twice):
        yield Problem(path, "stands there twice, and a key stands once")
    elif isinstance(value, float):
        yield Problem(path, f"a record holds whole numbers only, not {value!r}")
    elif isinstance(value, str) and any("\ud800" <= each <= "\udfff" for each in value):
        yield Problem(path, "holds half of a surrogate pair, and a record's text is UTF-8")
    elif isinstance(value, dict | list) and depth >= MAX_NESTING:
        yield Problem(path, f"a record nests {MAX_NESTING} deep at most")
    elif isinstance(value, dict):
        for key in sorted(value):
            yield from _no_record(value[key], f"{path}.{key}", depth + 1)
    elif isinstance(value, list):
        for place, each in enumerate(value):
            yield from _no_record(each, f"{path}[{place}]", depth + 1)


def _unlistable(value: Any) -> Iterator[Problem]:
    try:
        size = len(codec.encode(codec.from_json(value)))
    except Refused as refused:
        yield Problem("$", f"can be no record: {refused.message}")
        return
    if size > MAX_RECORD:
        yield Problem("$", f"is a record of {size} bytes, and at most {MAX_RECORD} are listed")
