"""A snapshot made ready to be kept, in a thread of its own: the fold goes on meanwhile."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Final

from weighbridge.ledger import chunks_of

PAUSE: Final = 0.02
"""Seconds: twice to three times as long as encoding one piece takes."""


class Preparing:
    """The cells of a fold after `size` entries, on their way to the form in which a ledger keeps them.

    Encoding a large table takes a tenth of a second and more, in which nothing would be folded or signed.
    """

    def __init__(self, size: int, cells: Mapping[str, bytes], pause: float = PAUSE) -> None:
        """Begin. `pause`: seconds between two pieces, in which other threads go on."""
        self.size = size
        self._pause = pause
        self.count = len(cells)
        self._cells = cells
        self._chunks: list[bytes] | None = None
        self._thread = threading.Thread(target=self._work, name="snapshot", daemon=True)
        self._thread.start()

    @property
    def ready(self) -> bool:
        """Whether it can be kept without waiting."""
        return not self._thread.is_alive()

    def chunks(self) -> list[bytes]:
        """Return its pieces, once it is ready."""
        self._thread.join()
        if self._chunks is None:  # the thread has failed, and whoever asks is to hear why
            self._chunks = list(chunks_of(self._cells))
        return self._chunks

    def _work(self) -> None:
        found: list[bytes] = []
        for chunk in chunks_of(self._cells):
            found.append(chunk)
            time.sleep(self._pause)
        self._chunks = found
