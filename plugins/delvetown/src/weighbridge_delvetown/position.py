"""Position and effect (§7), read from the board as it stands when an ask is listed."""

from __future__ import annotations

from typing import Any

from weighbridge.contract import Frozen, Table

from weighbridge_delvetown.crews import crew_of, size_of
from weighbridge_delvetown.names import crew_key, digest
from weighbridge_delvetown.options import Options
from weighbridge_delvetown.places import refuses, turf_of, vouches
from weighbridge_delvetown.results import effect_at, worse, worst
from weighbridge_delvetown.traces import Cited

Target = dict[str, Any]


class Stand(Frozen, frozen=True):
    """How an ask stands on the board. `against`: the other crew whose act or turf it is aimed at, or empty."""

    crew: str
    position: str
    effect: str
    against: str


def stand_of(
    table: Table, did: str, own: Target | None, prompt: dict[str, Any], cited: Cited, rules: Options
) -> Stand:
    """Return an ask's crew, position, effect and whom it is against.

    In a prompt with a target an ask without one takes the prompt's; one with another is judged on its own and
    is never better than the prompt's.
    """
    crew = crew_of(table, did)
    cell: dict[str, Any] = table.get(crew_key(crew)) or {"size": 0, "heat": 0}
    given: Target | None = prompt.get("target")
    targets = [target for target in (own, given) if target is not None]
    position, smaller = "held" if targets else "open", False
    for target in targets:
        position = worst(position, _position(table, crew, cell["size"], target, prompt["uri"]))
        smaller = smaller or _is_bigger(table, crew, cell["size"], _crew_in(table, target))
    if cell["heat"] >= rules.heat_worse:
        position = worse(position)
    steps = (1 if _has_survived(table, crew, cited) else 0) - (1 if smaller else 0)
    return Stand(crew, position, effect_at(steps), _against(table, crew, targets[0] if targets else None))


def _position(table: Table, crew: str, size: int, target: Target, prompt: str) -> str:
    place = target.get("place")
    if place is None:
        return "exposed" if _is_bigger(table, crew, size, _crew_in(table, target)) else "open"
    if refuses(table, place, crew):
        return "exposed"
    turf = turf_of(table, place)
    if turf == crew or vouches(table, place, crew, prompt):
        return "held"
    return "exposed" if _is_bigger(table, crew, size, turf) else "open"


def _is_bigger(table: Table, crew: str, size: int, other: str) -> bool:
    return other not in ("", crew) and size_of(table, other) > size


def _crew_in(table: Table, target: Target) -> str:
    """Return the crew that a target names; empty for a place and for oneself."""
    name = str(target.get("crew", ""))
    return name if name.startswith("at://") or not name else crew_of(table, name)


def _against(table: Table, crew: str, target: Target | None) -> str:
    if target is None:
        return ""
    other = turf_of(table, target["place"]) if "place" in target else _crew_in(table, target)
    return "" if other == crew else other


# --- Audits that a trace has survived ------------------------------------------------------------------------


def _has_survived(table: Table, crew: str, cited: Cited) -> bool:
    for part in cited.parts:
        for _, audit in table.items(f"audited-{digest(part)}/"):
            if audit["crew"] != crew and not audit["upheld"]:
                return True
    return False


def note_audit(table: Table, claim: str, ask: str, crew: str, *, upheld: bool = False) -> None:
    """Remember a successful audit of a URL or at-uri by a crew, and whether the GM upheld it."""
    table[f"audited-{digest(claim)}/{ask}"] = {"crew": crew, "upheld": upheld}
