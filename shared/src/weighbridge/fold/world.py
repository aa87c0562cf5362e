"""What every part of the fold works on: the cells, the log, the rules in force, and dockets made of them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec

from weighbridge.cid import Cid
from weighbridge.codec import decode, decode_own
from weighbridge.contract import Attachment, Dice, Docket, Problem, RuleSet
from weighbridge.errors import Refused
from weighbridge.fold import answers
from weighbridge.fold.breach import FoldStopped, RuleBreach
from weighbridge.fold.history import History
from weighbridge.fold.records import DAY, Mark, Pending, collection_of, place_of
from weighbridge.fold.resolving import Attach
from weighbridge.fold.roots import Root, read_root
from weighbridge.fold.table import Cells, TableView
from weighbridge.identity.syntax import is_tid, tid_time
from weighbridge.log.entries import Listed

T = TypeVar("T")


class Alert(msgspec.Struct, frozen=True):
    """What operators are told when a rule set fails: it is not part of any outcome."""

    seq: int
    hook: str
    about: str
    error: str


class RootCell(msgspec.Struct, frozen=True):
    """The cell `_/root/-`: which versions of the root held from which entry on, and one that waits for its quorum.

    `versions`: [entry from which it holds, entry that listed it], in order.
    """

    versions: tuple[tuple[int, int], ...] = ()
    waiting: int | None = None


class Handed(msgspec.Struct, frozen=True):
    """A handover: from entry `seq` on `lister` (DID) is in force; the log of `before` ended after `size` entries."""

    seq: int
    lister: str
    size: int
    before: str | None


class ListerCell(msgspec.Struct, frozen=True):
    """The cell `_/lister/-`, once something was handed over: each time, in order."""

    handed: tuple[Handed, ...] = ()


ROOT_KEY = "_/root/-"
LISTER_KEY = "_/lister/-"
DAY_KEY = "_/day/-"


class World:
    """The state of one fold: everything in `cells`, and what is derived from them and the log."""

    def __init__(
        self,
        game: str,
        ruleset: RuleSet,
        history: History,
        attachments: Mapping[str, Attachment],
        *,
        scenario: bool,
    ) -> None:
        self.game = game
        self.ruleset = ruleset
        self.history = history
        self.attachments = attachments
        self.scenario = scenario
        self.pin = ""
        self.attach: Attach | None = None
        self.era = 0
        """The entry with which this rule set and pin began."""
        self.cells = Cells()
        self.table = TableView(self.cells)
        self.seq = 0
        self.at = 0
        self.live = True
        self.alerts: list[Alert] = []
        self.wanted: dict[str, Mark] = {}
        self.dice: Dice | None = (
            None  # what is drawn instead of any beacon's dice, while outcomes are weighed
        )
        self.verified: dict[tuple[str, int, bytes], bytes | Refused] = {}
        self.touched: dict[str, None] = {}
        self._pendings: dict[str, Pending] | None = {}
        self.prepared: tuple[Root, list[tuple[Mapping[str, Any], Any]]] | None = None
        self.seen: list[int] = []
        """Deletions that the receipt being folded is the first of its operator to have seen."""
        self._ends: list[int] = []
        self._ends_from = 0
        self._roots: dict[tuple[int, str | None], tuple[Root, Any]] = {}
        self._root_cell: tuple[bytes | None, RootCell] = (None, RootCell())
        self._day: tuple[bytes | None, int | None] = (None, None)

    # --- rules in force ------------------------------------------------------------------------------------

    def root_cell(self) -> RootCell:
        """Return which versions of the root hold."""
        raw = self.cells.raw(ROOT_KEY)
        if raw != self._root_cell[0]:
            self._root_cell = (raw, self.cells.read(ROOT_KEY, RootCell) or RootCell())
        return self._root_cell[1]

    def day(self) -> int | None:
        """Return the game day that has begun and not ended, or None before the first entry."""
        raw = self.cells.raw(DAY_KEY)
        if raw != self._day[0]:
            self._day = (raw, self.cells.value(DAY_KEY))
        return self._day[1]

    def root_at(self, seq: int) -> tuple[Root, Any] | None:
        """Return the root and the rule set's rules in force for what is listed at `seq`, or None."""
        cell = self.root_cell()
        place = bisect_right(cell.versions, (seq, seq)) - 1
        if place < 0:
            return None
        since, listed_at = cell.versions[place]
        return self._load_root(listed_at, self._lister_since(since))

    def lister_cell(self) -> ListerCell:
        """Return to whom the log was handed over."""
        return self.cells.read(LISTER_KEY, ListerCell) or ListerCell()

    def _lister_since(self, seq: int) -> str | None:
        if self.cells.raw(LISTER_KEY) is None:
            return None
        return next((each.lister for each in self.lister_cell().handed if each.seq == seq), None)

    def first_root(self) -> Root | None:
        """Return the game's first well-formed root."""
        versions = self.root_cell().versions
        return self._load_root(versions[0][1])[0] if versions else None

    def _load_root(self, listed_at: int, lister: str | None = None) -> tuple[Root, Any]:
        if (listed_at, lister) not in self._roots:
            value = self.value_of(self.history.listed(listed_at))
            root, problems = read_root(value, None)
            rules = self._rules_of(value, listed_at)
            if root is None or problems:
                raise FoldStopped(f"the root listed as {listed_at} held when it was folded and does not now")
            held = root if lister is None else msgspec.structs.replace(root, lister=lister)
            self._roots[listed_at, lister] = (held, rules)
        return self._roots[listed_at, lister]

    def _rules_of(self, value: Any, listed_at: int) -> Any:
        try:
            rules, problems = answers.rules(self.ruleset.rules(value))
        except (MemoryError, RecursionError, OSError, FoldStopped) as error:
            raise FoldStopped(f"{type(error).__name__} in rules at entry {self.seq}: {error}") from error
        except Exception:
            rules, problems = None, (Problem("$", "the rule set fails on it"),)
        if not problems:
            return rules
        if listed_at < self.era:
            # Another rule set took this root for well-formed. This one need not: it has no rules then.
            return None
        raise FoldStopped(f"the root listed as {listed_at} held when it was folded and does not now")

    # --- ends of records -----------------------------------------------------------------------------------

    def note_end(self, seq: int) -> None:
        """Remember that an entry lists the end of a repository's record: what `ends` else looks for in the log."""
        place = bisect_left(self._ends, seq)
        if self._ends[place : place + 1] != [seq]:
            self._ends.insert(place, seq)

    def ends(self, start: int, stop: int) -> list[int]:
        """Return the entries in [start, stop), all folded, that list the end of a repository's record."""
        for seq in range(start, min(stop, self._ends_from)):
            entry = self.history.listed(seq).entry
            if entry.op == "delete" and entry.prov is not None and "blocks" in entry.prov:
                self.note_end(seq)
        return self._ends[bisect_left(self._ends, start) : bisect_left(self._ends, stop)]

    def begin_at(self, size: int, era: int) -> None:
        """Go on from a snapshot: what was noted of the entries before it is not known any more."""
        self._ends, self._ends_from, self.era = [], size, era

    # --- dockets -------------------------------------------------------------------------------------------

    def value_of(self, listed: Listed) -> Any:
        """Return a fresh copy of a listed record's value (None for a deletion or a tick)."""
        return None if listed.record is None else decode(listed.record)

    def docket(
        self, listed: Listed, rules_at: int | None = None, *, checked: bool = False, **facts: Any
    ) -> Docket:
        """Return the docket of a listed record, with the rules in force at its listing (or at `rules_at`).

        `checked`: it was a docket before, so that its record is known to be strict DAG-CBOR.
        """
        entry = listed.entry
        if entry.uri is None or entry.author is None:
            raise FoldStopped(f"entry {entry.seq} lists no record")
        held = self.root_at(entry.seq if rules_at is None else rules_at)
        mark = self.mark_of(entry.uri)
        place = place_of(entry.uri)
        return Docket(
            seq=entry.seq,
            at=entry.at,
            day=entry.at // DAY,
            uri=entry.uri,
            cid=entry.record if entry.record is not None else NO_CID,
            author=entry.author,
            collection=collection_of(entry.uri),
            rkey=entry.uri.rsplit("/", 1)[1],
            op=entry.op,  # type: ignore[arg-type]
            value=decode_own(listed.record) if checked and listed.record else self.value_of(listed),
            rules=held[1] if held else None,
            gm=held[0].gm if held else None,
            upheld=mark.upheld if mark else False,
            stake=self.cells.value(f"_/stake/{place}") if mark is not None or self.has_stakes else None,
            committed=tid_time(entry.prov["rev"]) if entry.prov and is_tid(entry.prov.get("rev")) else None,
            **facts,
        )

    @property
    def has_stakes(self) -> bool:
        """Whether any void has ever changed the past: else no stake needs looking for."""
        return "_/stake/-" in self.cells

    def first_docket(self, uri: str, before: int) -> Docket | None:
        """Return the docket of a record's first listed version, if that was before entry `before`."""
        seq = self.history.first(uri)
        if seq is None or seq >= before:
            return None
        listed = self.history.listed(seq)
        return None if listed.record is None else self.docket(listed)

    # --- marks ---------------------------------------------------------------------------------------------

    def mark_of(self, uri: str) -> Mark | None:
        """Return what has been marked on a record, if anything."""
        return self.cells.read(f"_/mark/{place_of(uri)}", Mark)

    def is_void(self, uri: str) -> bool:
        """Return whether a record is void: what replaced or struck it must itself still stand."""
        # What voids a record is listed after it, so that the way up ends.
        void, mark = False, self.mark_of(uri)
        while mark is not None and mark.void is not None:
            void, mark = not void, self.mark_of(mark.void)
        return void

    # --- pending dockets -----------------------------------------------------------------------------------

    @property
    def pendings(self) -> dict[str, Pending]:
        """The pending dockets by place, in listing order: a reading of the `_/pending/` cells."""
        if self._pendings is None:
            cells = [(k, self.cells.read(k, Pending)) for k in self.cells.keys("_/pending/")]
            found = [(k.removeprefix("_/pending/"), p) for k, p in cells if p is not None]
            self._pendings = dict(sorted(found, key=lambda pair: pair[1].seq))
        return self._pendings

    def keep(self, place: str, pending: Pending | None) -> None:
        """Write a pending docket's cell, or drop it."""
        if pending is None:
            self.pendings.pop(place, None)
            self.cells.drop(f"_/pending/{place}")
        else:
            self.pendings[place] = pending
            self.cells.set(f"_/pending/{place}", pending)

    def change(self, place: str) -> None:
        """Note that a pending docket has changed; `evidence.complete_all` completes it or writes its cell."""
        self.touched[place] = None

    def forget(self) -> None:
        """Forget what is derived from cells, after they were rewound."""
        self._pendings = None
        self.touched.clear()
        self._roots.clear()
        self.prepared = None

    # --- reports -------------------------------------------------------------------------------------------

    def report(self, code: str, about: str, sentence: str) -> None:
        """Let a report stand on a record."""
        key = f"_/report/{place_of(about)}"
        codes = self.cells.value(key, {})
        if codes.get(code) != sentence:
            codes[code] = sentence
            self.cells.set(key, codes)

    def withdraw(self, code: str, about: str) -> None:
        """Take a report back."""
        key = f"_/report/{place_of(about)}"
        codes = self.cells.value(key)
        if codes is None or code not in codes:
            return
        del codes[code]
        if codes:
            self.cells.set(key, codes)
        else:
            self.cells.drop(key)

    # --- rule-set code -------------------------------------------------------------------------------------

    def guard(
        self,
        hook: str,
        about: str,
        run: Callable[[], T],
        default: T,
        keep: Callable[[str], None] | None = None,
    ) -> T:
        """Run rule-set code. If it raises: cells as before, report `rule-fault` on `about`, and the default.

        With `keep`, that is given the report's sentence instead.
        What is not a function of the log (memory, disk, stack) stops the fold instead (`FoldStopped`).
        """
        mark = self.cells.mark()
        try:
            return run()
        except (MemoryError, RecursionError, OSError) as error:
            raise FoldStopped(f"{type(error).__name__} in {hook} at entry {self.seq}: {error}") from error
        except FoldStopped:
            raise
        except Exception as error:
            self.cells.rollback(mark)
            self._pendings = None
            says = f": {error.args[0]}" if isinstance(error, RuleBreach) else _refusal(error)
            self.alerts.append(Alert(self.seq, hook, about, f"{type(error).__name__}: {_text(error)}"))
            sentence = f"The rule set {self.ruleset.name} failed in {hook}{says}."
            if keep is None:
                self.report("rule-fault", about, sentence)
            else:
                keep(sentence)
            return default


NO_CID = Cid.of(b"\xf6")
"""What a deletion's docket has for a CID: that of null."""


def _text(error: Exception) -> str:
    try:
        return str(error)
    except Exception:
        return "(its text cannot be had)"


def _refusal(error: Exception) -> str:
    # Only our own codes are the same on every Python: an exception's text and type need not be.
    return f" ({error.code})" if isinstance(error, Refused) else ""
