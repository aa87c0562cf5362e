"""Reading checks: their dice, how they are read, and their bands."""

from __future__ import annotations

from typing import Any

from weighbridge_rulecards.effect_reading import BANDED, EffectReader, Where
from weighbridge_rulecards.entry_reading import begin_entry, id_fault, unique
from weighbridge_rulecards.formulas import BOOLEAN
from weighbridge_rulecards.knowing import STAT, Known, known_in, of_check
from weighbridge_rulecards.names import GROUP, MOST_EFFECTS, MOST_ENTRIES, MOST_SIDES, OUTCOMES, name_fault
from weighbridge_rulecards.reader import Json, Reader
from weighbridge_rulecards.system import GIVEN, Band, Check, Dice, System


def read_checks(reader: Reader, system: System, items: list[Any], path: str) -> dict[str, Check]:
    """Read the checks of a system whose other lists have been read."""
    unique(reader, items, path)
    known = known_in(system)
    found: dict[str, Check] = {}
    for at, value in enumerate(items):
        begun = begin_entry(reader, "checks", value, f"{path}[{at}]")
        if begun is not None:
            check = _Checks(reader, system, known, f"{path}[{at}]").read(*begun)
            found.setdefault(check.id, check)
    _one_name(reader, found, path)
    return found


def _one_name(reader: Reader, checks: dict[str, Check], path: str) -> None:
    """One id of a band has one name in all checks: a card on any roll tells by it."""
    names: dict[str, str] = {}
    for check in checks.values():
        for band in check.bands:
            if names.setdefault(band.id, band.name) != band.name:
                reader.wrong(path, f"the band {band.id} of {check.id} is called {names[band.id]} elsewhere")


class _Checks:
    def __init__(self, reader: Reader, system: System, known: Known, path: str) -> None:
        self._reader = reader
        self._known = known
        self._path = path
        self._effects = EffectReader(reader, system, known)

    def read(self, found: Json, entry_id: str, name: str) -> Check:
        reader, path = self._reader, self._path
        read = reader.word(found["read"], f"{path}.read", ("keep", "hits")) or "keep"
        add = "add" in found and reader.flag(found["add"], f"{path}.add")
        bare = Check(
            entry_id,
            name,
            self._dice(found["dice"]),
            read,
            self._hit(found, read),
            add,
            self._target(found),
            (),
        )
        bands = self._bands(found["bands"], bare)
        return Check(entry_id, name, bare.dice, read, bare.hit, add, bare.target, bands)

    def _hit(self, found: Json, read: str) -> int:
        path = f"{self._path}.hit"
        if read == "hits" and "hit" not in found:
            self._reader.wrong(path, "is missing: the least face that is a hit")
        elif read == "keep" and "hit" in found:
            self._reader.wrong(path, "stands only where hits are read")
        elif "hit" in found:
            return self._reader.whole(found["hit"], path, 1, MOST_SIDES) or 1
        return 1

    def _target(self, found: Json) -> int | None:
        if "target" not in found:
            return None
        if found["target"] == "given" and isinstance(found["target"], str):
            return GIVEN
        return self._reader.whole(found["target"], f"{self._path}.target")

    def _dice(self, value: Any) -> tuple[Dice, ...]:
        reader, path = self._reader, f"{self._path}.dice"
        found: list[Dice] = []
        for at, each in enumerate(reader.items(value, path, 26, 1)):
            entry = reader.fields(each, f"{path}[{at}]", ("group", "n", "sides"))
            if entry is None:
                continue
            group = reader.text(entry["group"], f"{path}[{at}].group", _group_fault)
            n = self._known.amount(reader, entry["n"], f"{path}[{at}].n", STAT)
            sides = reader.whole(entry["sides"], f"{path}[{at}].sides", 2, MOST_SIDES)
            if group is not None and any(dice.group == group for dice in found):
                reader.wrong(f"{path}[{at}].group", f"{group} is a group of this check already")
            elif group is not None and n is not None and sides is not None:
                found.append(Dice(group, n, sides))
        return tuple(found)

    def _bands(self, value: Any, check: Check) -> tuple[Band, ...]:
        reader, path = self._reader, f"{self._path}.bands"
        items = reader.items(value, path, MOST_ENTRIES, 1)
        unique(reader, items, path)
        read = [
            self._band(each, f"{path}[{at}]", check, last=at == len(items) - 1)
            for at, each in enumerate(items)
        ]
        return tuple(band for band in read if band is not None)

    def _band(self, value: Any, path: str, check: Check, *, last: bool) -> Band | None:
        reader = self._reader
        found = reader.fields(value, path, ("id", "name", "outcome"), ("if", "then"))
        if found is None:
            return None
        entry_id = reader.text(found["id"], f"{path}.id", id_fault)
        name = reader.text(found["name"], f"{path}.name", name_fault)
        outcome = reader.word(found["outcome"], f"{path}.outcome", OUTCOMES)
        if last == ("if" in found):
            reader.wrong(
                f"{path}.if", "the last band has none" if last else "is missing: only the last band has none"
            )
        extra = of_check(check)
        test = (
            self._known.formula(reader, found["if"], f"{path}.if", BOOLEAN, extra) if "if" in found else None
        )
        then = self._effects.read_all(
            found.get("then", []), f"{path}.then", Where(BANDED, extra), MOST_EFFECTS
        )
        if entry_id is None or name is None or outcome is None:
            return None
        return Band(entry_id, name, outcome, test, then)


def _group_fault(text: str) -> str:
    return "" if GROUP.fullmatch(text) else "a group's name begins with A-Z and has letters and digits only"
