"""What the demo says while it runs, on standard error: a line for each step and each day, and a bar at a terminal."""

from __future__ import annotations

import sys
import time
from collections import Counter
from datetime import UTC, datetime
from typing import Any, Final

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from weighbridge.fold.records import BEACON, DAY, RECEIPT, TRACE
from weighbridge.log.entries import Entry

from weighbridge_services.output import clean

KINDS: Final = {
    "ask": "ask", "between": "between move", "assist": "assist", "answer": "answer", "claim": "claim",
    "advance": "advance", "stance": "stance", "join": "join", "prompt": "prompt", "consequence": "pick",
    "strike": "strike", "rule": "ruling", "scar": "scar",
}  # fmt: skip
"""What kinds of move are called, in the order in which a day's line names them."""
SECOND: Final = 1_000_000


class Shown:
    """The demo's progress. Used as a context: the bar is gone after it."""

    def __init__(self, total: int) -> None:
        """`total`: how many records the season has."""
        self._began = time.monotonic()
        self._console = Console(stderr=True, markup=False, emoji=False, highlight=False, soft_wrap=True)
        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(40),
            TimeElapsedColumn(),
        )
        self._bar = Progress(*columns, console=self._console, transient=True, disable=not sys.stderr.isatty())
        self._task: TaskID = self._bar.add_task("making five nodes", total=total)
        self._day: int | None = None
        self._kinds: Counter[str] = Counter()
        self._rounds: list[int] = []

    def __enter__(self) -> Shown:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    @property
    def seconds(self) -> float:
        """How long the demo has run."""
        return time.monotonic() - self._began

    def say(self, text: str) -> None:
        """Say what has been done, with the seconds since the start."""
        self._print(f"{self.seconds:5.1f} s  {text}")

    def doing(self, text: str) -> None:
        """Say what is being done now, at a terminal."""
        self._bar.update(self._task, description=text)

    def heard(self, entry: Entry, record: Any) -> None:
        """Take note of an entry that a follower has verified."""
        day = entry.at // DAY
        if self._day is not None and day != self._day:
            self.end_day()
        if day != self._day:
            self.doing(_date(day))
        self._day = day
        collection = entry.uri.split("/")[3] if entry.uri is not None else ""
        if collection == BEACON and isinstance(record, dict):
            self._rounds.append(record["round"])
        elif collection in (RECEIPT, TRACE):
            self._kinds[collection] += 1
        elif isinstance(record, dict):
            kind = record.get("kind", collection.rpartition(".")[2])
            self._kinds[str(kind)] += 1
            self._bar.advance(self._task)

    def end_day(self) -> None:
        """Say what the day at hand brought."""
        if self._day is not None:
            self._print(f"         {_date(self._day)}  {self._told()}")
        self._kinds.clear()
        self._rounds.clear()

    def _told(self) -> str:
        kinds = self._kinds
        parts = [_several(kinds[kind], name) for kind, name in KINDS.items() if kinds[kind]]
        parts += [_several(kinds[kind], kind) for kind in ("sheet", "crew") if kinds[kind]]
        if not parts:
            return "nobody rolls"
        rounds = " and ".join(str(number) for number in self._rounds)
        rolled = f"  →  quicknet round {rounds}" if rounds else ""
        held = (
            f", {_several(kinds[RECEIPT], 'receipt')}, {_several(kinds[TRACE], 'trace report')}"
            if rounds
            else ""
        )
        return ", ".join(parts) + rolled + held

    def _print(self, text: str) -> None:
        self._console.print(clean(text))


def _date(day: int) -> str:
    return datetime.fromtimestamp(day * DAY // SECOND, UTC).strftime("%a %d %b %Y")


def _several(number: int, name: str) -> str:
    return f"{number} {name}{'' if number == 1 else 's'}"
