"""A game's log as lines of AT Protocol JSON, for people and for tools that know nothing else.

A line is `{"cid": text, "entry": …, "record": …}`; `record` is absent where the entry has none. A value
that has no AT Protocol JSON (a map with a key `$link`, say) stands under `entryBytes` or `recordBytes` as
the base64 of its DAG-CBOR. Reading encodes again, so the CID shows whether the line is what was written.
That lines are missing at the end shows nowhere: compare with a checkpoint, or use a CAR file.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Iterator
from typing import Any, Final, NoReturn

from weighbridge.cid import DAG_CBOR, Cid
from weighbridge.codec import decode, encode, from_json, to_json
from weighbridge.errors import Refused
from weighbridge.limits import MAX_LOG_LINE
from weighbridge.log.entries import Listed
from weighbridge.logfile.errors import LineCid, LineEnd, LineForm, LineNotJson, LineTooLong
from weighbridge.logfile.whole import Chain

_FIELDS: Final = ("cid", "entry", "entryBytes", "record", "recordBytes")


def log_to_jsonl(entries: Iterable[Listed]) -> Iterator[bytes]:
    """Yield the log's lines in UTF-8, each with its line feed."""
    for listed in entries:
        line: dict[str, Any] = {"cid": str(listed.cid)}
        _put(line, "entry", listed.data, DAG_CBOR)
        if listed.entry.record is not None and listed.record is not None:
            _put(line, "record", listed.record, listed.entry.record.codec)
        yield json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _put(line: dict[str, Any], name: str, data: bytes, codec: int) -> None:
    try:
        if codec == DAG_CBOR:
            line[name] = to_json(decode(data))
            return
    except Refused:
        pass
    line[f"{name}Bytes"] = base64.b64encode(data).decode("ascii")


def log_from_jsonl(pieces: Iterable[bytes], game: str | None = None) -> Iterator[Listed]:
    """Yield the entries of a log in JSONL, given in pieces of any size, each verified as the next in its log.

    Without `game` the file may be any game's. Errors: those of `logfile.errors`, `log.read_listed` and
    `log.check_next`, each with the `line` (from 1) in its detail.
    """
    chain = Chain(game)
    for number, line in enumerate(_lines(pieces), 1):
        fields = _fields(line, number)
        data, record = _value(fields, "entry", number), _value(fields, "record", number)
        if data is None:
            raise LineForm(f"line {number}: neither entry nor entryBytes", line=number)
        if str(Cid.of(data)) != fields.get("cid"):
            says = f"the entry is {Cid.of(data)}, and the line says {fields.get('cid')!r}"
            raise LineCid(f"line {number}: {says}", line=number)
        yield chain.next(data, record, line=number)


def _lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    held, number = bytearray(), 1
    for piece in pieces:
        searched = len(held)
        held += piece
        start = 0
        while (end := held.find(b"\n", max(start, searched))) >= 0:
            _check_length(end + 1 - start, number)
            yield bytes(held[start:end])
            start, number = end + 1, number + 1
        del held[:start]
        _check_length(len(held), number)
    if held:
        raise LineEnd(f"line {number}: the file ends without a line feed: it was cut off here", line=number)


def _check_length(length: int, number: int) -> None:
    if length > MAX_LOG_LINE:
        raise LineTooLong(f"line {number}: longer than {MAX_LOG_LINE} bytes", line=number)


def _fields(line: bytes, number: int) -> dict[str, Any]:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            raise LineNotJson(f"line {number}: an object has a key twice", line=number)
        return found

    def no_number(text: str) -> NoReturn:
        raise LineForm(f"line {number}: {text} is no integer, and a log has no other numbers", line=number)

    try:
        fields = json.loads(
            line.decode(), object_pairs_hook=once, parse_float=no_number, parse_constant=no_number
        )
    except (ValueError, RecursionError) as error:
        raise LineNotJson(f"line {number}: not JSON in UTF-8: {error}", line=number) from error
    if not isinstance(fields, dict):
        raise LineForm(f"line {number}: not an object", line=number)
    for name in fields:
        if name not in _FIELDS:
            raise LineForm(f"line {number}: there is no field {name!r} in a line of a log", line=number)
    return fields


def _value(fields: dict[str, Any], name: str, number: int) -> bytes | None:
    plain, given = name in fields, f"{name}Bytes" in fields
    if plain and given:
        raise LineForm(f"line {number}: both {name} and {name}Bytes", line=number)
    if given:
        return _from_base64(fields[f"{name}Bytes"], name, number)
    if not plain:
        return None
    try:
        return encode(from_json(fields[name]))
    except Refused as error:
        raise LineForm(f"line {number}, {name}: {error.message}", line=number) from error


def _from_base64(text: object, name: str, number: int) -> bytes:
    try:
        if isinstance(text, str):
            data = base64.b64decode(text, validate=True)
            if base64.b64encode(data).decode("ascii") == text:
                return data
    except (binascii.Error, ValueError):
        pass
    raise LineForm(f"line {number}: {name}Bytes is not base64 in its one form", line=number)
