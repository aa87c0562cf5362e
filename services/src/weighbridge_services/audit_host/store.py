"""What the audit host keeps: every finding that it has signed, until it is out and in case a stream loses it."""

from __future__ import annotations

from collections.abc import Iterable

from weighbridge.identity import Envelope, encode_envelope
from weighbridge.ledger import Ledger

from weighbridge_services.subjects import Subjects, token


class Store:
    """The part of the ledger of one audit over one game. Its methods are for the ledger's own thread."""

    def __init__(self, ledger: Ledger, subjects: Subjects, audit: str) -> None:
        self._ledger = ledger
        self._subjects = subjects
        self._audit = audit
        self._prefix = f"audit/{subjects.game}/{token(audit)}"

    def keep(self, envelopes: Iterable[Envelope]) -> None:
        """Keep signed findings as letters that wait to be sent, those that are not kept yet, in one batch."""
        with self._ledger.batch():
            for envelope in envelopes:
                name = f"{self._prefix}/{envelope.cid}"
                if self._ledger.values.get(name) is None:
                    subject = self._subjects.finding(self._audit, str(envelope.cid))
                    self._ledger.outbox.add(subject, encode_envelope(envelope), 0)
                    self._ledger.values.set(name, b"\1")
