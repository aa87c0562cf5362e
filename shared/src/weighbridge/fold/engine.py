"""The fold: a game's log in, its table and transcript out, the same on every node.

The table after n entries is the plain left fold of those n entries with every member of V(n) void from its
own listing on. A ruling that voids, releases or replaces, and a rule set that upholds, change the past: the
fold then goes back by its journal, folds the entries since anew, and the delta of the entry that caused it
holds every cell that differs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import msgspec

from weighbridge.cid import Cid
from weighbridge.contract import Attachment, RuleSet
from weighbridge.errors import Unavailable
from weighbridge.fold import answers, deletions, evidence, rulings
from weighbridge.fold.clock import due_times, pass_time
from weighbridge.fold.eras import Eras, encode_delta
from weighbridge.fold.history import History, MemoryHistory, WhatIf
from weighbridge.fold.journal import Journal
from weighbridge.fold.judging import list_record
from weighbridge.fold.records import DAY, KERNEL_COLLECTIONS, RECEIPT
from weighbridge.fold.resolving import Attach, Resolve, Resolved, names_another
from weighbridge.fold.rootrecord import list_root, read_again, settle_waiting
from weighbridge.fold.table import OVERLAY, Cells, TableView
from weighbridge.fold.world import Alert, World
from weighbridge.log.chain import check_next
from weighbridge.log.entries import Entry, Listed
from weighbridge.log.merkle import MerkleLog

STATE_EVERY = 4_096
"""The state root stands in the delta of every entry whose number (from 1) this divides."""


class SnapshotTooYoung(Unavailable):
    """A ruling reaches further back than the snapshot this fold was restored from: restore an older one."""

    code: ClassVar[str] = "snapshot-too-young"


class Step(msgspec.Struct, frozen=True):
    """What folding one entry gave. `delta`: sorted (key, CID or None); `leaf`: entry CID and delta CID, 72 bytes."""

    seq: int
    entry_cid: Cid
    delta: tuple[tuple[str, Cid | None], ...]
    delta_bytes: bytes
    delta_cid: Cid
    leaf: bytes
    state_root: Cid | None
    alerts: tuple[Alert, ...]


class Snapshot(msgspec.Struct, frozen=True):
    """A fold at a size: enough to go on from there, given the log. It is verified by folding, never trusted."""

    game: str
    size: int
    cells: dict[str, bytes]
    origin: str
    leaves: bytes
    era_start: int


class Fold:
    """One game being folded by one rule set (and by the next, where the root moves to another pin)."""

    def __init__(
        self,
        game: str,
        ruleset: RuleSet,
        *,
        scenario: bool = False,
        attachments: Mapping[str, Attachment] | None = None,
        pin: str = "scenario",
        history: History | None = None,
        resolve: Resolve | None = None,
        attach: Attach | None = None,
    ) -> None:
        self._own: MemoryHistory | WhatIf | None = MemoryHistory() if history is None else None
        chosen: History = history if history is not None else self._own  # type: ignore[assignment]
        self.world = World(game, ruleset, chosen, attachments or {}, scenario=scenario)
        self._eras = Eras(game, ruleset.name, pin)
        self._journal = Journal()
        self._base: tuple[int, dict[str, bytes]] = (0, {})
        self._resolve = resolve
        self.world.pin, self.world.attach = pin, attach
        self._carried: dict[str, bytes | None] = {}
        """By key, what `migrate` found in the cells it changed: the next entry's delta begins there."""
        self._previous: tuple[Entry, Cid] | None = None

    # --- what it holds -------------------------------------------------------------------------------------

    @property
    def game(self) -> str:
        """The at-uri of the game's root."""
        return self.world.game

    @property
    def size(self) -> int:
        """How many entries have been folded."""
        return 0 if self._previous is None else self._previous[0].seq + 1

    @property
    def table(self) -> TableView:
        """The table, for reading."""
        return TableView(self.world.cells, writable=False)

    @property
    def origin(self) -> str:
        """The origin of the transcript: `<game>/<rule set>@<pin>+k<fold version>`."""
        return self._eras.origin

    @property
    def transcript(self) -> MerkleLog:
        """The transcript of the current origin."""
        return self._eras.log

    @property
    def eras(self) -> tuple[tuple[str, int, bytes], ...]:
        """The transcripts that have ended: origin, size and root of each."""
        return self._eras.ended

    def state_root(self) -> Cid:
        """Return the root of the Merkle Search Tree over all cells as they stand."""
        return self._eras.state_root()

    def prove(self, key: str) -> list[bytes]:
        """Return the tree's blocks that prove a cell, or its absence, against the state root."""
        return self._eras.prove(key)

    def due(self) -> list[int]:
        """Return the times (µs) at which the lister is to list a tick, the day's end among them."""
        return due_times(self.world)

    # --- folding -------------------------------------------------------------------------------------------

    def fold(self, listed: Listed) -> Step:
        """Fold the next entry. Raises a refusal of `weighbridge.log` if it is not the next; nothing is changed then."""
        entry, world = listed.entry, self.world
        previous, cid = self._previous if self._previous is not None else (None, None)
        check_next(previous, cid, entry, world.game, formed=True)
        if self._own is not None:
            self._own.append(listed)
        world.seq, world.at, world.live = entry.seq, entry.at, True
        world.alerts, world.wanted = [], {}
        changed, ended = self._fold_live(listed)
        step = self._finish(listed, changed, ended)
        self._previous = (entry, listed.cid)
        return step

    def prepare(self, batch: Sequence[Listed]) -> None:
        """Verify together the beacons among entries that are about to be folded. Changes no outcome, only its cost."""
        evidence.verify_ahead(self.world, batch)

    def _fold_live(self, listed: Listed) -> tuple[dict[str, bytes | None], bool]:
        # `changed`: for every key that may differ from the table before this entry, what stood there then.
        world = self.world
        lowest = rulings.take(world, listed, self._eras.start)
        changed = world.cells.commit()
        if self._carried:
            # The tree begins where the delta does: what this entry puts back as it was stands in no delta.
            self._eras.touch_cells(self._carried.items())
            changed, self._carried = {**changed, **self._carried}, {}
        while True:
            if lowest is not None:
                self._refold(lowest, listed.entry.seq, changed)
                world.at, world.seq, world.live = listed.entry.at, listed.entry.seq, True
            world.wanted = {}
            ended = self._core(listed)
            before = world.cells.commit()
            lowest = self._marks_wanted(before, changed)
            if lowest is None:
                break
        self._journal.append(listed.entry.at // DAY, before)
        if not changed:
            return before, ended
        for key, old in before.items():
            changed.setdefault(key, old)
        return changed, ended

    def _marks_wanted(self, before: dict[str, bytes | None], changed: dict[str, bytes | None]) -> int | None:
        world = self.world
        if not world.wanted:
            return None
        wanted = {u: m for u, m in world.wanted.items() if (world.history.first(u) or 0) >= self._eras.start}
        world.cells.restore(before, keep=())
        world.forget()
        lowest = rulings.mark_wanted(world, wanted)
        if lowest is None:
            # Nothing new: this entry had been folded with these marks already. Fold it once more, as it was.
            world.wanted = {}
            self._core(self.world.history.listed(world.seq))
            before.clear()
            before.update(world.cells.commit())
            return None
        for key, old in world.cells.commit().items():
            changed.setdefault(key, old)
        return lowest

    def _core(self, listed: Listed) -> bool:
        """Fold one entry in the world as it is marked; whether a day ended."""
        world, entry = self.world, listed.entry
        ended = pass_time(world)
        if entry.uri is None:
            return ended
        if not deletions.is_informational(world, listed):
            self._take(listed, entry.uri)
        return ended

    def _take(self, listed: Listed, uri: str) -> None:
        """Let a record, or the end of one, take effect."""
        world, collection = self.world, uri.split("/")[3]
        if collection == world.ruleset.root:
            list_root(world, listed)
        elif collection in KERNEL_COLLECTIONS:
            evidence.take(world, listed, collection)
            if collection == RECEIPT:
                settle_waiting(world)
                for end in deletions.take_seen(world):
                    self._take(end, end.entry.uri or "")
        elif collection in world.ruleset.collections or any(
            collection in a.collections for a in world.attachments.values()
        ):
            list_record(world, listed)
        else:
            world.report("unknown-type", uri, f"This game has no records of the type {collection}.")

    # --- the past ------------------------------------------------------------------------------------------

    def _refold(self, start: int, end: int, changed: dict[str, bytes | None]) -> None:
        """Fold entries [start, end) anew as the marks now say, noting in `changed` what stood before."""
        world = self.world
        rulings.keep_stakes(world, start, end)
        for key, old in world.cells.commit().items():
            changed.setdefault(key, old)
        world.live = False
        if start < self._journal.start:
            start = self._back_to_base(start, changed)
        else:
            for before in self._journal.pop_to(start):
                for key, now in world.cells.restore(before).items():
                    changed.setdefault(key, now)
        world.forget()
        for seq in range(start, end):
            self._replay(seq, changed)

    def _replay(self, seq: int, changed: dict[str, bytes | None]) -> None:
        world = self.world
        listed = world.history.listed(seq)
        world.seq, world.at = seq, listed.entry.at
        self._core(listed)
        before = world.cells.commit()
        self._journal.append(listed.entry.at // DAY, before)
        for key, old in before.items():
            changed.setdefault(key, old)

    def _back_to_base(self, start: int, changed: dict[str, bytes | None]) -> int:
        base_seq, base = self._base
        if start < base_seq:
            raise SnapshotTooYoung(
                f"entry {start} is to be folded anew, and this fold began at entry {base_seq}"
            )
        now = self.world.cells.everything()
        overlay = {key: data for key, data in now.items() if key.startswith(OVERLAY)}
        kept = {key: data for key, data in base.items() if not key.startswith(OVERLAY)}
        self.world.cells = Cells({**kept, **overlay})
        self.world.table = TableView(self.world.cells)
        for key in {**now, **kept}:
            if not key.startswith(OVERLAY):
                changed.setdefault(key, now.get(key))
        self._journal = Journal(base_seq)
        return base_seq

    # --- the transcript ------------------------------------------------------------------------------------

    def _finish(self, listed: Listed, changed: Mapping[str, bytes | None], ended: bool) -> Step:
        world, cells = self.world, self.world.cells
        pairs: list[tuple[str, Cid | None]] = []
        for key in sorted(changed):
            now = cells.raw(key)
            if now != changed[key]:
                pairs.append((key, None if now is None else Cid.of(now)))
        resolved = self._moved()
        self._eras.touch(pairs)
        state = None
        if ended or (world.seq + 1) % STATE_EVERY == 0 or resolved is not None:
            state = self._eras.state_root()
            pairs = sorted([*pairs, ("_/state", state)])
        data = encode_delta(pairs)
        delta_cid = Cid.of(data)
        leaf = listed.cid.raw + delta_cid.raw
        self._eras.append(leaf)
        if resolved is not None:
            self._move(listed, resolved)
        elif ended:
            self._trim()
        return Step(world.seq, listed.cid, tuple(pairs), data, delta_cid, leaf, state, tuple(world.alerts))

    def _trim(self) -> None:
        held = self.world.root_at(self.world.seq)
        days = held[0].void_days if held is not None else 14
        self._journal.trim(self.world.at // DAY - days - 2)

    # --- another pin ---------------------------------------------------------------------------------------

    def _moved(self) -> Resolved | None:
        """Return what folds from now on, if the entry just folded brought a root into force that names another pin."""
        world = self.world
        versions = world.root_cell().versions
        if not versions or versions[-1][0] != world.seq or self._resolve is None:
            return None
        held = world.root_at(world.seq)
        if held is None:
            return None
        before = world.root_at(versions[-2][0]) if len(versions) > 1 else None
        if not names_another(before and before[0].fold, held[0].fold, world.ruleset.name, world.pin):
            return None
        found = self._resolve(held[0].fold)
        return None if (found.ruleset.name, found.pin) == (world.ruleset.name, world.pin) else found

    def _move(self, listed: Listed, to: Resolved) -> None:
        world = self.world
        self._eras.move(listed.cid, to.ruleset.name, to.pin, world.seq + 1)
        world.ruleset, world.pin, world.attachments = to
        self._migrate(world.seq + 1)

    def _migrate(self, start: int) -> None:
        """Migrate the cells as the ended transcript left them; the first entry from `start` on shows what changed."""
        cells = self.world.cells
        own = [key for key in cells.everything() if not key.startswith("_/")]
        view = TableView(cells)

        def move() -> None:
            held = {key: cells.value(key) for key in own}
            moved = answers.cells(self.world.ruleset.migrate(held))
            for key in sorted({*own, *moved}):
                if key in moved:
                    view[key] = moved[key]
                else:
                    del view[key]

        self.world.guard("migrate", self.world.game, move, None)
        self.world.era = start
        self.world.forget()
        read_again(self.world)
        self._carried = cells.commit()
        self._eras.touch_cells((key, cells.raw(key)) for key in self._carried)
        self._journal = Journal(start)
        self._base = (start, cells.everything())

    # --- snapshots -----------------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """Return the fold as it stands; just where it has moved to another pin, with the cells not migrated yet."""
        cells, eras = {**self.world.cells.everything(), **self._carried}, self._eras
        kept = {key: data for key, data in cells.items() if data is not None}
        return Snapshot(self.game, self.size, kept, self.origin, eras.log.leaf_hashes(), eras.start)

    def what_if(self) -> Fold:
        """Return a fold that stands where this one stands, to fold entries that are listed nowhere. This one stays."""
        world = self.world
        history = WhatIf(world.history, self.size)
        other = Fold(
            self.game,
            world.ruleset,
            scenario=world.scenario,
            attachments=world.attachments,
            pin=world.pin,
            history=history,
            attach=world.attach,
        )
        other.restore(self.snapshot())
        other._own, other._journal, other._base = history, self._journal.copy(), self._base
        return other

    def restore(self, snapshot: Snapshot) -> None:
        """Go on from a snapshot. The history must hold the entries before it.

        Of one from where the game moved to this fold's pin the cells are migrated: who took it may have had no
        rule set to do so.
        """
        world = self.world
        world.cells = Cells(snapshot.cells)
        world.table = TableView(world.cells)
        world.forget()
        world.begin_at(snapshot.size, snapshot.era_start)
        self._eras.restore(snapshot.leaves, snapshot.era_start, snapshot.cells)
        self._journal = Journal(snapshot.size)
        self._base = (snapshot.size, snapshot.cells)
        last = world.history.listed(snapshot.size - 1) if snapshot.size else None
        self._previous = None if last is None else (last.entry, last.cid)
        if last is not None:
            world.seq, world.at = last.entry.seq, last.entry.at
        self._carried = {}
        if snapshot.size and snapshot.size == snapshot.era_start:
            self._migrate(snapshot.size)
