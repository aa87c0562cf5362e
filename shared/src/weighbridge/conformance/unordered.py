"""Sets have no order, and Python's differs from process to process: where a rule set walks through one.

A set is known by how it is written, by the name it was given in the same file, or by its annotation.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from weighbridge.conformance.allowed import ORDER_BLIND, ORDER_KEEPING
from weighbridge.conformance.findings import Finding, find

_SET_METHODS = ("difference", "intersection", "symmetric_difference", "union")
_SET_TYPES = ("AbstractSet", "FrozenSet", "MutableSet", "Set", "frozenset", "set")
_OPERATORS = ast.BitAnd | ast.BitOr | ast.BitXor | ast.Sub


def unordered(tree: ast.AST, path: str) -> Iterator[Finding]:
    """Yield where a set is walked through in its own order."""
    sets = _Sets(tree)
    blind = _order_blind(tree)
    for node in ast.walk(tree):
        for walked in _walked(node, blind):
            if sets.is_set(walked):
                says = "a set has no order that two processes share: sort it first"
                yield find(path, walked, "unordered-iteration", says)


class _Sets:
    """The names and attributes of a file that hold sets."""

    def __init__(self, tree: ast.AST) -> None:
        self._names: set[str] = set()
        size = -1
        while len(self._names) != size:
            size = len(self._names)
            for node in ast.walk(tree):
                self._learn(node)

    def _learn(self, node: ast.AST) -> None:
        if isinstance(node, ast.Assign) and self.is_set(node.value):
            self._names.update(_name(target) for target in node.targets)
        elif isinstance(node, ast.AnnAssign) and _is_set_type(node.annotation):
            self._names.add(_name(node.target))
        elif isinstance(node, ast.arg) and node.annotation is not None and _is_set_type(node.annotation):
            self._names.add(node.arg)
        elif isinstance(node, ast.NamedExpr) and self.is_set(node.value):
            self._names.add(_name(node.target))
        elif isinstance(node, ast.FunctionDef) and node.returns is not None and _is_set_type(node.returns):
            self._names.add(f"{node.name}()")
        self._names.discard("")

    def is_set(self, node: ast.AST) -> bool:
        """Whether an expression is a set, as far as can be seen."""
        if isinstance(node, ast.Set | ast.SetComp):
            return True
        if isinstance(node, ast.BinOp) and isinstance(node.op, _OPERATORS):
            return self.is_set(node.left) or self.is_set(node.right) or _is_keys(node.left)
        if isinstance(node, ast.IfExp):
            return self.is_set(node.body) or self.is_set(node.orelse)
        if isinstance(node, ast.Call):
            made = isinstance(node.func, ast.Name) and node.func.id in ("set", "frozenset")
            method = isinstance(node.func, ast.Attribute) and node.func.attr in _SET_METHODS
            return made or method or f"{_name(node.func)}()" in self._names
        return _name(node) in self._names


def _name(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _is_set_type(node: ast.AST) -> bool:
    outer = node.value if isinstance(node, ast.Subscript) else node
    if isinstance(outer, ast.BinOp):
        return _is_set_type(outer.left) or _is_set_type(outer.right)
    if _name(outer) in ("ClassVar", "Final") and isinstance(node, ast.Subscript):
        return _is_set_type(node.slice)
    return _name(outer) in _SET_TYPES


def _is_keys(node: ast.AST) -> bool:
    """Whether an expression is the keys or items of a map: combined by an operator they become a set."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("keys", "items")
    )


def _order_blind(tree: ast.AST) -> set[ast.AST]:
    """Return the arguments of calls to which order does not matter."""
    found: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ORDER_BLIND:
            if not _has_key(node):
                found.update(node.args)
        elif isinstance(node, ast.SetComp):
            found.add(node)
    return found


def _has_key(node: ast.Call) -> bool:
    """Whether a call sorts or chooses by a key: of those with equal keys, the first comes first."""
    return any(keyword.arg == "key" for keyword in node.keywords)


def _walked(node: ast.AST, blind: set[ast.AST]) -> Iterator[ast.AST]:
    """Yield what a node walks through where the order matters."""
    if isinstance(node, ast.For):
        yield node.iter
    elif isinstance(node, ast.ListComp | ast.DictComp | ast.GeneratorExp) and node not in blind:
        yield from (part.iter for part in node.generators)
    elif isinstance(node, ast.Starred):
        yield node.value
    elif isinstance(node, ast.Call):
        yield from _walked_by_call(node)


def _walked_by_call(node: ast.Call) -> Iterator[ast.AST]:
    if isinstance(node.func, ast.Name):
        if node.func.id in ORDER_KEEPING or (node.func.id in ORDER_BLIND and _has_key(node)):
            yield from node.args
    elif isinstance(node.func, ast.Attribute):
        if node.func.attr in ("join", "fromkeys", "extend"):
            yield from node.args
        elif node.func.attr == "pop" and not node.args:
            yield node.func.value
