"""What each entry's fold changed, as far back as a void may reach, and how the fold goes back to it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping

Before = Mapping[str, bytes | None]


class Journal:
    """For each entry of a window: what stood under the keys it changed, so that it can be undone."""

    def __init__(self, start: int = 0) -> None:
        self._start = start
        self._undo: deque[tuple[int, Before]] = deque()

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
        self._undo.append((day, before))

    def pop_to(self, seq: int) -> Iterator[Before]:
        """Forget the entries from `seq` on, the last first, yielding what stood before each."""
        while self._start + len(self._undo) > seq:
            yield self._undo.pop()[1]

    def trim(self, day: int) -> None:
        """Forget the entries of days before `day`."""
        while self._undo and self._undo[0][0] < day:
            self._undo.popleft()
            self._start += 1
