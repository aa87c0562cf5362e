"""How commands speak: JSON for programs, text for people, progress on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

WIDTH = 100
"""Columns where the output is not a terminal."""
PIECE = 65_536
"""Bytes of a file at a time."""
QUIET = 4_000_000
"""Files up to this size are read without a word."""


def say_json(value: Any) -> None:
    """Print a value as JSON: indented for a person at a terminal, one line for a program."""
    print(json.dumps(value, ensure_ascii=False, indent=2 if sys.stdout.isatty() else None))


def console(width: int | None = None) -> Console:
    """Return the console for standard output, which takes text as it is: no markup, no emoji names."""
    plain = None if sys.stdout.isatty() else WIDTH
    return Console(file=sys.stdout, width=width or plain, markup=False, emoji=False, highlight=False)


def clean(text: str) -> str:
    """Return text from outside without what could move a cursor or reorder what is read."""
    return "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text)


def reading(path: Path, what: str) -> Iterator[bytes]:
    """Yield a file in pieces, showing how much was read: a bar at a terminal, else a line for each tenth."""
    size = path.stat().st_size
    with path.open("rb") as file, _shown(size, what) as advance:
        while piece := file.read(PIECE):
            yield piece
            advance(len(piece))


@contextmanager
def _shown(size: int, what: str) -> Generator[Callable[[int], None]]:
    if size < QUIET:
        yield lambda _: None
    elif sys.stderr.isatty():
        # Transient: the bar is gone before results are printed.
        columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(what, total=size)
            yield lambda count: bar.advance(task, count)
    else:
        yield _Tenths(size, what).advance


class _Tenths:
    """Progress where nobody watches: one line for each tenth of a file."""

    def __init__(self, size: int, what: str) -> None:
        self._size, self._what = size, what
        self._done = 0

    def advance(self, count: int) -> None:
        before = 10 * self._done // self._size
        self._done += count
        if 10 * self._done // self._size > before:
            print(f"{self._what}: {100 * self._done // self._size}%", file=sys.stderr, flush=True)
