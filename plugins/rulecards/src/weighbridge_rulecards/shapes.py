"""How a record fits its type: what its Lexicon says, and what a Lexicon has no words for."""

from __future__ import annotations

from typing import Any

from weighbridge.contract import Problem, Shape, check_shape

from weighbridge_rulecards.documents import COLLECTIONS, KINDS
from weighbridge_rulecards.names import MOVE, QUEST


def shape_of(collection: str, value: Any) -> Shape:
    """Say how a record fits its type: every problem with its path, and the fields that nobody knows."""
    document = COLLECTIONS[collection]
    kind = value.get("kind") if isinstance(value, dict) else None
    if collection != MOVE or not isinstance(kind, str) or kind not in KINDS:
        return check_shape(document, value)
    fields = {name: field for name, field in value.items() if name != "$type"}
    found = check_shape(document, fields, kind)
    problems = [*found.problems]
    if value.get("$type", MOVE) != MOVE:
        problems.append(Problem("$.$type", f"must be {MOVE}"))
    quest = fields.get("quest")
    if kind == "quest" and isinstance(quest, str) and not QUEST.fullmatch(quest):
        problems.append(Problem("$.quest", "must be 1 to 32 of a-z, 0-9 and -"))
    return Shape(tuple(problems), found.unknown)
