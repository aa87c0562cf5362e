"""What one entry did, read from the cells that it changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

from weighbridge.contract import Change, Frozen

from weighbridge_delvetown.days import number_of, text_of
from weighbridge_delvetown.game import GAME, RULES
from weighbridge_delvetown.names import MOVE
from weighbridge_delvetown.options import Options, read_options

Look = Callable[[str], Any]
Cell = dict[str, Any]
_PENDING = f"_/pending/{MOVE}/"
_REPORT = f"_/report/{MOVE}/"


class Ask(Frozen, frozen=True):
    """An ask that an entry changed: its id, what it was (empty: nothing), what it is, and what its listing fixed."""

    id: str
    before: Cell
    after: Cell
    act: Cell

    @property
    def name(self) -> str:
        """How people call it: its record key."""
        return name_of(self.id, str(self.act.get("by", "")))

    @property
    def rolled(self) -> bool:
        """Whether it rolled by this entry."""
        return self.before.get("status") != "rolled" and self.after.get("status") == "rolled"

    @property
    def listed(self) -> bool:
        """Whether it was listed by this entry, and counts."""
        return not self.before and self.after.get("status") in ("pending", "rolled")

    @property
    def taken(self) -> dict[str, int]:
        """What its consequence took by this entry, if one was applied."""
        applied = "pick" in self.after.get("consequence", {}) and "consequence" not in self.before
        return self.act.get("taken", {}) if applied else {}

    @property
    def given_back(self) -> dict[str, int]:
        """What a resist took back by this entry."""
        was, now = self.before.get("consequence", {}), self.after.get("consequence", {})
        back = bool(now.get("resisted")) and not was.get("resisted") and "pick" in now
        return self.act.get("taken", {}) if back else {}


class Facts:
    """One change of one cell, and what else the entry did."""

    def __init__(self, change: Change, look: Look) -> None:
        self.change = change
        self.look = look
        self.id = change.key.partition("/")[2]
        self.before: Cell = change.before if isinstance(change.before, dict) else {}
        self.after: Cell = change.after if isinstance(change.after, dict) else {}

    # --- the entry -------------------------------------------------------------------------------------------

    @cached_property
    def kind(self) -> str:
        """The kind of the entry's move, empty for anything else."""
        value = self.change.value
        kind = value.get("kind") if isinstance(value, dict) and self.is_of(MOVE) else None
        return kind if isinstance(kind, str) else ""

    def is_of(self, collection: str) -> bool:
        """Say whether the entry lists a record of that collection."""
        return self.change.uri is not None and self.change.uri.partition(f"/{collection}/")[1] != ""

    @property
    def value(self) -> Cell:
        """The entry's record, empty where it is no map."""
        return self.change.value if isinstance(self.change.value, dict) else {}

    @property
    def name(self) -> str:
        """The record key of the entry's record."""
        return (self.change.uri or "").rpartition("/")[2]

    @property
    def author(self) -> str:
        """Whose record the entry lists."""
        return (self.change.uri or "").removeprefix("at://").partition("/")[0]

    @cached_property
    def day(self) -> str:
        """The entry's day, for people."""
        return shown_day(text_of(self.change.day))

    @cached_property
    def ended(self) -> tuple[str, ...]:
        """The game days that ended before the entry, as texts."""
        before, after = self.change.cells.get(GAME, (None, None))
        if not before or not after:
            return ()
        return tuple(text_of(day) for day in range(number_of(before["day"]), number_of(after["day"])))

    @cached_property
    def rules(self) -> Options:
        """The options in force after the entry."""
        return read_options(self.look(RULES) or {})[0]

    # --- what it did -------------------------------------------------------------------------------------------

    @cached_property
    def asks(self) -> tuple[Ask, ...]:
        """The asks that the entry changed, by id."""
        found = []
        for key in sorted(self.change.cells):
            if key.startswith("ask/"):
                before, after = self.change.cells[key]
                name = key.removeprefix("ask/")
                found.append(Ask(name, before or {}, after or {}, self.look(f"act/{name}") or {}))
        return tuple(found)

    @cached_property
    def completed(self) -> tuple[str, ...]:
        """The ids of the moves that had waited and took effect by this entry."""
        return tuple(
            key.removeprefix(_PENDING)
            for key in sorted(self.change.cells)
            if key.startswith(_PENDING) and self.change.cells[key][1] is None
        )

    def done(self, did: str) -> tuple[str, ...]:
        """Return the names of an account's own moves, asks apart, that took effect by this entry."""
        waited = tuple(name_of(each, did) for each in self.completed if each.startswith(f"{did}:"))
        mine = (self.name,) if self.kind == "between" and self.author == did else ()
        asks = {ask.name for ask in self.asks}
        return tuple(name for name in (*waited, *mine) if name not in asks)

    def resists(self) -> Iterator[tuple[str, Cell]]:
        """Yield the resists that rolled by this entry: their names, and their cells."""
        for key in sorted(self.change.cells):
            before, after = self.change.cells[key]
            if key.startswith("resist/") and after and after.get("status") == "rolled" and before != after:
                act = self.look(f"act/{after['ask']}") or {}
                yield (
                    name_of(key.removeprefix("resist/"), str(act.get("by", ""))),
                    {**after, "by": act.get("by")},
                )

    def reports(self, id_: str) -> tuple[str, ...]:
        """Return the sentences of the reports that the entry put on a move (its id)."""
        before, after = self.change.cells.get(f"{_REPORT}{id_}", (None, None))
        return tuple(says for code, says in sorted((after or {}).items()) if code not in (before or {}))

    # --- the past ------------------------------------------------------------------------------------------------

    @cached_property
    def marked(self) -> tuple[tuple[str, bool], ...]:
        """The records whose past the entry changed: their names, and whether they are void now."""
        found = []
        for key in sorted(self.change.cells):
            if key.startswith("_/mark/"):
                before, after = self.change.cells[key]
                if (before or {}).get("void") != (after or {}).get("void"):
                    found.append((key.rpartition(":")[2], "void" in (after or {})))
        return tuple(found)

    def rewound(self) -> Iterator[str]:
        """Say which records the entry voided or let stand again: all that followed from them was counted anew."""
        for name, void in self.marked:
            what = "void from its own listing on" if void else "standing again"
            yield f"{self.name} made {name} {what}, and what followed was counted anew (§9)."

    # --- names -----------------------------------------------------------------------------------------------------

    def person(self, did: str) -> str:
        """Return how people call an account: its sheet's name, or its DID."""
        sheet = self.look(f"sheet/{did}")
        return str(sheet["name"]) if isinstance(sheet, dict) else did


def name_of(id_: str, by: str) -> str:
    """Return how people call the record of an id: its record key."""
    return id_.removeprefix(f"{by}:") if by and id_.startswith(f"{by}:") else id_.rpartition(":")[2]


_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def shown_day(text: str) -> str:
    """Return a game day for people: `18 Oct 2026`."""
    return f"{int(text[8:])} {_MONTHS[int(text[5:7]) - 1]} {text[:4]}"


def signed(number: int) -> str:
    """Return a number with its sign."""
    return f"+{number}" if number >= 0 else f"−{-number}"
