"""Game days: UTC days as numbers (days since 1970-01-01) and as texts (`2026-10-18`)."""

from __future__ import annotations

import re
from functools import lru_cache

DAY = 86_400_000_000
"""A game day in microseconds."""

_TEXT = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})", re.ASCII)
_LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def day_of(at: int) -> int:
    """Return the game day of a time (µs)."""
    return at // DAY


def day_end(day: int) -> int:
    """Return the first microsecond after a game day: when the lister lists its end."""
    return (day + 1) * DAY


@lru_cache(maxsize=4096)
def text_of(day: int) -> str:
    """Return a game day as `YYYY-MM-DD`."""
    # Years counted from March, so that the leap day ends a year (era of 400 years: 146097 days).
    era, of_era = divmod(day + 719_468, 146_097)
    year_of_era = (of_era - of_era // 1460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    march_month = (5 * of_year + 2) // 153
    date = of_year - (153 * march_month + 2) // 5 + 1
    month = march_month + 3 if march_month < 10 else march_month - 9
    year = year_of_era + 400 * era + (1 if month <= 2 else 0)
    return f"{year:04}-{month:02}-{date:02}"


@lru_cache(maxsize=4096)
def day_from(text: str) -> int | None:
    """Return the game day that a text names, or None."""
    found = _TEXT.fullmatch(text)
    if found is None:
        return None
    year, month, date = (int(part) for part in found.groups())
    if not 1 <= month <= 12 or not 1 <= date <= _length(year, month) or year < 1:
        return None
    shifted = year - 1 if month <= 2 else year
    march_month = month - 3 if month > 2 else month + 9
    of_year = (153 * march_month + 2) // 5 + date - 1
    return 365 * shifted + shifted // 4 - shifted // 100 + shifted // 400 + of_year - 719_468


def number_of(text: str) -> int:
    """Return the game day of a text that is known to be one."""
    day = day_from(text)
    return 0 if day is None else day


def _length(year: int, month: int) -> int:
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 29 if month == 2 and leap else _LENGTHS[month - 1]
