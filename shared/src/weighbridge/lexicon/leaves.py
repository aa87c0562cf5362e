"""Closures that check values which hold no others: texts, numbers, bytes, links, blobs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from weighbridge.cid import Cid
from weighbridge.contract import Problem
from weighbridge.lexicon.formats import FORMATS
from weighbridge.lexicon.paths import Path, render


class Findings:
    """What a check has found so far."""

    __slots__ = ("problems", "unknown")

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.unknown: list[str] = []

    def wrong(self, parent: Path, key: str | int, says: str) -> None:
        """Note a problem at a path."""
        self.problems.append(Problem(render(parent, key), says))


Check: TypeAlias = Callable[[object, Path, "str | int", Findings], None]
"""Checks a value that stands at (path above, key) and notes what it finds."""

Schema: TypeAlias = Mapping[str, Any]


def null(schema: Schema) -> Check:
    """Null and nothing else."""

    def run(value: object, parent: Path, key: str | int, out: Findings) -> None:
        if value is not None:
            out.wrong(parent, key, "must be null")

    return run


def boolean(schema: Schema) -> Check:
    """True or false; with `const`, one of the two."""
    const = schema.get("const")

    def run(value: object, parent: Path, key: str | int, out: Findings) -> None:
        if value is not True and value is not False:
            out.wrong(parent, key, "must be true or false")
        elif const is not None and value is not const:
            out.wrong(parent, key, f"must be {str(const).lower()}")

    return run


def integer(schema: Schema) -> Check:
    """A whole number (never a truth value), in a range, one of some, or exactly one."""
    least, most = schema.get("minimum"), schema.get("maximum")
    choices = _choices(schema)

    def run(value: object, parent: Path, key: str | int, out: Findings) -> None:
        if type(value) is not int:
            out.wrong(parent, key, "must be a whole number")
            return
        if least is not None and value < least:
            out.wrong(parent, key, f"must be at least {least}")
        if most is not None and value > most:
            out.wrong(parent, key, f"must be at most {most}")
        if choices is not None and value not in choices:
            out.wrong(parent, key, f"must be {_any_of(choices)}")

    return run


def string(schema: Schema) -> Check:
    """A text: its length in UTF-8 bytes, its format, one of some, or exactly one."""
    measured = measure(schema, "bytes")
    choices = _choices(schema)
    has_format, what = FORMATS.get(schema.get("format", ""), (None, ""))

    def run(value: object, parent: Path, key: str | int, out: Findings) -> None:
        if not isinstance(value, str):
            out.wrong(parent, key, "must be a text")
            return
        if has_format is not None and not has_format(value):
            out.wrong(parent, key, f"must be {what}")
        if choices is not None and value not in choices:
            out.wrong(parent, key, f"must be {_any_of(choices)}")
        if measured is not None:
            # A lone surrogate has no UTF-8; the codec refuses it, and here it must not raise.
            size = len(value) if value.isascii() else len(value.encode("utf-8", "surrogatepass"))
            measured(size, parent, key, out)

    return run


def octets(schema: Schema) -> Check:
    """Bytes, and how many."""
    measured = measure(schema, "bytes")

    def run(value: object, parent: Path, key: str | int, out: Findings) -> None:
        if not isinstance(value, bytes):
            out.wrong(parent, key, "must be bytes")
        elif measured is not None:
            measured(len(value), parent, key, out)

    return run


def cid_link(schema: Schema) -> Check:
    """A link to a block."""

    def run(value: object, parent: Path, key: str | int, out: Findings) -> None:
        if not isinstance(value, Cid):
            out.wrong(parent, key, "must be a link (a CID)")

    return run


def blob(schema: Schema) -> Check:
    """A reference to a file: its link, its media type, its size in bytes."""
    most = schema.get("maxSize")
    accept = schema.get("accept")

    def run(value: object, parent: Path, key: str | int, out: Findings) -> None:
        if not isinstance(value, dict) or not _is_blob(value):
            out.wrong(parent, key, 'must be a blob: {"$type": "blob", ref, mimeType, size}')
            return
        if most is not None and value["size"] > most:
            out.wrong(parent, key, f"must be at most {most} bytes in size")
        if accept is not None and not any(_accepts(pattern, value["mimeType"]) for pattern in accept):
            out.wrong(parent, key, f"must be of the media type {_any_of(tuple(accept))}")

    return run


def unknown(schema: Schema) -> Check:
    """A map of anything, though no blob."""

    def run(value: object, parent: Path, key: str | int, out: Findings) -> None:
        if not isinstance(value, dict) or value.get("$type") == "blob":
            out.wrong(parent, key, "must be a map")

    return run


def token(full_name: str) -> Check:
    """The text that names a token."""

    def run(value: object, parent: Path, key: str | int, out: Findings) -> None:
        if value != full_name:
            out.wrong(parent, key, f"must be {full_name!r}")

    return run


LEAVES: Mapping[str, Callable[[Schema], Check]] = {
    "null": null,
    "boolean": boolean,
    "integer": integer,
    "string": string,
    "bytes": octets,
    "cid-link": cid_link,
    "blob": blob,
    "unknown": unknown,
}


def _choices(schema: Schema) -> tuple[Any, ...] | None:
    if "const" in schema:
        return (schema["const"],)
    return tuple(schema["enum"]) if "enum" in schema else None


def _any_of(choices: tuple[Any, ...]) -> str:
    return " or ".join(str(choice) for choice in choices) if choices else "nothing at all"


def measure(schema: Schema, unit: str) -> Callable[[int, Path, str | int, Findings], None] | None:
    """Return what holds a size to the schema's minLength and maxLength; None where it has neither."""
    least, most = schema.get("minLength"), schema.get("maxLength")
    if least is None and most is None:
        return None

    def run(size: int, parent: Path, key: str | int, out: Findings) -> None:
        if least is not None and size < least:
            out.wrong(parent, key, f"must have at least {least} {unit}, has {size}")
        if most is not None and size > most:
            out.wrong(parent, key, f"must have at most {most} {unit}, has {size}")

    return run


def _is_blob(value: dict[Any, Any]) -> bool:
    size = value.get("size")
    return (
        value.get("$type") == "blob"
        and isinstance(value.get("ref"), Cid)
        and isinstance(value.get("mimeType"), str)
        and type(size) is int
        and size >= 0
    )


def _accepts(pattern: str, media_type: str) -> bool:
    if pattern == "*/*":
        return True
    return media_type.startswith(pattern[:-1]) if pattern.endswith("/*") else media_type == pattern
