"""Game days and rations (§2): which day a record is of, and how much of a day a sheet has used."""

from __future__ import annotations

from typing import Any

from weighbridge.contract import Context, Docket, Table

from weighbridge_delvetown.days import day_of, number_of, text_of
from weighbridge_delvetown.options import Options

SECOND = 1_000_000


def game_day(docket: Docket) -> int:
    """Return the game day of a record: of its listed time, or by root `clock: pds` of its commit's."""
    rules: Options | None = docket.rules
    if rules is None or rules.clock_kind != "pds" or docket.committed is None or is_skewed(docket, rules):
        return docket.day
    return day_of(docket.committed)


def is_skewed(docket: Docket, rules: Options) -> bool:
    """Say whether the commit's time is further from the listed time than the root allows."""
    return docket.committed is not None and abs(docket.at - docket.committed) > rules.clock_skew * SECOND


def report_skew(docket: Docket, ctx: Context) -> None:
    """Report `clock-skew` on a record whose commit is dated too far from its listing."""
    rules: Options | None = docket.rules
    if rules is None or rules.clock_kind != "pds" or not is_skewed(docket, rules):
        return
    ctx.report(
        "clock-skew",
        docket.uri,
        f"The commit says another time than the log, by more than {rules.clock_skew} s: the listed time decides (§2).",
    )


# --- Rations -----------------------------------------------------------------------------------------------


def used_on(table: Table, did: str, day: int) -> dict[str, int]:
    """Return the action and between moves a sheet has used on a game day."""
    return _used(table, did, text_of(day), table.get(f"ration/{did}"))


def _used(table: Table, did: str, text: str, ration: dict[str, Any] | None) -> dict[str, int]:
    if ration is None or ration["day"] < text:
        return {"action": 0, "between": 0}
    if ration["day"] == text:
        return {"action": ration["action"], "between": ration["between"]}
    action, between = _month(table, did, text).get(text[8:], (0, 0))
    return {"action": action, "between": between}


def has_ration(table: Table, did: str, day: int, kind: str, rules: Options) -> bool:
    """Say whether a sheet has a move of that kind (action or between) left on a game day."""
    used = used_on(table, did, day)[kind]
    limit = rules.per_action if kind == "action" else rules.per_between
    return used < limit or used < limit + _regained(table, did, day, kind)


def use_ration(table: Table, did: str, day: int, kind: str) -> None:
    """Use a move of that kind of a game day."""
    text = text_of(day)
    ration: dict[str, Any] | None = table.get(f"ration/{did}")
    used = _used(table, did, text, ration)
    used[kind] += 1
    if ration is not None and ration["day"] > text:  # by the commit's clock, a move of a day that has ended
        _remember(table, did, text, used)
        return
    if ration is not None and ration["day"] != text:
        _remember(table, did, ration["day"], ration)
    table[f"ration/{did}"] = {"day": text, **used}


def _remember(table: Table, did: str, text: str, used: dict[str, Any]) -> None:
    # What was used on earlier days is kept by month: an outage may give back what was left.
    month = _month(table, did, text)
    month[text[8:]] = [used["action"], used["between"]]
    table[_month_key(did, text)] = month


def _month(table: Table, did: str, text: str) -> dict[str, Any]:
    found: dict[str, Any] = table.get(_month_key(did, text), {})
    return found


def _month_key(did: str, text: str) -> str:
    return f"used/{did}:{text[:7]}"


# --- Outages -----------------------------------------------------------------------------------------------


def record_outage(table: Table, docket: Docket, ctx: Context) -> None:
    """Let an outage give each sheet, on the day after it, what it left unused on its days."""
    first, last = number_of(docket.value["from"]), number_of(docket.value["to"])
    if game_day(docket) > last + 1:
        ctx.report("too-late", docket.uri, "An outage gives back on the day after it, which is over (§2).")
        return
    rules: Options = docket.rules
    key = f"outage/{text_of(last + 1)}"
    table[key] = [*table.get(key, []), [first, last, rules.per_action, rules.per_between]]


def _regained(table: Table, did: str, day: int, kind: str) -> int:
    outages: list[list[int]] = table.get(f"outage/{text_of(day)}", [])
    who: dict[str, Any] | None = table.get(f"who/{did}")
    if not outages or who is None:
        return 0
    place = 0 if kind == "action" else 1
    left: dict[int, int] = {}
    for first, last, *limits in outages:
        for each in range(max(first, who["day"]), last + 1):
            left[each] = max(left.get(each, 0), limits[place] - used_on(table, did, each)[kind])
    return sum(left.values())
