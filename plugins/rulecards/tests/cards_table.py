"""A table to play at in tests: cards in sentences, moves in Python, and what they come to."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from weighbridge.scenario import Result, read, run
from weighbridge_rulecards import RULES, parse, read_system, render
from weighbridge_rulecards.card_reading import CardReader
from weighbridge_rulecards.forms import Forms
from weighbridge_rulecards.reader import Reader
from weighbridge_rulecards.rules import Rules, read_rules
from weighbridge_rulecards.shipped import SHIPPED

PLUGIN = Path(__file__).resolve().parent.parent
SCENARIOS = PLUGIN / "scenarios"
EXAMPLE = PLUGIN / "examples" / "ten-cards.json"
Json = dict[str, Any]
Step = dict[str, Any]


def handed() -> Path:
    """Where the specification's own scenarios and systems lie, if they are at hand."""
    named = os.environ.get("WEIGHBRIDGE_VECTORS")
    return Path(named).parent if named else PLUGIN.parents[2] / "shared"


def forms_of(system: Any = "classic-d20") -> Forms:
    found, problems = read_system(system)
    assert problems == ()
    return Forms(found)


CLASSIC = forms_of()
NIGHT = forms_of("night-pool")


def card(sentence: str, card_id: str = "", system: Any = "classic-d20", **more: Any) -> Json:
    """Return a card of a sentence. Its id is given, or made of its first words."""
    forms = CLASSIC if system == "classic-d20" else NIGHT if system == "night-pool" else forms_of(system)
    name = card_id or "card"
    return {"id": name, "name": name.replace("_", " ").capitalize(), **parse(sentence, forms), **more}


def cards(*sentences: str, system: Any = "classic-d20") -> list[Json]:
    """Return cards a, b, c … of sentences."""
    return [card(each, "abcdefghij"[at], system) for at, each in enumerate(sentences)]


def rules(*sentences: str, system: Any = "classic-d20") -> Rules:
    found, problems = read_rules({"rules": {"system": system, "cards": cards(*sentences, system=system)}})
    assert problems == ()
    assert found is not None
    return found


def problems_of(system: Any = "classic-d20", cards: Any = ()) -> dict[str, str]:
    """Return what is wrong with a root's system and cards: sentence by path."""
    return {
        each.path: each.says for each in read_rules({"rules": {"system": system, "cards": list(cards)}})[1]
    }


def refused(data: Json, forms: Forms = CLASSIC) -> dict[str, str]:
    """Return what is wrong with a card's data: sentence by path."""
    reader = Reader()
    CardReader(reader, forms.system, forms).read_data(data, "$")
    return {each.path: each.says for each in reader.problems}


def said(data: Json, forms: Forms = CLASSIC) -> str:
    return render(data, forms)


def system_with(**changes: Any) -> Json:
    return {"base": "classic-d20", **changes}


def play(steps: list[Any], cards: list[Json] | None = None, system: Any = "classic-d20") -> Result:
    """Fold steps under cards; a step comes 20 seconds after the one before. Lists of steps are taken in."""
    flat: list[Step] = []
    for step in steps:
        flat += step if isinstance(step, list) else [step]
    told = []
    for at, step in enumerate(flat):
        second = 20 * at
        told.append(
            {"at": f"2026-10-18T{9 + second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}Z", **step}
        )
    root = {"gm": "@gm", "rules": {"system": system, "cards": cards or []}}
    return run(read(json.loads(json.dumps({"ruleset": "rulecards", "root": root, "steps": told}))), RULES)


def sheet(who: str = "ann", **fields: Any) -> Step:
    return {"by": f"@{who}", "put": "sheet", "as": f"{who}sheet", "value": {"name": who.title(), **fields}}


def hp(value: int, most: int, who: str = "ann") -> Step:
    return sheet(who, tracks={"hp": {"value": value, "max": most}})


def move(who: str, name: str, kind: str, /, **fields: Any) -> Step:
    value = {"kind": kind, **{key.rstrip("_"): value for key, value in fields.items()}}
    return {"by": f"@{who}", "put": "move", "as": name, "value": value}


def gm(name: str, kind: str, /, **fields: Any) -> Step:
    return move("gm", name, kind, **fields)


def ann(name: str, kind: str, /, **fields: Any) -> Step:
    return move("ann", name, kind, **fields)


def blow(name: str, *amounts: int, to: str = "@ann", **fields: Any) -> Step:
    return gm(name, "blow", to=to, amounts=list(amounts), **fields)


def act(name: str, check: str, *faces: int, **fields: Any) -> list[Step]:
    return [gm(name, "act", for_="@ann", check=check, **fields), dice(name, *faces)]


def dice(name: str, *faces: int) -> Step:
    return {"dice": name, "values": list(faces)}


def grant(name: str, words: str, who: str = "ann", system: Any = "classic-d20") -> Step:
    return gm(name, "grant", for_=f"@{who}", then=card(f"When they rest → {words}.", system=system)["then"])


def cell(result: Result, key: str) -> Any:
    """Return a cell, its key written as in a scenario (`char/@ann`, `roll/id:a1`)."""
    return result.cells.get(result.records.key(key))


def fired(result: Result, name: str) -> list[str]:
    """Return the ids of the cards that fired in a record, in order."""
    found = []
    while (cue := cell(result, f"cue/id:{name}/{len(found) + 1}")) is not None:
        found.append(cue["card"])
    return found


def track(result: Result, name: str, who: str = "ann") -> int:
    return int(cell(result, f"char/@{who}")["tracks"][name]["value"])


def conditions(result: Result, who: str = "ann") -> Json:
    found: Json = cell(result, f"char/@{who}")["conditions"]
    return found


def codes(result: Result, name: str) -> list[str]:
    return sorted(result.reports.get(name, ()))


__all__ = ["SHIPPED"]
