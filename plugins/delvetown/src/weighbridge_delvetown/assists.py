"""Assists (§4): a crewmate's action, bound to the helped sheet's next ask of the day in the prompt."""

from __future__ import annotations

from typing import Any

from weighbridge.contract import Context, Docket, Table

from weighbridge_delvetown.calendar import game_day, use_ration
from weighbridge_delvetown.crews import crew_of
from weighbridge_delvetown.lines import Line, barred, no_standing, over_ration, scene_of, unwitnessed
from weighbridge_delvetown.names import move_id


def take_assist(table: Table, docket: Docket, ctx: Context) -> None:
    """Take up an assist: it uses the helper's move and waits for the ask it helps."""
    line = assist_line(table, docket)
    if line is not None:
        ctx.report(line.code, docket.uri, line.says)
        return
    rules, day = docket.rules, game_day(docket)
    use_ration(table, docket.author, day, rules.assist_cost)
    table[_key(docket.value["for"], move_id(docket.value["prompt"]))] = day


def assist_line(table: Table, docket: Docket) -> Line | None:
    """Return the first line that refuses an assist, or None. It has the standing of an ask in its prompt."""
    scene = scene_of(table, docket)
    line = no_standing(table.get(f"sheet/{docket.author}")) or unwitnessed(table, docket, scene)
    if line is not None or scene is None:
        return line
    return (
        over_ration(table, docket, docket.rules.assist_cost)
        or barred(table, docket, scene)
        or _stranger(table, docket)
    )


def _stranger(table: Table, docket: Docket) -> Line | None:
    helped: str = docket.value["for"]
    sheet: dict[str, Any] | None = table.get(f"sheet/{helped}")
    crew = crew_of(table, docket.author)
    mates = docket.author not in (crew, helped) and crew == crew_of(table, helped)
    if sheet is not None and mates:
        return None
    return Line("refused", "not-your-crew", "Only a crewmate's move assists (§4).")


def has_help(table: Table, did: str, prompt: str, day: int) -> bool:
    """Say whether an assist waits for a sheet's next ask of the day in a prompt."""
    return bool(table.get(_key(did, prompt)) == day)


def use_help(table: Table, did: str, prompt: str) -> None:
    """Bind what assists wait to an ask: they help no other."""
    del table[_key(did, prompt)]


def _key(did: str, prompt: str) -> str:
    return f"help/{did}:{prompt}"
