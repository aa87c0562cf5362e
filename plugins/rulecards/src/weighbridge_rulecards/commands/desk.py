"""A table and a context in memory, to try cards out without a log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from typing import Any, TypeVar

from weighbridge.contract import Cid, Docket, Event, Opened, Question

from weighbridge_rulecards.names import MOVE

T = TypeVar("T")
GM = "did:plc:gm"
ANN = "did:plc:ann"
GAME = f"at://{GM}/town.delve.cards.root/root"


class Memory:
    """A table in memory."""

    def __init__(self) -> None:
        self.cells: dict[str, Any] = {}

    def get(self, key: str, default: Any = None) -> Any:
        """Return a copy of a cell, or `default`."""
        return deepcopy(self.cells[key]) if key in self.cells else default

    def __getitem__(self, key: str) -> Any:
        return deepcopy(self.cells[key])

    def __setitem__(self, key: str, value: Any) -> None:
        self.cells[key] = deepcopy(value)

    def __delitem__(self, key: str) -> None:
        del self.cells[key]

    def __contains__(self, key: object) -> bool:
        return key in self.cells

    def keys(self, prefix: str) -> list[str]:
        """Return the keys that begin with `prefix`, sorted."""
        return sorted(key for key in self.cells if key.startswith(prefix))

    def items(self, prefix: str) -> Iterator[tuple[str, Any]]:
        """Yield (key, value) for the keys that begin with `prefix`, sorted."""
        for key in self.keys(prefix):
            yield key, self[key]


class Typed:
    """Dice as they are typed; without them 1, 2, 3 and so on, round and round."""

    def __init__(self, faces: Sequence[int]) -> None:
        self._faces = list(faces)
        self._next = 0

    def die(self, sides: int) -> int:
        """Return the next face."""
        if self._faces:
            return max(1, min(sides, self._faces.pop(0)))
        self._next += 1
        return 1 + (self._next - 1) % sides

    def roll(self, n: int, sides: int) -> list[int]:
        """Return the next faces."""
        return [self.die(sides) for _ in range(n)]

    def named(self, names: Iterable[str], sides: int) -> dict[str, int]:
        """Return a face for each name."""
        return {name: self.die(sides) for name in sorted(names)}

    def shuffle(self, items: Sequence[T]) -> list[T]:
        """Return the items as they are."""
        return list(items)

    def pick(self, items: Sequence[T]) -> T:
        """Return the item that the next die names."""
        return items[self.die(max(2, len(items))) % len(items)]

    def weighted(self, items: Sequence[tuple[T, int]]) -> T:
        """Return the first item that has any weight."""
        return next(item for item, weight in items if weight)


class Desk:
    """A context that keeps reports and questions."""

    def __init__(self, faces: Sequence[int] = ()) -> None:
        self.game = GAME
        self.uri = GAME
        self.at = 0
        self.day = 0
        self.reports: list[tuple[str, str]] = []
        self.questions: dict[tuple[str, str], Question] = {}
        self._dice = Typed(faces)

    def throw(self, faces: Sequence[int]) -> None:
        """Lay out the dice of the next move."""
        self._dice = Typed(faces)
        self.reports = []

    def dice(self, purpose: str, opened: Opened | None = None) -> Typed:
        """Return the dice."""
        return self._dice

    def report(self, code: str, about: str, sentence: str) -> None:
        """Keep a report."""
        self.reports.append((code, sentence))

    def withdraw(self, code: str, about: str) -> None:
        """Drop a report."""
        self.reports = [each for each in self.reports if each[0] != code]

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
        """Open a question."""
        self.questions[kind, about] = Question(kind, kind, about, words, tuple(options), to, 0)
        return kind

    def question(self, kind: str, about: str) -> Question | None:
        """Return an open question."""
        return self.questions.get((kind, about))

    def close(self, kind: str, about: str) -> bool:
        """Close a question."""
        return self.questions.pop((kind, about), None) is not None

    def seal(
        self, slot: Sequence[str], opens_from: int | None = None, opens_until: int | None = None
    ) -> bool:
        """Take no seals."""
        return False

    def unseal(self, opens: str, salt: str, value: Any) -> Opened | None:
        """Open no seals."""
        return None

    def opened(self, uri: str) -> Opened | None:
        """Know of no seals."""
        return None

    def emit(self, event: Event) -> None:
        """Hand events to nobody."""

    def uphold(self, uri: str) -> None:
        """Uphold nothing."""

    def replace(self, uri: str) -> None:
        """Replace nothing."""


def docket_of(number: int, value: dict[str, Any], rules: Any) -> Docket:
    """Return the complete docket of a move of the GM's."""
    return Docket(
        seq=number,
        at=number,
        day=0,
        uri=f"at://{GM}/{MOVE}/m{number}",
        cid=Cid.of(b"\xf6"),
        author=GM,
        collection=MOVE,
        rkey=f"m{number}",
        op="create",
        value=value,
        rules=rules,
        gm=GM,
        roll="timely",
        has_dice=True,
    )
