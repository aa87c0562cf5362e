"""Well-formed sheets: the check that the fold and `sheet check` share (§3, §6)."""

from __future__ import annotations

from typing import Any

import pytest
from delvetown_town import DOTS, cell, codes, fold, sheet
from weighbridge.codec import encode
from weighbridge.contract import Shape
from weighbridge.errors import Refused
from weighbridge_delvetown.options import Options
from weighbridge_delvetown.sheets import sheet_problems
from weighbridge_delvetown.tools import check_sheet, new_sheet, odds


def problems(rules: Options | None = None, **fields: Any) -> list[str]:
    value = {"dots": DOTS, "abilities": [], **fields}
    return [problem.path for problem in sheet_problems(value, rules or Options())]


def test_seven_dots_none_above_two_are_well_formed() -> None:
    assert problems() == []
    assert problems(dots={"fetch": 2, "sway": 2, "mend": 2, "keep": 1, "build": 0}) == []


@pytest.mark.parametrize(
    ("dots", "path"),
    [
        pytest.param({"fetch": 2, "reckon": 2, "audit": 2}, "$.dots", id="six"),
        pytest.param({"fetch": 2, "reckon": 2, "audit": 2, "mend": 2}, "$.dots", id="eight"),
        pytest.param({}, "$.dots", id="none"),
        pytest.param({"fetch": 3, "reckon": 2, "audit": 2}, "$.dots.fetch", id="three in one"),
        pytest.param({"fetch": -1, "reckon": 2}, "$.dots.fetch", id="negative"),
        pytest.param({"fetch": "2"}, "$.dots.fetch", id="in quotes"),
        pytest.param({"fetch": True}, "$.dots.fetch", id="true for one"),
        pytest.param({"fetch": None}, "$.dots.fetch", id="null"),
        pytest.param({"burgle": 1}, "$.dots.burgle", id="no action of the town"),
        pytest.param({"Fetch": 1}, "$.dots.Fetch", id="a capital letter"),
    ],
)
def test_other_dots_are_said_with_their_path(dots: dict[str, Any], path: str) -> None:
    assert path in problems(dots=dots)


def test_everything_wrong_with_a_sheet_is_said_at_once() -> None:
    found = problems(dots={"burgle": 1, "fetch": 9}, abilities=["a" * 301, "b"])
    assert found == ["$.dots.burgle", "$.dots.fetch", "$.abilities", "$.abilities[0]"]


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        pytest.param("a" * 300, True, id="300 letters"),
        pytest.param("a" * 301, False, id="301 letters"),
        pytest.param("\U0001f3b2" * 300, True, id="300 letters of four bytes"),
        pytest.param("e\u0301" * 150, True, id="150 letters of two code points"),
        pytest.param("e\u0301" * 151, False, id="151 letters of two code points"),
    ],
)
def test_an_ability_is_measured_in_code_points(text: str, fits: bool) -> None:
    assert (problems(abilities=[text]) == []) is fits


def test_dots_as_a_float_never_reach_the_fold() -> None:
    # 7.0 is no value of a record: the codec refuses it before it could be listed.
    with pytest.raises(Refused):
        encode({"dots": {"fetch": 2.0}})


def test_a_sheet_is_pinned_with_its_cid_and_its_dots_as_written() -> None:
    result = fold([sheet("ann", dots={**DOTS, "keep": 0})])
    pinned = cell(result, "sheet/@ann")
    assert codes(result, "annsheet") == []
    assert pinned["dots"] == {**DOTS, "keep": 0}
    assert pinned["pinned"].startswith("bafyrei")


def test_a_sheet_is_checked_whole_before_there_is_a_game() -> None:
    sheet = {"name": "Ann", "look": "grey", "drive": "win", "dots": DOTS, "abilities": []}
    assert check_sheet(sheet) == Shape()
    assert check_sheet({**sheet, "luck": 7}).unknown == ("$.luck",)
    assert [p.path for p in check_sheet({**sheet, "dots": {"burgle": 7}}).problems] == ["$.dots.burgle"]
    assert [p.path for p in check_sheet({"dots": 7}).problems][:2] == ["$.name", "$.look"]
    assert check_sheet("a sheet").problems


def test_a_new_sheet_comes_with_what_is_wrong_with_it() -> None:
    sheet, wrong = new_sheet("Ann", "grey", "win", DOTS, ["Sings."])
    assert not wrong
    assert check_sheet(sheet) == Shape()
    assert [p.path for p in new_sheet("Ann", "grey", "win", {"fetch": 7})[1]] == ["$.dots.fetch"]


def test_the_odds_of_a_pool_are_fractions() -> None:
    assert odds(2) == {"failed": "9/36", "mixed": "16/36", "clean": "10/36", "crit": "1/36"}
