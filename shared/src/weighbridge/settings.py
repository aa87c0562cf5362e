"""Reading a nested table into structs, collecting every problem with its path instead of stopping at the first."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Final, TypeVar, Union, get_args, get_origin

import msgspec
from msgspec.inspect import LiteralType, StructType, type_info

from weighbridge.errors import Refused

Problem = tuple[str, str]
"""A path and a sentence."""
NOT_THE_SOURCES: Final = frozenset({"plugin", "root", "handover"})
"""What of a source's table the node reads itself: a source that refuses settings it does not know lets these be."""
T = TypeVar("T", bound=msgspec.Struct)


def settings_of(given: Mapping[str, Any], wanted: type[T], path: str, refusal: type[Refused]) -> T:
    """Return a table of settings as a struct, whose fields are all the settings there are.

    Raises `refusal` with every problem, its path and, of a name that is none, the nearest; `detail["problems"]` are
    (path, sentence).
    """
    problems = list(problems_of(given, wanted, path))
    if problems:
        raise refusal("; ".join(f"{where} {says}" for where, says in problems), problems=problems)
    return msgspec.convert(dict(given), wanted)


def problems_of(value: Any, wanted: Any, path: str = "") -> Iterator[Problem]:
    """Yield what is wrong with a value that is to become `wanted`: a struct, a tuple of them, or a plain type."""
    if get_origin(wanted) in (Union, types.UnionType):
        several = [each for each in get_args(wanted) if each is not type(None)]
        wanted = several[0] if len(several) == 1 else wanted
    if get_origin(wanted) is tuple and _is_struct(get_args(wanted)[0]):
        yield from _of_list(value, get_args(wanted)[0], path)
    elif _is_struct(wanted):
        yield from _of_table(value, wanted, path)
    else:
        yield from _of_plain(value, wanted, path)


def _is_struct(wanted: Any) -> bool:
    return isinstance(wanted, type) and issubclass(wanted, msgspec.Struct)


def _of_list(value: Any, wanted: Any, path: str) -> Iterator[Problem]:
    if not isinstance(value, list):
        yield path, f"is to be a list of tables: write [[{path}]]"
        return
    for number, each in enumerate(value):
        yield from problems_of(each, wanted, f"{path}[{number}]")


def _of_table(value: Any, wanted: type[msgspec.Struct], path: str) -> Iterator[Problem]:
    if not isinstance(value, Mapping):
        yield path or "the file", f"is to be a table: write [{path}]"
        return
    info = type_info(wanted)
    assert isinstance(info, StructType)
    hints = {field.name: field.type for field in msgspec.structs.fields(wanted)}
    known = {field.encode_name: hints[field.name] for field in info.fields}
    for key in value:
        if key not in known:
            near = get_close_matches(key, known, 1)
            yield _under(path, key), "is no setting" + (f"; did you mean {near[0]!r}?" if near else "")
    for field in info.fields:
        if field.encode_name in value:
            yield from problems_of(
                value[field.encode_name], known[field.encode_name], _under(path, field.encode_name)
            )
        elif field.required:
            yield _under(path, field.encode_name), "is missing"


def _of_plain(value: Any, wanted: Any, path: str) -> Iterator[Problem]:
    try:
        msgspec.convert(value, wanted)
    except msgspec.ValidationError as error:
        says, _, inner = str(error).partition(" - at `$")
        yield path + inner.removesuffix("`"), _sentence(says) + _allowed(value, wanted)


def _allowed(value: Any, wanted: Any) -> str:
    info = type_info(wanted)
    if not isinstance(info, LiteralType) or not isinstance(value, str):
        return ""
    words = [str(each) for each in info.values]
    near = get_close_matches(value, words, 1)
    return f": it is one of {', '.join(words)}" + (f"; did you mean {near[0]!r}?" if near else "")


def _sentence(says: str) -> str:
    return says[:1].lower() + says[1:]


def _under(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key
