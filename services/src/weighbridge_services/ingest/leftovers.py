"""What a day's log left out of what is handed in only once, by a source: kept, and handed in again the next day.

A person who is answered `flooded` hands in again; a source has read on and does not. Bounded are all of it, each
author's, and what authors without standing have together, so that nobody keeps others out here either.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from weighbridge import codec
from weighbridge.cid import Cid
from weighbridge.fold.records import ACCOUNT, BEACON, DAY, RECEIPT

from weighbridge_services.ingest.arrivals import Arrival, open_all
from weighbridge_services.ingest.decide import Answer, Facts
from weighbridge_services.ingest.opening import Opened, Refusal
from weighbridge_services.ingest.setting import Setting

MOST: Final = 1_024
MOST_BYTES: Final = 16_777_216
"""Of all that is kept; authors without standing have half of it together."""
OF_AUTHOR: Final = 64
OF_STRANGER: Final = 4
AUTHOR_BYTES: Final = 2_097_152
SAID_AGAIN: Final = (ACCOUNT, BEACON, RECEIPT)
"""Collections of which nothing is kept: others say the same, or nobody has signed it."""
WAITS: Final = Refusal("flooded", "it is kept already and handed in again when the next day has begun")


class Leftover(NamedTuple):
    """A record that was left out: its bytes as they came, of whom, and of which day.

    `order`: its place among the others. `stranger`: whether its author had no standing. `size`: of the log then.
    """

    order: int
    data: bytes
    origin: str
    carried: bool
    uri: str
    author: str
    stranger: bool
    day: int
    size: int

    @property
    def cid(self) -> str:
        """The CID of its bytes."""
        return str(Cid.of(self.data))


class Outcome(NamedTuple):
    """What is kept, by CID; of that, what is to be written; which are kept no more; for how many was no room."""

    kept: dict[str, Leftover]
    written: tuple[Leftover, ...]
    gone: tuple[str, ...]
    lost: int


def outcome(kept: Mapping[str, Leftover], decided: Iterable[tuple[Leftover, bool]]) -> Outcome:
    """Return what becomes of what was decided on, `True` being what the day left out.

    What waited already keeps its room and its place.
    """
    after, written, gone, lost = dict(kept), dict[str, Leftover](), [], 0
    room = _Room(kept.values())
    for each, left_out in decided:
        before = after.get(each.cid)
        if not left_out:
            if before is not None:
                room.take(before, -1)
                gone.append(each.cid)
                del after[each.cid]
            continue
        if before is None and not room.holds(each):
            lost += 1
            continue
        if before is None:
            room.take(each)
        after[each.cid] = written[each.cid] = each if before is None else each._replace(order=before.order)
    return Outcome(after, tuple(written.values()), tuple(gone), lost)


class _Room:
    """How much is kept: of everybody, of authors without standing, of each author."""

    def __init__(self, kept: Iterable[Leftover]) -> None:
        self._count: Counter[str] = Counter()
        self._bytes: Counter[str] = Counter()
        for each in kept:
            self.take(each)

    def take(self, each: Leftover, sign: int = 1) -> None:
        for whose in self._limits(each):
            self._count[whose] += sign
            self._bytes[whose] += sign * len(each.data)

    def holds(self, each: Leftover) -> bool:
        return all(
            self._count[whose] < most and self._bytes[whose] + len(each.data) <= most_bytes
            for whose, (most, most_bytes) in self._limits(each).items()
        )

    def _limits(self, each: Leftover) -> dict[str, tuple[int, int]]:
        limits = {"all": (MOST, MOST_BYTES), each.author: (OF_AUTHOR, AUTHOR_BYTES)}
        if each.stranger:
            limits |= {"strangers": (MOST // 2, MOST_BYTES // 2), each.author: (OF_STRANGER, AUTHOR_BYTES)}
        return limits


class Leftovers:
    """What a lister keeps of that."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._kept: dict[str, Leftover] = {}
        self._outcome: Outcome | None = None
        self._due: set[int] = set()
        self.lost = 0
        """For how many was no room since the start."""

    @property
    def waiting(self) -> int:
        """How many wait for the next day."""
        return len(self._kept)

    def load(self) -> None:
        """Take up what the ledger holds. In the ledger's thread."""
        found = [read_kept(value) for value in self._setting.store.leftovers()]
        self._kept = {each.cid: each for each in sorted(found)}

    async def due(self, facts: Facts) -> list[Arrival]:
        """Return what waited for the day that has begun, verified, to come before anything else of the day."""
        today = self._setting.clock.now() // DAY
        self._due = set()
        due = [each for each in self._kept.values() if each.day < today]
        if not due:
            return []
        over = await self._setting.store.run(self._forget_overtaken, due)
        again = [
            Arrival(each.data, each.origin, carried=each.carried, comes_once=True)
            for each in due
            if each.cid not in over
        ]
        first = facts.rules.first
        chain = None if first is None else first.chain
        await open_all(self._setting.openers, again, self._setting.uri, chain)
        self._due = {id(each) for each in again}
        return again

    def _forget_overtaken(self, due: Sequence[Leftover]) -> set[str]:
        """Forget those of whose record a version has been listed since, which would seem older than they are."""
        known = self._setting.store.known({each.uri for each in due})
        over = [each.cid for each in due if any(v.seq >= each.size for v in known.get(each.uri, ()))]
        with self._setting.store.ledger.batch():
            self._setting.store.keep_leftovers({}, over)
        self._kept = {cid: each for cid, each in self._kept.items() if cid not in over}
        return set(over)

    def hold_back(self, batch: Iterable[Arrival]) -> None:
        """Let nothing that waits be decided on, and counted, once more because its source gave it twice."""
        for each in batch if self._kept else ():
            waits = each.comes_once and id(each) not in self._due and str(Cid.of(each.data)) in self._kept
            if waits and each.handed is not None:
                each.handed = each.handed._replace(opened=WAITS)

    def keep(self, batch: Sequence[Arrival], answers: Sequence[Answer], day: int, facts: Facts) -> None:
        """Keep what a decision has left out, in its open batch; `settle` once that is written."""
        decided: list[tuple[Leftover, bool]] = []
        for order, (arrival, answer) in enumerate(zip(batch, answers, strict=False), self._next()):
            left_out = isinstance(answer, Refusal) and answer.code == "flooded"
            if id(arrival) in self._due or (left_out and self._comes_once(arrival, facts)):
                decided.append((self._leftover(arrival, order, day, facts), left_out))
        if decided:
            self._outcome = outcome(self._kept, decided)
            written = {each.cid: kept_form(each) for each in self._outcome.written}
            self._setting.store.keep_leftovers(written, self._outcome.gone)

    def settle(self) -> None:
        """Take note of what was kept, now that it is written."""
        if self._outcome is not None:
            self._kept, self.lost = self._outcome.kept, self.lost + self._outcome.lost
        self.let_go()

    def let_go(self) -> None:
        """Take back what was to be kept, which is not written."""
        self._outcome = None

    def _next(self) -> int:
        return max((each.order for each in self._kept.values()), default=-1) + 1

    def _comes_once(self, arrival: Arrival, facts: Facts) -> bool:
        opened = arrival.handed.opened if arrival.handed is not None else None
        if not arrival.comes_once or not isinstance(opened, Opened):
            return False
        # Whoever may publish evidence may publish others' records there too: those come as anybody's do.
        theirs = arrival.from_bus and opened.author not in facts.operators
        return not theirs and opened.envelope.collection not in SAID_AGAIN

    def _leftover(self, arrival: Arrival, order: int, day: int, facts: Facts) -> Leftover:
        store = self._setting.store
        opened = arrival.handed.opened if arrival.handed is not None else None
        uri, author = (opened.uri, opened.author) if isinstance(opened, Opened) else ("", "")
        stranger = store.is_stranger(author, day, facts.rules, facts.operators)
        return Leftover(
            order, arrival.data, arrival.origin, arrival.carried, uri, author, stranger, day, store.size
        )


def kept_form(each: Leftover) -> bytes:
    """Return the bytes by which a ledger keeps what was left out."""
    return codec.encode(dict(each._asdict()))


def read_kept(data: bytes) -> Leftover:
    """Return what a ledger keeps."""
    value: Mapping[str, Any] = codec.decode_own(data)
    return Leftover(**value)
