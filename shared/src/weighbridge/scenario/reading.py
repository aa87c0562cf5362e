"""From the text of a file to a `Scenario`: everything that can be wrong with it, said with its path."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from weighbridge.lexicon.paths import below
from weighbridge.log.chain import MAX_SILENCE_US
from weighbridge.scenario import steps as s
from weighbridge.scenario.checks import check_names
from weighbridge.scenario.mentions import is_name
from weighbridge.scenario.wrong import ScenarioWrong, wrong

MAX_DEPTH = 64
"""How deep a file may nest: a record in a step, and room for what is too deep to be one."""

_TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,6})?Z", re.ASCII)
_HEX = re.compile(r"(?:[0-9a-f]{2})*", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MAX_FACE = 2**63 - 1


def load(text: str | bytes) -> s.Scenario:
    """Read a scenario file. Raises `ScenarioWrong` with the path of what is wrong."""
    try:
        # Floats and repeated keys are legal JSON: they are kept as marks, so that the walk can say where.
        document = json.loads(text, object_pairs_hook=_pairs, parse_float=_Mark, parse_constant=_Mark)
    except RecursionError:
        wrong("$", "nests too deep")
    except ValueError as error:
        raise ScenarioWrong(f"$ is not JSON: {error}", path="$") from error
    return read(document)


def read(document: object) -> s.Scenario:
    """Read a scenario from what its JSON stands for. Raises `ScenarioWrong`."""
    _plain(document, "$", 0)
    outer = _mapping(document, "$", ("ruleset", "root", "steps"), ("about", "seals", "expect"))
    scenario = s.Scenario(
        ruleset=_text(outer["ruleset"], "$.ruleset"),
        root=outer["root"],
        steps=_steps(outer["steps"]),
        seals=_seals(outer.get("seals", {})),
        expect=_expect(outer.get("expect", {})),
        about=_text(outer.get("about", ""), "$.about"),
    )
    check_names(scenario)
    return scenario


class _Mark:
    """What JSON may hold and no record can."""

    def __init__(self, says: str) -> None:
        self.says = says


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        found[key] = _Mark(f"the key {key!r}, twice") if key in found else value
    return found


def _plain(value: object, path: str, depth: int) -> None:
    if depth > MAX_DEPTH:
        wrong(path, f"nests deeper than {MAX_DEPTH}")
    if isinstance(value, _Mark):
        wrong(path, f"is {value.says}: numbers are whole, and a key stands once")
    if isinstance(value, Mapping):
        for key, each in value.items():
            _plain(each, below(path, str(key)), depth + 1)
    elif isinstance(value, list | tuple):
        for at, each in enumerate(value):
            _plain(each, f"{path}[{at}]", depth + 1)
    elif isinstance(value, float):
        wrong(path, "is no whole number")


# --- Parts -------------------------------------------------------------------------------------------------


def _mapping(
    value: object, path: str, needed: Iterable[str] = (), optional: Iterable[str] | None = ()
) -> Mapping[str, Any]:
    """Return a map that has the `needed` keys and no others than the `optional` (None: any)."""
    if not isinstance(value, Mapping):
        wrong(path, "must be an object")
    for key in needed:
        if key not in value:
            wrong(path, f"has no {key!r}")
    for key in value:
        if optional is not None and key not in needed and key not in optional:
            wrong(below(path, key), "is a key that a scenario does not know")
    return value


def _text(value: object, path: str) -> str:
    if not isinstance(value, str):
        wrong(path, "must be a text")
    return value


def _list(value: object, path: str) -> list[Any]:
    if not isinstance(value, list):
        wrong(path, "must be a list")
    return value


def _texts(value: object, path: str) -> tuple[str, ...]:
    return tuple(_text(each, f"{path}[{at}]") for at, each in enumerate(_list(value, path)))


def _int(value: object, path: str, least: int) -> int:
    if type(value) is not int or not least <= value <= _MAX_FACE:
        wrong(path, f"must be a whole number from {least} to 2^63 - 1")
    return value


def _bytes(value: object, path: str) -> bytes:
    if not isinstance(value, str) or not _HEX.fullmatch(value):
        wrong(path, "must be lower-case hex of whole bytes")
    return bytes.fromhex(value)


def parse_time(value: object, path: str) -> int:
    """Return the µs since 1970 of an RFC 3339 time in UTC, to the microsecond at most."""
    if not isinstance(value, str) or not _TIME.fullmatch(value):
        wrong(path, "must be an RFC 3339 time in UTC, such as 2026-10-18T09:00:00Z, to microseconds at most")
    try:
        time = datetime.fromisoformat(value)
    except ValueError:
        wrong(path, "names a day or time that does not exist")
    if time < _EPOCH:
        wrong(path, "is before 1970")
    return (time - _EPOCH) // timedelta(microseconds=1)


# --- Steps -------------------------------------------------------------------------------------------------


def _put(step: Mapping[str, Any], path: str, at: int) -> s.Step:
    name = _text(step["as"], f"{path}.as") if "as" in step else None
    collection = _text(step["put"], f"{path}.put")
    return s.Put(at, _text(step["by"], f"{path}.by"), collection, step["value"], name)


def _update(step: Mapping[str, Any], path: str, at: int) -> s.Step:
    by, name = _text(step["by"], f"{path}.by"), _text(step["update"], f"{path}.update")
    return s.Update(at, by, name, step["value"])


def _delete(step: Mapping[str, Any], path: str, at: int) -> s.Step:
    return s.Delete(at, _text(step["by"], f"{path}.by"), _text(step["delete"], f"{path}.delete"))


def _trace(step: Mapping[str, Any], path: str, at: int) -> s.Step:
    if step["verdict"] not in ("ok", "unresolved", "unsettled"):
        wrong(f"{path}.verdict", "must be ok, unresolved or unsettled")
    dated = parse_time(step["dated"], f"{path}.dated") if "dated" in step else None
    return s.Traced(at, _text(step["trace"], f"{path}.trace"), step["verdict"], dated)


def _dice(step: Mapping[str, Any], path: str, at: int) -> s.Step:
    name = _text(step["dice"], f"{path}.dice")
    if ("values" in step) == ("beacon" in step):
        wrong(path, "must have either values or a beacon")
    if "values" in step:
        values = _list(step["values"], f"{path}.values")
        return s.Rolled(
            at, name, tuple(_int(each, f"{path}.values[{n}]", 1) for n, each in enumerate(values))
        )
    beacon = _mapping(step["beacon"], f"{path}.beacon", ("round", "signature"))
    number = _int(beacon["round"], f"{path}.beacon.round", 1)
    return s.Beaconed(at, name, number, _bytes(beacon["signature"], f"{path}.beacon.signature"))


def _receipt(step: Mapping[str, Any], path: str, at: int) -> s.Step:
    return s.Received(at, _text(step["for"], f"{path}.for"), _texts(step["receipt"], f"{path}.receipt"))


def _tick(step: Mapping[str, Any], path: str, at: int) -> s.Step:
    if step["tick"] is not True:
        wrong(f"{path}.tick", "must be true")
    return s.Tick(at)


_Reader = Callable[[Mapping[str, Any], str, int], s.Step]
_FORMS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...], _Reader]] = {
    "put": (("by", "value"), ("as",), _put),
    "update": (("by", "value"), (), _update),
    "delete": (("by",), (), _delete),
    "trace": (("verdict",), ("dated",), _trace),
    "dice": ((), ("values", "beacon"), _dice),
    "receipt": (("for",), (), _receipt),
    "tick": ((), (), _tick),
}


def _steps(value: object) -> tuple[s.Step, ...]:
    found: list[s.Step] = []
    for at, each in enumerate(_list(value, "$.steps")):
        path = f"$.steps[{at}]"
        step = _step(each, path)
        if found and step.at < found[-1].at:
            wrong(f"{path}.at", "is earlier than the step before")
        if found and step.at - found[-1].at > MAX_SILENCE_US:
            wrong(f"{path}.at", "is more than 400 days after the step before: put a tick between")
        found.append(step)
    if not found:
        wrong("$.steps", "must hold a step: the root is listed at the time of the first")
    return tuple(found)


def _step(value: object, path: str) -> s.Step:
    step = _mapping(value, path, ("at",), None)
    forms = [form for form in _FORMS if form in step]
    if len(forms) != 1:
        wrong(path, f"must have exactly one of {', '.join(_FORMS)}")
    needed, optional, reader = _FORMS[forms[0]]
    _mapping(step, path, ("at", forms[0], *needed), optional)
    return reader(step, path, parse_time(step["at"], f"{path}.at"))


def _seals(value: object) -> dict[str, s.Sealed]:
    found: dict[str, s.Sealed] = {}
    for name, each in _mapping(value, "$.seals", (), None).items():
        path = below("$.seals", name)
        if not is_name(name):
            wrong(path, "must be named in ASCII letters, digits, _ and -")
        seal = _mapping(each, path, ("by", "slot", "salt", "value"))
        by, slot = _text(seal["by"], f"{path}.by"), _texts(seal["slot"], f"{path}.slot")
        found[name] = s.Sealed(by, slot, _bytes(seal["salt"], f"{path}.salt"), seal["value"])
    return found


def _expect(value: object) -> s.Expect:
    expect = _mapping(value, "$.expect", (), ("cells", "noCells", "reports", "questions"))
    cells, reports = expect.get("cells"), expect.get("reports")
    questions = expect.get("questions")
    return s.Expect(
        cells=None if cells is None else dict(_mapping(cells, "$.expect.cells", (), None)),
        no_cells=_texts(expect["noCells"], "$.expect.noCells") if "noCells" in expect else None,
        reports=None if reports is None else _reports(reports),
        questions=None if questions is None else _questions(questions),
    )


def _reports(value: object) -> dict[str, tuple[str, ...]]:
    reports = _mapping(value, "$.expect.reports", (), None)
    return {name: _texts(codes, below("$.expect.reports", name)) for name, codes in reports.items()}


def _questions(value: object) -> tuple[dict[str, Any], ...]:
    path = "$.expect.questions"
    return tuple(
        dict(_mapping(each, f"{path}[{at}]", (), None)) for at, each in enumerate(_list(value, path))
    )
