"""Toy audits: one that counts, one that dies, one that prints, one that is none."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from weighbridge.contract import Finding


class Counting:
    """Finds every note."""

    name = "counting"

    def __init__(self) -> None:
        self.seen = 0

    def observe(
        self, entry: Mapping[str, Any], value: Any, delta: Sequence[tuple[str, Any]]
    ) -> Iterator[Finding]:
        self.seen += 1
        print("an audit may print without harm")
        for key, cell in delta:
            if key.startswith("note/") and cell is not None:
                yield Finding("note", entry["uri"], f"{cell['text']} is the {self.seen}. entry")


class Dying:
    """Dies at the third entry, as of a fault in native code."""

    name = "dying"

    def __init__(self) -> None:
        self.seen = 0

    def observe(
        self, entry: Mapping[str, Any], value: Any, delta: Sequence[tuple[str, Any]]
    ) -> Sequence[Finding]:
        self.seen += 1
        if self.seen == 3:
            os._exit(9)
        return ()


class Nosy:
    """Tells what it was given of the environment."""

    name = "nosy"

    def observe(
        self, entry: Mapping[str, Any], value: Any, delta: Sequence[tuple[str, Any]]
    ) -> Iterator[Finding]:
        yield Finding("environment", entry["game"], " ".join(sorted(os.environ)))


NONE = object()
