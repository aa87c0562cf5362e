"""A rule set's source, read: what could make two nodes differ, each with a code, file and line.

A line may say why a finding does not hold there: `# conformance: unicode-table: [a-z] matched above`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from weighbridge.conformance.allowed import (
    BARE_TEXT_METHODS,
    CONTRACT,
    FORBIDDEN_BUILTINS,
    INTEGER_MATH,
    MODULES,
    RE_FUNCTIONS,
    TEXT_METHODS,
)
from weighbridge.conformance.findings import Finding, find
from weighbridge.conformance.unordered import unordered

_ACCEPTED = re.compile(r"#\s*conformance:\s*([a-z-]+):\s*\S", re.ASCII)
_UNICODE_CLASSES = re.compile(r"(?<!\\)(?:\\\\)*\\[wWdDsSbB]|\(\?[a-zA-Z]*[iu]", re.ASCII)


def check_files(files: Iterable[Path], package: str, third_party: Iterable[str] = ()) -> list[Finding]:
    """Return every finding in a rule set's files. `package` is its own import name."""
    allowed = (package, CONTRACT, *third_party)
    return [each for path in files for each in check_source(path.read_text("utf-8"), str(path), allowed)]


def check_source(text: str, path: str, allowed: tuple[str, ...]) -> list[Finding]:
    """Return every finding in one file's text. `allowed`: what it may import beside standard modules."""
    tree = ast.parse(text, path)
    found = [*unordered(tree, path)]
    for node in ast.walk(tree):
        for check in (_imports, _names, _numbers, _texts, _patterns, _state):
            found += check(node, path, allowed)
    lines = text.splitlines()
    return sorted(each for each in set(found) if not _is_accepted(each, lines))


def _is_accepted(finding: Finding, lines: list[str]) -> bool:
    line = lines[finding.line - 1] if 0 < finding.line <= len(lines) else ""
    return any(match[1] == finding.code for match in _ACCEPTED.finditer(line))


def _imports(node: ast.AST, path: str, allowed: tuple[str, ...]) -> Iterator[Finding]:
    if isinstance(node, ast.Import):
        named = [(alias.name, alias.name) for alias in node.names]
    elif isinstance(node, ast.ImportFrom) and not node.level:
        module = node.module or ""
        # `from weighbridge import contract` names a module too.
        named = [(module, f"{module}.{alias.name}") for alias in node.names]
    else:
        return
    for module, whole in named:
        if not _may_import(module, allowed) and not (whole == CONTRACT and CONTRACT in allowed):
            says = f"{module} is none of the contract, the rule set itself and the pure standard modules"
            yield find(path, node, "forbidden-import", says)
        elif module == "math" and whole != "math" and whole.partition(".")[2] not in INTEGER_MATH:
            yield find(path, node, "forbidden-import", f"{whole} leaves the integers")


def _may_import(module: str, allowed: tuple[str, ...]) -> bool:
    return module in MODULES or any(module == name or module.startswith(f"{name}.") for name in allowed)


def _names(node: ast.AST, path: str, allowed: tuple[str, ...]) -> Iterator[Finding]:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in FORBIDDEN_BUILTINS:
        yield find(path, node, "forbidden-builtin", f"{node.id} {FORBIDDEN_BUILTINS[node.id]}")
    attribute = _of_module(node, "math")
    if attribute and attribute not in INTEGER_MATH:
        yield find(path, node, "forbidden-import", f"math.{attribute} leaves the integers")


def _of_module(node: ast.AST, module: str) -> str:
    """Return `name` of an expression `module.name`, else nothing."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == module:
        return node.attr
    return ""


def _numbers(node: ast.AST, path: str, allowed: tuple[str, ...]) -> Iterator[Finding]:
    if isinstance(node, ast.Constant) and isinstance(node.value, float | complex):
        yield find(path, node, "float-literal", f"{node.value} is no whole number")
    if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Div):
        yield find(path, node, "float-division", "/ gives a float: // stays whole")


def _texts(node: ast.AST, path: str, allowed: tuple[str, ...]) -> Iterator[Finding]:
    method = node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""
    if method in TEXT_METHODS or _of_module(node, "str") in TEXT_METHODS:
        says = f"{method or _of_module(node, 'str')} reads the Unicode tables, which differ by version"
        yield find(path, node, "unicode-table", says)
    elif isinstance(node, ast.Call) and method in BARE_TEXT_METHODS and not node.args and not node.keywords:
        yield find(path, node, "unicode-table", f"{method} without characters goes by Unicode's spaces")
    elif isinstance(node, ast.FormattedValue) and node.conversion == ord("r"):
        yield find(path, node, "unicode-table", "!r goes by what Unicode calls printable: !a does not")
    elif isinstance(node, ast.Name) and node.id == "repr" and isinstance(node.ctx, ast.Load):
        yield find(path, node, "unicode-table", "repr goes by what Unicode calls printable: ascii does not")


def _patterns(node: ast.AST, path: str, allowed: tuple[str, ...]) -> Iterator[Finding]:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return
    of_re = isinstance(node.func.value, ast.Name) and node.func.value.id == "re"
    if not of_re or node.func.attr not in RE_FUNCTIONS or not node.args:
        return
    options = (*node.args[1:], *node.keywords)
    flags = {_of_module(each, "re") for option in options for each in ast.walk(option)}
    pieces = [each.value for each in ast.walk(node.args[0]) if isinstance(each, ast.Constant)]
    reads = any(isinstance(piece, str) and _UNICODE_CLASSES.search(piece) for piece in pieces)
    if (reads or flags & {"I", "IGNORECASE"}) and not flags & {"A", "ASCII"}:
        says = r"\w, \d, \s, \b and (?i) go by Unicode: write the characters out, or say re.ASCII"
        yield find(path, node, "unicode-table", says)


def _state(node: ast.AST, path: str, allowed: tuple[str, ...]) -> Iterator[Finding]:
    if isinstance(node, ast.Global):
        says = f"{', '.join(node.names)} would be remembered beside the table"
        yield find(path, node, "hidden-state", says)
