"""What a lister lists, and in which order: from what was handed in, the log so far and the time, to entries.

Pure. Rejected is only what cannot be attributed or encoded; whether a listed record counts, the fold says.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec
from weighbridge.cid import Cid
from weighbridge.contract import RuleSet
from weighbridge.fold.records import ACCOUNT, BEACON, DAY, RECEIPT
from weighbridge.log.entries import Listed, Op, make_entry

from weighbridge_services.following.rules import Rules, needs_of, round_of, rules_after
from weighbridge_services.ingest.counting import LOOSE, counts_as, is_loose, is_receipt, round_in, size_in
from weighbridge_services.ingest.opening import Opened, Refusal, other_game

MAX_TICKS: Final = 100_000
"""Days between two entries that get a tick each; a recorded log may begin in 1970."""


class Known(NamedTuple):
    """A version of a record that the log holds already."""

    seq: int
    at: int
    record: Cid | None
    rev: str | None = None


class Handed(NamedTuple):
    """One thing handed in: verified or refused; for a recorded one the time at which it was listed.

    `sound`: whether it is a beacon that verifies on the game's chain.
    """

    opened: Opened | Refusal
    at: int | None = None
    sound: bool = False


class Placed(NamedTuple):
    """An answer: where a record stands in the log, when it was listed (µs) and the round it rolls on."""

    seq: int
    at: int
    round: int | None
    fresh: bool = True


class Passed(NamedTuple):
    """An answer of its own kind to evidence that says nothing new: another has said it, and it is not listed."""

    says: str


Answer = Placed | Refusal | Passed


class Tally(msgspec.Struct, frozen=True):
    """A day's records: of each author, of authors without standing together, and what was left out (None: theirs).

    `authors` counts by what `counts_as` says. `newcomers`: how many authors without standing there are.
    """

    day: int = 0
    authors: Mapping[str, int] = {}
    strangers: int = 0
    left_out: Mapping[str | None, int] = {}
    newcomers: int = 0


class Facts(msgspec.Struct, frozen=True):
    """What the decision needs to know of the log.

    `known`: by at-uri, of the uris handed in. `since`: by DID, the day of an author's first record. `beacons`:
    the rounds, of those handed in, that are listed. `receipts`: by operator, the size of its newest listed
    receipt. `matter`: by size (those of our checkpoints, and those handed in), the last entry before it that is no
    receipt. `dues`: times (µs) at which something falls due. `operators`: whose evidence has limits of its own.
    """

    game: str
    last: Listed | None
    rules: Rules
    tally: Tally
    known: Mapping[str, Sequence[Known]] = {}
    since: Mapping[str, int] = {}
    beacons: frozenset[int] = frozenset()
    receipts: Mapping[str, int] = {}
    matter: Mapping[int, int] = {}
    dues: tuple[int, ...] = ()
    operators: frozenset[str] = frozenset()


class Decision(NamedTuple):
    """What is to be written and answered.

    `entries`: in order, each with the envelope that proves it. `answers`: one for each thing handed in.
    `urgent`: whether an entry may roll, so that a checkpoint is due at once. `matter`: the last entry that is
    no receipt, None if there is none among them. `roots`: entries that brought a root version.
    """

    entries: tuple[Listed, ...]
    proofs: tuple[bytes | None, ...]
    answers: tuple[Answer, ...]
    urgent: bool
    matter: int | None
    rules: Rules
    roots: tuple[int, ...]
    tally: Tally
    authors: Mapping[str, int]
    beacons: Mapping[int, int]
    receipts: Mapping[str, int]


def decide(ruleset: RuleSet, facts: Facts, handed: Sequence[Handed], now: int) -> Decision:
    """Decide what to list of what was handed in at a time (µs), in the order in which it was handed in."""
    return _Listing(ruleset, facts, now).run(handed)


def decide_time(ruleset: RuleSet, facts: Facts, now: int) -> Decision:
    """Decide which ticks to list: one at each day end and each due time that has passed."""
    listing = _Listing(ruleset, facts, now)
    listing.let_pass(now)
    return listing.decision(())


class _Listing:
    """One decision under way."""

    def __init__(self, ruleset: RuleSet, facts: Facts, now: int) -> None:
        self._ruleset = ruleset
        self._facts = facts
        self._now = now
        self._last = facts.last
        self._rules = facts.rules
        self._entries: list[Listed] = []
        self._proofs: list[bytes | None] = []
        self._known: dict[str, list[Known]] = {}
        self._urgent = False
        self._matter: int | None = None
        self._roots: list[int] = []
        self._beacons: dict[int, int] = {}
        self._receipts: dict[str, int] = {}
        self._authors: dict[str, int] = {}
        self._open_day(facts.tally)

    def _open_day(self, tally: Tally) -> None:
        self._day = tally.day
        self._counts: dict[str, int] = {}
        self._strangers = tally.strangers
        self._newcomers = tally.newcomers
        self._left_out = dict(tally.left_out)
        self._before: Mapping[str, int] = tally.authors

    def run(self, handed: Sequence[Handed]) -> Decision:
        """Decide on each in turn."""
        return self.decision(tuple(self._take(each) for each in handed))

    def decision(self, answers: tuple[Answer, ...]) -> Decision:
        """Return what came of it."""
        counts = {**self._before, **self._counts} if self._counts else self._before
        tally = Tally(self._day, counts, self._strangers, self._left_out, self._newcomers)
        return Decision(
            tuple(self._entries), tuple(self._proofs), answers, self._urgent, self._matter, self._rules,
            tuple(self._roots), tally, self._authors, self._beacons, self._receipts,
        )  # fmt: skip

    # --- one record ----------------------------------------------------------------------------------------

    def _take(self, handed: Handed) -> Answer:
        opened = handed.opened
        if isinstance(opened, Refusal):
            return opened
        versions = [*self._facts.known.get(opened.uri, ()), *self._known.get(opened.uri, ())]
        for version in versions:
            if version.record == opened.cid and version.rev in (None, opened.rev):
                return Placed(version.seq, version.at, self._round_again(opened, version), fresh=False)
        again = any(version.record is not None for version in versions)
        said = other_game(opened) if opened.is_stray and not again else self._said_already(opened)
        if said is not None:
            return said
        at = self._time(handed)
        self.let_pass(at)
        flooded = self._flooded(opened, at, handed.sound)
        return flooded if flooded is not None else self._list(handed, opened, at, again)

    def _time(self, handed: Handed) -> int:
        last = self._last.entry.at if self._last is not None else 0
        return max(self._now if handed.at is None else handed.at, last)

    def _list(self, handed: Handed, opened: Opened, at: int, again: bool) -> Placed:
        op: Op = "delete" if opened.record is None else "update" if again else "create"
        listed = make_entry(
            self._last, game=self._facts.game, at=at, op=op, uri=opened.uri,
            author=opened.author, record=opened.record, prov=opened.prov,
        )  # fmt: skip
        self._append(listed, opened.proof)
        seq = listed.entry.seq
        self._known.setdefault(opened.uri, []).append(Known(seq, at, opened.cid, opened.rev))
        if opened.author not in self._facts.since:
            self._authors.setdefault(opened.author, at // DAY)
        if opened.record is None or opened.is_stray:
            self._matter = seq
            return Placed(seq, at, None)
        self._note(opened, seq, handed.sound)
        needs = needs_of(self._rules, self._ruleset, listed, opened.value)
        self._urgent = self._urgent or bool(needs.dice)
        return Placed(seq, at, round_of(self._rules, needs, at))

    def _note(self, opened: Opened, seq: int, sound: bool) -> None:
        collection = opened.envelope.collection
        if collection == RECEIPT:
            size = size_in(opened.value)
            if size is not None and size <= seq:
                self._receipts[opened.author] = max(size, self._receipt_of(opened.author))
            return
        self._matter = seq
        if opened.uri == self._facts.game:
            self._rules = rules_after(self._rules, self._ruleset, opened.value)
            self._roots.append(seq)
        number = round_in(opened.value) if collection == BEACON else None
        if number is not None and sound:
            self._beacons[number] = seq

    def _round_again(self, opened: Opened, version: Known) -> int | None:
        if opened.record is None or opened.is_stray:
            return None
        listed = make_entry(
            None, game=self._facts.game, at=version.at, op="create", uri=opened.uri, author=opened.author,
            record=opened.record,
        )  # fmt: skip
        return round_of(self._rules, needs_of(self._rules, self._ruleset, listed, opened.value), version.at)

    # --- evidence that says nothing new --------------------------------------------------------------------

    def _said_already(self, opened: Opened) -> Passed | None:
        """One verified beacon a round, and one receipt of an operator for what it has not receipted yet.

        A receipt that holds nothing new but receipts is published by its operator and not listed: listing it
        would make the next checkpoint, and that one the next receipts, for ever.
        """
        if opened.author not in self._facts.operators:
            return None
        if opened.envelope.collection == BEACON:
            number = round_in(opened.value)
            if number in self._facts.beacons or number in self._beacons:
                return Passed(f"the beacon of round {number} is listed already")
        if opened.envelope.collection == RECEIPT:
            size = size_in(opened.value)
            if size is not None and self._matter_before(size) < self._receipt_of(opened.author):
                return Passed("this operator's receipt for these entries is listed already")
        return None

    def _matter_before(self, size: int) -> int:
        """Return the last of the first `size` entries that is no receipt, so that receipts call for no more of them."""
        first = self._facts.last.entry.seq + 1 if self._facts.last is not None else 0
        for listed in reversed(self._entries[: max(0, size - first)]):
            if not is_receipt(listed.entry.uri):
                return listed.entry.seq
        return self._facts.matter.get(min(size, first), min(size, first) - 1)

    def _receipt_of(self, operator: str) -> int:
        return self._receipts.get(operator, self._facts.receipts.get(operator, 0))

    # --- floods --------------------------------------------------------------------------------------------

    def _flooded(self, opened: Opened, at: int, sound: bool) -> Refusal | None:
        author = opened.author
        key = counts_as(author, opened.uri, self._facts.game, self._facts.operators)
        if key is None and self._is_loose(opened, sound):
            key = LOOSE + author
        if key is None:
            return None
        of_author, of_strangers = self._rules.floods
        if key == ACCOUNT:
            return self._count(key, of_strangers, author, "words of hosts about accounts")
        if key != author:
            return self._count(key, self._rules.most_evidence, author, "records of evidence of one operator")
        stranger = self._is_stranger(author, at // DAY)
        first = not self._count_of(author)
        if stranger and self._count_of(author) < of_author:
            if self._strangers >= of_strangers:
                return self._leave_out(None, f"{of_strangers} records of authors without standing")
            if not first and self._strangers - self._newcomers >= self._rules.most_later:
                says = (
                    f"{self._rules.most_later} records of authors without standing that are not their first"
                )
                return self._leave_out(None, says)
        flooded = self._count(author, of_author, author, "records of one author")
        if stranger and flooded is None:
            self._strangers += 1
            self._newcomers += first
        return flooded

    def _count(self, key: str, most: int, author: str, of_what: str) -> Refusal | None:
        count = self._count_of(key)
        if count >= most:
            return self._leave_out(author, f"{most} {of_what}")
        self._counts[key] = count + 1
        return None

    def _count_of(self, key: str) -> int:
        return self._counts.get(key, self._before.get(key, 0))

    def _is_loose(self, opened: Opened, sound: bool) -> bool:
        if opened.author not in self._facts.operators or opened.record is None:
            return False
        seq = self._last.entry.seq + 1 if self._last is not None else 0
        return is_loose(opened.envelope.collection, opened.value, seq, sound)

    def _is_stranger(self, author: str, day: int) -> bool:
        """Whether an author has no standing yet: neither named by the root nor listed on an earlier day."""
        known = author in self._rules.named or author in self._facts.operators
        return not known and self._facts.since.get(author, day) >= day

    def _leave_out(self, whose: str | None, limit: str) -> Refusal:
        self._left_out[whose] = self._left_out.get(whose, 0) + 1
        return Refusal("flooded", f"the log of this day holds {limit} already; hand it in again tomorrow")

    # --- time ----------------------------------------------------------------------------------------------

    def let_pass(self, at: int) -> None:
        """List what time itself asks for, up to a time: the day's leftovers and a tick at each day end, due times."""
        if self._last is None:
            self._day = at // DAY
            return
        for time in self._passed(self._last.entry.at, at):
            ends = time % DAY == 0
            if ends:
                self._list_floods(time - 1)
                self._open_day(Tally(time // DAY))
            self._append(make_entry(self._last, game=self._facts.game, at=max(time, self._at()), op="tick"))
            self._matter = self._entries[-1].entry.seq

    def _passed(self, last: int, at: int) -> Iterator[int]:
        days = at // DAY - last // DAY
        midnights = (day * DAY for day in range(at // DAY - min(days, MAX_TICKS) + 1, at // DAY + 1))
        dues = {due for due in self._facts.dues if last < due <= at}
        yield from sorted({*midnights, *dues})

    def _list_floods(self, at: int) -> None:
        for whose, count in sorted(self._left_out.items(), key=lambda item: item[0] or ""):
            time = max(at, self._at())
            self._append(
                make_entry(self._last, game=self._facts.game, at=time, op="flood", author=whose, count=count)
            )
            self._matter = self._entries[-1].entry.seq

    def _at(self) -> int:
        return self._last.entry.at if self._last is not None else 0

    def _append(self, listed: Listed, proof: bytes | None = None) -> None:
        self._entries.append(listed)
        self._proofs.append(proof)
        self._last = listed


def rounds_in(handed: Iterable[Handed]) -> set[int]:
    """Return the rounds of the beacon records among what was handed in."""
    found: set[int] = set()
    for each in handed:
        if isinstance(each.opened, Opened) and each.opened.envelope.collection == BEACON:
            number = round_in(each.opened.value)
            if number is not None:
                found.add(number)
    return found
