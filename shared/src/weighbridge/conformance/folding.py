"""One game folded in several ways, which must all come to the same."""

from __future__ import annotations

from collections.abc import Iterator

from weighbridge.conformance.games import Game
from weighbridge.fold import Alert, Cells, SnapshotTooYoung, TableView
from weighbridge.fold.table import OVERLAY


def leaves(game: Game) -> list[bytes]:
    """Return the transcript's leaves: entry CID and delta CID of each entry."""
    fold = game.fold()
    return [fold.fold(listed).leaf for listed in game.entries]


def summary(game: Game) -> str:
    """Return a line that says what a game came to: its size, the transcript's root and the state root."""
    fold = game.fold()
    for listed in game.entries:
        fold.fold(listed)
    return f"{fold.size} {fold.transcript.root().hex()} {fold.state_root()}"


def alerts(game: Game) -> list[Alert]:
    """Return what went wrong inside the rule set while the game was folded."""
    fold = game.fold()
    found: list[Alert] = []
    for listed in game.entries:
        found += fold.fold(listed).alerts
    return found


def restored(game: Game) -> Iterator[tuple[int, bytes]]:
    """Yield (entry, leaf) for each entry folded by a fresh fold that was restored just before it.

    An entry whose ruling reaches behind the snapshot is left out: a node restores an older one then.
    """
    straight, history = game.fold(), game.history()
    for listed in game.entries:
        fresh = game.fold(history)
        fresh.restore(straight.snapshot())
        straight.fold(listed)
        try:
            yield listed.entry.seq, fresh.fold(listed).leaf
        except SnapshotTooYoung:
            continue


def differing_from_plain(game: Game) -> Iterator[tuple[int, list[str]]]:
    """Yield (entry, keys) wherever the table after an entry is not the plain definition's (DESIGN §4)."""
    fold = game.fold()
    for listed in game.entries:
        fold.fold(listed)
        cells = fold.world.cells.everything()
        expected = _plain(game, listed.entry.seq + 1, cells)
        differing = [key for key in sorted({*cells, *expected}) if cells.get(key) != expected.get(key)]
        if differing:
            yield listed.entry.seq, differing


def _plain(game: Game, size: int, cells: dict[str, bytes]) -> dict[str, bytes]:
    """The plain left fold of the first entries, with what is marked after them marked from the start."""
    fold = game.fold(game.history())
    fold.world.cells = Cells({key: data for key, data in cells.items() if key.startswith(OVERLAY)})
    fold.world.table = TableView(fold.world.cells)
    fold.world.live = False
    for listed in game.entries[:size]:
        fold.world.seq, fold.world.at = listed.entry.seq, listed.entry.at
        # The definition itself, without the refolding that is being checked.
        fold._core(listed)  # pyright: ignore[reportPrivateUsage]
    return fold.world.cells.everything()
