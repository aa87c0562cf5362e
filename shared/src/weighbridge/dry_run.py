"""What records would do to a game as it stands: folded on top of it, listed nowhere, published to nobody."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import msgspec

from weighbridge.chain import round_time
from weighbridge.changes import Watch, Watched, differences, reasons, reports_on
from weighbridge.cid import Cid
from weighbridge.codec import decode_own, encode
from weighbridge.errors import Refused
from weighbridge.fold import Fold
from weighbridge.fold.outlook import Cells, Ways, ways_of
from weighbridge.fold.records import SCENARIO, Pending, place_of
from weighbridge.identity.syntax import is_did, is_nsid, is_rkey
from weighbridge.limits import MAX_RECORD
from weighbridge.log.entries import Op, make_entry

Verdict = Literal["ok", "unresolved", "unsettled"]

SHOWN = ("_/report/", "_/question/")
"""What of the kernel's own cells a person asks about; the others keep what is pending."""
MOST_VALUES = 12
"""Values of a field that are told apart; of more only their number is told."""


class BadDraft(Refused):
    """What is to be tried is no record of this game: an author, a type or a key it cannot have, or no value."""

    code: ClassVar[str] = "bad-draft"


class Draft(msgspec.Struct, frozen=True):
    """A record to try: author (DID), collection (NSID), record key, and its bytes (DAG-CBOR)."""

    author: str
    collection: str
    rkey: str
    record: bytes

    @property
    def uri(self) -> str:
        """The at-uri it would have."""
        return f"at://{self.author}/{self.collection}/{self.rkey}"


class Changed(msgspec.Struct, frozen=True):
    """A cell that would change: its value before and after (None: nothing), and why, in the rule set's sentences."""

    key: str
    before: Any
    after: Any
    says: tuple[str, ...] = ()


class Field(msgspec.Struct, frozen=True):
    """What may come to stand in one field of a cell: (value, weight) out of `Outlook.whole`, the likeliest first.

    None stands for no field. `different`: how many values there are; of too many none is told. `said`: whether the
    rule set has words for changes of this cell: it has none for what only the fold reads.
    """

    key: str
    path: str
    before: Any
    chances: tuple[tuple[Any, int], ...]
    different: int
    said: bool = True


class Outlook(msgspec.Struct, frozen=True):
    """What a record's dice may still bring: every field that some way for them to fall changes.

    `whole`: what the weights sum to; 0 where there are too many ways to look at. `ways`: how many there are.
    `round`, `due` (seconds): the beacon it rolls on, once it is fixed.
    """

    round: int | None
    due: int | None
    dice: tuple[str, ...]
    whole: int
    ways: int
    fields: tuple[Field, ...]


class Tried(msgspec.Struct, frozen=True):
    """What one record would do: by its listing, by the verdict that its trace is taken to have, and by its dice.

    `reports`: what would stand on it in the end, code to sentence.
    """

    uri: str
    cid: str
    collection: str
    changes: tuple[Changed, ...]
    verdict: Verdict | None
    by_verdict: tuple[Changed, ...]
    outlook: Outlook | None
    reports: Mapping[str, str]


class DryRun(msgspec.Struct, frozen=True):
    """What time alone would change up to `at` (µs), and what each record would, in order."""

    at: int
    by_time: tuple[Changed, ...]
    records: tuple[Tried, ...]


def draft(game: str, author: object, collection: object, rkey: object, value: object) -> Draft:
    """Return a record to try, `game` filled in where its value names none. Raises BadDraft."""
    for text, fits, what in (
        (author, is_did, "author: a DID"),
        (collection, is_nsid, "collection: an NSID, as town.delve.move"),
        (rkey, is_rkey, "record key: 1 to 512 of A-Z a-z 0-9 _ ~ . : -"),
    ):
        if not fits(text):
            raise BadDraft(f"{text!r} is no {what}")
    if isinstance(value, dict) and f"at://{author}/{collection}/{rkey}" != game:
        value = {"game": game, **value}
    try:
        record = encode(value)
    except Refused as refused:
        raise BadDraft(f"the value can be no record: {refused.message} ({refused.code})") from refused
    if len(record) > MAX_RECORD:
        raise BadDraft(f"a record has at most {MAX_RECORD} bytes, and this would have {len(record)}")
    return Draft(str(author), str(collection), str(rkey), record)


def dry_run(fold: Fold, drafts: Sequence[Draft], at: int | None = None, verdict: Verdict = "ok") -> DryRun:
    """Return what records would do if they were listed now, one after the other. `fold` stays as it is.

    `at`: the time (µs) they are listed at, by default that of the last entry. `verdict`: what becomes of each
    trace that must be looked at. Dice are left open where the log does not have them: records of beacons and
    receipts may be among the drafts. Raises BadDraft, and what `Fold.fold` raises of a time before the last entry's.
    """
    if not fold.size:
        raise BadDraft("the game has no entry yet, so there is nothing to try a record on")
    trial = _Trial(fold, fold.world.at if at is None else at)
    by_time = trial.list_tick()
    begun = [trial.list_draft(each, verdict) for each in drafts]
    return DryRun(trial.at, by_time, tuple(trial.finished(each) for each in begun))


class _Begun(msgspec.Struct, frozen=True):
    """A record that has been listed, before anything is known of its dice."""

    draft: Draft
    changes: tuple[Changed, ...]
    verdict: Verdict | None
    by_verdict: tuple[Changed, ...]


