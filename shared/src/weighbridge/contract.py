"""The contract: everything a plugin author sees, and the only module a rule set imports from Weighbridge.

A rule set is a set of pure functions over values. It reads and writes the `Table` (cells under ASCII keys),
gets one `Docket` at a time (a record with everything the log says about it so far) and speaks through the
`Context`. It has no clock, no randomness, no I/O and no memory of its own: what it must remember is a cell.

The life of a record, in the order the kernel calls a rule set:

1. `shape(collection, value)`: does the record fit its type? If not: report `bad-shape`, and nothing more.
2. `needs(docket, rules)`: the most this record may await (services use it, without a table).
3. `judge(table, docket, ctx)`: at its listing. Reads the board, uses the ration, writes the pending cell,
   reports refusals, and returns what the record awaits in fact (part of `needs`, or nothing).
4. `apply(table, docket, ctx)`: at the entry that completes it, at once where nothing is awaited.

A struck record gets `voided` instead of 3 and 4. Time gets `day_end` and `at_due`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal, Protocol, TypeVar

import msgspec

from weighbridge.cid import Cid

CONTRACT_VERSION = 1
"""Part of every pin: two nodes whose contracts differ do not fold as if they were one."""

Value = None | bool | int | str | bytes | Cid | list[Any] | dict[str, Any]
"""What a record or a cell may hold. Integers stay within 64 bits; there are no floats."""

T = TypeVar("T")


class Frozen(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A frozen value with named fields: for a rule set's own types, so that it need not import msgspec."""


# --- What a rule set declares -----------------------------------------------------------------------------


class Problem(Frozen, frozen=True):
    """One thing wrong with a value: where (`$.rules.gate`), and a sentence that says what would be right."""

    path: str
    says: str


class Shape(Frozen, frozen=True):
    """How a record fits its type: `problems` make it `bad-shape`, `unknown` fields are kept and reported."""

    problems: tuple[Problem, ...] = ()
    unknown: tuple[str, ...] = ()


class Needs(Frozen, frozen=True):
    """What a record awaits before it takes effect.

    `dice`: the purposes it draws for. `trace`: whether a trace verdict must settle. `after`: whether the
    round is fixed by the record's own listing, or by the entry that settles its trace.
    """

    dice: tuple[str, ...] = ()
    trace: bool = False
    after: Literal["listing", "trace"] = "listing"

    @property
    def nothing(self) -> bool:
        """Whether the record takes effect at its own listing."""
        return not self.dice and not self.trace


NOTHING = Needs()


class Ruling(Frozen, frozen=True):
    """What a record of the GM's rules on, as far as the kernel must know.

    `subject` is the at-uri ruled on and `part` the part of it (a number of an ability, a card id).
    `effect`: `void` strikes the subject (from its own listing on, where it is voidable `back`), `release`
    lets what was struck stand again, `answer` leaves the effect to the rule set. A later ruling on the same
    subject and part replaces an earlier one, which is void.
    """

    subject: str
    part: str = ""
    effect: Literal["void", "release", "answer"] = "answer"


class Event(Frozen, frozen=True):
    """A named event that the owner of a game hands to the attachments: who it is about and its fields.

    `step` is 1 for events of the record itself and one more for what an effect of step n raised (the kernel sets it).
    """

    name: str
    about: str
    fields: dict[str, int | str] = {}
    step: int = 1


class Effect(Frozen, frozen=True):
    """What an attachment asks the owner to do: a kind the owner admits, and its fields, worked out."""

    kind: str
    about: str
    fields: dict[str, Any] = {}


class Trace(Frozen, frozen=True):
    """A settled trace: the word the quorum agreed on, and the lower median of their dates (µs), if any."""

    verdict: Literal["ok", "unresolved", "unsettled"]
    dated: int | None = None


class Docket(Frozen, frozen=True):
    """One record with everything the log says about it so far, and the rules in force at its listing.

    `at` is the listed time (µs since 1970, UTC) and `day` the game day of it (days since 1970-01-01).
    `value` is the record (None where `op` is `delete`). `rules` is what the rule set's own `rules` returned
    for the root in force, or None before the first well-formed root; `gm` is that root's GM.
    `trace` and `roll` are filled once they are settled; a record that rolls completes as `timely`,
    `untimely` (dice shown, nothing follows) or `lister-timed` (a game with no operators but the lister).
    `has_dice`: whether its beacon is there; only an untimely roll may come without.
    `upheld`: what the fold upholds counts as legal from its own listing on. `stake`: what the rule set said
    this record stood to draw when its round came out, if a void has since changed the past (see `stake`).
    """

    seq: int
    at: int
    day: int
    uri: str
    cid: Cid
    author: str
    collection: str
    rkey: str
    op: Literal["create", "update", "delete"]
    value: Any
    rules: Any = None
    gm: str | None = None
    trace: Trace | None = None
    roll: Literal["timely", "untimely", "lister-timed"] | None = None
    has_dice: bool = False
    upheld: bool = False
    stake: Any = None

    @property
    def id(self) -> str:
        """The record's id in cell keys: `<did>:<rkey>`."""
        return f"{self.author}:{self.rkey}"


