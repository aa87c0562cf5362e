"""A log held in memory, as the fold looks back into it."""

from __future__ import annotations

from typing import Protocol

from weighbridge.log.entries import Listed
from weighbridge.log.merkle import MerkleLog


class History(Protocol):
    """A game's listing log, as far as a fold looks back into it."""

    def listed(self, seq: int) -> Listed:
        """Return the entry at `seq` with its record's bytes."""
        ...

    def first(self, uri: str) -> int | None:
        """Return the sequence at which a record was first listed (a deletion lists none), or None."""
        ...

    def root(self, size: int) -> bytes:
        """Return the RFC 6962 root (32 bytes) of the first `size` entries."""
        ...


class MemoryHistory:
    """The entries folded so far, in memory: `weighbridge.fold.History`."""

    def __init__(self) -> None:
        self._entries: list[Listed] = []
        self._first: dict[str, int] = {}
        self._log = MerkleLog()

    def append(self, listed: Listed) -> None:
        """Add the next entry."""
        if listed.entry.uri is not None and listed.entry.record is not None:
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


class WhatIf:
    """A log as it stands, and entries on top of it that are listed nowhere: what a dry run folds."""

    def __init__(self, base: History, size: int) -> None:
        self._base = base
        self._size = size
        self._more: list[Listed] = []
        self._first: dict[str, int] = {}

    def append(self, listed: Listed) -> None:
        """Add the next entry on top."""
        if listed.entry.uri is not None and listed.entry.record is not None:
            self._first.setdefault(listed.entry.uri, self._size + len(self._more))
        self._more.append(listed)

    def listed(self, seq: int) -> Listed:
        """Return the entry at `seq`."""
        return self._base.listed(seq) if seq < self._size else self._more[seq - self._size]

    def first(self, uri: str) -> int | None:
        """Return the sequence at which a record was first listed, or None."""
        found = self._base.first(uri)
        return found if found is not None and found < self._size else self._first.get(uri)

    def root(self, size: int) -> bytes:
        """Return the RFC 6962 root (32 bytes) of the first `size` entries."""
        if size <= self._size:
            return self._base.root(size)
        log = MerkleLog()
        for seq in range(size):
            log.append(self.listed(seq).data)
        return log.root()
