"""A snapshot made ready to be kept, in a thread of its own: the fold goes on meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Mapping

from weighbridge.ledger import chunks_of


class Preparing:
    """The cells of a fold after `size` entries, on their way to the form in which a ledger keeps them.

    Encoding a large table takes a tenth of a second and more, in which nothing would be folded or signed.
    """

    def __init__(self, size: int, cells: Mapping[str, bytes]) -> None:
        self.size = size
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
        self._chunks = list(chunks_of(self._cells))
