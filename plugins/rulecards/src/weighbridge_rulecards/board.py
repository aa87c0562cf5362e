"""The board: the cells that a moment reads and changes, held while it lasts and written back at its end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weighbridge.contract import Table

from weighbridge_rulecards.events import Change, RollFacts
from weighbridge_rulecards.names import MOST
from weighbridge_rulecards.system import System, Track

Cell = dict[str, Any]


class Board:
    """The characters, clocks, pools and foes of a game, as far as they are touched."""

    def __init__(self, table: Table, system: System) -> None:
        self.table = table
        self.system = system
        self._held: dict[str, Cell | None] = {}

    def cell(self, key: str) -> Cell | None:
        """Return a cell to read or to change in place."""
        if key not in self._held:
            self._held[key] = self.table.get(key)
        return self._held[key]

    def put(self, key: str, cell: Cell) -> None:
        """Begin a cell, or replace it."""
        self._held[key] = cell

    def write(self) -> None:
        """Write back what is held; what is as it was is no write."""
        for key in sorted(self._held):
            cell = self._held[key]
            if cell is not None:
                self.table[key] = cell

    # --- characters ----------------------------------------------------------------------------------------

    def character(self, did: str) -> Cell:
        """Return a character's cell."""
        cell = self.cell(f"char/{did}")
        return {} if cell is None else cell

    def level_of(self, did: str, condition: str) -> int:
        """Return the level of a condition on a character: 1 without levels, 0 when it is off."""
        found = self.character(did)["conditions"].get(condition)
        return 0 if found is None else int(found["level"])

    def track(self, did: str, track: str, of: str = "") -> Cell | None:
        """Return a track's {value, max}, of a character or of an item they own; None where it is not owned."""
        character = self.character(did)
        if of:
            item = character["items"].get(of)
            if item is None:
                return None
            tracks: dict[str, Cell] = item.setdefault("tracks", {})
        else:
            tracks = character["tracks"]
        found: Cell | None = tracks.get(track)
        if found is None:
            found = tracks[track] = at_start(self.system.tracks[track])
        return found

    def filled(self, clock: str) -> int:
        """Return how many segments of a clock are filled."""
        cell = self.cell(f"clock/{clock}")
        return 0 if cell is None else int(cell["filled"])

    def pool(self, pool: str) -> int:
        """Return how much a pool holds."""
        cell = self.cell(f"pool/{pool}")
        return self.system.pools[pool].start if cell is None else int(cell["value"])


def at_start(track: Track) -> Cell:
    """Return a track as it stands at the start."""
    return {"value": track.max if track.start is None else track.start, "max": track.max}


def moved(cell: Cell, *, to: int | None = None, maximum: int | None = None) -> Change | None:
    """Change a track's value or maximum, clamped; return the change, or None where nothing changed."""
    value, most = cell["value"], cell["max"]
    if maximum is not None:
        cell["max"] = max(1, min(MOST, maximum))
    wanted = value if to is None else to
    cell["value"] = max(0, min(cell["max"], wanted))
    change = Change(value, most, cell["value"], cell["max"])
    return None if (change.value, change.max) == (change.new, change.new_max) else change


class Reading:
    """What formulas read in a moment: a character, the world, and the event that set a card off."""

    __slots__ = ("amount", "board", "roll", "stat", "who")

    def __init__(
        self, board: Board, who: str, amount: int = 0, roll: RollFacts | None = None, stat: int = 0
    ) -> None:
        self.board = board
        self.who = who
        self.amount = amount
        self.roll = roll
        self.stat = stat

    def read(self, path: tuple[str, ...]) -> int:
        """Return the value under a name's parts."""
        named = _READ.get(path[0])
        if named is not None:
            return named(self, path)
        track = self.board.track(self.who, path[0])
        return 0 if track is None else int(track["max" if len(path) > 1 else "value"])

    def condition(self, path: tuple[str, ...]) -> int:
        """Return a condition's level."""
        return self.board.level_of(self.who, path[1])

    def event(self, path: tuple[str, ...]) -> int:
        """Return what damage is, or what a roll came to."""
        if path[1] == "amount":
            return self.amount
        return 0 if self.roll is None else int(getattr(self.roll, path[1]))

    def group(self, path: tuple[str, ...]) -> int:
        """Return what a group of dice shows; 0 where the roll has no such dice."""
        found = self.roll.groups.get(path[1]) if self.roll is not None else None
        return 0 if found is None else found[path[2]]

    def item(self, path: tuple[str, ...]) -> int:
        """Return how many of an item are owned, or the value of a track of it."""
        item = self.board.character(self.who)["items"].get(path[1])
        if item is None or len(path) == 2:
            return 0 if item is None else int(item["n"])
        track = self.board.track(self.who, path[2], path[1])
        return 0 if track is None else int(track["value"])


_READ: dict[str, Callable[[Reading, tuple[str, ...]], int]] = {
    "cond": Reading.condition,
    "event": Reading.event,
    "group": Reading.group,
    "item": Reading.item,
    "pool": lambda reading, path: reading.board.pool(path[1]),
    "clock": lambda reading, path: reading.board.filled(path[1]),
    "level": lambda reading, path: int(reading.board.character(reading.who)["level"]),
    "stat": lambda reading, path: reading.stat,
}
