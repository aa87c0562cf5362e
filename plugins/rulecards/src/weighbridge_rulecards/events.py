"""What happens in a moment, and under which keys the cards that watch for it are found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from weighbridge_rulecards.system import Band, System

Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RollFacts:
    """What a roll came to, as formulas read it."""

    total: int
    natural: int
    target: int
    stat: str
    groups: Mapping[str, Mapping[str, int]]


@dataclass(slots=True)
class Happened:
    """An event: whose it is (a DID), at which step the cards that watch it fire, and its keys.

    `amount` of damage, `roll` of a roll, `moved` (value, max) of a track, `reach` the values it came to or across.
    """

    who: str
    step: int
    keys: tuple[Key, ...]
    amount: int = 0
    roll: RollFacts | None = None
    moved: str = ""
    reach: tuple[Key, int, int] | None = None


def trigger_keys(when: Mapping[str, Any], *, before: bool) -> list[Key]:
    """Return the keys under which a card is listed, by its trigger."""
    on = str(when["on"])
    if before:
        where = str(when.get("place", ""))
        return [("before", on, str(when.get("check", when.get("dir", ""))), where)]
    if on == "roll":
        return _roll_keys(when)
    if on == "track":
        return [(on, str(when["track"]), str(when.get("of", "")), str(when["cross"]))]
    if on in ("place", "meet"):
        kind = "kind" in when
        return [
            (
                on,
                "kind" if kind else "name",
                str(when["kind" if kind else "place" if on == "place" else "person"]),
            )
        ]
    return [(on, *(str(when.get(each, "")) for each in _FIELDS.get(on, ())))]


_FIELDS = {
    "clock": ("clock",), "fight": ("is",), "item": ("is", "item"), "damage": ("dir",), "defeat": ("foe",),
    "quest": ("is",), "event": ("event",), "story": ("ask",),
}  # fmt: skip


def _roll_keys(when: Mapping[str, Any]) -> list[Key]:
    check = str(when.get("check", ""))
    if "band" in when:
        return [("roll", check, "band", str(when["band"]))]
    outcomes = when.get("outcome")
    return (
        [("roll", check, "", "")]
        if outcomes is None
        else [("roll", check, "outcome", each) for each in outcomes]
    )


# --- what happened -----------------------------------------------------------------------------------------


def roll_keys(check: str, band: Band) -> tuple[Key, ...]:
    """Return the keys of a roll that landed on a band."""
    kinds = (("", ""), ("band", band.id), ("outcome", band.outcome))
    return tuple(("roll", each, *kind) for each in (check, "") for kind in kinds)


def before_keys(on: str, what: str, place: str) -> tuple[Key, ...]:
    """Return the keys of a roll (a check) or a blow (a direction) that is about to be made in a place."""
    whats = (what, "") if on == "roll" else (what,)
    wheres = (place, "") if place else ("",)
    return tuple(("before", on, each, where) for each in whats for where in wheres)


def named_keys(on: str, system: System, entry: str) -> tuple[Key, ...]:
    """Return the keys of coming to a place or meeting a person."""
    sort = (system.places if on == "place" else system.people).get(entry)
    by_kind: tuple[Key, ...] = ((on, "kind", sort.kind),) if sort is not None and sort.kind else ()
    return ((on, "name", entry), *by_kind)


def any_keys(on: str, *names: str) -> tuple[Key, ...]:
    """Return the keys of an event that cards watch by its last name, or whatever it is."""
    return ((on, *names), (on, *names[:-1], ""))


@dataclass(frozen=True, slots=True)
class Change:
    """A change of one track: before and after."""

    value: int
    max: int
    new: int
    new_max: int


def crossed(change: Change) -> list[str]:
    """Return which lines a change of a track crosses; `reach` is told by its values."""
    found: list[str] = []
    if change.value > 0 and change.new == 0:
        found.append("out")
    if change.value < change.max and change.new == change.new_max:
        found.append("full")
    if 2 * change.value >= change.max and 2 * change.new < change.new_max:
        found.append("half")
    return found
