"""Records against their types: what a Lexicon says, and what it has no words for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import weighbridge_delvetown
from delvetown_town import DOTS
from weighbridge.lexicon import load
from weighbridge_delvetown import RULES
from weighbridge_delvetown.documents import COLLECTIONS, KINDS
from weighbridge_delvetown.names import CREW, MOVE, SHEET

GAME = "at://did:plc:gm/town.delve.root/game"
ASK = "at://did:plc:ann/town.delve.move/a1"
SHIPPED = Path(weighbridge_delvetown.__file__).parent / "lexicons"


@pytest.mark.parametrize("nsid", COLLECTIONS)
def test_the_shipped_lexicon_is_what_the_fold_checks_by(nsid: str) -> None:
    document = json.loads((SHIPPED / f"{nsid}.json").read_text("utf-8"))
    assert document == COLLECTIONS[nsid]
    assert load(document).id == nsid


def test_no_other_lexicon_is_shipped() -> None:
    assert sorted(path.stem for path in SHIPPED.glob("*.json")) == sorted(COLLECTIONS)


def test_every_kind_of_move_has_a_definition() -> None:
    assert COLLECTIONS[MOVE]["defs"].keys() == {*KINDS, "main", "target", "clock"}


def move(kind: str, **fields: Any) -> dict[str, Any]:
    return {"kind": kind, "game": GAME, **{name.rstrip("_"): value for name, value in fields.items()}}


def paths(collection: str, value: Any) -> list[str]:
    return [problem.path for problem in RULES.shape(collection, value).problems]


@pytest.mark.parametrize(
    ("value", "path"),
    [
        pytest.param("a move", "$", id="a text"),
        pytest.param({"game": GAME}, "$.kind", id="no kind"),
        pytest.param(move("dance"), "$.kind", id="an unknown kind"),
        pytest.param(move("ask"), "$.action", id="an ask without action"),
        pytest.param(move("ask", action="fetch", push="yes"), "$.push", id="a push in words"),
        pytest.param(move("ask", action="fetch", trace="https://delve.example"), "$.trace", id="a trace in a text"),
        pytest.param(move("ask", action="fetch", prompt="p1"), "$.prompt", id="a prompt that is no at-uri"),
        pytest.param(move("ask", action="fetch", target={}), "$.target", id="a target of nothing"),
        pytest.param(move("ask", action="fetch", target={"place": "a", "self": True}), "$.target", id="two targets"),
        pytest.param(move("ask", action="fetch", target={"crew": "Lamps"}), "$.target.crew", id="a crew by its name"),
        pytest.param(move("ask", action="fetch", target={"crew": ASK}), "$.target.crew", id="a move for a crew"),
        pytest.param(move("ask", action="fetch", target={"self": False}), "$.target.self", id="not oneself"),
        pytest.param(move("assist", prompt=ASK), "$.for", id="an assist for nobody"),
        pytest.param(move("between", purpose="sleep"), "$.purpose", id="an unknown purpose"),
        pytest.param(move("claim", xp="charm", post="https://a.example"), "$.xp", id="an unknown claim"),
        pytest.param(move("advance", buys="luck"), "$.buys", id="luck"),
        pytest.param(move("answer", ask=ASK, how="shout"), "$.how", id="an unknown answer"),
        pytest.param(move("stance", place="ferry", how="sing"), "$.how", id="an unknown stance"),
        pytest.param(move("stance", place="ferry", how="sell", toward="Bob"), "$.toward", id="toward a name"),
        pytest.param(move("prompt", from_="2026-10-18", to="soon-ish!!"), "$.to", id="no day"),
        pytest.param(move("prompt", from_="2026-02-29", to="2026-03-01"), "$.from", id="a day that never was"),
        pytest.param(move("prompt", from_="2026-10-19", to="2026-10-18"), "$.to", id="a window backwards"),
        pytest.param(move("outage", from_="2026-10-19", to="2026-10-18"), "$.to", id="an outage backwards"),
        pytest.param(
            move("prompt", from_="2026-10-18", to="2026-10-18", clock={"name": "A", "size": 4, "kind": "project"}),
            "$.invited", id="a project of nobody",
        ),
        pytest.param(move("scar", sheet="ann", text="hums"), "$.sheet", id="a sheet that is no DID"),
        pytest.param(move("strike", subject=ASK, why="no", what=0), "$.what", id="ability number 0"),
        pytest.param({**move("say"), "$type": SHEET}, "$.$type", id="another type's name"),
    ],
)  # fmt: skip
def test_a_misfit_is_said_with_its_path(value: Any, path: str) -> None:
    assert path in paths(MOVE, value)


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        pytest.param({"dots": [2, 2, 2, 1]}, "$.dots", id="dots in a list"),
        pytest.param({"dots": {f"a{n}": 0 for n in range(65)}}, "$.dots", id="sixty-five actions"),
        pytest.param({"dots": {"a" * 65: 1}}, "$.dots", id="an action of 65 letters"),
        pytest.param({"abilities": "many"}, "$.abilities", id="abilities in a text"),
        pytest.param({"abilities": [1]}, "$.abilities[0]", id="an ability in a number"),
        pytest.param({"name": None}, "$.name", id="no name"),
        pytest.param({"operator": "ann"}, "$.operator", id="an operator that is no DID"),
    ],
)
def test_a_misfit_of_a_sheet_is_said_with_its_path(fields: Any, path: str) -> None:
    sheet = {"game": GAME, "name": "Ann", "look": "grey", "drive": "win", "dots": DOTS, "abilities": []}
    assert path in paths(SHEET, {**sheet, **fields})


def test_a_crew_lists_dids() -> None:
    assert paths(CREW, {"game": GAME, "name": "Lamps", "sheets": ["ann"]}) == ["$.sheets[0]"]


def test_unknown_fields_are_listed_wherever_they_stand() -> None:
    clock = {"name": "A", "size": 4, "kind": "faction", "filled": 2}
    trace = {"url": "https://a.example", "quote": "x", "mood": "good"}
    assert RULES.shape(MOVE, move("prompt", from_="2026-10-18", to="2026-10-18", clock=clock)).unknown == (
        "$.clock.filled",
    )
    assert RULES.shape(MOVE, move("ask", action="fetch", trace=trace, mood=1)).unknown == (
        "$.mood",
        "$.trace.mood",
    )


def test_created_at_is_allowed_and_ignored_everywhere() -> None:
    assert not RULES.shape(MOVE, move("say", createdAt="long ago")).unknown
    assert not RULES.shape(MOVE, move("say", createdAt="long ago")).problems
