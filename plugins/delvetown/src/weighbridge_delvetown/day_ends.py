"""A day's end (§2): windows close and projects fill, picks that are due take the default, heat falls."""

from __future__ import annotations

from weighbridge.contract import Context, Table

from weighbridge_delvetown.consequences import apply_default
from weighbridge_delvetown.contests import close_acts
from weighbridge_delvetown.crews import heat_falls
from weighbridge_delvetown.days import text_of
from weighbridge_delvetown.game import begin_day, rules_in_force
from weighbridge_delvetown.prompts import begin_window, end_window


def end_day(table: Table, day: int, ctx: Context) -> None:
    """Let a game day end."""
    due = list(table.items(f"due-{text_of(day)}/"))
    for key, _ in due:
        del table[key]
    for key, prompt in due:
        if "/2-close:" in key and end_window(table, prompt, day):
            close_acts(table, ctx, prompt)
    picks = [ask for key, ask in due if "/3-pick:" in key]
    rules = rules_in_force(table) if picks else None
    for ask in picks:
        if rules is not None:
            apply_default(table, ctx, rules, ask)
    heat_falls(table, day)
    for key, prompt in due:
        if "/1-open:" in key:
            begin_window(table, prompt, day)
    begin_day(table, day + 1)
