"""A log held in memory, as the fold looks back into it."""

from __future__ import annotations

from weighbridge.log.entries import Listed
from weighbridge.log.merkle import MerkleLog


class MemoryHistory:
    """The entries folded so far, in memory: `weighbridge.fold.History`."""

    def __init__(self) -> None:
        self._entries: list[Listed] = []
        self._first: dict[str, int] = {}
        self._log = MerkleLog()

    def append(self, listed: Listed) -> None:
        """Add the next entry."""
        if listed.entry.uri is not None:
            self._first.setdefault(listed.entry.uri, len(self._entries))
        self._entries.append(listed)
        self._log.append(listed.data)

    @property
    def size(self) -> int:
        """How many entries there are."""
        return len(self._entries)

    def listed(self, seq: int) -> Listed:
        """Return the entry at `seq`."""
        return self._entries[seq]

    def first(self, uri: str) -> int | None:
        """Return the sequence at which a record was first listed, or None."""
        return self._first.get(uri)

    def root(self, size: int) -> bytes:
        """Return the RFC 6962 root (32 bytes) of the first `size` entries."""
        return self._log.root(size)
