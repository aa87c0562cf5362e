"""The rule set itself: the contract's hooks, each a call of the module that knows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal

from weighbridge.contract import (
    Change,
    Context,
    Docket,
    Effect,
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

from weighbridge_delvetown import moves
from weighbridge_delvetown.answers import answer_to
from weighbridge_delvetown.day_ends import end_day
from weighbridge_delvetown.documents import COLLECTIONS
from weighbridge_delvetown.effects import VOCABULARY, take_effect
from weighbridge_delvetown.generate import random_game
from weighbridge_delvetown.names import ROOT, SHEET
from weighbridge_delvetown.options import Options, read_options
from weighbridge_delvetown.reasons import because
from weighbridge_delvetown.rulings import may_rule, ruling_of, voidable
from weighbridge_delvetown.shapes import shape_of
from weighbridge_delvetown.stakes import stake_of
from weighbridge_delvetown.views import view_of

CODES = (
    "over-ration", "unwitnessed", "outside-window", "not-invited", "gate", "no-sheet", "retired", "barred", "torn",
    "no-trace", "bad-form", "bad-trace", "stale-trace", "pending-trace", "unsettled-trace", "overtaken", "not-gm",
    "bad-ruling", "bad-consequence", "bad-resist", "bad-sheet", "second-sheet", "scar-deleted", "clock-skew",
    "not-your-crew", "not-landlord", "bad-answer", "clock-full", "double-claim", "bad-claim", "no-price", "not-paid",
    "note",
)  # fmt: skip
"""The report codes of this rule set, beside the kernel's. `note` is an attachment's report."""


class Delvetown(RuleSet):
    """Gangs of Delvetown."""

    name: ClassVar[str] = "delvetown"
    version: ClassVar[str] = "0.1.0"
    root: ClassVar[str] = ROOT
    collections: ClassVar[Mapping[str, Mapping[str, Any]]] = COLLECTIONS
    versions: ClassVar[frozenset[str]] = frozenset((SHEET,))
    codes: ClassVar[tuple[str, ...]] = CODES

    def shape(self, collection: str, value: Any) -> Shape:
        """Say how a record fits its type and, of a move, its kind."""
        return shape_of(collection, value)

    def rules(self, root: Mapping[str, Any]) -> tuple[Options, tuple[Problem, ...]]:
        """Return a root's options with defaults filled in, and every problem with its path."""
        return read_options(root)

    def needs(self, docket: Docket, rules: Any) -> Needs:
        """Return the most a record awaits."""
        return moves.needs_of(docket)

    def judge(self, table: Table, docket: Docket, ctx: Context) -> Needs:
        """Judge a record at its listing."""
        return moves.judge(table, docket, ctx)

    def apply(self, table: Table, docket: Docket, ctx: Context) -> None:
        """Let a complete docket change the table."""
        moves.apply(table, docket, ctx)

    def voided(self, table: Table, docket: Docket, ctx: Context) -> None:
        """Leave of a struck move its cell and its use of the ration."""
        moves.voided(table, docket)

    def changed(self, docket: Docket, op: Literal["update", "delete"]) -> str:
        """Return the code for a changed or deleted record: a scar stays."""
        if op == "update":
            return "edited"
        is_scar = moves.kind_of(docket) == "scar" and docket.author == docket.gm
        return "scar-deleted" if is_scar else "deleted"

    def day_end(self, table: Table, day: int, ctx: Context) -> None:
        """Let a game day end."""
        end_day(table, day, ctx)

    def ruling(self, docket: Docket, rules: Any) -> Ruling | None:
        """Return what a strike or a rule is about."""
        return ruling_of(docket)

    def may_rule(self, docket: Docket, subject: Docket) -> bool:
        """Say whether an answer is one that its subject allows."""
        return may_rule(docket, subject)

    def voidable(self, docket: Docket) -> Literal["back", "forward"]:
        """Say what a strike on this record means."""
        return voidable(docket)

    def stake(self, table: Table, docket: Docket) -> Value:
        """Return what an ask or a resist stands to draw."""
        return stake_of(table, docket)

    def effect(self, table: Table, effect: Effect, ctx: Context) -> None:
        """Apply an attachment's effect."""
        take_effect(table, effect, ctx)

    def vocabulary(self) -> Mapping[str, Any]:
        """Return the events and effects that attachments may use."""
        return VOCABULARY

    def answer(
        self, question: Question, answer: str, why: str | None = None
    ) -> tuple[str, dict[str, Any]] | None:
        """Return the record that answers a question so."""
        return answer_to(question, answer, why)

    def because(self, change: Change, look: Callable[[str], Any]) -> tuple[str, ...]:
        """Say why an entry changed a cell."""
        return because(change, look)

    def view(self, table: Table) -> View:
        """Return how a person sees the game."""
        return view_of(table)

    def generate(self, random: Random) -> dict[str, Any]:
        """Return a random game as a scenario."""
        return random_game(random)


RULES = Delvetown()
