"""An audit of how soon entries are receipted: late receipts, and listed times that lie ahead of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from weighbridge.contract import Finding

SECOND = 1_000_000
LATE = 60 * SECOND
"""How long (µs) an entry may wait for its first receipt."""
AHEAD = 5 * SECOND
"""How far (µs) a listed time may lie ahead of the first receipt (a receipt's time is in whole seconds)."""
RECEIPT = "_/receipt/"
"""The cells in which the fold keeps an operator's newest receipt that it has verified."""


class Delays:
    """Remembers the entries that no receipt holds yet, and looks at them when one does."""

    name = "delays"

    def __init__(self) -> None:
        self._covered = 0
        self._waiting: list[tuple[int, str]] = []

    def observe(
        self, entry: Mapping[str, Any], value: Any, delta: Sequence[tuple[str, Any]]
    ) -> Iterator[Finding]:
        """Look at one folded entry."""
        for key, cell in delta:
            if key.startswith(RECEIPT) and cell is not None:
                yield from self._receipted(key.removeprefix(RECEIPT), cell["size"], cell["time"] * SECOND)
        self._waiting.append((entry["at"], entry.get("uri") or entry["game"]))

    def _receipted(self, operator: str, size: int, time: int) -> Iterator[Finding]:
        count = size - self._covered
        if count <= 0:
            return
        held, self._waiting = self._waiting[:count], self._waiting[count:]
        first, self._covered = self._covered, size
        late = sorted((time - at, uri) for at, uri in held if time - at > LATE)
        # The receipt may be of any moment of its second.
        ahead = sorted((at - time - SECOND, uri) for at, uri in held if at - time - SECOND > AHEAD)
        where = f"of the entries {first} to {size - 1}, which {operator} was the first to receipt"
        if late:
            wait, uri = late[-1]
            yield Finding(
                "late-receipt", uri, f"{len(late)} {where}, waited over 60 s, the longest {wait // SECOND} s."
            )
        if ahead:
            by, uri = ahead[-1]
            says = f"{len(ahead)} {where}, were listed over 5 s in its future, the furthest {by // SECOND} s."
            yield Finding("listed-ahead", uri, says)
