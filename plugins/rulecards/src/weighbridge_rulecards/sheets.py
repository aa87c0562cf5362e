"""Sheets: well-formed or not, pinned once, and the character that stands from the start."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weighbridge.contract import Context, Docket, Problem, Table

from weighbridge_rulecards.board import at_start
from weighbridge_rulecards.nearest import hint
from weighbridge_rulecards.rules import Rules
from weighbridge_rulecards.system import System, Track

Json = dict[str, Any]


def record_of(docket: Docket) -> Json:
    """Return what `take_sheet` needs of a docket."""
    value = docket.value if isinstance(docket.value, dict) else {}
    kept = {name: value[name] for name in ("name", "stats", "tracks") if name in value}
    return {
        "uri": docket.uri,
        "cid": str(docket.cid),
        "author": docket.author,
        "op": docket.op,
        "value": kept,
    }


def take_sheet(table: Table, ctx: Context, record: Mapping[str, Any], rules: Rules) -> None:
    """Take up one listed version of a sheet: `uri`, `cid`, `author`, `op`, `value`."""
    who: Json | None = table.get(f"who/{record['author']}")
    uri = record["uri"]
    if who is not None:
        _later(ctx, record, who)
    elif record["op"] == "delete":
        ctx.report("deleted", uri, "This sheet was deleted before it was pinned.")
    elif problems := sheet_problems(record["value"], rules.system):
        says = "; ".join(f"{p.path}: {p.says}" for p in problems)
        ctx.report("bad-sheet", uri, f"This sheet is not well-formed, so it is not pinned: {says}.")
    else:
        ctx.withdraw("bad-sheet", uri)
        table[f"who/{record['author']}"] = {"uri": uri, "cid": record["cid"]}
        table[f"char/{record['author']}"] = character(record["value"], rules.system, record["cid"])


def _later(ctx: Context, record: Mapping[str, Any], who: Mapping[str, Any]) -> None:
    uri = record["uri"]
    if record["op"] == "delete":
        ctx.report(
            "deleted", uri, "This sheet was deleted after it was listed; the pinned version still counts."
        )
    elif uri != who["uri"]:
        ctx.report("second-sheet", uri, "You have a pinned sheet already: one sheet per account.")
    elif record["cid"] != who["cid"]:
        ctx.report(
            "edited", uri, "This sheet was edited after it was pinned; the pinned version still counts."
        )


def character(value: Mapping[str, Any], system: System, cid: str) -> Json:
    """Return a character's cell as a well-formed sheet begins it."""
    given, tracks = value.get("stats", {}), value.get("tracks", {})
    return {
        "name": value["name"],
        "level": 1,
        "xp": 0,
        "stats": {stat: given.get(stat, 0) for stat in system.stats},
        "marked": [],
        "tracks": {each: _track(system.tracks[each], tracks.get(each, {})) for each in system.own_tracks},
        "conditions": {},
        "items": {},
        "met": [],
        "pinned": cid,
    }


def _track(track: Track, given: Mapping[str, int]) -> Json:
    most = given.get("max", track.max)
    start = most if track.start is None else min(track.start, most)
    return {"value": given.get("value", start), "max": most}


def join_tracks(table: Table, system: System) -> None:
    """Give every character the stats and tracks that the system has and they have not, at their start."""
    for key, cell in list(table.items("char/")):
        for track in system.own_tracks:
            cell["tracks"].setdefault(track, at_start(system.tracks[track]))
        for stat in system.stats:
            cell["stats"].setdefault(stat, 0)
        table[key] = cell


# --- what a sheet may say ----------------------------------------------------------------------------------


def sheet_problems(value: Mapping[str, Any], system: System) -> list[Problem]:
    """Return everything that keeps a sheet from being well-formed under a system, each with its path."""
    problems: list[Problem] = []
    for stat, number in _items(value, "stats", problems):
        entry = system.stats.get(stat)
        if entry is None:
            problems.append(Problem(f"$.stats.{stat}", hint(stat, system.stats, "stat")))
        elif type(number) is not int or not entry.least <= number <= entry.most:
            problems.append(Problem(f"$.stats.{stat}", f"a whole number from {entry.least} to {entry.most}"))
    for track, given in _items(value, "tracks", problems):
        if track not in system.own_tracks:
            problems.append(Problem(f"$.tracks.{track}", hint(track, system.own_tracks, "track")))
        else:
            problems += _track_problems(system.tracks[track], given, f"$.tracks.{track}")
    return problems


def _items(value: Mapping[str, Any], name: str, problems: list[Problem]) -> list[tuple[str, Any]]:
    found = value.get(name, {})
    if isinstance(found, dict):
        return sorted(found.items())
    problems.append(Problem(f"$.{name}", "a map by id"))
    return []


def _track_problems(track: Track, given: Any, path: str) -> list[Problem]:
    if not isinstance(given, dict):
        return [Problem(path, "a map of value and max")]
    problems = [
        Problem(f"{path}.{key}", "no such field") for key in sorted(given) if key not in ("value", "max")
    ]
    most = track.max
    if "max" in given and track.sheet is None:
        problems.append(Problem(f"{path}.max", f"no sheet gives the maximum of {track.name}"))
    elif "max" in given:
        least, top = track.sheet or (0, 0)
        if type(given["max"]) is not int or not least <= given["max"] <= top:
            return [*problems, Problem(f"{path}.max", f"a whole number from {least} to {top}")]
        most = given["max"]
    if "value" in given and (type(given["value"]) is not int or not 0 <= given["value"] <= most):
        problems.append(Problem(f"{path}.value", f"a whole number from 0 to {most}"))
    return problems
