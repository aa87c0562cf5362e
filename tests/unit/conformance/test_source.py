"""What the kit finds in a rule set's source: each code by a line that earns it, beside one that does not."""

from __future__ import annotations

from pathlib import Path

import pytest
from weighbridge.conformance import check_files, check_source

ALLOWED = ("weighbridge_mine", "weighbridge.contract")


def codes(text: str) -> list[str]:
    return [each.code for each in check_source(text, "mine.py", ALLOWED)]


FORBIDDEN = [
    ("forbidden-import", "import random"),
    ("forbidden-import", "import os.path"),
    ("forbidden-import", "from time import time"),
    ("forbidden-import", "from weighbridge import fold"),
    ("forbidden-import", "from weighbridge.codec import encode"),
    ("forbidden-import", "import weighbridge_minerals"),
    ("forbidden-import", "import datetime"),
    ("forbidden-import", "from math import sqrt"),
    ("forbidden-import", "import math\nx = math.pi"),
    ("forbidden-builtin", "x = open('a')"),
    ("forbidden-builtin", "x = eval('1')"),
    ("forbidden-builtin", "x = hash('a')"),
    ("forbidden-builtin", "x = id(1)"),
    ("forbidden-builtin", "x = list(map(float, y))"),
    ("forbidden-builtin", "print(1)"),
    ("forbidden-builtin", "x = __import__('os')"),
    ("forbidden-builtin", "x = globals()"),
    ("float-literal", "x = 0.5"),
    ("float-literal", "x = 1e3"),
    ("float-literal", "x = 2j"),
    ("float-division", "x = a / b"),
    ("float-division", "x /= 2"),
    ("unordered-iteration", "for x in {1, 2}: pass"),
    ("unordered-iteration", "x = list({1, 2})"),
    ("unordered-iteration", "names = set(y)\nfor x in names: pass"),
    ("unordered-iteration", "def f(names: frozenset[str]):\n    return [x for x in names]"),
    ("unordered-iteration", "def f(names: set[str] | None):\n    return ','.join(names)"),
    ("unordered-iteration", "def f() -> set[str]: ...\nx = tuple(f())"),
    ("unordered-iteration", "x = {a: 1 for a in b.keys() - c}"),
    ("unordered-iteration", "x = max({1, 2}, key=f)"),
    ("unordered-iteration", "x = sorted({1, 2}, key=f)"),
    ("unordered-iteration", "x = {1, 2}.pop()"),
    ("unordered-iteration", "f(*{1, 2})"),
    ("unordered-iteration", "x = next(iter(a.union(b)))"),
    ("unordered-iteration", "x = [a for a in (s if c else set())]"),
    ("unicode-table", "x = y.lower()"),
    ("unicode-table", "x = y.isdigit()"),
    ("unicode-table", "x = list(map(str.upper, y))"),
    ("unicode-table", "x = y.split()"),
    ("unicode-table", "x = y.strip()"),
    ("unicode-table", "x = f'{y!r}'"),
    ("unicode-table", "x = repr(y)"),
    ("unicode-table", r"import re" + "\n" + r"x = re.compile(r'\w+')"),
    ("unicode-table", "import re\nx = re.fullmatch('[a-z]+', y, re.IGNORECASE)"),
    ("unicode-table", "import re\nx = re.search('(?i)abc', y)"),
    ("hidden-state", "def f():\n    global x\n    x = 1"),
]


@pytest.mark.parametrize(("code", "text"), FORBIDDEN, ids=[text for _, text in FORBIDDEN])
def test_what_could_make_two_nodes_differ_is_found(code, text):
    assert code in codes(text)


FINE = [
    "from __future__ import annotations",
    "from weighbridge.contract import RuleSet",
    "from weighbridge import contract",
    "from weighbridge_mine.cards import CARDS",
    "from . import cards",
    "import re, itertools, functools",
    "from collections.abc import Mapping",
    "from math import isqrt, gcd",
    "import math\nx = math.comb(5, 2)",
    "x = a // b",
    "x = sorted({1, 2})",
    "x = sum(a for a in {1, 2})",
    "x = {a + 1 for a in {1, 2}}",
    "x = max({1, 2})",
    "x = 1 in {1, 2}",
    "for x in {'a': 1}: pass",
    "for x in sorted(a.keys() - b): pass",
    "x = a.pop()",
    "x = y.title",
    "x = y.split(',')",
    "x = y.strip(' ')",
    "x = f'{y!a}'",
    r"import re" + "\n" + r"x = re.compile(r'\w+', re.ASCII)",
    "import re\nx = re.compile('[a-z]+')",
    "import re\nx = re.compile('abc', re.IGNORECASE | re.ASCII)",
    "x = y.lower()  # conformance: unicode-table: y matched [a-z]+ above",
]


@pytest.mark.parametrize("text", FINE)
def test_what_is_the_same_everywhere_is_not_found(text):
    assert codes(text) == []


def test_an_exception_without_a_reason_or_for_another_code_is_none():
    assert codes("x = y.lower()  # conformance: unicode-table:") == ["unicode-table"]
    assert codes("x = y.lower()  # conformance: float-literal: it is fine") == ["unicode-table"]


def test_a_finding_names_file_line_code_and_reason():
    (found,) = check_source("\n\nx = 0.5\n", "mine.py", ALLOWED)
    assert str(found) == "mine.py:3: float-literal: 0.5 is no whole number"


def test_a_module_that_the_rule_set_declares_may_be_imported(tmp_path: Path):
    file = tmp_path / "mine.py"
    file.write_text("import lark\n")
    assert [each.code for each in check_files([file], "mine")] == ["forbidden-import"]
    assert check_files([file], "mine", ("lark",)) == []
