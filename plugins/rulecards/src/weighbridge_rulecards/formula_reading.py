"""Reading a formula's text: tokens, then the tree by precedence, then what kind it is."""

from __future__ import annotations

import re
from collections.abc import Callable

from weighbridge_rulecards.formulas import (
    BOOLEAN,
    COMPARISONS,
    INTEGER,
    MOST_CHARACTERS,
    MOST_DEPTH,
    Node,
    text_of,
)
from weighbridge_rulecards.names import MOST

_TOKEN = re.compile(
    r"(?P<num>[0-9]+)|(?P<name>@[A-Za-z0-9_.]*[A-Za-z0-9_])|(?P<word>[A-Za-z_]+)"
    r"|(?P<sign><=|>=|==|!=|[-+*/()<>,])",
    re.ASCII,
)
_DICE = re.compile(r"[0-9]*d[0-9]+", re.ASCII)


class Wrong(Exception):
    """A text that is no formula, or no sentence: what is wrong with it. It never leaves this package."""

    def __init__(self, says: str) -> None:
        super().__init__(says)
        self.says = says


def read_formula(text: str, kind: str) -> Node:
    """Return a formula's tree. `kind`: INTEGER or BOOLEAN, what it must give. Raises `Wrong`."""
    if len(text) > MOST_CHARACTERS:
        raise Wrong(f"a formula has at most {MOST_CHARACTERS} characters, and this has {len(text)}")
    reader = _Reader(_tokens(text))
    node = reader.whole()
    if len(text_of(node)) > MOST_CHARACTERS:
        raise Wrong(f"a formula has at most {MOST_CHARACTERS} characters, spaces around signs included")
    if node.kind != kind:
        raise Wrong(f"this gives {node.kind}, and {kind} is wanted here")
    return node


def _tokens(text: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    at = 0
    while at < len(text):
        if text[at] == " ":
            at += 1
            continue
        match = _TOKEN.match(text, at)
        if match is None:
            raise Wrong(f"{text[at]!a} is nothing that formulas know")
        if _DICE.match(text, at) and match.lastgroup in ("num", "word"):
            raise Wrong("there are no dice in formulas: a check rolls them")
        found.append((str(match.lastgroup), match[0]))
        at = match.end()
    return found


class _Reader:
    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self._tokens = [*tokens, ("end", "")]
        self._at = 0
        self._depth = 0

    def whole(self) -> Node:
        node = self._or()
        if self._tokens[self._at][0] != "end":
            raise Wrong(f"{self._next()} is not expected here")
        return node

    # --- tokens --------------------------------------------------------------------------------------------

    def _next(self) -> str:
        return self._tokens[self._at][1] or "the end"

    def _take(self, *wanted: str) -> str:
        kind, text = self._tokens[self._at]
        if kind in ("word", "sign") and text in wanted:
            self._at += 1
            return text
        return ""

    def _need(self, wanted: str) -> None:
        if not self._take(wanted):
            raise Wrong(f"{wanted} is expected where {self._next()} stands")

    def _deeper(self, read: Callable[[], Node]) -> Node:
        self._depth += 1
        if self._depth > MOST_DEPTH:
            raise Wrong(f"a formula is at most {MOST_DEPTH} deep")
        node = read()
        self._depth -= 1
        return node

    # --- the levels ----------------------------------------------------------------------------------------

    def _or(self) -> Node:
        return self._joined("or", self._and)

    def _and(self) -> Node:
        return self._joined("and", self._not)

    def _joined(self, word: str, inner: Callable[[], Node]) -> Node:
        parts = [inner()]
        while self._take(word):
            parts.append(inner())
        if len(parts) == 1:
            return parts[0]
        for each in parts:
            _want(each, BOOLEAN, word)
        # (a and b) and c is a and b and c: conditions have no order that shows.
        flat = [one for each in parts for one in (each.parts if each.op == word else (each,))]
        return Node(word, tuple(flat))

    def _not(self) -> Node:
        if not self._take("not"):
            return self._comparison()
        inner = self._deeper(self._not)
        _want(inner, BOOLEAN, "not")
        return Node("not", (inner,))

    def _comparison(self) -> Node:
        left = self._sum()
        op = self._take(*COMPARISONS)
        if not op:
            return left
        right = self._sum()
        _want(left, INTEGER, op)
        _want(right, INTEGER, op)
        if self._tokens[self._at][1] in COMPARISONS:
            raise Wrong("a comparison has two sides: join two by and")
        return Node(op, (left, right))

    def _sum(self) -> Node:
        parts, ops = [self._product()], ["+"]
        while op := self._take("+", "-"):
            ops.append(op)
            parts.append(self._product())
        return _chain("sum", parts, ops)

    def _product(self) -> Node:
        parts, ops = [self._unary()], ["*"]
        while op := self._take("*", "/"):
            ops.append(op)
            parts.append(self._unary())
            if op == "/" and (parts[-1].op != "num" or parts[-1].value == 0):
                raise Wrong("/ divides by a number other than 0, written out")
        return _chain("prod", parts, ops)

    def _unary(self) -> Node:
        if not self._take("-"):
            return self._atom()
        inner = self._deeper(self._unary)
        _want(inner, INTEGER, "-")
        if inner.op == "num" and inner.value > 0:
            return Node("num", value=-inner.value)
        return Node("num", value=0) if inner == Node("num", value=0) else Node("neg", (inner,))

    def _atom(self) -> Node:
        kind, text = self._tokens[self._at]
        if kind in ("num", "name"):
            self._at += 1
            return Node("name", word=text) if kind == "name" else Node("num", value=_number(text))
        if function := self._take("min", "max"):
            return self._deeper(lambda: self._call(function))
        if not self._take("("):
            raise Wrong(f"a number, a name or a bracket is expected where {self._next()} stands")
        inner = self._deeper(self._or)
        self._need(")")
        return inner

    def _call(self, function: str) -> Node:
        self._need("(")
        parts = [self._or()]
        while self._take(","):
            parts.append(self._or())
        self._need(")")
        if len(parts) < 2:
            raise Wrong(f"{function} chooses among two or more")
        for each in parts:
            _want(each, INTEGER, function)
        return Node(function, tuple(parts))


def _number(text: str) -> int:
    if len(text) > 10 or int(text) > MOST:
        raise Wrong(f"numbers stay within {MOST}")
    return int(text)


def _chain(op: str, parts: list[Node], ops: list[str]) -> Node:
    if len(parts) == 1:
        return parts[0]
    for each, sign in zip(parts, [*ops[1:2], *ops[1:]], strict=True):
        _want(each, INTEGER, sign)
    return Node(op, tuple(parts), tuple(ops))


def _want(node: Node, kind: str, op: str) -> None:
    if node.kind != kind:
        raise Wrong(f"{op} is given {node.kind}, and takes {kind}")
