"""How commands speak: JSON for programs, text for people, progress on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

WIDTH = 100
"""Columns where the output is not a terminal."""
EVERY = 50_000
"""Entries between two lines of progress where standard error is not a terminal."""

T = TypeVar("T")


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


def progress(items: Iterable[T], total: int | None, what: str) -> Iterator[T]:
    """Yield the items, showing on standard error how far it is: a bar at a terminal, else lines."""
    if sys.stderr.isatty():
        yield from _bar(items, total, what)
        return
    for done, item in enumerate(items, 1):
        yield item
        if done % EVERY == 0:
            print(f"{what}: {done:,}{f' of {total:,}' if total else ''}", file=sys.stderr)


def _bar(items: Iterable[T], total: int | None, what: str) -> Iterator[T]:
    shown = TextColumn("{task.description} {task.completed:,.0f}")
    with Progress(
        shown, BarColumn(), TimeRemainingColumn(), console=Console(stderr=True), transient=True
    ) as bar:
        task = bar.add_task(what, total=total)
        for item in items:
            yield item
            bar.advance(task)
