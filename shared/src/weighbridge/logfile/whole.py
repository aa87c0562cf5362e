"""The check that the entries of a file are one game's log, from its first entry on and without a gap."""

from __future__ import annotations

from weighbridge.errors import Refused
from weighbridge.log.chain import check_next
from weighbridge.log.entries import Listed, read_listed


class Chain:
    """The entries read so far. `game` None: that of the first entry."""

    def __init__(self, game: str | None) -> None:
        self._game = game
        self.last: Listed | None = None

    def next(self, data: bytes, record: bytes | None, **where: int) -> Listed:
        """Return the entry of these bytes as the next one.

        Errors: those of `log.read_listed` and `log.check_next`, `where` it stands in their `detail`.
        """
        try:
            listed = read_listed(data, record)
            last = self.last
            game = self._game or listed.entry.game
            check_next(last.entry if last else None, last.cid if last else None, listed.entry, game)
        except Refused as error:
            error.detail.update(where)
            raise
        self._game, self.last = game, listed
        return listed
