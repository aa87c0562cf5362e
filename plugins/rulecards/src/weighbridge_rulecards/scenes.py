"""The storyteller: scenes and the questions they open, rulings that answer them, and strikes."""

from __future__ import annotations

from typing import Any, Literal

from weighbridge.contract import Context, Docket, Question, Ruling

from weighbridge_rulecards.events import Happened
from weighbridge_rulecards.faults import kind_of
from weighbridge_rulecards.moments import Moment
from weighbridge_rulecards.names import MOVE, id_of, split
from weighbridge_rulecards.records import Record

OPTIONS = ("yes", "no")


def open_scene(record: Record, ctx: Context, did: str) -> None:
    """Open a question about a scene for each story card."""
    record.table[f"scene/{record.id}"] = {"for": did}
    for card in record.rules.stories.values():
        ctx.ask(
            f"story:{card.id}",
            record.docket.uri,
            f"In this scene, is it so that {card.when['ask']}?",
            OPTIONS,
        )


def rule(record: Record, ctx: Context, did: str) -> None:
    """Answer a question about a scene: yes fires its card for the scene's character, as this ruling's moment."""
    value = record.docket.value
    subject, what = value["subject"], value["what"]
    scene: dict[str, Any] | None = record.table.get(f"scene/{id_of(subject, MOVE)}")
    question = ctx.question(f"story:{what}", subject) if scene is not None else None
    card = record.rules.stories.get(what)
    if scene is None or question is None or card is None or value["answer"] not in question.options:
        record.report("bad-ruling", "This answers no open question, or with none of its options.")
        return
    ctx.close(f"story:{what}", subject)
    if value["answer"] == OPTIONS[0]:
        moment = Moment(record)
        moment.fire(card, Happened(scene["for"], 1, ()))
        moment.run()


def strike(record: Record, ctx: Context, did: str) -> None:
    """Take up a strike: what it voids the kernel has voided already; here is said where there is nothing to void."""
    subject = record.docket.value["subject"]
    parts = split(subject)
    if parts is None or parts[1] != MOVE:
        record.report("bad-move", "A strike names a move.")
        return
    mark: dict[str, Any] = record.table.get(f"_/mark/{parts[1]}/{parts[0]}:{parts[2]}", {})
    if mark.get("void") != record.docket.uri:
        record.report("unknown-name", "There is no such move in the log before this strike.")


def answer_of(question: Question, answer: str, why: str | None) -> tuple[str, dict[str, Any]] | None:
    """Return the ruling that answers a question so, or None where it has no such answer."""
    story, found, card = question.kind.partition(":")
    if story != "story" or not found or answer not in question.options:
        return None
    value = {"kind": "rule", "subject": question.about, "what": card, "answer": answer}
    return MOVE, value if why is None else {**value, "why": why}


def ruling_of(docket: Docket) -> Ruling | None:
    """Return what a record rules on, as far as the kernel must know. An answer that is no option rules on nothing."""
    kind, value = kind_of(docket), docket.value
    if kind == "strike":
        return Ruling(value["subject"], "", "void")
    if (
        kind == "rule"
        and value["answer"] in OPTIONS
        and docket.rules is not None
        and value["what"] in docket.rules.stories
    ):
        return Ruling(value["subject"], value["what"], "answer")
    return None


def voidable(docket: Docket) -> Literal["back", "forward"]:
    """Say what a strike on a record means: a move is void from its listing on."""
    return "back" if docket.collection == MOVE else "forward"
