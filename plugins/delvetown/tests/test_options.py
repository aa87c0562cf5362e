"""A root's options: every default, every refusal with its path, and each in use at another value."""

from __future__ import annotations

import json
from typing import Any

import pytest
from delvetown_town import files
from weighbridge_delvetown.options import Options, read_options

GM = "did:plc:gm"


def problems(rules: Any, **root: Any) -> list[str]:
    return [problem.path for problem in read_options({"gm": GM, "rules": rules, **root})[1]]


def test_without_rules_every_option_has_its_default() -> None:
    options, found = read_options({"gm": GM})
    assert not found
    assert options == Options(gm=GM)


@pytest.mark.parametrize(
    ("rules", "path"),
    [
        pytest.param(7, "$.rules", id="rules in a number"),
        pytest.param({"luck": 1}, "$.rules.luck", id="an unknown key"),
        pytest.param({"day": "CET"}, "$.rules.day", id="another zone"),
        pytest.param({"perDay": 2}, "$.rules.perDay", id="perDay in a number"),
        pytest.param({"perDay": {"action": "2"}}, "$.rules.perDay.action", id="a number in quotes"),
        pytest.param({"perDay": {"actions": 2}}, "$.rules.perDay.actions", id="an unknown key below"),
        pytest.param({"actions": "town"}, "$.rules.actions", id="an unknown set"),
        pytest.param({"actions": []}, "$.rules.actions", id="no actions"),
        pytest.param({"actions": ["fetch", "fetch"]}, "$.rules.actions", id="an action twice"),
        pytest.param({"actions": ["Fetch"]}, "$.rules.actions", id="a capital letter"),
        pytest.param({"actions": [["fetch"]]}, "$.rules.actions", id="a list in the list"),
        pytest.param({"dots": -1}, "$.rules.dots", id="negative dots"),
        pytest.param({"dots": True}, "$.rules.dots", id="true for a number"),
        pytest.param({"dotsMax": 1}, "$.rules.dotsMax", id="a later cap below that at creation"),
        pytest.param({"abilities": {"max": 0}}, "$.rules.abilities.max", id="abilities of no length"),
        pytest.param({"abilities": {"guide": 3}}, "$.rules.abilities.guide", id="a guide in a number"),
        pytest.param({"tracks": {"drift": 0}}, "$.rules.tracks.drift", id="a track of nothing"),
        pytest.param({"amounts": {"push": -2}}, "$.rules.amounts.push", id="a push that pays"),
        pytest.param({"gate": None}, "$.rules.gate", id="null for a number"),
        pytest.param({"clocks": [4, "6"]}, "$.rules.clocks", id="a size in quotes"),
        pytest.param({"clocks": []}, "$.rules.clocks", id="no sizes"),
        pytest.param({"effect": {"huge": 4}}, "$.rules.effect.huge", id="an unknown effect"),
        pytest.param({"critEffect": 3}, "$.rules.critEffect", id="more steps than there are"),
        pytest.param({"places": {}}, "$.rules.places", id="places in a map"),
        pytest.param(
            {"places": [{"name": "The Ferry", "namer": GM}]}, "$.rules.places[0].name", id="a place's name"
        ),
        pytest.param(
            {"places": [{"name": "ferry"}]}, "$.rules.places[0].namer", id="a place without a namer"
        ),
        pytest.param(
            {"places": [{"name": "ferry", "namer": GM, "title": 1}]}, "$.rules.places[0].title", id="a title"
        ),
        pytest.param({"places": [7]}, "$.rules.places[0]", id="a place in a number"),
        pytest.param(
            {"places": [{"name": "a", "namer": GM}, {"name": "a", "namer": GM}]},
            "$.rules.places[1].name",
            id="twice",
        ),
        pytest.param(
            {"advance": {"cost": 1, "buys": ["dot"]}}, "$.rules.advance.track", id="a price without a track"
        ),
        pytest.param(
            {"advance": {"track": 1, "cost": 1, "buys": ["luck"]}}, "$.rules.advance.buys", id="luck for sale"
        ),
        pytest.param(
            {"advance": {"track": 1, "cost": 1, "buys": []}}, "$.rules.advance.buys", id="nothing for sale"
        ),
        pytest.param({"consequenceDefault": "last"}, "$.rules.consequenceDefault", id="another default"),
        pytest.param({"rollAfter": "never"}, "$.rules.rollAfter", id="another round"),
        pytest.param({"unsettledTrace": ["ok"]}, "$.rules.unsettledTrace", id="a list for a word"),
        pytest.param({"clock": {"kind": "sun"}}, "$.rules.clock.kind", id="another clock"),
        pytest.param({"clock": {"skewSeconds": -1}}, "$.rules.clock.skewSeconds", id="a negative skew"),
        pytest.param({"assistCost": "say"}, "$.rules.assistCost", id="another cost"),
        pytest.param({"crewSigning": "seal"}, "$.rules.crewSigning", id="another signing"),
        pytest.param({"absentLandlord": "hanged"}, "$.rules.absentLandlord", id="another fate"),
    ],
)
def test_a_wrong_option_is_said_with_its_path(rules: Any, path: str) -> None:
    assert path in problems(rules)


def test_everything_wrong_is_said_at_once() -> None:
    found = problems({"gate": "three", "dots": -1, "places": [{}], "luck": 1}, house=["mozzie", GM])
    assert found == [
        "$.house[0]", "$.house[1]", "$.rules.luck", "$.rules.places[0].name", "$.rules.places[0].namer",
        "$.rules.dots", "$.rules.gate",
    ]  # fmt: skip


OPTIONS = (
    "day", "perDay", "actions", "dots", "dotsCreate", "dotsMax", "abilities", "tracks", "amounts", "gate", "clocks",
    "effect", "critEffect", "places", "advance", "consequenceDefault", "rollAfter", "unsettledTrace", "assistCost",
    "crewSigning", "absentLandlord",
)  # fmt: skip


def test_every_option_stands_at_another_value_in_some_scenario() -> None:
    used: set[str] = set()
    for path in files():
        used |= json.loads(path.read_text())["root"].get("rules", {}).keys()
    # `clock` needs entries with a commit's time, which scenarios do not state: see test_calendar.
    assert [key for key in OPTIONS if key not in used] == []
