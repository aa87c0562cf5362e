"""What a scenario expects against what came out: every difference, path by path."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, final

import msgspec

from weighbridge.lexicon.paths import below
from weighbridge.scenario.mentions import Json
from weighbridge.scenario.running import Result
from weighbridge.scenario.steps import Expect


@final
class Absent:
    """What stands where nothing is."""

    def __repr__(self) -> str:
        return "nothing"


ABSENT: Final = Absent()


class Difference(msgspec.Struct, frozen=True):
    """Where the outcome differs: the path in the file, what was expected there, and what was found (JSON)."""

    path: str
    expected: Any
    found: Any

    def __str__(self) -> str:
        return f"{self.path}: expected {_shown(self.expected)}, found {_shown(self.found)}"


def differences(result: Result, expect: Expect) -> list[Difference]:
    """Return where a result is not as expected, in the order of the file; none where it holds."""
    return [
        *_cells(result, expect.cells or {}),
        *_no_cells(result, expect.no_cells or ()),
        *_reports(result, expect.reports or {}),
        *_questions(result, expect.questions or ()),
    ]


def _shown(value: object) -> str:
    return repr(value) if value is ABSENT else json.dumps(value, ensure_ascii=False, sort_keys=True)


def _cells(result: Result, cells: Mapping[str, Any]) -> Iterator[Difference]:
    for key, expected in cells.items():
        found = result.cells.get(result.records.key(key), ABSENT)
        yield from _within(result.records.value(expected), found, below("$.expect.cells", key))


def _no_cells(result: Result, keys: tuple[str, ...]) -> Iterator[Difference]:
    for at, key in enumerate(keys):
        found = result.cells.get(result.records.key(key), ABSENT)
        if found is not ABSENT:
            yield Difference(f"$.expect.noCells[{at}]", ABSENT, found)


def _reports(result: Result, reports: Mapping[str, tuple[str, ...]]) -> Iterator[Difference]:
    for name, codes in reports.items():
        found = sorted(result.reports.get(name, ()))
        if sorted(codes) != found:
            yield Difference(below("$.expect.reports", name), sorted(codes), found)


def _questions(result: Result, questions: tuple[dict[str, Any], ...]) -> Iterator[Difference]:
    for at, question in enumerate(questions):
        about = {key: each for key, each in question.items() if key == "about"}
        expected = {**result.records.value({k: v for k, v in question.items() if k != "about"}), **about}
        if not any(not list(_within(expected, found, "")) for found in result.questions):
            near = [each for each in result.questions if not about or each["about"] == about["about"]]
            yield Difference(f"$.expect.questions[{at}]", expected, near)


def _within(expected: Json, found: Json, path: str) -> Iterator[Difference]:
    """Compare maps as subsets, all else exactly; an expected null is the absence of its key."""
    if expected is None:
        if found is not ABSENT:
            yield Difference(path, ABSENT, found)
    elif isinstance(expected, dict) and isinstance(found, dict):
        for key, each in expected.items():
            yield from _within(each, found.get(key, ABSENT), below(path, key))
    elif not _same(expected, found):
        yield Difference(path, expected, found)


def _same(expected: Json, found: Json) -> bool:
    if isinstance(expected, dict) and isinstance(found, dict):
        return expected.keys() == found.keys() and all(_same(expected[key], found[key]) for key in found)
    if isinstance(expected, list) and isinstance(found, list):
        pairs = zip(expected, found, strict=False)
        return len(expected) == len(found) and all(_same(one, other) for one, other in pairs)
    if isinstance(expected, str) and isinstance(found, dict):
        # `cid:NAME` is a text, and a cell may hold the CID as a link.
        return found == {"$link": expected}
    return type(expected) is type(found) and bool(expected == found)
