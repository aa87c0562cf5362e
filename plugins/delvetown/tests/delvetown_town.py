"""A town to test in: scenarios told in Python, and what they come to."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from weighbridge.fold import Fold
from weighbridge.log import make_entry
from weighbridge.log.entries import Listed
from weighbridge.scenario import Records, Result, load, read, run
from weighbridge_delvetown import RULES

PLUGIN = Path(__file__).resolve().parent.parent
SCENARIOS = PLUGIN / "scenarios"
DOTS = {"fetch": 2, "reckon": 2, "audit": 1, "mend": 1, "vouch": 1}
DAY = "2026-10-18"
Step = dict[str, Any]


def handed() -> Path:
    """Where the specification's own scenarios lie, if they are at hand."""
    named = os.environ.get("WEIGHBRIDGE_VECTORS")
    shared = Path(named).parent if named else PLUGIN.parents[2] / "shared"
    return shared / "scenarios" / "delvetown"


def files() -> list[Path]:
    return sorted(SCENARIOS.glob("**/*.json"))


def fold_file(path: Path) -> Result:
    return run(load(path.read_bytes()), RULES)


def fold(steps: list[Step], rules: dict[str, Any] | None = None, **root: Any) -> Result:
    """Fold steps in a game of the given rules; a step without `at` comes a minute after the one before."""
    minute = 8 * 60
    told = []
    for step in steps:
        minute += 1
        told.append({"at": f"{DAY}T{minute // 60:02}:{minute % 60:02}:00Z", **step})
    document = {"ruleset": "delvetown", "root": {"gm": "@gm", "rules": rules or {}, **root}, "steps": told}
    return run(read(json.loads(json.dumps(document))), RULES)


def sheet(who: str, **fields: Any) -> Step:
    value = {"name": who, "look": "grey coat", "drive": "finish it", "dots": DOTS, "abilities": []}
    return {"by": f"@{who}", "put": "sheet", "as": f"{who}sheet", "value": {**value, **fields}}


def move(who: str, name: str, kind: str, **fields: Any) -> Step:
    value = {"kind": kind, **{key.rstrip("_"): value for key, value in fields.items()}}
    return {"by": f"@{who}", "put": "move", "as": name, "value": value}


def prompt(name: str = "p1", first: str = DAY, last: str = DAY, **fields: Any) -> Step:
    return move("gm", name, "prompt", from_=first, to=last, **fields)


def ask(who: str, name: str, **fields: Any) -> Step:
    trace = {"url": f"https://delve.example/{name}", "quote": "the ferry runs at dawn"}
    return move(who, name, "ask", **{"action": "fetch", "prompt": "uri:p1", "trace": trace, **fields})


def rolled(who: str, name: str, *faces: int, **fields: Any) -> list[Step]:
    return [
        ask(who, name, **fields),
        {"trace": name, "verdict": "ok"},
        {"dice": name, "values": list(faces)},
    ]


PLAYERS = [sheet("ann"), sheet("bob"), sheet("cat")]


def cell(result: Result, key: str) -> Any:
    """Return a cell, its key written as in a scenario (`sheet/@ann`, `ask/id:a1`)."""
    return result.cells.get(result.records.key(key))


def codes(result: Result, name: str) -> list[str]:
    return sorted(result.reports.get(name, ()))


def codes_of(fold: Fold, records: Records, name: str) -> list[str]:
    """Return the codes that stand on a record of a fold."""
    return sorted(fold.table.get(f"_/report/{records.places[name].cell}", {}))


def reseated(listed: Listed, previous: Listed | None, **changes: Any) -> Listed:
    """Return an entry with other facts (`prov`, say), in its place after `previous`."""
    entry = listed.entry
    facts = {name: getattr(entry, name) for name in ("game", "at", "op", "uri", "author", "prov", "count")}
    return make_entry(previous, **{**facts, **changes}, record=listed.record)
