"""Answers between services: what was asked for, or a refusal with its code."""

from __future__ import annotations

from typing import Final

from faststream.nats.response import NatsResponse
from nats.aio.msg import Msg

from weighbridge_services.wire.errors import AnswerRefused

REFUSAL: Final = "Weighbridge-Refused"
"""Header of an answer that is a refusal: its code; the body is the sentence."""


def answered(answer: Msg) -> bytes:
    """Return what a service answered. Raises AnswerRefused."""
    refusal = (answer.headers or {}).get(REFUSAL)
    if refusal is not None:
        raise AnswerRefused(answer.data.decode(errors="replace"), refusal=refusal)
    return answer.data


def refused(code: str, says: str) -> NatsResponse:
    """Return the answer that refuses a question."""
    return NatsResponse(says.encode(), headers={REFUSAL: code})
