"""The nearest existing names to one that does not exist: what a misspelling most likely meant."""

from __future__ import annotations

from collections.abc import Iterable

SHOWN = 3


def nearest(word: str, names: Iterable[str]) -> list[str]:
    """Return up to three of the names, nearest first: by how many changes of a letter make one of the other."""
    ranked = sorted(
        (distance(word[:64], name[:64]), place, name) for place, name in enumerate(dict.fromkeys(names))
    )
    close = [name for far, _, name in ranked if far <= max(2, len(word) // 2)]
    return close[:SHOWN] or [name for _, _, name in ranked[:SHOWN]]


def hint(word: str, names: Iterable[str], what: str) -> str:
    """Return the sentence that refuses an unknown name: what it is not, and the nearest names there are."""
    near = nearest(word, names)
    shown = (
        f"; the nearest are {', '.join(near)}"
        if len(near) > 1
        else f"; the nearest is {near[0]}"
        if near
        else ""
    )
    return f"no {what} {word[:64]}{shown or '; there are none'}"


def distance(one: str, other: str) -> int:
    """Return the edit distance with swapped neighbours counted as one change (optimal string alignment)."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, 1):
        before, last, row = row, before, [at]
        for to, wanted in enumerate(other, 1):
            cost = min(before[to] + 1, row[to - 1] + 1, before[to - 1] + (letter != wanted))
            if at > 1 and to > 1 and letter == other[to - 2] and one[at - 2] == wanted:
                cost = min(cost, last[to - 2] + 1)
            row.append(cost)
    return row[-1]
