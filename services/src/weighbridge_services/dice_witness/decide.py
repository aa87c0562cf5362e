"""Which rounds a game waits for, and when to ask for which: from the log and the time alone.

Pure. A round is awaited from the entry that fixes it until a beacon that verifies is listed. Asked for is
only what is out: a round that a relay does not have yet it may hold against whoever asks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec
from weighbridge import codec
from weighbridge.beacon import verify_many
from weighbridge.chain import SECOND, Chain, round_at, round_time
from weighbridge.contract import RuleSet
from weighbridge.errors import Refused
from weighbridge.fold.records import BEACON, DAY, BeaconRecord, collection_of
from weighbridge.log.entries import Listed

from weighbridge_services.following.rules import Rules, needs_of, round_of, rules_after

FIRST: Final = SECOND // 4
"""µs after which a failed fetch is tried again, the first time; then twice as long each time."""
LONGEST: Final = 30 * SECOND
"""µs between two tries at most."""
PUNCTUAL: Final = 5 * SECOND
"""µs after a round's time within which a beacon that is not out yet is asked for again after `FIRST`."""
SETTLING: Final = 2
"""Days after a record's own until whose end its trace may settle, and fix its round."""


class Seen(msgspec.Struct, frozen=True):
    """What the log says so far.

    `awaited`: by round, the first entry that waits for it. `traced`: the day of the newest record whose round
    an entry fixes that only a fold can tell (None: there is none).
    """

    rules: Rules = Rules()
    awaited: Mapping[int, int] = {}
    traced: int | None = None

    @property
    def chain(self) -> Chain | None:
        """The chain that the game rolls on, for good."""
        return None if self.rules.first is None else self.rules.first.chain


class FoldWaits(NamedTuple):
    """What this node's fold says: how many entries it has folded, and by round the entry that fixed it."""

    size: int
    rounds: Mapping[int, int]


class _Waits(NamedTuple):
    round: int
    seq: int


class _Listed(NamedTuple):
    round: int
    signature: bytes


def see(ruleset: RuleSet, seen: Seen, entries: Iterable[Listed]) -> Seen:
    """Return what the log says after some more entries."""
    rules, traced = seen.rules, seen.traced
    happened: list[_Waits | _Listed] = []
    for listed in entries:
        entry = listed.entry
        if entry.uri is None or listed.record is None:
            continue
        value = codec.decode_own(listed.record)
        if entry.uri == entry.game:
            rules = rules_after(rules, ruleset, value)
        elif collection_of(entry.uri) == BEACON:
            happened += _beacon_in(value, rules, entry.game) if entry.op == "create" else []
        else:
            needs = needs_of(rules, ruleset, listed, value)
            number = round_of(rules, needs, entry.at)
            if number is not None:
                happened.append(_Waits(number, entry.seq))
            elif needs.dice and needs.trace and needs.after == "trace":
                traced = max(entry.at // DAY, traced or 0)
    after = Seen(rules, seen.awaited, traced)
    return msgspec.structs.replace(after, awaited=_still_awaited(after, happened)) if happened else after


def _beacon_in(value: Any, rules: Rules, game: str) -> list[_Listed]:
    try:
        record = msgspec.convert(value, BeaconRecord)
    except msgspec.ValidationError:
        return []
    chain = rules.first.chain.hash if rules.first is not None else None
    return (
        [_Listed(record.round, record.signature)]
        if (record.chain or chain, record.game) == (chain, game)
        else []
    )


def _still_awaited(seen: Seen, happened: Sequence[_Waits | _Listed]) -> Mapping[int, int]:
    wanted = {*seen.awaited, *(each.round for each in happened if isinstance(each, _Waits))}
    candidates = [each for each in happened if isinstance(each, _Listed) and each.round in wanted]
    sound = _sound(seen.chain, candidates)
    awaited = dict(seen.awaited)
    for each in happened:
        if isinstance(each, _Waits):
            awaited.setdefault(each.round, each.seq)
        elif each in sound:
            awaited.pop(each.round, None)
    return awaited


def _sound(chain: Chain | None, candidates: Sequence[_Listed]) -> set[_Listed]:
    # Anybody may have a beacon record listed; only one that verifies completes a roll and ends the waiting.
    if chain is None or not candidates:
        return set()
    distinct = list(dict.fromkeys(candidates))
    verified = verify_many(chain, distinct)
    return {each for each, found in zip(distinct, verified, strict=True) if not isinstance(found, Refused)}


def add(seen: Seen, rounds: Mapping[int, int]) -> Seen:
    """Return what is awaited together with what a fold waits for: by round, the entry that fixed it."""
    new = {number: seq for number, seq in rounds.items() if number not in seen.awaited}
    return msgspec.structs.replace(seen, awaited={**seen.awaited, **new}) if new else seen


def may_settle(seen: Seen, at: int) -> bool:
    """Whether an entry that only a fold can name may yet fix a round, in a log that has come to a time (µs)."""
    return seen.traced is not None and at // DAY <= seen.traced + SETTLING


# --- when to ask -------------------------------------------------------------------------------------------


class Try(NamedTuple):
    """How often a round was asked for, and when it is to be asked for again (µs)."""

    times: int
    again: int


class Plan(NamedTuple):
    """The rounds to ask for now, the oldest first, and when to look again (µs; None: when something comes)."""

    rounds: tuple[int, ...]
    wake: int | None


def plan(chain: Chain, wanted: Iterable[int], tries: Mapping[int, Try], now: int, room: int) -> Plan:
    """Decide which of the wanted rounds to ask for at a time (µs), `room` of them at most."""
    times = sorted((max(due_at(chain, each), _again(tries, each)), each) for each in wanted)
    ready = sorted(number for time, number in times if time <= now)
    later = [time for time, _ in times if time > now]
    return Plan(tuple(ready[:room]), min(later) if later else None)


def due_at(chain: Chain, number: int) -> int:
    """Return when a round is out (µs)."""
    return round_time(chain, number) * SECOND


def failed(chain: Chain, number: int, before: Try | None, now: int, *, early: bool) -> Try:
    """Return when to ask again for a round that could not be had. `early`: a source says that it is not out yet."""
    times = 0 if before is None else before.times
    if early and now - due_at(chain, number) < PUNCTUAL:
        return Try(times, now + FIRST)
    return Try(times + 1, now + min(LONGEST, FIRST << min(times, 16)))


def _again(tries: Mapping[int, Try], number: int) -> int:
    found = tries.get(number)
    return 0 if found is None else found.again


# --- the clock ---------------------------------------------------------------------------------------------


def off_by(chain: Chain, newest: int, now: int) -> int:
    """Return by how much (µs) a clock is off that says `now` while a round is the newest one.

    While it is, the time is between its own and the next one's: 0 anywhere there, else the distance, and
    negative where the clock is behind.
    """
    earliest = due_at(chain, newest)
    latest = earliest + chain.period * SECOND
    return now - earliest if now < earliest else max(0, now - latest)


def newest_now(chain: Chain, off: int, now: int) -> int:
    """Return the round that is the newest at a time (µs) of a clock that was found off by so much (µs)."""
    return max(1, round_at(chain, now - off))
