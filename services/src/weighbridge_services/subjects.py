"""Every subject and stream name, in one place (DESIGN §6): an operator publishes under its own prefix only."""

from __future__ import annotations

import base64
import hashlib
from typing import NamedTuple

TOKEN = 26
"""Base32 characters of a token: 130 bits of a SHA-256."""


def token(text: str) -> str:
    """Return the token that stands for a DID or an at-uri in subjects."""
    digest = hashlib.sha256(text.encode()).digest()
    return base64.b32encode(digest).decode().lower()[:TOKEN]


class Subjects(NamedTuple):
    """The subjects of one operator's node for one game."""

    operator: str
    game: str

    @classmethod
    def of(cls, did: str, game: str) -> Subjects:
        """Return the subjects of an operator (DID) for a game (at-uri of its root)."""
        return cls(token(did), token(game))

    @property
    def prefix(self) -> str:
        """The prefix of all of them."""
        return f"wb.{self.operator}.{self.game}"

    @property
    def log(self) -> str:
        """Entries with their records, appended in order."""
        return f"{self.prefix}.log"

    @property
    def transcript(self) -> str:
        """Leaves and deltas, a batch per checkpoint, appended in order."""
        return f"{self.prefix}.transcript"

    @property
    def rejected(self) -> str:
        """What was not listed, and why."""
        return f"{self.prefix}.rejected"

    def checkpoint(self, size: int) -> str:
        """The operator's signature of the listing log at a size; written once."""
        return f"{self.prefix}.checkpoint.{size}"

    def trace(self, cid: str) -> str:
        """A trace report; written once."""
        return f"{self.prefix}.trace.{cid}"

    def ruling(self, cid: str) -> str:
        """A ruling of the GM's, handed on by the ruling recorder; written once."""
        return f"{self.prefix}.ruling.{cid}"

    def beacon(self, round: int) -> str:
        """A verified beacon as a record; written once."""
        return f"{self.prefix}.beacon.{round}"

    def question(self, gm: str, id: str) -> str:
        """A question to a GM (DID); written once."""
        return f"{self.prefix}.question.{token(gm)}.{id}"

    def statement(self, cid: str) -> str:
        """A signed statement over a transcript; written once."""
        return f"{self.prefix}.statement.{cid}"

    def finding(self, audit: str, cid: str) -> str:
        """A signed finding of an audit (its name), or of a service; written once."""
        return f"{self.prefix}.finding.{token(audit)}.{cid}"

    def submit(self, cid: str) -> str:
        """A record handed in."""
        return f"{self.prefix}.submit.{cid}"

    def rpc(self, name: str) -> str:
        """A question to this node's services, answered at once and kept nowhere."""
        return f"{self.prefix}.rpc.{name}"

    def stream(self, kind: str) -> str:
        """The name of a stream: LOG, TRANSCRIPT, RECORDS or INBOX."""
        return f"WB_{self.operator}_{self.game}_{kind}"


RECORD_KINDS = ("checkpoint", "trace", "ruling", "beacon", "question", "statement", "finding")
STREAM_KINDS = ("LOG", "TRANSCRIPT", "RECORDS", "INBOX")


def stream_subjects(subjects: Subjects, kind: str) -> list[str]:
    """Return the subjects a stream holds."""
    return {
        "LOG": [subjects.log],
        "TRANSCRIPT": [subjects.transcript],
        "RECORDS": [f"{subjects.prefix}.{name}.>" for name in RECORD_KINDS],
        "INBOX": [f"{subjects.prefix}.submit.>", subjects.rejected],
    }[kind]
