"""What a node says of others, signed: findings, and statements that are no `ok`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from weighbridge.identity import Envelope

from weighbridge_services.folding.statements import Statement, Verdict, sign_finding, sign_statement
from weighbridge_services.node import Node

AUDIT: Final = "cross-check"

Letter = tuple[str, Envelope]
"""A signed record and the subject it is published under."""


class Voice:
    """One node's, about one game."""

    def __init__(self, node: Node, game: str) -> None:
        self._records = node.keys.records
        self._own = node.subjects(game)
        self._game = game

    def finding(self, code: str, about: str, says: str, **more: Any) -> Letter:
        """Return a finding of the cross-check. The same one is the same record, whenever it is found."""
        envelope = sign_finding(self._records, self._game, AUDIT, code, about, says, **more)
        return self._own.finding(AUDIT, str(envelope.cid)), envelope

    def statement(
        self, verdict: Verdict, own: Statement, reason: str, says: Sequence[str], **more: Any
    ) -> Letter:
        """Return a statement over the transcript that this node's `own` names, with the reason."""
        said = Statement(
            self._game, verdict, own.origin, own.size, own.root, reason=reason, says=list(says), **more
        )
        envelope = sign_statement(self._records, said)
        return self._own.statement(str(envelope.cid)), envelope
