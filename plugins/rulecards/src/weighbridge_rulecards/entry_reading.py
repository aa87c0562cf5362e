"""Reading the entries of a system's lists, all but checks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weighbridge_rulecards.names import EDGES, ID, MOST, MOST_ENTRIES, RESERVED, name_fault
from weighbridge_rulecards.reader import Json, Reader
from weighbridge_rulecards.system import Condition, Entry, Foe, Item, Pool, Sort, Stat, Track

FIELDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "stats": (("from", "to"), ()),
    "checks": (("dice", "read", "bands"), ("hit", "add", "target")),
    "tracks": (("max", "start"), ("sheet", "plural", "spend")),
    "conditions": ((), ("levels", "edge")),
    "pools": (("max",), ("start",)),
    "items": ((), ("tracks",)),
    "places": ((), ("kind",)),
    "people": ((), ("kind",)),
    "foes": (("hp",), ()),
    "clocks": ((), ()),
}
"""Of each list: the fields an entry must have beside `id` and `name`, and those it may have."""


def id_fault(text: str) -> str:
    """Return what is wrong with an id, or nothing."""
    return "" if ID.fullmatch(text) else "an id begins with a-z and has up to 32 of a-z, 0-9 and _"


def begin_entry(reader: Reader, name: str, value: Any, path: str) -> tuple[Json, str, str] | None:
    """Read what every entry has: its fields, and a well-formed id and name."""
    needed, may = FIELDS[name]
    found = reader.fields(value, path, ("id", "name", *needed), may)
    if found is None:
        return None
    the = name in ("places", "people")
    entry_id = reader.text(found["id"], f"{path}.id", id_fault)
    title = reader.text(found["name"], f"{path}.name", lambda text: name_fault(text, with_the=the))
    return None if entry_id is None or title is None else (found, entry_id, title)


def unique(reader: Reader, items: list[Any], path: str) -> None:
    """Note ids and names that stand twice in a list."""
    for field in ("id", "name"):
        seen: dict[str, int] = {}
        for at, entry in enumerate(items):
            value = entry.get(field) if isinstance(entry, dict) else None
            if isinstance(value, str) and seen.setdefault(value, at) != at:
                reader.wrong(f"{path}[{at}].{field}", f"{value[:64]} stands at [{seen[value]}] already")


def read_list(reader: Reader, name: str, items: list[Any], path: str) -> dict[str, Any]:
    """Read a list of entries by id; those that cannot be read are left out."""
    unique(reader, items, path)
    found: dict[str, Any] = {}
    for at, value in enumerate(items):
        begun = begin_entry(reader, name, value, f"{path}[{at}]")
        if begun is not None:
            entry = _READ[name](reader, begun[0], f"{path}[{at}]", Entry(begun[1], begun[2]))
            if entry is not None:
                found.setdefault(begun[1], entry)
    return found


def _stat(reader: Reader, found: Json, path: str, entry: Entry) -> Stat | None:
    least = reader.whole(found["from"], f"{path}.from")
    most = reader.whole(found["to"], f"{path}.to")
    if least is None or most is None:
        return None
    if least > most:
        reader.wrong(path, "from is at most to")
    return Stat(entry.id, entry.name, least, most)


def _track(reader: Reader, found: Json, path: str, entry: Entry) -> Track | None:
    if entry.id in RESERVED:
        reader.wrong(f"{path}.id", f"formulas call something else @{entry.id}")
    most = reader.whole(found["max"], f"{path}.max", 1)
    start = None
    if found["start"] != "max" or type(found["start"]) is not str:
        start = reader.whole(found["start"], f"{path}.start", 0, most if most is not None else MOST)
    sheet = _bounds(reader, found["sheet"], f"{path}.sheet") if "sheet" in found else None
    plural = "plural" in found and reader.flag(found["plural"], f"{path}.plural")
    if "spend" in found:
        reader.word(found["spend"], f"{path}.spend", ("advantage",))
    return None if most is None else Track(entry.id, entry.name, most, start, sheet, plural, "spend" in found)


def _bounds(reader: Reader, value: Any, path: str) -> tuple[int, int] | None:
    items = reader.items(value, path, 2, 2)
    ends = [reader.whole(each, f"{path}[{at}]", 1) for at, each in enumerate(items)]
    if len(ends) != 2 or ends[0] is None or ends[1] is None:
        return None
    if ends[0] > ends[1]:
        reader.wrong(path, "the least maximum comes first, then the most")
    return ends[0], ends[1]


def _condition(reader: Reader, found: Json, path: str, entry: Entry) -> Condition:
    levels = reader.whole(found["levels"], f"{path}.levels", 1) if "levels" in found else 0
    edge = reader.word(found["edge"], f"{path}.edge", EDGES) if "edge" in found else ""
    return Condition(entry.id, entry.name, levels or 0, edge or "")


def _pool(reader: Reader, found: Json, path: str, entry: Entry) -> Pool | None:
    most = reader.whole(found["max"], f"{path}.max", 1)
    start = reader.whole(found.get("start", 0), f"{path}.start", 0, most if most is not None else MOST)
    return None if most is None else Pool(entry.id, entry.name, most, start or 0)


def _item(reader: Reader, found: Json, path: str, entry: Entry) -> Item:
    tracks = reader.items(found.get("tracks", []), f"{path}.tracks", MOST_ENTRIES)
    named = [each for each in tracks if isinstance(each, str)]
    if len(named) != len(tracks) or len(dict.fromkeys(named)) != len(named):
        reader.wrong(f"{path}.tracks", "a list of ids of tracks, each once, is wanted here")
    return Item(entry.id, entry.name, tuple(dict.fromkeys(named)))


def _sort(reader: Reader, found: Json, path: str, entry: Entry) -> Sort:
    kind = reader.text(found["kind"], f"{path}.kind", name_fault) if "kind" in found else ""
    return Sort(entry.id, entry.name, kind or "")


def _foe(reader: Reader, found: Json, path: str, entry: Entry) -> Foe | None:
    hp = reader.whole(found["hp"], f"{path}.hp", 1)
    return None if hp is None else Foe(entry.id, entry.name, hp)


def _clock(reader: Reader, found: Json, path: str, entry: Entry) -> Entry:
    return entry


_READ: dict[str, Callable[[Reader, Json, str, Entry], Entry | None]] = {
    "stats": _stat, "tracks": _track, "conditions": _condition, "pools": _pool, "items": _item, "places": _sort,
    "people": _sort, "foes": _foe, "clocks": _clock,
}  # fmt: skip
