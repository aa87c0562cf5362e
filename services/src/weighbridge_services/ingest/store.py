"""The lister's and the follower's memory: one ledger, used from one thread of its own.

What the log says by itself is looked up in it; what would take a walk through the whole log (authors' first
days, rounds, receipts, roots, operators) is kept under names, in the same batch as the entries.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar

from weighbridge import codec
from weighbridge.cid import Cid
from weighbridge.contract import RuleSet
from weighbridge.fold.operators import listing_origin
from weighbridge.fold.records import ACCOUNT, BEACON, DAY
from weighbridge.fold.roots import read_root
from weighbridge.identity import OPERATOR, OperatorRecord, check_operator
from weighbridge.ledger import CheckpointStore, KeptCheckpoint, Ledger, LogStore
from weighbridge.log.entries import Entry, Listed

from weighbridge_services.folding.threads import LedgerThread
from weighbridge_services.following.rules import Rules, rules_after
from weighbridge_services.ingest.counting import (
    EVIDENCE,
    LOOSE,
    counts_as,
    is_loose,
    is_receipt,
    round_in,
    size_in,
)
from weighbridge_services.ingest.decide import Decision, Facts, Handed, Known, Tally, rounds_in
from weighbridge_services.ingest.opening import Opened
from weighbridge_services.ingest.withheld import Awaited, kept_form, read_kept
from weighbridge_services.subjects import token

KEPT_REJECTIONS: Final = 10_000
"""Answers to what was not listed that are kept at most."""
MATTERS: Final = 64
"""Checkpoints of which is remembered over a restart what they held beside receipts."""

T = TypeVar("T")


class Store:
    """One game's log in a service's ledger. Every method but `run` is for the ledger's own thread."""

    def __init__(self, ledger: Ledger, game: str, thread: LedgerThread) -> None:
        self.game = game
        self.ledger = ledger
        self._thread = thread
        self._prefix = f"ingest/{token(game)}"
        self._since: dict[str, int] = {}
        ledger.on_undone(self._since.clear)
        self.log: LogStore = ledger.log(game)
        self.checkpoints: CheckpointStore = ledger.checkpoints(listing_origin(game))

    async def run(self, work: Callable[..., T], *arguments: Any) -> T:
        """Have the ledger's thread do some work, and wait for it even when cancelled: a batch is never torn."""
        return await self._thread.run(work, *arguments)

    # --- reading -------------------------------------------------------------------------------------------

    @property
    def size(self) -> int:
        """How many entries there are."""
        return self.log.size

    def last(self) -> Listed | None:
        """Return the newest entry."""
        return self.log.last

    def listed(self, start: int, stop: int) -> list[Listed]:
        """Return some entries."""
        return list(self.log.entries(start, stop))

    def known(self, uris: Iterable[str]) -> dict[str, list[Known]]:
        """Return the versions of records that the log holds, of those uris that it holds."""
        found: dict[str, list[Known]] = {}
        for uri in uris:
            if self.log.knows(uri):
                entries = [self.log.listed(seq).entry for seq in self.log.about(uri)]
                found[uri] = [
                    Known(entry.seq, entry.at, entry.record, (entry.prov or {}).get("rev"))
                    for entry in entries
                ]
        return found

    def have_versions(self, uris: Iterable[str]) -> frozenset[str]:
        """Return those uris of which the log lists a version; a deletion is none."""
        return frozenset(uri for uri in uris if self.log.first(uri) is not None)

    def since(self, authors: Iterable[str]) -> dict[str, int]:
        """Return the day of the first record of each author who has one."""
        for author in authors:
            if author not in self._since:
                day = self.ledger.values.get(f"{self._prefix}/author/{author}")
                if day is not None:
                    self._since[author] = int.from_bytes(day, "big")
        return {author: self._since[author] for author in authors if author in self._since}

    def beacons(self, rounds: Iterable[int]) -> frozenset[int]:
        """Return those rounds whose beacons are listed."""
        return frozenset(
            r for r in rounds if self.ledger.values.get(f"{self._prefix}/beacon/{r}") is not None
        )

    def all_rounds(self) -> set[int]:
        """Return every round whose beacon is listed."""
        return {int(number) for number in self._all("beacon")}

    def receipts(self) -> dict[str, int]:
        """Return the size of the newest listed receipt, by operator."""
        return {did: int.from_bytes(value, "big") for did, value in self._all("receipt").items()}

    def matters(self) -> dict[int, int]:
        """Return, by size of the newest checkpoints, the last entry before it that is no receipt."""
        value = self.ledger.values.get(f"{self._prefix}/matters")
        return {} if value is None else dict(codec.decode_own(value))

    def rules(self, ruleset: RuleSet) -> Rules:
        """Return the rules in force, from the root versions that the log holds."""
        rules = Rules()
        for seq in self.log.about(self.game):
            record = self.log.listed(seq).record
            if record is not None:
                rules = rules_after(rules, ruleset, codec.decode_own(record))
        return rules

    def tally(self, rules: Rules, operators: frozenset[str]) -> Tally:
        """Return the counts of the newest entry's day, from its entries and from what was left out of it."""
        last = self.log.last
        if last is None:
            return Tally()
        day, authors, strangers, new = last.entry.at // DAY, Counter[str](), 0, 0
        for listed in self._of_day(day):
            key = self._counts_as(listed, operators)
            if key is None or listed.entry.author is None:
                continue
            authors[key] += 1
            if key == listed.entry.author and self.is_stranger(key, day, rules, operators):
                strangers += 1
                new += authors[key] == 1
        left = {whose or None: int.from_bytes(n, "big") for whose, n in self._all(f"left/{day}").items()}
        return Tally(day, dict(authors), strangers, left, new)

    def _counts_as(self, listed: Listed, operators: frozenset[str]) -> str | None:
        entry = listed.entry
        key = counts_as(entry.author, entry.uri, self.game, operators)
        if key is not None or entry.author not in operators or entry.uri is None or listed.record is None:
            return key
        collection, value = entry.uri.split("/")[3], codec.decode_own(listed.record)
        sound = collection == BEACON and self._names(entry.seq, round_in(value))
        return LOOSE + entry.author if is_loose(collection, value, entry.seq, sound) else None

    def _names(self, seq: int, number: int | None) -> bool:
        """Whether an entry is the one that lists a round's beacon."""
        held = None if number is None else self.ledger.values.get(f"{self._prefix}/beacon/{number}")
        return held is not None and int.from_bytes(held, "big") == seq

    def full_for(
        self, day: int, keys: Iterable[str], operators: frozenset[str], missed: Mapping[str, int]
    ) -> frozenset[str]:
        """Return those (see `counts_as`) of whom a day's log holds all it may, as a follower counts it.

        `missed`: of each, how many records of the day it has missed already: these had taken their place.
        """
        rules, counts = self._roots(), Counter(missed)
        counts.update(
            key
            for entry in self._back_to(day)
            if (key := counts_as(entry.author, entry.uri, self.game, operators)) is not None
        )
        strangers = [n for each, n in counts.items() if self.is_stranger(each, day, rules, operators)]
        most, most_strangers = rules.floods
        later = sum(strangers) - len(strangers) >= rules.most_later

        def is_full(key: str) -> bool:
            if key == ACCOUNT:
                return counts[key] >= most_strangers
            if key.startswith(EVIDENCE):
                return counts[key] >= rules.most_evidence
            if counts[key] >= most or not self.is_stranger(key, day, rules, operators):
                return counts[key] >= most
            return sum(strangers) >= most_strangers or (later and counts[key] > 0)

        return frozenset(key for key in keys if is_full(key))

    def is_stranger(self, author: str, day: int, rules: Rules, operators: frozenset[str]) -> bool:
        """Whether an author has no standing on a day: neither named nor listed on an earlier one."""
        known = author in rules.named or author in operators or not author.startswith("did:")
        return not known and self.since([author]).get(author, day) >= day

    def margin(self) -> int | None:
        """Return the seconds between a listing and its dice, by the first root; None before there is one."""
        first = self._roots().first
        return None if first is None else first.margin

    def _roots(self) -> Rules:
        """Return the newest root that the kernel can read, whatever its rule set says of it."""
        rules = Rules()
        for seq in self.log.about(self.game):
            record = self.log.listed(seq).record
            value = None if record is None else codec.decode_own(record)
            root, problems = read_root(value, rules.first) if isinstance(value, dict) else (None, [])
            if root is not None and not problems:
                rules = Rules(root, None, rules.first or root)
        return rules

    def _back_to(self, day: int) -> Iterator[Entry]:
        for seq in range(self.size - 1, -1, -1):
            entry = self.log.listed(seq).entry
            if entry.at // DAY < day:
                return
            if entry.at // DAY == day and entry.op != "flood":
                yield entry

    def _of_day(self, day: int) -> list[Listed]:
        found: list[Listed] = []
        for seq in range(self.size - 1, -1, -1):
            listed = self.log.listed(seq)
            if listed.entry.at // DAY != day or listed.entry.op == "flood":
                break
            found.append(listed)
        return found

    def _matter(self, opened: Sequence[Opened], base: Facts) -> dict[int, int]:
        """Return, for the sizes of operators' receipts, the last entry before each that is no receipt."""
        sizes = {
            min(size, self.size)
            for each in opened
            if each.author in base.operators and is_receipt(each.uri)
            if (size := size_in(each.value)) is not None
        }
        return {size: self._last_that_matters(size) for size in sizes if size not in base.matter}

    def _last_that_matters(self, size: int) -> int:
        before = range(size - 1, -1, -1)
        return next((seq for seq in before if not is_receipt(self.log.listed(seq).entry.uri)), -1)

    def operators(self) -> dict[str, OperatorRecord]:
        """Return the operators whose records the log holds, by DID."""
        found: dict[str, OperatorRecord] = {}
        for did, value in self._all("operator").items():
            record, _ = check_operator(did, codec.decode_own(value))
            if record is not None:
                found[did] = record
        return found

    def newest_checkpoint(self) -> KeptCheckpoint | None:
        """Return the newest checkpoint that is kept."""
        return self.checkpoints.newest()

    def _all(self, kind: str) -> dict[str, bytes]:
        start = f"{self._prefix}/{kind}/"
        values = self.ledger.values
        return {name.removeprefix(start): values.get(name) or b"" for name in values.names(start)}

    # --- facts and decisions -------------------------------------------------------------------------------

    def facts(self, base: Facts, handed: Sequence[Handed]) -> Facts:
        """Return what a decision needs to know, `base` with what concerns the things handed in."""
        opened = [each.opened for each in handed if isinstance(each.opened, Opened)]
        return Facts(
            game=self.game, last=self.log.last, rules=base.rules, tally=base.tally,
            known=self.known({each.uri for each in opened}), since=self.since({each.author for each in opened}),
            beacons=self.beacons(rounds_in(handed)), receipts=base.receipts,
            matter={**base.matter, **self._matter(opened, base)}, dues=base.dues,
            operators=base.operators,
        )  # fmt: skip

    def keep(self, decision: Decision, rejected: Mapping[Cid, bytes], positions: Mapping[str, int]) -> None:
        """Write a decision in one batch, with the answers to what was rejected and how far sources were read."""
        with self.ledger.batch():
            self.log.extend(decision.entries, formed=True)
            self._keep_names(decision)
            for cid, answer in rejected.items():
                self.ledger.rejected.add(cid, answer)
            for name, position in positions.items():
                self.ledger.positions.set(f"{self._prefix}/{name}", position)

    def prune(self) -> None:
        """Forget all but the newest rejections."""
        self.ledger.rejected.prune(KEPT_REJECTIONS)

    def _keep_names(self, decision: Decision) -> None:
        for author, day in decision.authors.items():
            self._put(f"author/{author}", day)
            self._since[author] = day
        for number, seq in decision.beacons.items():
            self._put(f"beacon/{number}", seq)
        for did, size in decision.receipts.items():
            self._put(f"receipt/{did}", size)
        for whose, count in decision.tally.left_out.items():
            self._put(f"left/{decision.tally.day}/{whose or ''}", count)
        self.keep_operators(decision.entries)

    def keep_operators(self, entries: Iterable[Listed]) -> list[OperatorRecord]:
        """Keep the operator records among entries; return them. Needs an open batch."""
        found: list[OperatorRecord] = []
        for listed in entries:
            entry = listed.entry
            if entry.uri is None or listed.record is None or entry.uri.split("/")[3] != OPERATOR:
                continue
            record, _ = check_operator(entry.author or "", codec.decode_own(listed.record))
            if record is not None and record.game == self.game:
                self.ledger.values.set(f"{self._prefix}/operator/{entry.author}", listed.record)
                found.append(record)
        return found

    def keep_followed(self, entries: Sequence[Listed]) -> list[OperatorRecord]:
        """Write followed entries in one batch; return the operator records among them."""
        with self.ledger.batch():
            self.log.extend(entries, formed=True)
            self._keep_authors(entries)
            return self.keep_operators(entries)

    def keep_restored(self, entries: Sequence[Listed]) -> None:
        """Write the entries of this lister's own log that a follower held, with what is kept under names."""
        with self.ledger.batch():
            self.log.extend(entries)
            self.keep_operators(entries)
            self._keep_authors(entries)

    def _keep_authors(self, entries: Iterable[Listed]) -> None:
        for entry in (each.entry for each in entries):
            # A flood names an author of whom it lists nothing.
            if entry.author is None or entry.uri is None or entry.author in self.since([entry.author]):
                continue
            self._since[entry.author] = entry.at // DAY
            self._put(f"author/{entry.author}", entry.at // DAY)

    def awaited(self) -> list[Awaited]:
        """Return what this node holds and the log did not list."""
        return [read_kept(value) for value in self._all("awaited").values()]

    def keep_awaited(self, awaited: Sequence[Awaited], position: tuple[str, int] | None) -> None:
        """Keep what is awaited, and how far a source was read for it, in one batch."""
        with self.ledger.batch():
            for each in awaited:
                self.ledger.values.set(f"{self._prefix}/awaited/{each.key}", kept_form(each))
            if position is not None:
                self.keep_position(*position)

    def forget_awaited(self, keys: Iterable[str]) -> None:
        """Forget what is settled."""
        with self.ledger.batch():
            for key in keys:
                self.ledger.values.delete(f"{self._prefix}/awaited/{key}")

    def leftovers(self) -> list[bytes]:
        """Return what is kept of what the limits of a day left out."""
        return list(self._all("leftover").values())

    def keep_leftovers(self, kept: Mapping[str, bytes], gone: Iterable[str]) -> None:
        """Keep what the limits of a day left out, and forget what is gone. Needs an open batch."""
        for cid in gone:
            self.ledger.values.delete(f"{self._prefix}/leftover/{cid}")
        for cid, form in kept.items():
            self.ledger.values.set(f"{self._prefix}/leftover/{cid}", form)

    def keep_checkpoint(self, size: int, root: bytes, note: bytes, matters: Mapping[int, int]) -> None:
        """Keep a checkpoint, and what the newest ones held. Raises CheckpointConflict."""
        with self.ledger.batch():
            self.checkpoints.put(size, root, note)
            newest = dict(sorted(matters.items())[-MATTERS:])
            self.ledger.values.set(
                f"{self._prefix}/matters", codec.encode([list(each) for each in newest.items()])
            )

    def position(self, name: str) -> int:
        """Return how far a source was read."""
        return self.ledger.positions.get(f"{self._prefix}/{name}") or 0

    def keep_position(self, name: str, position: int) -> None:
        """Keep how far a source was read."""
        self.ledger.positions.set(f"{self._prefix}/{name}", position)

    def _put(self, name: str, number: int) -> None:
        self.ledger.values.set(f"{self._prefix}/{name}", number.to_bytes(8, "big"))
