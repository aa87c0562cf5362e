"""What the rule book's tools need, as pure functions: checking a sheet, writing one, and the odds of a pool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from weighbridge.contract import Problem, Shape

from weighbridge_delvetown.names import SHEET
from weighbridge_delvetown.options import Options
from weighbridge_delvetown.results import chances
from weighbridge_delvetown.shapes import shape_of
from weighbridge_delvetown.sheets import sheet_problems

NO_GAME = "at://did:plc:nobody/town.delve.root/none"
"""Stands for the game in a sheet that does not name one yet."""


def check_sheet(value: Any, rules: Options | None = None) -> Shape:
    """Return everything that is wrong with a sheet, each with its path, and the fields that nobody knows.

    `rules`: the options of the game it is for; by default those of a root without any. Its `game` may be absent.
    """
    named = {"game": NO_GAME, **value} if isinstance(value, dict) else value
    shape = shape_of(SHEET, named)
    found = {problem.path: problem for problem in shape.problems}
    if isinstance(named, dict):
        for problem in sheet_problems(_countable(named), rules or Options()):
            found.setdefault(problem.path, problem)
    return Shape(tuple(found.values()), shape.unknown)


def _countable(sheet: Mapping[str, Any]) -> dict[str, Any]:
    """Return what of a sheet can be counted; what is of a wrong type is a problem of its own already."""
    dots, abilities = sheet.get("dots"), sheet.get("abilities")
    listed = abilities if isinstance(abilities, list) else []
    # What is no text keeps its place, so that the others are counted and measured in theirs.
    texts = [each if isinstance(each, str) else "" for each in listed]
    return {"dots": dots if isinstance(dots, dict) else {}, "abilities": texts}


def new_sheet(
    name: str,
    look: str,
    drive: str,
    dots: Mapping[str, int],
    abilities: Sequence[str] = (),
    rules: Options | None = None,
) -> tuple[dict[str, Any], tuple[Problem, ...]]:
    """Return a sheet with these fields, and what is wrong with it."""
    sheet: dict[str, Any] = {
        "name": name,
        "look": look,
        "drive": drive,
        "dots": dict(dots),
        "abilities": list(abilities),
    }
    return sheet, check_sheet(sheet, rules).problems


def odds(pool: int) -> dict[str, str]:
    """Return the chance of each result of a pool of dice, exactly, as a fraction such as `11/36`."""
    return {result: f"{part}/{whole}" for result, (part, whole) in chances(pool).items()}
