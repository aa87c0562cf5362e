"""Formulas: whole numbers and conditions over what a character and the world have. Their trees, and how they print.

Loosest first: `or`, `and`, `not`, one comparison, `+ -`, `* /`, unary `-`, then numbers, names, brackets, `min`,
`max`. Every result is held within ±10⁹, so no formula overflows; `/` goes towards zero and only by a literal other
than 0, so none fails. At most 500 characters and 16 deep, and no name in it refers to another formula.
"""

from __future__ import annotations

from dataclasses import dataclass

MOST_CHARACTERS = 500
MOST_DEPTH = 16

INTEGER = "a whole number"
BOOLEAN = "a condition"


@dataclass(frozen=True, slots=True)
class Node:
    """A node of a formula's tree.

    `op`: num (`value`), name (`word`), neg, not, sum and prod (`ops`: + - or * / of each part; the first + or *),
    a comparison, and, or, min, max. Flat chains are one node, so that depth is what brackets make it.
    """

    op: str
    parts: tuple[Node, ...] = ()
    ops: tuple[str, ...] = ()
    value: int = 0
    word: str = ""

    @property
    def kind(self) -> str:
        """What it gives: a whole number or a condition."""
        return BOOLEAN if self.op in _BOOLEAN else INTEGER


COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
_BOOLEAN = ("and", "or", "not", *COMPARISONS)
_LEVEL = {
    "or": 0, "and": 1, "not": 2, **dict.fromkeys(COMPARISONS, 3), "sum": 4, "prod": 5, "neg": 6, "num": 7, "name": 7,
    "min": 7, "max": 7,
}  # fmt: skip


def text_of(node: Node) -> str:
    """Return a formula's canonical text: single spaces, and no bracket that it can do without."""
    if node.op == "num":
        return str(node.value)
    if node.op == "name":
        return node.word
    if node.op in ("min", "max"):
        return f"{node.op}({', '.join(text_of(each) for each in node.parts)})"
    level = _LEVEL[node.op]
    if node.op in ("neg", "not"):
        return f"{'-' if node.op == 'neg' else 'not '}{_inside(node.parts[0], level)}"
    # A part of a chain is itself of this level only in brackets: a chain of one level is one node.
    first, *rest = (_inside(each, level + 1) for each in node.parts)
    ops = node.ops[1:] or (node.op,) * len(rest)
    return first + "".join(f" {op} {each}" for op, each in zip(ops, rest, strict=True))


def _inside(node: Node, level: int) -> str:
    text = text_of(node)
    return f"({text})" if _LEVEL[node.op] < level else text


def names_in(node: Node) -> list[str]:
    """Return the names a formula reads, in order, each once."""
    found = [node.word] if node.op == "name" else []
    for each in node.parts:
        found += names_in(each)
    return list(dict.fromkeys(found))
