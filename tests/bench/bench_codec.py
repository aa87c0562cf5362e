"""What the codec costs: the figures of the fold's inner loop, in microseconds, the best of several rounds."""

from __future__ import annotations

import timeit
from collections.abc import Callable

import msgspec
from weighbridge.cid import Cid
from weighbridge.codec import decode, decode_as, decode_own, encode, from_json, to_json
from weighbridge.codec.plain import encode_plainly
from weighbridge.codec.strict import decode_strictly

DID = "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK"


class Move(
    msgspec.Struct,
    frozen=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    tag_field="$type",
    tag="net.example.move",
):
    """A typical record."""

    game: str
    text: str
    createdAt: str  # noqa: N815  (as records name it)
    ability: int
    dice: dict[str, int]
    ref: Cid
    note: str | None = None


RECORD = Move(
    game=f"at://{DID}/net.example.game/3kabcdefghijk",
    text="I walk to the docks and look for the ferryman, quietly.",
    createdAt="2026-01-01T00:00:00.000Z",
    ability=3,
    dice={"count": 2, "sides": 6},
    ref=Cid.of(b"another record"),
)
CELL = {
    "name": "Mira of the Docks",
    "hp": {"now": 7, "max": 12},
    "since": RECORD.ref,
    "tags": ["wet", "tired"],
    "at": 1_700_000_000_000_000,
    "who": DID,
    "move": RECORD.game,
    "notes": {"a": 1, "b": "some text of a note", "long key": None},
    "alive": True,
    "rolled": [1, 2, 3, 400],
}


def microseconds(call: Callable[[], object], number: int = 2000, rounds: int = 15) -> float:
    """Return the best time of one call."""
    return min(timeit.repeat(call, number=number, repeat=rounds)) / number * 1e6


def rows() -> list[tuple[str, float, str, str]]:
    """Return (name, value, unit, note) of each figure."""
    record, cell = encode(RECORD), encode(CELL)
    value, json, cid = decode(record), to_json(RECORD), RECORD.ref
    texts = str(cid)
    of_record, of_cell = (
        f"a record of {len(record)} bytes, 9 values",
        f"a dense cell of {len(cell)} bytes, 26 values",
    )
    calls: list[tuple[str, Callable[[], object], str]] = [
        ("decode", lambda: decode(record), of_record),
        ("decode_as a struct", lambda: decode_as(record, Move), of_record),
        ("decode_own", lambda: decode_own(record), of_record),
        ("decode_strictly", lambda: decode_strictly(record), f"{of_record}; the plain decoder"),
        ("encode", lambda: encode(value), of_record),
        ("encode a struct", lambda: encode(RECORD), of_record),
        ("encode_plainly", lambda: encode_plainly(value), f"{of_record}; the plain encoder"),
        ("decode, dense", lambda: decode(cell), of_cell),
        ("encode, dense", lambda: encode(CELL), of_cell),
        ("Cid.of", lambda: Cid.of(record), of_record),
        ("Cid(raw)", lambda: Cid(cid.raw), "checked"),
        ("Cid.parse", lambda: Cid.parse(texts), "59 characters"),
        ("str of a new Cid", lambda: str(Cid(cid.raw)), "kept from then on"),
        ("to_json", lambda: to_json(RECORD), of_record),
        ("from_json", lambda: from_json(json), of_record),
    ]
    return [(name, round(microseconds(call), 2), "µs", note) for name, call, note in calls]


if __name__ == "__main__":
    for name, figure, unit, note in rows():
        print(f"{name:20} {figure:8.2f} {unit}  {note}")
