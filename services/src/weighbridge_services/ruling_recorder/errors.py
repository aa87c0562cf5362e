"""Why a ruling is not taken at the desk. Whoever signed it can hand it in all the same."""

from __future__ import annotations

from typing import ClassVar

from weighbridge.errors import Refused


class NotAddressed(Refused):
    """The ruling is not signed by whom the question is put to: the GM of the root in force, mostly."""

    code: ClassVar[str] = "not-addressed"


class NoSuchQuestion(Refused):
    """The desk knows no question of that id."""

    code: ClassVar[str] = "no-such-question"


class AlreadyAnswered(Refused):
    """A ruling was taken for this question, and has not taken effect yet."""

    code: ClassVar[str] = "already-answered"


class QuestionClosed(Refused):
    """The table holds the question no more: it was answered, or its default applied."""

    code: ClassVar[str] = "question-closed"


class NoSuchAnswer(Refused):
    """The question has no such answer."""

    code: ClassVar[str] = "no-such-answer"


class NotThatAnswer(Refused):
    """The signed record is not the one by which the rule set answers the question so."""

    code: ClassVar[str] = "not-that-answer"


class NoRuling(Refused):
    """The record answers no question and rules on nothing, or does not fit its type."""

    code: ClassVar[str] = "no-ruling"


class NoRulesYet(Refused):
    """The log has no well-formed root yet, so that nobody is the GM."""

    code: ClassVar[str] = "no-rules-yet"
