"""Bringing a fold to where the log is: from a snapshot or from the start, each leaf held against those kept."""

from __future__ import annotations

from typing import Any, NamedTuple

from weighbridge import codec
from weighbridge.errors import Unavailable
from weighbridge.fold import Fold, Snapshot, Step
from weighbridge.fold.world import ROOT_KEY, RootCell
from weighbridge.log.entries import Listed
from weighbridge.plugins import CannotRun

from weighbridge_services.folding.errors import RefoldDiffers
from weighbridge_services.folding.rulesets import Absent, RuleSets, Running, begin
from weighbridge_services.folding.store import Era, FoldStore, raw


class Start(NamedTuple):
    """A fold and the era it stands in. `size`: the entries of the snapshot it began with, 0 for none."""

    fold: Fold
    era: Era
    size: int


class NoLog(Unavailable):
    """There is no entry to fold yet."""

    code = "no-log"


def first_value(store: FoldStore) -> Any:
    """Return the value of the game's first entry. Raises NoLog."""
    if not store.log.size:
        raise NoLog(f"the log of {store.game} holds no entry yet")
    record = store.log.listed(0).record
    return None if record is None else codec.decode_own(record)


def from_start(store: FoldStore, rulesets: RuleSets) -> Start:
    """Return a fold at the game's start. Raises NoLog, CannotRun."""
    root = first_value(store)
    running = rulesets.first(root)
    fold = begin(store.game, root, rulesets, store.log, running)
    return Start(fold, Era(fold.origin, running.ruleset.name, running.pin, 0, 0), 0)


def from_snapshot(store: FoldStore, rulesets: RuleSets, below: int) -> Start:
    """Return a fold from the newest sound snapshot of at most `below` entries, or from the start.

    Raises NoLog, CannotRun.
    """
    for size in store.snapshot_sizes(below):
        found = started_at(store, rulesets, size)
        if found is not None:
            return found
    return from_start(store, rulesets)


def started_at(store: FoldStore, rulesets: RuleSets, size: int) -> Start | None:
    """Return a fold from the snapshot of `size` entries, or None if that is damaged. Raises NoLog, CannotRun."""
    found = store.snapshot(size)
    if found is None:
        return None
    snapshot, era = found
    root = _value_in_force(store, snapshot)
    running = rulesets.named(root, era.name, era.pin)
    fold = begin(store.game, root, rulesets, store.log, Running(running.ruleset, era.pin))
    fold.restore(snapshot)
    return Start(fold, era, size)


def _value_in_force(store: FoldStore, snapshot: Snapshot) -> Any:
    """Return the value of the root in force where a snapshot was taken, or of the game's first entry."""
    data = snapshot.cells.get(ROOT_KEY)
    versions = () if data is None else codec.decode_as(data, RootCell).versions
    if not versions:
        return first_value(store)
    return codec.decode_own(store.log.listed(versions[-1][1]).record or b"")


class Moving:
    """A fold and the transcript it writes: knows when the root has moved the game to another pin."""

    def __init__(self, start: Start) -> None:
        self.fold, self.era, self.began = start

    @property
    def absent(self) -> CannotRun | None:
        """Why the fold can go no further, if the game has moved to a rule set that is not here."""
        ruleset = self.fold.world.ruleset
        return ruleset.why if isinstance(ruleset, Absent) else None

    def step(self, listed: Listed) -> tuple[Step, Era, dict[str, Any] | None]:
        """Fold the next entry. Return what it gave, the era it was folded in, and, if that has ended, how.

        Afterwards `era` is the one that goes on. Raises CannotRun, SnapshotTooYoung; the fold is of no use then.
        """
        before = self.era
        step = self.fold.fold(listed)
        if self.fold.origin == before.origin:
            return step, before, None
        name, pin = _named(self.fold.origin, self.fold.game)
        self.era = Era(self.fold.origin, name, pin, step.seq + 1, 1)
        origin, size, root = self.fold.eras[-1]
        end = {"origin": origin, "size": size, "root": root, "state": step.state_root}
        return step, before, end


def replay(store: FoldStore, moving: Moving, upto: int) -> None:
    """Fold entries that have been folded before, up to a size, and hold each leaf against the one kept.

    Raises RefoldDiffers, and what `Moving.step` raises.
    """
    for listed in store.log.entries(moving.fold.size, upto) if moving.fold.size < upto else ():
        step, era, _ = moving.step(listed)
        kept = raw(store.transcript(era.origin).leaf(era.index_of(step.seq)))
        if kept != step.leaf:
            raise RefoldDiffers(
                f"entry {step.seq} of {store.game}, folded again, gives another leaf than {store.ledger.path} holds;"
                " the rule set has changed under its pin, or memory or disk has: check the machine, then"
                " move the ledger away and start again",
                seq=step.seq,
            )


def _named(origin: str, game: str) -> tuple[str, str]:
    name, _, rest = origin.removeprefix(f"{game}/").partition("@")
    return name, rest.rpartition("+")[0]
