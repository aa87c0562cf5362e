"""Sheets: well-formed or not, pinned once, their abilities, and what remains of a struck one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weighbridge.contract import Context, Problem, Table

from weighbridge_delvetown.crews import crew_of, refresh_of
from weighbridge_delvetown.game import count_player
from weighbridge_delvetown.options import Options


def sheet_problems(value: Mapping[str, Any], rules: Options) -> list[Problem]:
    """Return everything that keeps a sheet from being well-formed under a game's rules, each with its path."""
    problems = _dot_problems(value.get("dots"), rules)
    abilities = value.get("abilities", [])
    if len(abilities) > rules.abilities_create:
        problems.append(Problem("$.abilities", f"at most {rules.abilities_create} at creation"))
    for place, text in enumerate(abilities):
        if len(text) > rules.abilities_max:
            says = f"at most {rules.abilities_max} characters, and this has {len(text)}"
            problems.append(Problem(f"$.abilities[{place}]", says))
    return problems


def _dot_problems(dots: Any, rules: Options) -> list[Problem]:
    problems = []
    total = 0
    for action in sorted(dots):
        number = dots[action]
        if action not in rules.actions:
            problems.append(Problem(f"$.dots.{action}", "no action of this game"))
        elif type(number) is not int or not 0 <= number <= rules.dots_create:
            problems.append(Problem(f"$.dots.{action}", f"a whole number from 0 to {rules.dots_create}"))
        else:
            total += number
    if not problems and total != rules.dots:
        problems.append(Problem("$.dots", f"{rules.dots} dots in all, and these are {total}"))
    return problems


def take_sheet(table: Table, ctx: Context, record: Mapping[str, Any], rules: Options) -> None:
    """Take up one listed version of a sheet: `uri`, `cid`, `author`, `op`, `day`, `value`."""
    who: dict[str, Any] | None = table.get(f"who/{record['author']}")
    if who is not None:
        _later(ctx, record, who)
    elif record["op"] == "delete":
        ctx.report("deleted", record["uri"], "This sheet was deleted before it was pinned (§1).")
    elif problems := sheet_problems(record["value"], rules):
        says = "; ".join(f"{p.path}: {p.says}" for p in problems)
        ctx.report(
            "bad-sheet", record["uri"], f"This sheet is not well-formed, so it is not pinned: {says} (§3)."
        )
    else:
        ctx.withdraw("bad-sheet", record["uri"])
        _pin(table, ctx, record, rules)


def _later(ctx: Context, record: Mapping[str, Any], who: Mapping[str, Any]) -> None:
    uri = record["uri"]
    if record["op"] == "delete":
        ctx.report(
            "deleted",
            uri,
            "This sheet was deleted after it was listed; the pinned version still counts (§1).",
        )
    elif uri != who["uri"]:
        ctx.report("second-sheet", uri, "You have a pinned sheet already: one sheet per account (§1).")
    elif record["cid"] != who["cid"]:
        ctx.report(
            "edited", uri, "This sheet was edited after it was pinned; the pinned version still counts (§1)."
        )


def _pin(table: Table, ctx: Context, record: Mapping[str, Any], rules: Options) -> None:
    did, value = record["author"], record["value"]
    abilities = list(value["abilities"])
    sheet = {
        "name": value["name"],
        "dots": dict(value["dots"]),
        "drift": 0,
        "harm": {},
        "xp": 0,
        "scars": [],
        "abilities": abilities,
        "retired": False,
        "pinned": record["cid"],
    }
    crew = crew_of(table, did)
    table[f"sheet/{did}"] = sheet if crew == did else {**sheet, "crew": crew}
    table[f"who/{did}"] = {
        "uri": record["uri"],
        "cid": record["cid"],
        "day": record["day"],
        "operator": value.get("operator", did),
        "abilities": [{"text": text} for text in abilities],
        "lost": 0,
        "owed": [],
    }
    refresh_of(table, did)
    count_player(table, did, 1, rules)
    if abilities:
        ask_ability(ctx, record["uri"])


def ask_ability(ctx: Context, uri: str) -> None:
    """Ask the GM whether the abilities of a sheet, or the one an advance bought, are fair. They stand meanwhile."""
    ctx.ask(
        "ability", uri, "Is this ability fair? It stands until you strike it.", ("allow", "strike"), "allow"
    )


# --- Abilities ---------------------------------------------------------------------------------------------


def add_ability(table: Table, ctx: Context, did: str, text: str, uri: str) -> None:
    """Give a sheet an ability that an advance bought. Its number is the next one."""
    who: dict[str, Any] = table[f"who/{did}"]
    who["abilities"] = [*who["abilities"], {"text": text, "by": uri}]
    table[f"who/{did}"] = who
    _list_abilities(table, did, who)
    ask_ability(ctx, uri)


def strike_abilities(table: Table, did: str, numbers: list[int], by: str) -> None:
    """Strike abilities of a sheet by their numbers (from 1); the others keep theirs."""
    who: dict[str, Any] = table[f"who/{did}"]
    for number in numbers:
        who["abilities"][number - 1]["struck"] = by
    table[f"who/{did}"] = who
    _list_abilities(table, did, who)


def allow_abilities(table: Table, did: str, numbers: list[int]) -> None:
    """Let struck abilities of a sheet stand again, by their numbers."""
    who: dict[str, Any] = table[f"who/{did}"]
    for number in numbers:
        who["abilities"][number - 1].pop("struck", None)
    table[f"who/{did}"] = who
    _list_abilities(table, did, who)


def _list_abilities(table: Table, did: str, who: Mapping[str, Any]) -> None:
    sheet: dict[str, Any] | None = table.get(f"sheet/{did}")
    if sheet is not None:
        sheet["abilities"] = [each["text"] for each in who["abilities"] if "struck" not in each]
        table[f"sheet/{did}"] = sheet


def strike_sheet(table: Table, did: str, rules: Options) -> None:
    """Take a struck sheet's cell away: its account has no sheet and gets no other."""
    retired = table[f"sheet/{did}"]["retired"]
    del table[f"sheet/{did}"]
    refresh_of(table, did)
    if not retired:
        count_player(table, did, -1, rules)
