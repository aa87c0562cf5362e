"""Cards: whatever is wrong with one is refused with its path, and a misspelt name with the nearest ones."""

from __future__ import annotations

from typing import Any

import pytest
from cards_table import refused

XP = {"kind": "xp", "amount": "1"}
REST = {"on": "rest"}


def one(**fields: Any) -> dict[str, Any]:
    return {"when": REST, "then": [XP], **fields}


def then(**effect: Any) -> dict[str, Any]:
    return one(then=[effect])


def when(**trigger: Any) -> dict[str, Any]:
    return one(when=trigger)


CARDS: list[tuple[str, dict[str, Any], str, str]] = [
    ("no-trigger", when(on="rset"), "$.when.on", "the nearest are rest"),
    ("before-rest", one(stage="before"), "$.when.on", "roll, damage stands before"),
    ("stage", one(stage="after"), "$.stage", "before"),
    ("check", when(on="roll", check="atack"), "$.when.check", "attack"),
    ("band", when(on="roll", band="sucess"), "$.when.band", "success"),
    ("band-of-check", when(on="roll", check="death_save", band="sucess"), "$.when.band", "success"),
    ("outcome", when(on="roll", outcome=["crit"]), "$.when.outcome[0]", "critical"),
    ("outcome-order", when(on="roll", outcome=["fumble", "failure"]), "$.when.outcome", "in this order"),
    ("outcome-none", when(on="roll", outcome=[]), "$.when.outcome", "1 to 4"),
    ("band-and-outcome", when(on="roll", band="success", outcome=["critical"]), "$.when", "not both"),
    ("track", when(on="track", track="hpp", cross="out"), "$.when.track", "hp"),
    ("track-of-items", when(on="track", track="hull", cross="out"), "$.when.track", "`of` says"),
    ("item-track", when(on="track", track="hp", of="ship", cross="out"), "$.when.track", "hull"),
    ("item-of", when(on="track", track="hull", of="shp", cross="out"), "$.when.of", "ship"),
    ("cross", when(on="track", track="hp", cross="ful"), "$.when.cross", "full"),
    ("reach-at", when(on="track", track="hp", cross="reach"), "$.when.at", "stands with reach"),
    ("out-at", when(on="track", track="hp", cross="out", at=3), "$.when.at", "only there"),
    ("clock", when(on="clock", clock="renwon"), "$.when.clock", "renown"),
    ("place", when(on="place", place="witchwod"), "$.when.place", "witchwood"),
    ("place-kind", when(on="place", kind="setlement"), "$.when.kind", "settlement"),
    ("place-both", when(on="place", place="witchwood", kind="settlement"), "$.when", "one of the two"),
    ("meet-none", when(on="meet"), "$.when", "one of the two"),
    ("person", when(on="meet", person="odlie"), "$.when.person", "odile"),
    ("item", when(on="item", **{"is": "gain", "item": "shp"}), "$.when.item", "ship"),
    ("item-is", when(on="item", **{"is": "get"}), "$.when.is", "gain"),
    ("foe", when(on="defeat", foe="goul"), "$.when.foe", "ghoul"),
    ("min", when(on="damage", dir="taken", min=0), "$.when.min", "from 1"),
    ("dir", when(on="damage", dir="took"), "$.when.dir", "taken"),
    ("after-place", when(on="damage", dir="taken", place="witchwood"), "$.when.place", "no field place"),
    ("event", when(on="event", event="heat"), "$.when.on", "no trigger event"),
    ("field", when(on="rest", often=True), "$.when.often", "no field often"),
    ("kind", then(kind="tracks", track="hp", amount="1"), "$.then[0].kind", "track"),
    ("modify-after", then(kind="modify", amount="1"), "$.then[0].kind", "does not stand here"),
    ("block-after", then(kind="block", text="No"), "$.then[0].kind", "does not stand here"),
    ("mark-on-rest", then(kind="mark"), "$.then[0].kind", "does not stand here"),
    ("report", then(kind="report", text="No"), "$.then[0].kind", "does not stand here"),
    ("zero", then(kind="xp", amount="0"), "$.then[0].amount", "0 changes nothing"),
    ("number", then(kind="xp", amount=25), "$.then[0].amount", "a formula is a text"),
    ("dice", then(kind="xp", amount="1d6"), "$.then[0].amount", "no dice"),
    ("plus", then(kind="xp", amount="+2"), "$.then[0].amount", "expected"),
    ("boolean", then(kind="xp", amount="@level > 1"), "$.then[0].amount", "a whole number is wanted"),
    ("unknown-name", then(kind="xp", amount="@lvel"), "$.then[0].amount", "@level"),
    ("event-elsewhere", then(kind="xp", amount="@event.amount"), "$.then[0].amount", "no name @event.amount"),
    (
        "group-elsewhere",
        one(when={"on": "roll", "check": "attack"}, then=[{"kind": "xp", "amount": "@group.Hunger.high"}]),
        "$.then[0].amount",
        "@group.Main",
    ),
    ("item-track-name", then(kind="xp", amount="@hull"), "$.then[0].amount", "no name @hull"),
    ("pool", then(kind="pool", pool="dom", amount="1"), "$.then[0].pool", "doom"),
    ("condition", then(kind="condition", condition="blesed"), "$.then[0].condition", "blessed"),
    ("level-missing", then(kind="condition", condition="frightened"), "$.then[0].level", "levels 1 to 3"),
    ("level-none", then(kind="condition", condition="blessed", level=1), "$.then[0].level", "has no levels"),
    ("level-high", then(kind="condition", condition="frightened", level=4), "$.then[0].level", "from 1 to 3"),
    ("rise", then(kind="condition", condition="blessed", op="rise"), "$.then[0].op", "no levels to rise"),
    (
        "lose-turns",
        then(kind="condition", condition="blessed", op="lose", turns=2),
        "$.then[0].turns",
        "put on",
    ),
    ("turns", then(kind="condition", condition="blessed", turns=0), "$.then[0].turns", "from 1"),
    ("tick-clock", then(kind="clock", clock="renwon", amount="1"), "$.then[0].clock", "renown"),
    ("tick-back", then(kind="clock", clock="renown", amount="-1"), "$.then[0].amount", "at least 1"),
    ("size", then(kind="clock", clock="renown", amount="1", size=25), "$.then[0].size", "from 1 to 24"),
    ("roll-check", then(kind="roll", check="deth_save"), "$.then[0].check", "death_save"),
    ("roll-given", then(kind="roll", check="attack"), "$.then[0].check", "the GM gives"),
    ("part", then(kind="track", track="hp", part="min", amount="1"), "$.then[0].part", "max"),
    ("op", then(kind="track", track="hp", op="sets", amount="1"), "$.then[0].op", "set"),
    ("text", then(kind="tell", text="one; two"), "$.then[0].text", "none of"),
    ("long-text", then(kind="tell", text="a" * 201), "$.then[0].text", "1 to 200"),
    ("effect-field", then(kind="xp", amount="1", of="ship"), "$.then[0].of", "no field of"),
    ("if", one(**{"if": "@cond.blesed > 0"}), "$.if", "@cond.blessed"),
    ("if-number", one(**{"if": "@nerve"}), "$.if", "a condition is wanted"),
    ("no-effects", one(then=[]), "$.then", "1 to 16"),
    ("many-effects", one(then=[XP] * 17), "$.then", "1 to 16"),
    (
        "edge-of-damage",
        one(
            when={"on": "damage", "dir": "taken"},
            stage="before",
            then=[{"kind": "modify", "edge": "advantage"}],
        ),
        "$.then[0].edge",
        "no field edge",
    ),
    (
        "roll-before",
        one(when={"on": "roll"}, stage="before", then=[{"kind": "roll", "check": "death_save"}]),
        "$.then[0].kind",
        "does not stand here",
    ),
    (
        "total-before",
        one(when={"on": "roll"}, stage="before", **{"if": "@event.total > 1"}),
        "$.if",
        "no name @event.total",
    ),
    ("fight", when(on="fight", **{"is": "begin"}), "$.when.is", "start"),
    ("quest", when(on="quest", **{"is": "done"}), "$.when.is", "step"),
]


@pytest.mark.parametrize(
    ("data", "path", "says"), [each[1:] for each in CARDS], ids=[each[0] for each in CARDS]
)
def test_what_is_wrong_with_a_card_is_said_with_its_path(data: dict[str, Any], path: str, says: str) -> None:
    found = refused(data)
    assert path in found
    assert says in found[path]
