"""The rule set itself: the contract's hooks, each a call of the module that knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from weighbridge.contract import (
    NOTHING,
    Attachment,
    Context,
    Docket,
    Effect,
    Event,
    Needs,
    Problem,
    Question,
    Random,
    RuleSet,
    Ruling,
    Shape,
    Table,
    Value,
    View,
)

from weighbridge_rulecards import attached, moves
from weighbridge_rulecards.documents import COLLECTIONS
from weighbridge_rulecards.generate import random_game
from weighbridge_rulecards.names import MOVE, ROOT, SHEET
from weighbridge_rulecards.opening import keep_early, take_root
from weighbridge_rulecards.rules import Rules, read_rules
from weighbridge_rulecards.scenes import answer_of, ruling_of, voidable
from weighbridge_rulecards.shapes import shape_of
from weighbridge_rulecards.sheets import record_of, take_sheet
from weighbridge_rulecards.stakes import stake_of
from weighbridge_rulecards.views import view_of

CODES = (
    "no-rules", "bad-sheet", "second-sheet", "no-sheet", "not-gm", "not-yours", "unknown-name", "bad-move", "no-call",
    "not-paid", "already", "not-owned", "chain-stopped", "overtaken", "bad-ruling",
)  # fmt: skip
"""The report codes of this rule set, beside the kernel's."""


class RuleCards(RuleSet, Attachment):
    """Rule cards: a rule set of its own, and an attachment to games that another one owns."""

    name: ClassVar[str] = "rulecards"
    version: ClassVar[str] = "0.1.0"
    root: ClassVar[str] = ROOT
    collections: ClassVar[Mapping[str, Mapping[str, Any]]] = COLLECTIONS
    versions: ClassVar[frozenset[str]] = frozenset((SHEET,))
    third_party: ClassVar[tuple[str, ...]] = ()
    codes: ClassVar[tuple[str, ...]] = CODES

    def shape(self, collection: str, value: Any) -> Shape:
        """Say how a record fits its type and, of a move, its kind."""
        return shape_of(collection, value)

    def rules(self, root: Mapping[str, Any]) -> tuple[Rules | None, tuple[Problem, ...]]:
        """Return a root's system and cards, and every problem with its path."""
        return read_rules(root)

    def needs(self, docket: Docket, rules: Any) -> Needs:
        """Return what a move awaits."""
        if rules is None or docket.collection != MOVE or not isinstance(docket.value, dict):
            return NOTHING
        return moves.needs_of(docket, rules)

    def judge(self, table: Table, docket: Docket, ctx: Context) -> Needs:
        """Judge a record at its listing."""
        if docket.rules is None or docket.collection != MOVE:
            return NOTHING
        return moves.judge(table, docket, docket.rules)

    def apply(self, table: Table, docket: Docket, ctx: Context) -> None:
        """Let a complete docket change the table."""
        if docket.collection == ROOT:
            take_root(table, docket, ctx)
        elif docket.rules is None:
            keep_early(table, docket, ctx)
        elif docket.collection == SHEET:
            take_sheet(table, ctx, record_of(docket), docket.rules)
        elif docket.collection == MOVE:
            moves.apply_move(table, docket, ctx, docket.rules)

    def ruling(self, docket: Docket, rules: Any) -> Ruling | None:
        """Return what a strike or a rule is about."""
        return ruling_of(docket)

    def voidable(self, docket: Docket) -> Literal["back", "forward"]:
        """Say what a strike on this record means."""
        return voidable(docket)

    def stake(self, table: Table, docket: Docket) -> Value:
        """Return what a move has drawn."""
        return stake_of(table, docket)

    def answer(
        self, question: Question, answer: str, why: str | None = None
    ) -> tuple[str, dict[str, Any]] | None:
        """Return the ruling that answers a story card's question."""
        return answer_of(question, answer, why)

    def view(self, table: Table) -> View:
        """Return how a person sees the game."""
        return view_of(table)

    def generate(self, random: Random) -> dict[str, Any]:
        """Return a random game as a scenario."""
        return random_game(random)

    def effect(self, table: Table, effect: Effect, ctx: Context) -> None:
        """Admit no effects of others: a game of cards has no attachments."""
        raise NotImplementedError

    def attach(
        self, settings: Mapping[str, Any], vocabulary: Mapping[str, Any], record: Any
    ) -> tuple[Problem, ...]:
        """Check cards against the vocabulary of a game's owner."""
        return attached.check_attached(settings, vocabulary, record)

    def prepare(self, settings: Mapping[str, Any], vocabulary: Mapping[str, Any], record: Any) -> Rules:
        """Return the cards of the set, ready to answer."""
        return attached.read_attached(vocabulary, record)[0]

    def handle(
        self, table: Table, event: Event, settings: Mapping[str, Any], record: Any, ctx: Context
    ) -> Sequence[Effect]:
        """Return what the cards do about one event of the owner's."""
        return attached.answer(table, event, record, ctx)


RULES = RuleCards()
