"""How a record fits its type: what its Lexicon says, and what a Lexicon has no words for."""

from __future__ import annotations

from typing import Any

from weighbridge.contract import Problem, Shape, check_shape

from weighbridge_delvetown.days import day_from
from weighbridge_delvetown.documents import COLLECTIONS, KINDS
from weighbridge_delvetown.names import CREW, DID, MOVE, SHEET, split
from weighbridge_delvetown.traces import PART_NAMES

_DAYS = ("from", "to")


def shape_of(collection: str, value: Any) -> Shape:
    """Say how a record fits its type: every problem with its path, and the fields that nobody knows."""
    document = COLLECTIONS[collection]
    if collection == SHEET:
        found = check_shape(document, value)
        return Shape((*found.problems, *_dots_problems(value)), found.unknown)
    if collection != MOVE or not isinstance(value, dict) or value.get("kind") not in _KINDS:
        return check_shape(document, value)
    kind = str(value["kind"])
    fields = {name: field for name, field in value.items() if name != "$type"}
    found = check_shape(document, fields, kind)
    problems = [*found.problems, *_type_problems(value), *_move_problems(kind, fields)]
    return Shape(tuple(problems), (*found.unknown, *_unknown_parts(fields)))


_KINDS = tuple(KINDS)
_MOST_DOTS = 64


def _dots_problems(value: Any) -> list[Problem]:
    # What a sheet's dots are worth the rules say; here only that they are few, under names that could be actions.
    dots = value.get("dots") if isinstance(value, dict) else None
    if not isinstance(dots, dict) or (len(dots) <= _MOST_DOTS and all(len(name) <= 64 for name in dots)):
        return []
    return [Problem("$.dots", f"must hold at most {_MOST_DOTS} actions, with names of at most 64 characters")]


def _type_problems(value: dict[str, Any]) -> list[Problem]:
    fine = value.get("$type", MOVE) == MOVE
    return [] if fine else [Problem("$.$type", f"must be {MOVE}")]


def _unknown_parts(value: dict[str, Any]) -> list[str]:
    trace = value.get("trace")
    names = trace if isinstance(trace, dict) else {}
    return [f"$.trace.{name}" for name in sorted(names) if name not in PART_NAMES]


def _move_problems(kind: str, value: dict[str, Any]) -> list[Problem]:
    problems: list[Problem] = []
    if kind in ("prompt", "outage"):
        problems += _window_problems(value)
    if kind == "prompt":
        problems += _owner_problems(value)
    if kind == "stance" and "toward" in value and not _is_crew_or_sheet(value["toward"]):
        problems.append(Problem("$.toward", "must be a crew's at-uri or a sheet's DID"))
    if isinstance(value.get("target"), dict):
        problems += _target_problems(value["target"])
    return problems


def _window_problems(value: dict[str, Any]) -> list[Problem]:
    days = [day_from(value[name]) if isinstance(value.get(name), str) else None for name in _DAYS]
    problems = [
        Problem(f"$.{name}", "must be a game day, as 2026-10-18")
        for name, day in zip(_DAYS, days, strict=True)
        if day is None and isinstance(value.get(name), str)
    ]
    if days[0] is not None and days[1] is not None and days[1] < days[0]:
        problems.append(Problem("$.to", "must not be before the first day"))
    return problems


def _owner_problems(value: dict[str, Any]) -> list[Problem]:
    clock, invited = value.get("clock"), value.get("invited")
    if not isinstance(clock, dict) or clock.get("kind") != "project":
        return []
    fine = isinstance(invited, list) and len(invited) == 1
    return [] if fine else [Problem("$.invited", "of a project clock: exactly one sheet, its owner")]


def _target_problems(target: dict[str, Any]) -> list[Problem]:
    problems = []
    if sum(name in target for name in ("place", "crew", "self")) != 1:
        problems.append(Problem("$.target", "must be one of place, crew and self"))
    if "crew" in target and not _is_crew_or_sheet(target["crew"]):
        problems.append(Problem("$.target.crew", "must be a crew's at-uri or a sheet's DID"))
    return problems


def _is_crew_or_sheet(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    parts = split(value)
    return (parts is not None and parts[1] == CREW) or DID.fullmatch(value) is not None
