"""What the conformance kit finds in a rule set's source."""

from __future__ import annotations

import ast

import msgspec


class Finding(msgspec.Struct, frozen=True, order=True):
    """One thing in a rule set's source that could make two nodes differ: where, a code, and a sentence."""

    path: str
    line: int
    code: str
    says: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.code}: {self.says}"


def find(path: str, node: ast.AST, code: str, says: str) -> Finding:
    """Return a finding at a node."""
    return Finding(path, getattr(node, "lineno", 0), code, says)
