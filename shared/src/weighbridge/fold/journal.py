"""What each entry's fold changed, as far back as a void may reach, and how the fold goes back to it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

Before = Mapping[str, bytes | None]


class Journal:
    """For each entry of a window: what stood under the keys it changed, so that it can be undone."""

    def __init__(self, start: int = 0) -> None:
        self._start = start
        # Of each entry its day, and then key by key what stood there: one tuple without references takes half of a
        # dict's memory, and the garbage collector, which would look at all of them again and again, leaves it alone.
        self._undo: deque[tuple[int | str | bytes | None, ...]] = deque()

    @property
    def start(self) -> int:
        """The earliest entry that can be undone."""
        return self._start

    def copy(self) -> Journal:
        """Return a journal of its own that can undo the same."""
        other = Journal(self._start)
        other._undo = self._undo.copy()
        return other

    def append(self, day: int, before: Before) -> None:
        """Remember what the next entry changed."""
        self._undo.append((day, *chain.from_iterable(before.items())))

    def pop_to(self, seq: int) -> Iterator[Before]:
        """Forget the entries from `seq` on, the last first, yielding what stood before each."""
        while self._start + len(self._undo) > seq:
            undo: Any = self._undo.pop()
            yield dict(zip(undo[1::2], undo[2::2], strict=True))

    def trim(self, day: int) -> None:
        """Forget the entries of days before `day`."""
        while self._undo and int(self._undo[0][0] or 0) < day:
            self._undo.popleft()
            self._start += 1
