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
    """How an ask stands on the board, and why in words.

    `against`: the other crew that it is aimed at or on whose turf, or empty.
    """

    crew: str
    position: str
    effect: str
    against: str
    why: tuple[str, ...]


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
    why = [] if targets else ["open: no target"]
    for target in targets:
        found, reason = _position(table, crew, cell["size"], target, prompt["uri"])
        position = worst(position, found)
        smaller = smaller or _is_bigger(table, crew, cell["size"], _crew_in(table, target))
        why.append(f"{found}: {reason}")
    if cell["heat"] >= rules.heat_worse:
        position = worse(position)
        why.append(f"one step worse: heat {cell['heat']}")
    survived = _has_survived(table, crew, cited)
    why += ["effect up: the trace survived an audit"] if survived else []
    why += ["effect down: the target crew is bigger"] if smaller else []
    effect = effect_at((1 if survived else 0) - (1 if smaller else 0))
    return Stand(crew, position, effect, _against(table, crew, targets[0] if targets else None), tuple(why))


def _position(table: Table, crew: str, size: int, target: Target, prompt: str) -> tuple[str, str]:
    place = target.get("place")
    if place is None:
        bigger = _is_bigger(table, crew, size, _crew_in(table, target))
        return ("exposed", "against a bigger crew") if bigger else ("open", "against no bigger crew")
    if refuses(table, place, crew):
        return "exposed", "the landlord refuses the crew"
    turf = turf_of(table, place)
    if turf == crew:
        return "held", "the crew's own turf"
    if vouches(table, place, crew, prompt):
        return "held", "the landlord vouches in this prompt"
    if _is_bigger(table, crew, size, turf):
        return "exposed", "turf of a bigger crew"
    return "open", "turf of a crew no bigger" if turf else "neutral ground"


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
