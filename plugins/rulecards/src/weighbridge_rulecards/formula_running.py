"""Running a formula: its tree becomes one function of a scope, which reads names and never fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from weighbridge_rulecards.formulas import Node
from weighbridge_rulecards.names import MOST


class Scope(Protocol):
    """What a formula reads: whose it is, what the world holds, and what has just happened."""

    def read(self, path: tuple[str, ...]) -> int:
        """Return the value under a name, as its parts: `@cond.blessed` is ("cond", "blessed")."""
        ...


Run = Callable[[Scope], int]
"""A formula as a function; conditions give 0 or 1."""


def held(value: int) -> int:
    """Return a result held within ±10⁹."""
    return -MOST if value < -MOST else MOST if value > MOST else value


def runner(node: Node) -> Run:
    """Return a formula's function."""
    if node.op == "num":
        value = node.value
        return lambda scope: value
    if node.op == "name":
        path = tuple(node.word[1:].split("."))
        return lambda scope: held(scope.read(path))
    parts = [runner(each) for each in node.parts]
    if node.op in ("sum", "prod"):
        return _chain([*zip(node.ops, parts, strict=True)])
    return _MAKERS[node.op](parts)


def _chain(steps: list[tuple[str, Run]]) -> Run:
    first = steps[0][1]
    rest = [(_STEPS[op], run) for op, run in steps[1:]]

    def run(scope: Scope) -> int:
        value = first(scope)
        for step, each in rest:
            value = held(step(value, each(scope)))
        return value

    return run


def towards_zero(value: int, by: int) -> int:
    """Return a quotient without its fraction: -7 by 2 is -3."""
    whole = abs(value) // abs(by)
    return whole if (value < 0) == (by < 0) else -whole


_STEPS: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": towards_zero,
}


def _compare(test: Callable[[int, int], bool]) -> Callable[[list[Run]], Run]:
    def make(parts: list[Run]) -> Run:
        left, right = parts
        return lambda scope: int(test(left(scope), right(scope)))

    return make


def _every(parts: list[Run]) -> Run:
    return lambda scope: int(all(each(scope) for each in parts))


def _some(parts: list[Run]) -> Run:
    return lambda scope: int(any(each(scope) for each in parts))


def _negated(parts: list[Run]) -> Run:
    inner = parts[0]
    return lambda scope: -inner(scope)


def _denied(parts: list[Run]) -> Run:
    inner = parts[0]
    return lambda scope: 1 - inner(scope)


def _least(parts: list[Run]) -> Run:
    return lambda scope: min(each(scope) for each in parts)


def _most(parts: list[Run]) -> Run:
    return lambda scope: max(each(scope) for each in parts)


_MAKERS: dict[str, Callable[[list[Run]], Run]] = {
    "<": _compare(lambda a, b: a < b),
    "<=": _compare(lambda a, b: a <= b),
    ">": _compare(lambda a, b: a > b),
    ">=": _compare(lambda a, b: a >= b),
    "==": _compare(lambda a, b: a == b),
    "!=": _compare(lambda a, b: a != b),
    "and": _every,
    "or": _some,
    "neg": _negated,
    "not": _denied,
    "min": _least,
    "max": _most,
}
