"""What the trace checker keeps of one game: how far it has read, the open cases, and its reports until they are out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from weighbridge import codec
from weighbridge.contract import RuleSet
from weighbridge.identity import encode_envelope
from weighbridge.ledger import Ledger
from weighbridge.log.entries import Listed

from weighbridge_services.following import LogReader, Rules, rules_after
from weighbridge_services.subjects import Subjects, token
from weighbridge_services.trace_checker.decide import Case, Outcome, Seen

DIGITS: Final = 20


class Loaded(NamedTuple):
    """What a start finds."""

    reader: LogReader
    seen: Seen


class Store:
    """One game's part of the ledger. Its methods are for the ledger's own thread."""

    def __init__(self, ledger: Ledger, game: str) -> None:
        self.game = game
        self._ledger = ledger
        self._prefix = f"trace/{token(game)}"

    def load(self, ruleset: RuleSet) -> Loaded:
        """Return what was kept."""
        values = self._ledger.values
        rules = Rules()
        for name in values.names(f"{self._prefix}/roots/"):
            rules = rules_after(rules, ruleset, codec.decode_own(values.get(name) or b""))
        found = [
            codec.decode_as(values.get(name) or b"", Case) for name in values.names(f"{self._prefix}/cases/")
        ]
        reader = LogReader(self.game, values.get(f"{self._prefix}/last"))
        return Loaded(reader, Seen(rules, {case.uri: case for case in found}))

    def keep(self, before: Seen, after: Seen, entries: Iterable[Listed]) -> None:
        """Keep what entries said, with how far reading has come, in one batch."""
        values = self._ledger.values
        with self._ledger.batch():
            last: Listed | None = None
            for listed in entries:
                last = listed
                if listed.entry.uri == self.game and listed.record is not None:
                    values.set(f"{self._prefix}/roots/{listed.entry.seq:0{DIGITS}}", listed.record)
            for uri in before.cases.keys() - after.cases.keys():
                values.delete(self._name(before.cases[uri]))
            for uri in after.cases.keys() - before.cases.keys():
                self._put(after.cases[uri])
            if last is not None:
                values.set(f"{self._prefix}/last", last.data)

    def conclude(self, case: Case, outcome: Outcome, subjects: Subjects) -> None:
        """Keep what a case came to, and its report as a letter that waits to be sent, in one batch."""
        with self._ledger.batch():
            if outcome.report is not None:
                subject = subjects.trace(str(outcome.report.cid))
                self._ledger.outbox.add(subject, encode_envelope(outcome.report), 0)
            if outcome.case is None:
                self._ledger.values.delete(self._name(case))
            elif outcome.case != case:
                self._put(outcome.case)

    def _put(self, case: Case) -> None:
        self._ledger.values.set(self._name(case), codec.encode(case))

    def _name(self, case: Case) -> str:
        return f"{self._prefix}/cases/{case.seq:0{DIGITS}}"
