"""The records by which the GM answers the game's questions (§4, §5, §6, §8)."""

from __future__ import annotations

from typing import Any

from weighbridge.contract import Question

from weighbridge_delvetown.names import MOVE, SHEET, split

SCAR_LENGTH = 3_000
"""Bytes (UTF-8) of a scar at most."""


def answer_to(question: Question, answer: str, why: str | None) -> tuple[str, dict[str, Any]] | None:
    """Return collection and value of the record that answers a question so; None where that is no answer to it."""
    if question.kind == "scar":
        value = _scar(question, answer)
        return None if value is None else (MOVE, value)
    if answer not in question.options:
        return None
    if question.kind == "consequence":
        return MOVE, {"kind": "consequence", "ask": question.about, "pick": answer}
    reasons = {} if why is None else {"why": why}
    return MOVE, {"kind": "rule", "subject": question.about, "answer": answer, **reasons}


def _scar(question: Question, answer: str) -> dict[str, Any] | None:
    # The question's one option only tells one lost thread from the next: the answer is a line of text.
    parts = split(question.about)
    if (
        parts is None
        or parts[1] != SHEET
        or not 0 < len(answer.encode("utf-8", "surrogatepass")) <= SCAR_LENGTH
        or "\n" in answer
    ):
        return None
    return {"kind": "scar", "sheet": parts[0], "text": answer}
