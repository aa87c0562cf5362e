"""Game days against the standard library's calendar."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from weighbridge_delvetown.days import DAY, day_end, day_from, day_of, text_of

EPOCH = date(1970, 1, 1)


@given(st.dates())
def test_a_day_and_its_text_are_the_calendars(day: date) -> None:
    number = (day - EPOCH).days
    assert day_from(day.isoformat()) == number
    assert text_of(number) == day.isoformat()


@given(st.integers(0, 2**50))
def test_a_day_begins_at_midnight_utc(at: int) -> None:
    day = day_of(at)
    assert day * DAY <= at < day_end(day)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("2026-02-29", id="no leap year"),
        pytest.param("1900-02-29", id="a century is none"),
        pytest.param("2026-13-01", id="month 13"),
        pytest.param("2026-00-10", id="month 0"),
        pytest.param("2026-10-00", id="day 0"),
        pytest.param("2026-04-31", id="31 April"),
        pytest.param("0000-01-01", id="year 0"),
        pytest.param("2026-1-1", id="short"),
        pytest.param("2026-10-18T00:00", id="a time"),
        pytest.param("\u0662\u0660\u0662\u0666-10-18", id="other digits"),
        pytest.param("", id="nothing"),
    ],
)
def test_what_is_no_day_is_none(text: str) -> None:
    assert day_from(text) is None