# --- What a rule set is given ------------------------------------------------------------------------------


class Table(Protocol):
    """The game's memory: cells under ASCII keys. What is read is a fresh copy; what counts is written back."""

    def get(self, key: str, default: Any = None) -> Any:
        """Return the cell under `key`, or `default`."""
        ...

    def __getitem__(self, key: str) -> Any: ...

    def __setitem__(self, key: str, value: Value) -> None: ...

    def __delitem__(self, key: str) -> None: ...

    def __contains__(self, key: object) -> bool: ...

    def keys(self, prefix: str) -> Sequence[str]:
        """Return the keys that begin with `prefix` (which ends in `/`), sorted."""
        ...

    def items(self, prefix: str) -> Iterator[tuple[str, Any]]:
        """Yield (key, value) for the keys that begin with `prefix` (which ends in `/`), sorted by key."""
        ...


class Dice(Protocol):
    """The dice of one record for one purpose: one stream, in which each draw takes up where the last ended."""

    def die(self, sides: int) -> int:
        """Return a face from 1 to `sides` (2 to 2^63 - 1), each equally likely."""
        ...

    def roll(self, n: int, sides: int) -> list[int]:
        """Return `n` faces."""
        ...

    def named(self, names: Iterable[str], sides: int) -> dict[str, int]:
        """Return a face for each name, drawn in ascending order of the names."""
        ...

    def shuffle(self, items: Sequence[T]) -> list[T]:
        """Return the items in an order each of which is equally likely (Fisher-Yates from the end)."""
        ...

    def pick(self, items: Sequence[T]) -> T:
        """Return one of the items, each equally likely."""
        ...

    def weighted(self, items: Sequence[tuple[T, int]]) -> T:
        """Return one of the items by its weight (integers, 0 never)."""
        ...


class Context(Protocol):
    """What a rule set may say and ask, and nothing else."""

    @property
    def game(self) -> str:
        """The at-uri of the game's root."""
        ...

    @property
    def at(self) -> int:
        """The time of what is being judged (µs): of the entry, or of the day's end or due time."""
        ...

    @property
    def day(self) -> int:
        """The game day of what is being judged; what a day's end completes is of the day that ends."""
        ...

    def dice(self, purpose: str, opened: Opened | None = None) -> Dice:
        """Return the dice of this record for a purpose it named in its needs.

        With `opened` they come from the beacon together with an opened seal: a secret roll, proved later.
        """
        ...

    def seal(self, slot: Sequence[str], opens_from: int | None = None, opens_until: int | None = None) -> bool:
        """Take this record's `seal` as its author's commitment for a slot, to be opened between two times (µs).

        False, with a report: `second-seal` (the author has one for that slot) or `copied-seal` (the hash is
        that of an earlier one). Never opened by `opens_until`: the kernel reports `not-opened`.
        """
        ...

    def unseal(self, opens: str, salt: str, value: Value) -> Opened | None:
        """Open the seal of the record `opens` by this record. None, with the report that says why, if it does not."""
        ...

    def opened(self, uri: str) -> Opened | None:
        """Return what the sealed record `uri` was opened to, if it was."""
        ...

    def report(self, code: str, about: str, sentence: str) -> None:
        """Report `code` on the record `about` (at-uri), with a sentence a player understands."""
        ...

    def withdraw(self, code: str, about: str) -> None:
        """Take a report back, if it stands."""
        ...

    def ask(
        self,
        kind: str,
        about: str,
        words: str,
        options: Sequence[str] = (),
        default: str | None = None,
        due: int | None = None,
        to: str = "gm",
    ) -> str:
        """Open a question about the record `about` and return its id.

        No `options`: the answer is a line of text. `due` is a time (µs), by which the lister lists a tick.
        """
        ...

    def question(self, kind: str, about: str) -> Question | None:
        """Return the open question of that kind about a record, if any (the oldest)."""
        ...

    def close(self, kind: str, about: str) -> bool:
        """Close the open questions of that kind about a record; whether there were any."""
        ...

    def emit(self, event: Event) -> None:
        """Hand an event to the attachments; their effects come back through `effect` before this hook's entry ends."""
        ...

    def uphold(self, uri: str) -> None:
        """Uphold a record that was refused: from this entry on, the table is the fold in which it was legal."""
        ...

    def replace(self, uri: str) -> None:
        """Void an earlier record of the same author that this one replaces; this one counts at its own entry."""
        ...


