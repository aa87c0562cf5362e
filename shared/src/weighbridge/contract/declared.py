"""What a rule set declares, and what the kernel hands it: problems, needs, rulings, dockets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from weighbridge.cid import Cid
from weighbridge.contract.values import Frozen


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

    `dice`: the purposes it draws for; `card:*` stands for every purpose that begins with `card:`, where a rule
    set cannot know beforehand which of them it comes to. `trace`: whether a trace verdict must settle.
    `after`: whether the round is fixed by the record's own listing, or by the entry that settles its trace.
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
    fields: Mapping[str, int | str] = msgspec.field(default_factory=dict)
    step: int = 1


class Effect(Frozen, frozen=True):
    """What an attachment asks the owner to do: a kind the owner admits, and its fields, worked out."""

    kind: str
    about: str
    fields: Mapping[str, Any] = msgspec.field(default_factory=dict)


class Trace(Frozen, frozen=True):
    """A settled trace: the word the quorum agreed on, and the lower median of their dates (µs), if any."""

    verdict: Literal["ok", "unresolved", "unsettled"]
    dated: int | None = None


class Change(Frozen, frozen=True):
    """One cell that one entry changed, for `RuleSet.because`: what stood there before and after (None: nothing).

    `seq`, `at` (µs), `day` and `uri` are the entry's, and `value` is the record it lists (None: none, or a deletion).
    `cells` holds, of every cell that the entry changed, the kernel's too, what stood there before and after.
    """

    key: str
    before: Any
    after: Any
    seq: int
    at: int
    day: int
    uri: str | None = None
    value: Any = None
    cells: Mapping[str, tuple[Any, Any]] = msgspec.field(default_factory=dict)


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
    `committed`: when the repository's commit that proves the record was made, by its own word (`prov.rev`, µs).
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
    committed: int | None = None

    @property
    def id(self) -> str:
        """The record's id in cell keys: `<did>:<rkey>`."""
        return f"{self.author}:{self.rkey}"
