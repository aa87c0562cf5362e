"""What the trace checker keeps of one game: how far it has read, the open cases, and its reports until they are out."""

from __future__ import annotations

from collections.abc import Sequence

from weighbridge import codec
from weighbridge.contract import RuleSet
from weighbridge.identity import encode_envelope
from weighbridge.ledger import Ledger
from weighbridge.log.entries import Listed

from weighbridge_services.following import LogReader
from weighbridge_services.following.keeping import Kept
from weighbridge_services.subjects import Subjects
from weighbridge_services.trace_checker.decide import Case, Outcome, Seen


class Store(Kept):
    """One game's part of the ledger. Its methods are for the ledger's own thread."""

    def __init__(self, ledger: Ledger, game: str) -> None:
        super().__init__(ledger, game, "trace")

    def load(self, ruleset: RuleSet) -> tuple[LogReader, Seen]:
        """Return where reading stands, and the open cases."""
        values = self.ledger.values
        found = [codec.decode_as(values.get(name) or b"", Case) for name in self.names("cases")]
        return self.reader(), Seen(self.rules(ruleset), {case.uri: case for case in found})

    def keep(self, before: Seen, after: Seen, entries: Sequence[Listed]) -> None:
        """Keep what entries said, with how far reading has come, in one batch."""
        with self.ledger.batch():
            for uri in before.cases.keys() - after.cases.keys():
                self.ledger.values.delete(self._name(before.cases[uri]))
            for uri in after.cases.keys() - before.cases.keys():
                self._put(after.cases[uri])
            self.keep_read(entries)

    def conclude(self, case: Case, outcome: Outcome, subjects: Subjects) -> None:
        """Keep what a case came to, and its report as a letter that waits to be sent, in one batch."""
        with self.ledger.batch():
            if outcome.report is not None:
                subject = subjects.trace(str(outcome.report.cid))
                self.ledger.outbox.add(subject, encode_envelope(outcome.report), 0)
            if outcome.case is None:
                self.ledger.values.delete(self._name(case))
            elif outcome.case != case:
                self._put(outcome.case)

    def _put(self, case: Case) -> None:
        self.ledger.values.set(self._name(case), codec.encode(case))

    def _name(self, case: Case) -> str:
        return self.numbered("cases", case.seq)
