"""Which names a formula may read where: nothing is missing at run time, so an unknown name is refused at load."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from weighbridge_rulecards.formula_reading import Wrong, read_formula
from weighbridge_rulecards.formula_running import runner
from weighbridge_rulecards.formulas import INTEGER, names_in, text_of
from weighbridge_rulecards.nearest import hint
from weighbridge_rulecards.reader import Reader
from weighbridge_rulecards.system import Check, Formula, System

OF_GROUPS = ("high", "low", "sum", "ones", "count")
AMOUNT = ("@event.amount",)
STAT = ("@stat",)


@dataclass(frozen=True)
class Known:
    """The names that formulas of a system may read anywhere."""

    names: dict[str, None]

    def formula(
        self, reader: Reader, value: Any, path: str, kind: str, extra: tuple[str, ...] = ()
    ) -> Formula | None:
        """Read a formula that must give `kind`; `extra` are the names it may read where it stands."""
        if not isinstance(value, str):
            reader.wrong(path, 'a formula is a text, such as "2" or "@level / 2"')
            return None
        try:
            tree = read_formula(value, kind)
        except Wrong as wrong:
            reader.wrong(path, wrong.says)
            return None
        unknown = [name for name in names_in(tree) if name not in self.names and name not in extra]
        for name in unknown:
            reader.no_such(path, hint(name, [*extra, *self.names], "name"))
        literal = tree.value if tree.op == "num" else None
        return None if unknown else Formula(text_of(tree), runner(tree), literal)

    def amount(self, reader: Reader, value: Any, path: str, extra: tuple[str, ...] = ()) -> Formula | None:
        """Read an amount: a formula that gives a whole number."""
        return self.formula(reader, value, path, INTEGER, extra)


def known_in(system: System) -> Known:
    """Return what formulas of a system may read. An owner's game hands in its events' fields, and nothing else."""
    if system.attached:
        return Known({})
    names = [f"@cond.{each}" for each in system.conditions]
    for track in system.own_tracks:
        names += [f"@{track}", f"@{track}.max"]
    names += [f"@clock.{each}" for each in system.clocks]
    names += [f"@pool.{each}" for each in system.pools]
    for item in system.items.values():
        names += [f"@item.{item.id}", *(f"@item.{item.id}.{track}" for track in item.tracks)]
    return Known(dict.fromkeys([*names, "@level"]))


def of_check(check: Check) -> tuple[str, ...]:
    """Return what bands of a check, and cards on its rolls, may read of a roll."""
    return _of_groups([dice.group for dice in check.dice])


def of_any_check(system: System) -> tuple[str, ...]:
    """Return what cards on any roll may read of it."""
    return _of_groups(system.groups)


def _of_groups(groups: list[str]) -> tuple[str, ...]:
    found = ["@event.total", "@event.natural", "@event.target"]
    return (*found, *(f"@group.{group}.{name}" for group in dict.fromkeys(groups) for name in OF_GROUPS))
