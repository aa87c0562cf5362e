"""What entries change, cell by cell, with what stood there before: for explanations and dry runs."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from weighbridge.codec import decode_own
from weighbridge.contract import Change, RuleSet
from weighbridge.fold import Fold, Step
from weighbridge.fold.records import DAY, place_of
from weighbridge.log.entries import Listed

MOST = 500
"""Changes of a cell that are told at most, the newest."""
STATE = "_/state"
"""The key under which a delta holds the state root, which is no cell."""

Look = Callable[[str], Any]
"""Returns any cell's value as it stood after an entry, or None."""
Pairs = Mapping[str, tuple[bytes | None, bytes | None]]
"""Cells by key: their bytes before and after, None where there was nothing."""


class Watched(msgspec.Struct, frozen=True):
    """An entry, what folding it gave, and every cell that it changed."""

    listed: Listed
    step: Step
    cells: dict[str, tuple[bytes | None, bytes | None]]


class Watch:
    """Folds entries and keeps what stood in every cell, so that each change has its two sides."""

    def __init__(self, fold: Fold) -> None:
        self.fold = fold
        self._cells = fold.world.cells.everything()

    def step(self, listed: Listed) -> Watched:
        """Fold the next entry. Raises what `Fold.fold` raises."""
        step = self.fold.fold(listed)
        cells: dict[str, tuple[bytes | None, bytes | None]] = {}
        for key, cid in step.delta:
            if key == STATE:
                continue
            before = self._cells.pop(key, None)
            after = self.fold.world.cells.raw(key) if cid is not None else None
            if after is not None:
                self._cells[key] = after
            cells[key] = (before, after)
        return Watched(listed, step, cells)

    def look(self, key: str) -> Any:
        """Return a cell's value as it stands now, or None."""
        return self.fold.world.cells.value(key)


# --- why ---------------------------------------------------------------------------------------------------


def reasons(ruleset: RuleSet, key: str, listed: Listed, cells: Pairs, look: Look) -> tuple[str, ...]:
    """Return why an entry changed the cell `key`, in the rule set's sentences.

    A rule set that fails to say so costs nothing but its sentences.
    """
    try:
        return tuple(str(each) for each in ruleset.because(change_of(key, listed, cells), look))
    except (MemoryError, RecursionError, OSError):
        raise
    except Exception as error:
        return (f"The rule set {ruleset.name} fails to say why ({type(error).__name__}).",)


def change_of(key: str, listed: Listed, cells: Pairs) -> Change:
    """Return what a rule set is told of one changed cell."""
    told = {name: (_value(before), _value(after)) for name, (before, after) in cells.items()}
    before, after = told.get(key, (None, None))
    entry = listed.entry
    return Change(
        key, before, after, entry.seq, entry.at, entry.at // DAY, entry.uri, _value(listed.record), told
    )


def _value(data: bytes | None) -> Any:
    return None if data is None else decode_own(data)


# --- the history of one cell -------------------------------------------------------------------------------


class Moment(msgspec.Struct, frozen=True):
    """One change of a cell: the entry, the cell's bytes before and after, and why, in the rule set's sentences."""

    listed: Listed
    before: bytes | None
    after: bytes | None
    says: tuple[str, ...]


class History(msgspec.Struct, frozen=True):
    """How a cell came to what it is, oldest change first. `left_out`: how many older ones are not told."""

    key: str
    moments: tuple[Moment, ...]
    left_out: int


def history(fold: Fold, entries: Iterable[Listed], key: str) -> History:
    """Fold entries and return how the cell `key` came to what it is. Raises what `Fold.fold` raises."""
    watch, count = Watch(fold), 0
    found: deque[Moment] = deque(maxlen=MOST)
    for listed in entries:
        watched = watch.step(listed)
        if key in watched.cells:
            count += 1
            says = reasons(fold.world.ruleset, key, listed, watched.cells, watch.look)
            found.append(Moment(listed, *watched.cells[key], says))
    return History(key, tuple(found), count - len(found))


def reports_on(look: Look, uri: str | None) -> dict[str, str]:
    """Return the reports that stand on a record, code to sentence."""
    found: dict[str, str] | None = None if uri is None else look(f"_/report/{place_of(uri)}")
    return found or {}


# --- what differs ------------------------------------------------------------------------------------------


def fields_of(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the fields of a cell's value by their paths (`consequence.pick`); a list, and what is no map, is one."""
    if isinstance(value, dict) and value:
        for name in sorted(value):
            yield from fields_of(value[name], f"{path}.{name}" if path else name)
    else:
        yield path, value


def differences(before: Any, after: Any) -> list[tuple[str, Any, Any]]:
    """Return (path, before, after) of each field that two values of a cell have not in common, by path."""
    old = {} if before is None else dict(fields_of(before))
    new = {} if after is None else dict(fields_of(after))
    paths = sorted({**old, **new})
    return [(path, old.get(path), new.get(path)) for path in paths if old.get(path) != new.get(path)]
