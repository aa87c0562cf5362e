"""One game's fold and its ledger: everything here runs in the service's one thread for ledgers and folding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import structlog
from weighbridge.errors import WeighbridgeError
from weighbridge.fold import Alert, Fold, SnapshotTooYoung
from weighbridge.log.entries import Listed
from weighbridge.plugins import CannotRun

from weighbridge_services import metrics
from weighbridge_services.fold.decide import addressee, opened_questions, question_message
from weighbridge_services.fold.preparing import PAUSE, Preparing
from weighbridge_services.folding.errors import NotFolding, RefoldDiffers
from weighbridge_services.folding.replaying import Moving, NoLog, from_snapshot, from_start, replay
from weighbridge_services.folding.rulesets import RuleSets
from weighbridge_services.folding.store import FoldStore
from weighbridge_services.node import Node
from weighbridge_services.subjects import Subjects
from weighbridge_services.wire import crash_point

SLICE: Final = 128
"""Entries that are folded at a time: between two slices others get their answers."""
SNAPSHOT_EVERY: Final = 5_000
KEPT_SNAPSHOTS: Final = 6
SHARE: Final = 8
"""A snapshot is due after `SNAPSHOT_EVERY` entries, and not before the log has grown by this part of itself."""

log = structlog.get_logger()


class Took(NamedTuple):
    """What taking entries came to: how many entries were new, how many questions they opened."""

    entries: int
    questions: int


class Runner:
    """Folds one game, keeps what comes of it, and takes it up again after a stop."""

    def __init__(
        self,
        node: Node,
        store: FoldStore,
        rulesets: RuleSets,
        subjects: Subjects,
        every: int = SNAPSHOT_EVERY,
    ) -> None:
        self._node = node
        self.store = store
        self._rulesets = rulesets
        self._subjects = subjects
        self._every = every
        self._moving: Moving | None = None
        self._preparing: Preparing | None = None
        self._below = store.folded
        self.cannot: CannotRun | None = None
        self.at = 0
        """The listed time (µs) of the newest folded entry."""

    # --- what it holds ---------------------------------------------------------------------------------------

    @property
    def fold(self) -> Fold:
        """The fold, brought up to all that is kept. Raises NotFolding."""
        if self.cannot is not None:
            raise NotFolding(self.cannot.message, reason=self.cannot.code)
        if self._moving is None or self._moving.fold.size < self.store.log.size:
            raise NotFolding(
                f"{self.store.game} is being folded; ask again in a moment", reason="catching-up"
            )
        return self._moving.fold

    @property
    def behind(self) -> int:
        """How many entries of the log are not folded."""
        folded = 0 if self._moving is None else self._moving.fold.size
        return self.store.log.size - folded

    # --- catching up -----------------------------------------------------------------------------------------

    def catch_up(self) -> bool:
        """Fold one slice of what the ledger holds and the fold does not; whether there may be more."""
        if self.cannot is not None or not self.behind:
            return False
        try:
            if self._moving is None:
                self._restore()
            else:
                self._catch_up(self._moving)
        except NoLog:
            return False
        except CannotRun as error:
            self._drop()
            self._stand_still(error)
        except SnapshotTooYoung as error:
            self._older(error)
        except BaseException:
            self._drop()
            raise
        return True

    def _restore(self) -> None:
        start = from_snapshot(self.store, self._rulesets, self._below)
        self._moving = Moving(start)
        self.at = start.fold.world.at
        log.info("folding on", game=self.store.game, at=start.size, of=self.store.log.size)
        if not self.store.eras:
            self.store.add_era(start.era)

    def _catch_up(self, moving: Moving) -> None:
        upto = min(moving.fold.size + SLICE, self.store.log.size)
        kept = self.store.folded
        try:
            if moving.fold.size < kept:
                replay(self.store, moving, min(upto, kept))
            else:
                self._fold(moving, list(self.store.log.entries(moving.fold.size, upto)), listed_already=True)
        except RefoldDiffers:
            if not moving.began:
                raise
            # Not the ledger but the snapshot may be at fault: without one, it shows.
            log.error(
                "a snapshot does not lead to what was folded before", game=self.store.game, at=moving.began
            )
            self.store.snapshots.drop(moving.began)
            self._moving = None

    def _older(self, error: WeighbridgeError) -> None:
        began = 0 if self._moving is None else self._moving.began
        log.warning(
            "folding anew from an older snapshot", game=self.store.game, began=began, says=error.message
        )
        self._drop()
        self._below = max(began - 1, 0)

    def _stand_still(self, error: CannotRun) -> None:
        self.cannot = error
        log.error("cannot run the rule set", game=self.store.game, code=error.code, says=error.message)

    # --- new entries -----------------------------------------------------------------------------------------

    def take(self, entries: Sequence[Listed], position: int) -> Took:
        """Take the next entries of the log, in one batch, with how far the stream was read. Folds them if it can."""
        store = self.store
        if self.cannot is not None or (self.behind and store.log.size):
            return self._only_list(entries, position)
        try:
            if self._moving is None:
                self._begin(entries[0])
            if self._moving is None:
                return self._only_list(entries, position)
            return self._fold(self._moving, entries, position=position)
        except CannotRun as error:
            self._drop()
            self._stand_still(error)
        except SnapshotTooYoung as error:
            self._older(error)
        except BaseException:
            self._drop()
            raise
        return self._only_list(entries, position)

    def _drop(self) -> None:
        # The batch is undone, and the fold has gone on: it is taken up again from what is kept.
        self._moving = None
        self.store.forget()

    def _begin(self, first: Listed) -> None:
        with self.store.ledger.batch():
            self.store.log.append(first)
            start = from_start(self.store, self._rulesets)
            self.store.add_era(start.era)
        self._moving = Moving(start)

    def _only_list(self, entries: Sequence[Listed], position: int) -> Took:
        new = [each for each in entries if each.entry.seq >= self.store.log.size]
        with self.store.ledger.batch():
            self.store.log.extend(new, formed=True)
            self.store.set_number("read", position)
        return Took(len(new), 0)

    def _fold(
        self,
        moving: Moving,
        entries: Sequence[Listed],
        *,
        listed_already: bool = False,
        position: int | None = None,
    ) -> Took:
        store, fold = self.store, moving.fold
        alerts: list[Alert] = []
        questions, start = 0, fold.size
        fold.prepare(entries)
        with store.ledger.batch():
            if not listed_already:
                size = store.log.size
                store.log.extend([each for each in entries if each.entry.seq >= size], formed=True)
            for listed in entries:
                if moving.absent is None:
                    asked, told = self._keep(moving, listed)
                    questions, alerts = questions + asked, [*alerts, *told]
            store.flush()
            if moving.absent is not None:
                store.save_end(fold.snapshot())
            if position is not None:
                store.set_number("read", position)
            # A crash here leaves nothing of the batch: the stream brings it again.
            crash_point(self._node, "fold.after-fold")
        # A crash here leaves a batch that is folded and kept; what it opens is published at the start.
        crash_point(self._node, "fold.after-persist")
        self._note(fold, fold.size - start, alerts)
        if moving.absent is not None:
            self._drop()
            self._stand_still(moving.absent)
        return Took(len(entries), questions)

    def _keep(self, moving: Moving, listed: Listed) -> tuple[int, tuple[Alert, ...]]:
        """Fold an entry and keep what came of it; return how many questions it opened, and the alerts."""
        fold = moving.fold
        step, before, end = moving.step(listed)
        self.store.add_step(step, fold, before)
        if end is not None:
            self.store.add_genesis(moving.era, step, end)
        cells = {key: fold.world.cells.raw(key) for key, cid in step.delta if cid is not None}
        return self._ask(fold, cells), step.alerts

    def _ask(self, fold: Fold, cells: dict[str, bytes | None]) -> int:
        held = fold.world.root_at(fold.world.seq)
        gm = held[0].gm if held is not None else None
        count = 0
        for id, cell in opened_questions(cells):
            subject = self._subjects.question(addressee(cell, gm), id)
            self.store.ledger.outbox.add(subject, question_message(self.store.game, id, cell), 0)
            count += 1
        return count

    def _note(self, fold: Fold, count: int, alerts: list[Alert]) -> None:
        self.at = fold.world.at
        metrics.FOLDED.labels(self.store.game).inc(count)
        for alert in alerts:
            metrics.RULE_FAULTS.labels(self.store.game).inc()
            log.error(
                "the rule set failed", game=self.store.game, entry=alert.seq, hook=alert.hook, about=alert.about,
                error=alert.error,
            )  # fmt: skip
        if self._preparing is not None and self._preparing.ready:
            self._keep_snapshot(self._preparing)
            self._preparing = None
        newest = self.store.snapshots.newest() or 0
        # The larger the table, the rarer: to keep it costs by its size, to fold from there by the entries since.
        if self._preparing is None and count and fold.size - newest >= max(self._every, newest // SHARE):
            self._preparing = self._prepared(PAUSE)

    def _prepared(self, pause: float) -> Preparing | None:
        if self._moving is None or self._moving.absent is not None or not self._moving.fold.size:
            return None
        snapshot = self._moving.fold.snapshot()
        return Preparing(snapshot.size, snapshot.cells, pause)

    def _keep_snapshot(self, prepared: Preparing) -> None:
        self.store.save_snapshot(prepared.size, prepared.chunks(), prepared.count, KEPT_SNAPSHOTS)

    def save(self) -> None:
        """Keep a snapshot of the fold as it stands."""
        prepared = self._prepared(0.0)
        if prepared is not None:
            self._keep_snapshot(prepared)
