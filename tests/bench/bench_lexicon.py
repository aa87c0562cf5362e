"""What it costs to hold a record to its Lexicon: a move, a sheet with a nested map, and a wrong one."""

from __future__ import annotations

import time
from collections.abc import Callable

from weighbridge.lexicon import check

Row = tuple[str, float, str, str]

TEXT = {"type": "string", "maxLength": 300}
COUNT = {"type": "integer", "minimum": 0, "maximum": 3}
URI = {"type": "string", "format": "at-uri"}
DID = {"type": "string", "format": "did"}


def lexicon(required: list[str], **properties: object) -> dict[str, object]:
    record = {"type": "object", "required": required, "properties": properties}
    return {
        "lexicon": 1,
        "id": "town.delve.move",
        "defs": {"main": {"type": "record", "key": "any", "record": record}},
    }


TRACE = {"type": "object", "required": ["url"], "properties": {"url": TEXT, "quote": TEXT}}
MOVE = lexicon(
    ["kind"],
    game=URI,
    kind={"type": "string", "enum": ["ask", "assist", "join"]},
    action=TEXT,
    prompt=URI,
    trace=TRACE,
    push={"type": "boolean"},
    createdAt={"type": "string", "format": "datetime"},
    **{f"rare{n}": TEXT for n in range(12)},
)
DOTS = {
    "type": "object",
    "properties": dict.fromkeys(("fetch", "reckon", "audit", "mend", "vouch", "sway"), COUNT),
}
SHEET = lexicon(
    ["name", "dots"],
    name=TEXT,
    look=TEXT,
    dots=DOTS,
    abilities={"type": "array", "items": TEXT},
    operator=DID,
)

GAME = "at://did:plc:b63ja5mc65c5v5smyrumyxyg/town.delve.root/root"
ASK = {
    "game": GAME,
    "kind": "ask",
    "action": "fetch",
    "prompt": "at://did:plc:b63ja5mc65c5v5smyrumyxyg/town.delve.move/p1",
    "trace": {"url": "https://delve.example/page/a1", "quote": "the ferry runs at dawn"},
    "createdAt": "2026-10-18T12:00:00.000Z",
}
ANN = {
    "game": GAME,
    "name": "Ann",
    "look": "grey coat",
    "dots": {"fetch": 2, "reckon": 2, "audit": 1, "mend": 1, "vouch": 1},
    "abilities": ["Remembers every door."],
}


def micros(work: Callable[[], object], count: int = 5_000, repeats: int = 5) -> float:
    """Return the best of some runs of `work`, in µs for each call."""
    best = float("inf")
    for _ in range(repeats):
        started = time.perf_counter()
        for _ in range(count):
            work()
        best = min(best, time.perf_counter() - started)
    return best / count * 1e6


def rows() -> list[Row]:
    """Return the figures."""
    return [
        (
            "lexicon: a move",
            micros(lambda: check(MOVE, ASK)),
            "µs",
            "19 properties; 2 at-uris, a time",
        ),
        ("lexicon: a sheet", micros(lambda: check(SHEET, ANN)), "µs", "a nested map of 6 and a list"),
        (
            "lexicon: a wrong move",
            micros(lambda: check(MOVE, {"kind": 5, "x": 1})),
            "µs",
            "2 problems, 1 unknown",
        ),
    ]


if __name__ == "__main__":
    for name, value, unit, note in rows():
        print(f"{name:32} {value:10.2f} {unit:12} {note}")
