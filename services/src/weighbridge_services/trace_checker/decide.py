"""Whose traces await this witness's word, what it then says, and when it looks again.

Pure. A witness speaks on a record if the root in force at its listing names it (the lister, where a root names
none), until its word is final or the second day end has passed, when the fold settles without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import msgspec
from weighbridge import codec
from weighbridge.chain import SECOND
from weighbridge.contract import RuleSet
from weighbridge.fold.evidence import witnesses
from weighbridge.fold.records import DAY, TRACE, TraceRecord, collection_of
from weighbridge.identity import Envelope, Signer, sign_record
from weighbridge.log.entries import Listed
from weighbridge.ports import TraceAsked, Traced

from weighbridge_services.following import UNKNOWN, Rules, needs_of, rules_after

SOON: Final = SECOND
"""µs after which a tracer without a word yet is asked again."""
FIRST: Final = 5 * SECOND
"""µs after which what was unavailable is looked at again, the first time; then twice as long each time."""
LONGEST: Final = 3_600 * SECOND
"""µs between two looks at most."""
DETAIL: Final = 300
"""Characters of a report's detail at most."""
DAYS: Final = 2
"""Days, the record's own among them, after whose end its trace is settled one way or the other."""


class Case(msgspec.Struct, frozen=True, omit_defaults=True):
    """A record whose trace awaits our word. `said`: whether we have reported that it is unavailable."""

    seq: int
    at: int
    uri: str
    cid: str
    author: str
    trace: Any = None
    said: bool = False

    def asked(self, game: str) -> TraceAsked:
        """Return what a tracer is asked."""
        return TraceAsked(game, self.uri, self.cid, self.author, self.at, self.trace)


class Seen(msgspec.Struct, frozen=True):
    """What the log says so far: the rules in force, and the open cases by at-uri."""

    rules: Rules = Rules()
    cases: Mapping[str, Case] = {}


def see(ruleset: RuleSet, did: str, seen: Seen, entries: Iterable[Listed]) -> Seen:
    """Return what the log says after some more entries, to the witness with that DID."""
    rules, cases, at = seen.rules, dict(seen.cases), 0
    for listed in entries:
        entry, at = listed.entry, listed.entry.at
        if entry.uri is None or listed.record is None:
            continue
        value: Any = codec.decode_own(listed.record)
        if entry.uri == entry.game:
            rules = rules_after(rules, ruleset, value)
        elif collection_of(entry.uri) == TRACE:
            if entry.author == did:
                _close(cases, value)
        elif _awaits_us(rules, ruleset, listed, value, did):
            cases[entry.uri] = Case(
                entry.seq, entry.at, entry.uri, str(entry.record), entry.author or "", value.get("trace")
            )
    return Seen(rules, {uri: each for uri, each in cases.items() if not is_over(each, at)})


def _awaits_us(rules: Rules, ruleset: RuleSet, listed: Listed, value: Any, did: str) -> bool:
    if rules.root is None or did not in witnesses(rules.root) or not isinstance(value, dict):
        return False
    needs = needs_of(rules, ruleset, listed, value)
    return needs.trace and needs is not UNKNOWN


def _close(cases: dict[str, Case], value: Any) -> None:
    try:
        said = msgspec.convert(value, TraceRecord)
    except msgspec.ValidationError:
        return
    case = cases.get(said.subject.uri)
    if case is not None and case.cid == said.subject.cid and said.verdict != "unavailable":
        del cases[said.subject.uri]


def is_over(case: Case, at: int) -> bool:
    """Whether a case is settled without us, in a log that has come to a time (µs)."""
    return at // DAY >= case.at // DAY + DAYS


# --- the report --------------------------------------------------------------------------------------------


class Outcome(NamedTuple):
    """What a look came to: a report to publish, if it says anything new, and the case as it is then (None: closed)."""

    report: Envelope | None
    case: Case | None


def conclude(records: Signer, game: str, case: Case, traced: Traced) -> Outcome:
    """Return what becomes of a case by what a tracer found. `unavailable` is reported once."""
    final = traced.verdict != "unavailable"
    if not final and case.said:
        return Outcome(None, case)
    report = report_of(records, game, case, traced)
    return Outcome(report, None if final else msgspec.structs.replace(case, said=True))


def report_of(records: Signer, game: str, case: Case, traced: Traced) -> Envelope:
    """Return the signed report: the same one for the same finding, under a record key that it alone has."""
    value: dict[str, Any] = {
        "game": game,
        "subject": {"uri": case.uri, "cid": case.cid},
        "verdict": traced.verdict,
    }
    if traced.dated is not None:
        value["dated"] = traced.dated
    if traced.detail:
        value["detail"] = traced.detail[:DETAIL]
    return sign_record(records, game, TRACE, str(codec.cid_of(value)), value)


# --- when to look ------------------------------------------------------------------------------------------


class Try(NamedTuple):
    """How often a case could not be concluded, and when to look again (µs)."""

    times: int
    again: int


class Plan(NamedTuple):
    """The cases to look at now, and when to plan again (µs; None: when something comes)."""

    uris: tuple[str, ...]
    wake: int | None


def plan(cases: Iterable[Case], tries: Mapping[str, Try], now: int, room: int) -> Plan:
    """Decide which cases to look at, the oldest first, `room` of them at most."""
    ordered = sorted(cases, key=lambda case: case.seq)
    times = [(tries[each.uri].again if each.uri in tries else 0, each.uri) for each in ordered]
    later = [time for time, _ in times if time > now]
    return Plan(tuple([uri for time, uri in times if time <= now][:room]), min(later) if later else None)


def not_yet(before: Try | None, now: int) -> Try:
    """Return when to ask again a tracer that has no word yet."""
    return Try(0 if before is None else before.times, now + SOON)


def unavailable(before: Try | None, now: int) -> Try:
    """Return when to look again at what was unavailable."""
    times = 0 if before is None else before.times
    return Try(times + 1, now + min(LONGEST, FIRST << min(times, 16)))
