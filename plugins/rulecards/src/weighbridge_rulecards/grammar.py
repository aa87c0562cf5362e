"""The grammar of sentences: one table of forms, by which sentences are written, read, and a misspelling is found.

A form is words with slots. It writes a piece of data (the `when` of a card, or an effect) whose fields are its own
constants and its slots', and reads the same words back into the same data: sentence and data cannot drift apart.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from weighbridge_rulecards.nearest import distance
from weighbridge_rulecards.slots import Slot

Data = dict[str, Any]
_PIECE = re.compile(r"\{([a-z_]+)\}", re.ASCII)


@dataclass(frozen=True)
class Form:
    """Words with slots, and the fields they stand for.

    `literals`: the words around the slots, one more than there are slots, each perhaps empty. `constants`: fields
    that the words themselves say. `fields`: of the data it writes, sorted.
    """

    words: str
    constants: Mapping[str, Any]
    slots: tuple[Slot, ...]
    literals: tuple[str, ...]
    fields: list[str]

    def say(self, data: Mapping[str, Any]) -> str | None:
        """Return the words for this data, or None where it is another form's."""
        if len(data) != len(self.fields) or sorted(data) != self.fields:
            return None
        for key, value in self.constants.items():
            if data[key] != value:
                return None
        said = [slot.say(data) for slot in self.slots]
        text = self.literals[0]
        for each, after in zip(said, self.literals[1:], strict=True):
            if each is None:
                return None
            text += each + after
        return text

    def hear(self, text: str) -> Iterator[Data]:
        """Yield what these words may say, longest names first."""
        if text.startswith(self.literals[0]):
            yield from self._hear(text[len(self.literals[0]) :], 0, dict(self.constants))

    def _hear(self, text: str, at: int, data: Data) -> Iterator[Data]:
        if at == len(self.slots):
            if not text:
                yield data
            return
        for gap, rest in _cuts(text, self.literals[at + 1], last=at == len(self.slots) - 1):
            found = self.slots[at].hear(gap, data)
            if found is not None:
                yield from self._hear(rest, at + 1, {**data, **found})

    def gaps(self, text: str) -> Iterator[tuple[str, ...]]:
        """Yield what stands in the gaps where these words match with anything in them."""
        if text.startswith(self.literals[0]):
            yield from self._gaps(text[len(self.literals[0]) :], 0)

    def _gaps(self, text: str, at: int) -> Iterator[tuple[str, ...]]:
        if at == len(self.slots):
            if not text:
                yield ()
            return
        for gap, rest in _cuts(text, self.literals[at + 1], last=at == len(self.slots) - 1):
            for others in self._gaps(rest, at + 1):
                yield (gap, *others)


def _cuts(text: str, word: str, *, last: bool) -> Iterator[tuple[str, str]]:
    """Yield (gap, rest) for each way to put `word` after a gap that is not empty, the longest gap first."""
    if last:
        if text.endswith(word) and len(text) > len(word):
            yield text[: len(text) - len(word)], ""
        return
    if not word:
        return
    at = text.rfind(word)
    while at > 0:
        yield text[:at], text[at + len(word) :]
        at = text.rfind(word, 0, at + len(word) - 1)


def form(words: str, slots: Mapping[str, Slot], **constants: Any) -> Form:
    """Return a form of words in which `{name}` stands for a slot."""
    names = _PIECE.findall(words)
    literals = tuple(_PIECE.split(words)[::2])
    said = {key.rstrip("_"): value for key, value in constants.items()}
    chosen = tuple(slots[name] for name in names)
    fields = sorted([*said, *(field for slot in chosen for field in slot.fields)])
    return Form(words, said, chosen, literals, fields)


def say(forms: Iterable[Form], data: Mapping[str, Any]) -> str | None:
    """Return the words of the first form that writes this data."""
    return next((text for each in forms if (text := each.say(data)) is not None), None)


def hear(forms: Iterable[Form], text: str, accept: Callable[[Data], bool] = lambda _: True) -> Data | None:
    """Return what the first form that reads these words says."""
    return next((data for each in forms for data in each.hear(text) if accept(data)), None)


def misheard(forms: Iterable[Form], text: str) -> str:
    """Return why words that a form matches with anything in its gaps say nothing: the gap and the nearest names.

    Of several forms the one counts that understands most of the words. Nothing: no form matches.
    """
    best: tuple[tuple[int, int], str] | None = None
    for each in forms:
        for gaps in each.gaps(text):
            heard = [
                slot.hear(gap, dict(each.constants)) is not None
                for slot, gap in zip(each.slots, gaps, strict=True)
            ]
            if not any(heard) and not all(map(_could_be, each.slots, gaps)):
                continue
            score = (sum(heard), len("".join(each.literals)))
            if best is None or score > best[0]:
                refused = [
                    slot.refuse(gap)
                    for slot, gap, fine in zip(each.slots, gaps, heard, strict=True)
                    if not fine
                ]
                best = score, refused[0] if refused else f"{text[:64]} does not stand here"
    return "" if best is None else best[1]


def _could_be(slot: Slot, gap: str) -> bool:
    return slot.could_be(gap)


def misspelt(forms: Iterable[Form], text: str) -> str:
    """Return the words without gaps that a text is one letter away from, if any."""
    fixed = (each.words for each in forms if not each.slots)
    return next((words for words in fixed if words != text and distance(words, text) == 1), "")
