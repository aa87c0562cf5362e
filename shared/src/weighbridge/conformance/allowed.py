"""What a rule set may import and call, and why not the rest.

The list is a lint, not a sandbox: it catches what would make two nodes differ by accident. An operator runs
only plugins whose pin the configuration names.
"""

from __future__ import annotations

CONTRACT = "weighbridge.contract"
"""The one module of the kernel that a rule set imports."""

MODULES = frozenset(
    (
        "__future__", "abc", "base64", "binascii", "bisect", "collections", "collections.abc", "copy",
        "dataclasses", "enum", "fractions", "functools", "hashlib", "heapq", "itertools", "math", "operator",
        "re", "types", "typing", "typing_extensions",
    )
)  # fmt: skip
"""Standard modules that are pure functions of what they are given."""

INTEGER_MATH = frozenset(("comb", "factorial", "gcd", "isqrt", "lcm", "perm", "prod"))
"""What of `math` stays within the integers."""

FORBIDDEN_BUILTINS = {
    **dict.fromkeys(("open", "input", "print", "breakpoint"), "reads or writes beside the table"),
    **dict.fromkeys(("eval", "exec", "compile", "__import__"), "runs code that is not in the pinned files"),
    **dict.fromkeys(
        ("globals", "locals", "vars", "delattr", "setattr"), "reaches for state beside the table"
    ),
    **dict.fromkeys(("hash", "id"), "differs from process to process"),
    **dict.fromkeys(("float", "complex"), "makes numbers that are not whole"),
}
"""Builtins that a rule set does not name, and why."""

TEXT_METHODS = frozenset(
    (
        "capitalize", "casefold", "isalnum", "isalpha", "isdecimal", "isdigit", "isidentifier", "islower",
        "isnumeric", "isprintable", "isspace", "istitle", "isupper", "lower", "splitlines", "swapcase",
        "title", "upper",
    )
)  # fmt: skip
"""Methods of texts that read the Unicode tables of the running Python."""

BARE_TEXT_METHODS = frozenset(("lstrip", "rstrip", "split", "rsplit", "strip"))
"""Methods of texts that do so where they are not told which characters are meant."""

RE_FUNCTIONS = frozenset(
    ("compile", "findall", "finditer", "fullmatch", "match", "search", "split", "sub", "subn")
)
"""Functions of `re` that compile a pattern."""

ORDER_BLIND = frozenset(("all", "any", "frozenset", "len", "max", "min", "set", "sorted", "sum"))
"""Builtins whose answer does not depend on the order of what they are given, where they have no key."""

ORDER_KEEPING = frozenset(
    ("dict", "enumerate", "filter", "iter", "list", "map", "next", "reversed", "tuple", "zip")
)
"""Builtins whose answer does."""