class _Trial:
    """A fold on top of a game, and the entries that are listed nowhere."""

    def __init__(self, fold: Fold, at: int) -> None:
        self.at = at
        self._fold = fold.what_if()
        self._watch = Watch(self._fold)
        self._last = fold.world.history.listed(fold.size - 1)

    def list_tick(self) -> tuple[Changed, ...]:
        """Let time pass up to the listing."""
        return self._list("tick") if self.at > self._last.entry.at else ()

    def list_draft(self, each: Draft, verdict: Verdict) -> _Begun:
        """List a record and, if it awaits a verdict on its trace, that."""
        op: Op = "create" if self._fold.world.history.first(each.uri) is None else "update"
        changes = self._list(op, each.uri, each.author, each.record)
        pending = self._pending(each.uri)
        if pending is None or not pending.trace or pending.verdict is not None:
            return _Begun(each, changes, None, ())
        return _Begun(each, changes, verdict, self._state(each.uri, verdict))

    def _state(self, uri: str, verdict: Verdict) -> tuple[Changed, ...]:
        # As a scenario states a verdict outright: only for this one entry does the fold take such a record.
        world = self._fold.world
        stated = {"game": world.game, "kind": "trace", "subject": uri, "verdict": verdict}
        author = self._last.entry.author or uri.split("/")[2]
        scenario, world.scenario = world.scenario, True
        try:
            name = f"at://{author}/{SCENARIO}/tried.{self._last.entry.seq}"
            return self._list("create", name, author, encode(stated))
        finally:
            world.scenario = scenario

    def _list(
        self, op: Op, uri: str | None = None, author: str | None = None, record: bytes | None = None
    ) -> tuple[Changed, ...]:
        game = self._fold.game
        self._last = make_entry(
            self._last, game=game, at=self.at, op=op, uri=uri, author=author, record=record
        )
        return self._told(self._watch.step(self._last))

    def _told(self, watched: Watched) -> tuple[Changed, ...]:
        ruleset, look = self._fold.world.ruleset, self._watch.look
        return tuple(
            Changed(
                key, _value(before), _value(after),
                () if key.startswith("_/") else reasons(ruleset, key, watched.listed, watched.cells, look),
            )
            for key, (before, after) in watched.cells.items()
        )  # fmt: skip

    def _pending(self, uri: str) -> Pending | None:
        return self._fold.world.pendings.get(place_of(uri))

    def finished(self, begun: _Begun) -> Tried:
        """Return what became of a record, once all are listed."""
        each, pending = begun.draft, self._pending(begun.draft.uri)
        ways = ways_of(self._fold, each.uri)
        outlook = None if ways is None or pending is None else self._outlook(pending, ways)
        return Tried(
            each.uri, str(Cid.of(each.record)), each.collection, begun.changes, begun.verdict, begun.by_verdict,
            outlook, reports_on(self._watch.look, each.uri),
        )  # fmt: skip

    def _outlook(self, pending: Pending, ways: Ways) -> Outlook:
        held = self._fold.world.root_at(pending.seq)
        due = None
        if pending.round is not None and held is not None:
            due = round_time(held[0].chain, pending.round)
        count = 0 if ways.ways is None else len(ways.ways)
        fields = fields_of_ways(ways, self._speaks(ways))
        return Outlook(pending.round, due, pending.dice, ways.whole, count, fields)

    def _speaks(self, ways: Ways) -> dict[str, bool]:
        """Return of each cell that some way changes whether the rule set has words for it, by the first such way."""
        found: dict[str, bool] = {}
        for way in ways.ways or ():
            for key in way.cells:
                if key not in found:
                    found[key] = key.startswith(SHOWN) or bool(self._why(key, way.cells))
        return found

    def _why(self, key: str, cells: Cells) -> tuple[str, ...]:
        def look(other: str) -> Any:
            return _value(cells[other][1]) if other in cells else self._watch.look(other)

        return reasons(self._fold.world.ruleset, key, self._last, cells, look)


# --- weighing ----------------------------------------------------------------------------------------------


def fields_of_ways(ways: Ways, said: Mapping[str, bool]) -> tuple[Field, ...]:
    """Return what may come to stand in each field that some way changes, by key and path."""
    tally: dict[tuple[str, str], tuple[Any, dict[bytes, int]]] = {}
    for way in ways.ways or ():
        shown = {key: pair for key, pair in way.cells.items() if is_shown(key)}
        for key, (old, new) in shown.items():
            for path, before, after in differences(_value(old), _value(new)):
                _, weights = tally.setdefault((key, path), (before, {}))
                name = encode(after)
                weights[name] = weights.get(name, 0) + way.weight
    return tuple(_field(key, path, *tally[key, path], ways.whole, said[key]) for key, path in sorted(tally))


def is_shown(key: str) -> bool:
    """Whether a cell is one that a person asks about: the rule set's own, and the kernel's reports and questions."""
    return not key.startswith("_/") or key.startswith(SHOWN)


def _field(key: str, path: str, before: Any, weights: dict[bytes, int], whole: int, said: bool) -> Field:
    rest = whole - sum(weights.values())
    if rest:
        name = encode(before)
        weights = {**weights, name: rest}
    several = sorted(weights.items(), key=lambda pair: (-pair[1], pair[0]))
    told = several if len(several) <= MOST_VALUES else ()
    return Field(
        key, path, before, tuple((decode_own(name), count) for name, count in told), len(several), said
    )


def _value(data: bytes | None) -> Any:
    return None if data is None else decode_own(data)