class Opened(Frozen, frozen=True):
    """An opened seal: the committed record, its slot, the salt (bytes) and the value."""

    uri: str
    author: str
    slot: tuple[str, ...]
    salt: bytes
    value: Any


class Question(Frozen, frozen=True):
    """An open question, as its cell `_/question/<id>` holds it."""

    id: str
    kind: str
    about: str
    words: str
    options: tuple[str, ...]
    to: str
    asked: int
    default: str | None = None
    due: int | None = None


# --- How a person sees it ----------------------------------------------------------------------------------


class Heading(Frozen, frozen=True, tag="heading"):
    """A heading; what follows belongs to it."""

    text: str


class Text(Frozen, frozen=True, tag="text"):
    """A paragraph."""

    text: str


class Grid(Frozen, frozen=True, tag="grid"):
    """A table: column titles and rows of cells, all text."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Clock(Frozen, frozen=True, tag="clock"):
    """A clock of `size` segments, `filled` of them."""

    name: str
    size: int
    filled: int
    note: str = ""


class Card(Frozen, frozen=True, tag="card"):
    """A titled card with (label, text) lines: a sheet, a character, a crew."""

    title: str
    lines: tuple[tuple[str, str], ...]


Block = Heading | Text | Grid | Clock | Card


class View(Frozen, frozen=True):
    """A document: what a person sees of a table. Renderers turn it into a terminal page, HTML or JSON."""

    title: str
    blocks: tuple[Block, ...]


# --- The rule set ------------------------------------------------------------------------------------------


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

    def voidable(self, docket: Docket) -> Literal["back", "forward"]:
        """Say what a strike on this record means: `back`, void from its own listing; `forward`, the rule set's own."""
        return "forward"

    def stake(self, table: Table, docket: Docket) -> Value:
        """Return what a record that rolls stands to draw, as the table has it (None: refused).

        The kernel keeps it when a void is about to change the past of a record whose round is public, and
        hands it back in `docket.stake`: such a record may lose against it and never gain.
        """
        return None

    def effect(self, table: Table, effect: Effect, ctx: Context) -> None:
        """Apply an effect that an attachment returned. Kinds that are not admitted are refused by `admits`."""
        raise NotImplementedError

    def vocabulary(self) -> Mapping[str, Any]:
        """Return which events this rule set emits and which effects it admits, for attachments to be checked against."""
        return {}

    def migrate(self, cells: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the cells as this version of the rule set keeps them, when a game moves to it."""
        return cells

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


class Attachment:
    """The base class of a rule set attached to a game that another one owns (root `fold.with`).

    It sees the owner's events and answers with effects; its own cells stand under keys of its own. Neither
    imports the other: the owner's `vocabulary` is checked against what the attachment is given.
    """

    name: ClassVar[str]
    version: ClassVar[str]
    third_party: ClassVar[tuple[str, ...]] = ()
    collections: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    def attach(self, settings: Mapping[str, Any], vocabulary: Mapping[str, Any], record: Any) -> tuple[Problem, ...]:
        """Check the settings of `fold.with`, and the record they name by CID, against the owner's vocabulary."""
        return ()

    def handle(self, table: Table, event: Event, settings: Mapping[str, Any], record: Any, ctx: Context) -> Sequence[Effect]:
        """Return the effects of one event. What they raise comes back as further events, `ctx.step` deep."""
        raise NotImplementedError


# --- Audits, and where records, traces and beacons come from -----------------------------------------------


class Finding(Frozen, frozen=True):
    """What an audit has found: a code, the at-uri or cell it is about, and a sentence."""

    code: str
    about: str
    says: str


class Audit(Protocol):
    """A third party's plugin that reads everything and publishes signed findings."""

    name: str

    def observe(self, entry: Mapping[str, Any], value: Any, delta: Sequence[tuple[str, Any]]) -> Iterable[Finding]:
        """Look at one folded entry: the entry, its record and the changed cells with their values."""
        ...
