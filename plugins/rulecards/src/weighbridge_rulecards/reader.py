"""Reading data that people write: every problem with its path, unknown names with the nearest existing ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from weighbridge.contract import Problem

from weighbridge_rulecards.names import MOST
from weighbridge_rulecards.nearest import hint

Json = dict[str, Any]


class Reader:
    """Collects what is wrong. Each method returns what it read, or None after noting why it cannot be read."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.unknown = 0
        """How many of the problems are names that do not exist."""

    def no_such(self, path: str, says: str) -> None:
        """Note a name that does not exist."""
        self.unknown += 1
        self.wrong(path, says)

    def wrong(self, path: str, says: str) -> None:
        """Note a problem."""
        self.problems.append(Problem(path, says))

    def map(self, value: Any, path: str) -> Json | None:
        """Read a map."""
        if isinstance(value, dict):
            return value
        self.wrong(path, "a map is wanted here")
        return None

    def fields(self, value: Any, path: str, needed: Iterable[str], may: Iterable[str] = ()) -> Json | None:
        """Read a map of known fields. A field that nobody knows is refused, never ignored."""
        found = self.map(value, path)
        if found is None:
            return None
        needed = list(needed)
        known = [*needed, *may]
        for key in sorted(found):
            if key not in known:
                self.wrong(f"{path}.{key}", hint(key, known, "field"))
        missing = [key for key in needed if key not in found]
        for key in missing:
            self.wrong(f"{path}.{key}", "is missing")
        return None if missing else found

    def items(self, value: Any, path: str, most: int, least: int = 0) -> list[Any]:
        """Read a list; an empty one where it is none."""
        if isinstance(value, list) and least <= len(value) <= most:
            return value
        self.wrong(path, f"a list of {least} to {most} entries is wanted here")
        return []

    def whole(self, value: Any, path: str, least: int = -MOST, most: int = MOST) -> int | None:
        """Read a whole number."""
        if type(value) is int and least <= value <= most:
            return value
        self.wrong(path, f"a whole number from {least} to {most} is wanted here")
        return None

    def word(self, value: Any, path: str, options: Sequence[str]) -> str | None:
        """Read one of some words."""
        if isinstance(value, str) and value in options:
            return value
        says = hint(value, options, "option") if isinstance(value, str) else "a word is wanted here"
        self.wrong(path, f"{says}; it is one of {', '.join(options)}")
        return None

    def flag(self, value: Any, path: str) -> bool:
        """Read true or false."""
        if type(value) is bool:
            return value
        self.wrong(path, "true or false is wanted here")
        return False

    def text(self, value: Any, path: str, fault: Callable[[str], str]) -> str | None:
        """Read a text, `fault` saying what is wrong with it."""
        says = fault(value) if isinstance(value, str) else "a text is wanted here"
        if not says:
            return str(value)
        self.wrong(path, says)
        return None

    def named(self, value: Any, path: str, entries: Mapping[str, Any], what: str) -> str | None:
        """Read the id of an entry that exists."""
        if isinstance(value, str) and value in entries:
            return value
        if isinstance(value, str):
            self.no_such(path, hint(value, entries, what))
        else:
            self.wrong(path, f"the id of a {what} is wanted here")
        return None
