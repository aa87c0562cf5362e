"""The base class of a rule set: pure functions over values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal, Protocol, TypeVar

from weighbridge.contract.declared import NOTHING, Change, Docket, Effect, Needs, Problem, Ruling, Shape
from weighbridge.contract.given import Context, Question, Table
from weighbridge.contract.shown import View
from weighbridge.contract.values import Value

T = TypeVar("T")


def check_shape(lexicon: Mapping[str, Any], value: Any, definition: str = "main") -> Shape:
    """Check a value against one definition of a Lexicon document: every problem at once, and the unknown fields."""
    from weighbridge.lexicon import check  # noqa: PLC0415  (the lexicon module speaks in this module's types)

    return check(lexicon, value, definition)


class RuleSet:
    """The base class of a rule set. A plugin's entry point names one instance of a subclass.

    `name` is what a root's `fold.name` says, `collections` maps each NSID to its Lexicon JSON, `root` is the
    collection of the root. `versions` names the collections whose later versions and deletions come as
    dockets of their own (`op` update or delete); of all others the first listed version is the record, and
    the kernel reports `edited` and `deleted`. `third_party` names the modules beyond the contract and the
    standard library's allow-list that the rule set imports; they become part of its pin.
    """

    name: ClassVar[str]
    version: ClassVar[str]
    root: ClassVar[str]
    collections: ClassVar[Mapping[str, Mapping[str, Any]]]
    versions: ClassVar[frozenset[str]] = frozenset()
    third_party: ClassVar[tuple[str, ...]] = ()
    codes: ClassVar[tuple[str, ...]] = ()
    """The report codes this rule set may use, beside the kernel's."""

    def shape(self, collection: str, value: Any) -> Shape:
        """Say how a record fits its type; by default what the collection's Lexicon says."""
        return check_shape(self.collections[collection], value)

    def rules(self, root: Mapping[str, Any]) -> tuple[Any, tuple[Problem, ...]]:
        """Return a root's options with defaults filled in, and every problem at once, each with its path.

        With problems the root is `bad-root`: the last well-formed one stays in force.
        One that an earlier version has taken, before the game moved to this one, gives then no options: None.
        """
        raise NotImplementedError

    def needs(self, docket: Docket, rules: Any) -> Needs:
        """Return the most that this record may await, seen from the record and the rules alone."""
        return NOTHING

    def judge(self, table: Table, docket: Docket, ctx: Context) -> Needs:
        """Judge a record at its listing, and return what it awaits: part of `needs`, or NOTHING."""
        return self.needs(docket, docket.rules)

    def apply(self, table: Table, docket: Docket, ctx: Context) -> None:
        """Let one complete docket change the table."""
        raise NotImplementedError

    def voided(self, table: Table, docket: Docket, ctx: Context) -> None:
        """Say what remains of a record struck from its own listing on; by default nothing."""

    def changed(self, docket: Docket, op: Literal["update", "delete"]) -> str:
        """Return the report code for a later version or a deletion of a record (`docket` is its first version)."""
        return "edited" if op == "update" else "deleted"

    def day_end(self, table: Table, day: int, ctx: Context) -> None:
        """Let the end of a game day change the table."""

    def due(self, table: Table) -> Iterable[int]:
        """Return the times (µs) within a day at which something falls due, so that the lister lists a tick."""
        return ()

    def at_due(self, table: Table, time: int, ctx: Context) -> None:
        """Let a due time that has passed change the table. It must no longer be due afterwards."""

    def ruling(self, docket: Docket, rules: Any) -> Ruling | None:
        """Return what a record rules on, if it is a ruling; the kernel checks that the GM signed it."""
        return None

    def may_rule(self, docket: Docket, subject: Docket) -> bool:
        """Whether a ruling can be about a subject at all, seen from the two records alone.

        One that cannot stands for nothing: whatever was ruled on the subject before goes on standing.
        """
        return True

    def voidable(self, docket: Docket) -> Literal["back", "forward"]:
        """Say what a strike on this record means: `back`, void from its listing on; `forward`, the rule set's own."""
        return "forward"

    def stake(self, table: Table, docket: Docket) -> Value:
        """Return what a record that rolls stands to draw, as the table has it; also of a refused one that it is.

        The kernel keeps it when a void is about to change the past of a record whose round is public, and
        hands it back in `docket.stake`: such a record may lose against it and never gain. None: no stake.
        """
        return None

    def effect(self, table: Table, effect: Effect, ctx: Context) -> None:
        """Apply an effect that an attachment returned. Kinds that are not admitted are refused by `admits`."""
        raise NotImplementedError

    def vocabulary(self) -> Mapping[str, Any]:
        """Return which events this rule set emits and which effects it admits, to check attachments against."""
        return {}

    def migrate(self, cells: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the cells as this version of the rule set keeps them, when a game moves to it."""
        return cells

    def answer(
        self, question: Question, answer: str, why: str | None = None
    ) -> tuple[str, dict[str, Any]] | None:
        """Return the record that answers a question so: its collection, and its value without `game`.

        Not for the fold, which sees the record when it is listed: a GM's desk makes the record by it, and tells
        early that an answer is none. None: such a question has no such answer, or is not answered by a record.
        """
        return None

    def because(self, change: Change, look: Callable[[str], Any]) -> Sequence[str]:
        """Say in sentences why an entry changed a cell as it did: what a person asks `weighbridge explain`.

        Never for the fold. `look` returns any cell (None: there is none) as it stood after the entry. By default
        nothing is said, and only what changed is shown.
        """
        return ()

    def view(self, table: Table) -> View:
        """Return how a person sees the game."""
        raise NotImplementedError

    def generate(self, random: Random) -> dict[str, Any]:
        """Return a random game as a scenario (root and steps; see `weighbridge.scenario`), for the conformance kit."""
        raise NotImplementedError


class Random(Protocol):
    """The randomness `generate` is given: the part of `random.Random` it may use."""

    def randrange(self, start: int, stop: int | None = None) -> int:
        """Return an integer from [start, stop), or from [0, start)."""
        ...

    def choice(self, seq: Sequence[T]) -> T:
        """Return one of the items."""
        ...
