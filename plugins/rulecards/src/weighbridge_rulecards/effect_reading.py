"""Reading effects: what a card, a band, a rest or a grant does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from weighbridge_rulecards.knowing import Known
from weighbridge_rulecards.names import EDGES, MOST_SEGMENTS, plain_fault, text_fault
from weighbridge_rulecards.nearest import hint
from weighbridge_rulecards.reader import Json, Reader
from weighbridge_rulecards.system import GIVEN, Effect, Formula, System

GRANTED = ("track", "condition", "clock", "xp", "pool")
"""What the story, a rest and a band do."""
BANDED = (*GRANTED, "mark")
AFTER = (*GRANTED, "roll", "tell")
BEFORE = (*GRANTED, "modify", "tell", "block")
KINDS = (*GRANTED, "roll", "mark", "modify", "tell", "block", "report")


@dataclass(frozen=True)
class Where:
    """Where effects stand: which kinds may, which names their amounts read, and whether a blow is being changed."""

    kinds: tuple[str, ...]
    extra: tuple[str, ...] = ()
    damage: bool = False


class EffectReader:
    """Reads effects of one system."""

    def __init__(self, reader: Reader, system: System, known: Known) -> None:
        self._reader = reader
        self._system = system
        self._known = known

    def read(self, value: Any, path: str, where: Where) -> Effect | None:
        """Read one effect; None after noting what is wrong with it."""
        found = self._reader.map(value, path)
        kind = found.get("kind") if found is not None else None
        if found is None or kind not in where.kinds:
            if found is not None:
                self._no_kind(kind, path, where)
            return None
        before = len(self._reader.problems)
        effect = _READ[str(kind)](self, found, path, where)
        return effect if len(self._reader.problems) == before else None

    def read_all(self, value: Any, path: str, where: Where, most: int, least: int = 0) -> tuple[Effect, ...]:
        """Read a list of effects."""
        items = self._reader.items(value, path, most, least)
        read = [self.read(each, f"{path}[{at}]", where) for at, each in enumerate(items)]
        return tuple(each for each in read if each is not None)

    def _no_kind(self, kind: Any, path: str, where: Where) -> None:
        if isinstance(kind, str) and kind in KINDS:
            self._reader.wrong(f"{path}.kind", f"{kind} does not stand here; {', '.join(where.kinds)} do")
        else:
            says = (
                hint(kind, where.kinds, "kind of effect")
                if isinstance(kind, str)
                else "a word is wanted here"
            )
            self._reader.wrong(f"{path}.kind", says)

    # --- amounts -------------------------------------------------------------------------------------------

    def _amount(
        self, found: Json, path: str, where: Where, *, zero: bool = False, least: int | None = None
    ) -> Formula | None:
        formula = self._known.amount(self._reader, found["amount"], f"{path}.amount", where.extra)
        if formula is None or formula.literal is None:
            return formula
        if formula.literal == 0 and not zero:
            self._reader.wrong(f"{path}.amount", "0 changes nothing")
        elif least is not None and formula.literal < least:
            self._reader.wrong(f"{path}.amount", f"must be at least {least}")
        return formula

    def _effect(self, found: Json, amount: Formula | None = None) -> Effect:
        data = {**found, "amount": amount.text} if amount is not None else dict(found)
        return Effect(str(found["kind"]), data, amount)

    # --- kinds ---------------------------------------------------------------------------------------------

    def track(self, found: Json, path: str, where: Where) -> Effect | None:
        """Read a change of a track: its value or its maximum, of a character or of an item."""
        reader = self._reader
        may = ("op",) if self._system.attached else ("of", "part", "op")
        if reader.fields(found, path, ("kind", "track", "amount"), may) is None:
            return None
        read_track(reader, self._system, found, path)
        for name, word in (("part", "max"), ("op", "set")):
            if name in found:
                reader.word(found[name], f"{path}.{name}", (word,))
        return self._effect(found, self._amount(found, path, where, zero=found.get("op") == "set"))

    def condition(self, found: Json, path: str, where: Where) -> Effect | None:
        """Read a condition put on, taken off, raised or lowered."""
        reader = self._reader
        if reader.fields(found, path, ("kind", "condition"), ("op", "level", "turns")) is None:
            return None
        name = reader.named(found["condition"], f"{path}.condition", self._system.conditions, "condition")
        if name is None:
            return None
        levels = self._system.conditions[name].levels
        if "op" in found:
            self._shifted(found, path, levels)
        else:
            self._put_on(found, path, levels)
        return self._effect(found)

    def _shifted(self, found: Json, path: str, levels: int) -> None:
        op = self._reader.word(found["op"], f"{path}.op", ("lose", "rise", "fall"))
        for name in ("level", "turns"):
            if name in found:
                self._reader.wrong(f"{path}.{name}", "stands only where the condition is put on")
        if op in ("rise", "fall") and not levels:
            self._reader.wrong(f"{path}.op", f"{found['condition']} has no levels to {op}")

    def _put_on(self, found: Json, path: str, levels: int) -> None:
        if levels and "level" not in found:
            self._reader.wrong(f"{path}.level", f"is missing: {found['condition']} has levels 1 to {levels}")
        elif "level" in found and not levels:
            self._reader.wrong(f"{path}.level", f"{found['condition']} has no levels")
        elif levels:
            self._reader.whole(found["level"], f"{path}.level", 1, levels)
        if "turns" in found:
            self._reader.whole(found["turns"], f"{path}.turns", 1)

    def clock(self, found: Json, path: str, where: Where) -> Effect | None:
        """Read ticks of a clock."""
        reader, attached = self._reader, self._system.attached
        if reader.fields(found, path, ("kind", "clock", "amount"), () if attached else ("size",)) is None:
            return None
        if attached and not self._system.clocks:
            # The owner makes its clocks in play: they are named by what its table calls them.
            reader.text(found["clock"], f"{path}.clock", lambda text: plain_fault(text, 100))
        else:
            reader.named(found["clock"], f"{path}.clock", self._system.clocks, "clock")
        if "size" in found:
            reader.whole(found["size"], f"{path}.size", 1, MOST_SEGMENTS)
        return self._effect(found, self._amount(found, path, where, least=1))

    def xp(self, found: Json, path: str, where: Where) -> Effect | None:
        """Read experience."""
        if self._reader.fields(found, path, ("kind", "amount")) is None:
            return None
        return self._effect(found, self._amount(found, path, where))

    def pool(self, found: Json, path: str, where: Where) -> Effect | None:
        """Read a change of a pool."""
        if self._reader.fields(found, path, ("kind", "pool", "amount")) is None:
            return None
        self._reader.named(found["pool"], f"{path}.pool", self._system.pools, "pool")
        return self._effect(found, self._amount(found, path, where))

    def roll(self, found: Json, path: str, where: Where) -> Effect | None:
        """Read a roll: of a check that needs no target from the GM."""
        if self._reader.fields(found, path, ("kind", "check")) is None:
            return None
        check = self._reader.named(found["check"], f"{path}.check", self._system.checks, "check")
        if check is not None and self._system.checks[check].target == GIVEN:
            self._reader.wrong(f"{path}.check", f"the GM gives {check} its target, so no card rolls it")
        return self._effect(found)

    def mark(self, found: Json, path: str, where: Where) -> Effect | None:
        """Read a mark on the stat that was rolled."""
        return self._effect(found) if self._reader.fields(found, path, ("kind",)) is not None else None

    def modify(self, found: Json, path: str, where: Where) -> Effect | None:
        """Read a change of the roll or the blow that is about to be made."""
        reader = self._reader
        if "edge" in found and not where.damage:
            if reader.fields(found, path, ("kind", "edge")) is not None:
                reader.word(found["edge"], f"{path}.edge", EDGES)
            return self._effect(found)
        if reader.fields(found, path, ("kind", "amount")) is None:
            return None
        return self._effect(found, self._amount(found, path, where))

    def text(self, found: Json, path: str, where: Where) -> Effect | None:
        """Read a line for the storyteller, a reason, or a report."""
        if self._reader.fields(found, path, ("kind", "text")) is not None:
            self._reader.text(found["text"], f"{path}.text", text_fault)
        return self._effect(found)


def read_track(reader: Reader, system: System, found: Json, path: str) -> None:
    """Read which track an effect or a trigger is about: a character's, or with `of` an item's."""
    if "of" not in found:
        entries = {each: system.tracks[each] for each in system.own_tracks}
        track = found["track"]
        if isinstance(track, str) and track in system.tracks and track not in entries:
            reader.wrong(f"{path}.track", f"{track} is a track of items, so `of` says of which")
        else:
            reader.named(track, f"{path}.track", entries, "track")
        return
    item = reader.named(found["of"], f"{path}.of", system.items, "item")
    if item is not None:
        has = {each: system.tracks[each] for each in system.items[item].tracks}
        reader.named(found["track"], f"{path}.track", has, f"track of {item}")


_Read = Callable[[EffectReader, Json, str, Where], Effect | None]
_READ: dict[str, _Read] = {
    "track": EffectReader.track,
    "condition": EffectReader.condition,
    "clock": EffectReader.clock,
    "xp": EffectReader.xp,
    "pool": EffectReader.pool,
    "roll": EffectReader.roll,
    "mark": EffectReader.mark,
    "modify": EffectReader.modify,
    **dict.fromkeys(("tell", "block", "report"), EffectReader.text),
}
