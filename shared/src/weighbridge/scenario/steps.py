"""A scenario as read from its file: names unresolved, everything else checked."""

from __future__ import annotations

from typing import Any

import msgspec


class Step(msgspec.Struct, frozen=True):
    """One step: `at` is its listed time, µs since 1970 UTC."""

    at: int


class Put(Step, frozen=True):
    """A record of the collection with that last name, `as` a name or none."""

    by: str
    collection: str
    value: Any
    name: str | None = None


class Update(Step, frozen=True):
    """A later version of a record; of a deleted one, the same key put back."""

    by: str
    name: str
    value: Any


class Delete(Step, frozen=True):
    """The deletion of a record."""

    by: str
    name: str


class Traced(Step, frozen=True):
    """The settled trace verdict of a record, `dated` in µs."""

    name: str
    verdict: str
    dated: int | None = None


class Rolled(Step, frozen=True):
    """The values that a record's beacon would have given."""

    name: str
    values: tuple[int, ...]


class Beaconed(Step, frozen=True):
    """A real beacon for a record: the round, and the signature's bytes."""

    name: str
    round: int
    signature: bytes


class Received(Step, frozen=True):
    """Receipts of these operators that hold the record."""

    name: str
    operators: tuple[str, ...]


class Tick(Step, frozen=True):
    """The passing of time."""


class Sealed(msgspec.Struct, frozen=True):
    """What a `seal:NAME` commits to: by whom, for which slot, with which salt and value."""

    by: str
    slot: tuple[str, ...]
    salt: bytes
    value: Any


class Expect(msgspec.Struct, frozen=True):
    """What must hold after the last step; None where the file does not say."""

    cells: dict[str, Any] | None = None
    no_cells: tuple[str, ...] | None = None
    reports: dict[str, tuple[str, ...]] | None = None
    questions: tuple[dict[str, Any], ...] | None = None


class Scenario(msgspec.Struct, frozen=True):
    """A scenario: the rule set's name, the root, what is sealed, the steps in order, and what must hold."""

    ruleset: str
    root: Any
    steps: tuple[Step, ...]
    seals: dict[str, Sealed] = {}
    expect: Expect = Expect()
    about: str = ""
