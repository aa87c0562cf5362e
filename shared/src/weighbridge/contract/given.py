"""What a rule set is given while one of its hooks runs: the table, dice and the context."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

from weighbridge.contract.declared import Event
from weighbridge.contract.values import Frozen, Value

T = TypeVar("T")


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
    def uri(self) -> str:
        """The at-uri of the record being judged; of the game's root at a day's end or a due time."""
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

    def seal(
        self, slot: Sequence[str], opens_from: int | None = None, opens_until: int | None = None
    ) -> bool:
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
