"""What a rule set's hooks may answer: another type or form is a breach, wherever it comes from.

These run within `World.guard`, so that a breach has the one outcome of every failure: `rule-fault`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from weighbridge.codec import encode
from weighbridge.contract import Needs, Problem, Ruling, Shape
from weighbridge.fold.breach import RuleBreach

MAX_TOLD = 20
"""Problems or fields that one report names; the others it counts."""

MAX_SAID = 200
"""Characters that a report spends on one of them."""


def shape(answer: Any) -> Shape:
    """Return how a record fits its type."""
    if not isinstance(answer, Shape) or not _texts(answer.unknown):
        raise RuleBreach("shape answers with a Shape")
    problems(answer.problems)
    return answer


def problems(answer: Any) -> tuple[Problem, ...]:
    """Return problems, each with its path."""
    if not isinstance(answer, tuple | list) or not all(
        isinstance(each, Problem) and _texts((each.path, each.says)) for each in answer
    ):
        raise RuleBreach("problems are a tuple of Problem")
    return tuple(answer)


def rules(answer: Any) -> tuple[Any, tuple[Problem, ...]]:
    """Return a root's options and the problems of it."""
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise RuleBreach("rules answers with the options and a tuple of Problem")
    return answer[0], problems(answer[1])


def needs(answer: Any) -> Needs:
    """Return what a record awaits."""
    fits = isinstance(answer, Needs) and isinstance(answer.dice, tuple) and _texts(answer.dice)
    if not fits or type(answer.trace) is not bool or answer.after not in ("listing", "trace"):
        raise RuleBreach("what a record awaits is a Needs")
    kept: Needs = answer
    return kept


def ruling(answer: Any) -> Ruling | None:
    """Return what a record rules on, if it is a ruling."""
    if answer is None:
        return None
    if not isinstance(answer, Ruling) or not _texts((answer.subject, answer.part)):
        raise RuleBreach("ruling answers with a Ruling or None")
    if answer.effect not in ("void", "release", "answer"):
        raise RuleBreach("a ruling's effect is void, release or answer")
    return answer


def yes_or_no(answer: Any) -> bool:
    """Return whether a rule set says yes."""
    if type(answer) is not bool:
        raise RuleBreach("the answer to a yes-or-no question is a boolean")
    return answer


def word(answer: Any) -> str:
    """Return a report code."""
    if not _texts((answer,)):
        raise RuleBreach("a report code is a text")
    said: str = answer
    return said


def times(answer: Iterable[Any]) -> list[int]:
    """Return times (µs)."""
    found = list(answer)
    if not all(type(time) is int for time in found):
        raise RuleBreach("a time is a whole number of microseconds")
    return found


def value(answer: Any) -> Any:
    """Return what is to stand in a cell: floats, sets and integers past 64 bits are refused by their own codes."""
    encode(answer)
    return answer


def cells(answer: Any) -> dict[str, Any]:
    """Return the cells that a migration leaves."""
    if not isinstance(answer, Mapping) or not _texts(answer):
        raise RuleBreach("migrate answers with a mapping of keys to cells")
    return dict(answer)


_TEXT = {str}


def _texts(found: Iterable[Any]) -> bool:
    return {*map(type, found)} <= _TEXT


def told(found: Iterable[Problem]) -> str:
    """Return problems as one sentence's part, so long that a report stays one to be read."""
    return listed("; ", [f"{each.path}: {each.says}" for each in found])


def listed(between: str, found: list[str]) -> str:
    """Return texts joined, each cut and the last ones counted where there are too many."""
    cut = [each if len(each) <= MAX_SAID else f"{each[: MAX_SAID - 1]}…" for each in found[:MAX_TOLD]]
    more = len(found) - len(cut)
    return between.join(cut) + (f"{between}and {more} more" if more else "")
