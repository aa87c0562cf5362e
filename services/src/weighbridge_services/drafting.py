"""Records to try, from a file: envelopes, or plain records that say by whom and of which type they are."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from weighbridge import codec
from weighbridge.dry_run import BadDraft, Draft, draft
from weighbridge.errors import Refused
from weighbridge.identity import envelope_from_json
from weighbridge.identity.envelope import verify_envelope
from weighbridge.scenario.mentions import did_of

from weighbridge_services.standing import Names

PLAIN = ("by", "collection", "kind", "put", "rkey", "as", "value")
"""The fields of a plain record; `kind` and `put` are the last name of its collection, `as` is its record key."""


def drafts_in(path: Path, game: str, collections: Sequence[str], names: Names) -> list[Draft]:
    """Return the records of a file: one JSON object, a list of them, or one a line. Raises BadDraft.

    Each is an envelope, or {by, collection or kind, value} with an `rkey` or none. `names`: of a scenario.
    """
    found = []
    for number, (where, item) in enumerate(_items(path), 1):
        try:
            found.append(_draft(item, number, game, collections, names))
        except Refused as refused:
            raise BadDraft(f"{path}, {where}: {refused.message}") from refused
    if not found:
        raise BadDraft(f"{path} holds no record to try")
    return found


def _items(path: Path) -> Iterator[tuple[str, Any]]:
    data = path.read_bytes()
    try:
        whole = json.loads(data)
    except (ValueError, RecursionError):
        yield from _lines(path, data)
        return
    for number, item in enumerate(whole if isinstance(whole, list) else [whole], 1):
        yield f"record {number}", item


def _lines(path: Path, data: bytes) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(data.splitlines(), 1):
        if line.strip():
            try:
                yield f"line {number}", json.loads(line)
            except (ValueError, RecursionError) as error:
                raise BadDraft(f"{path}, line {number} holds no JSON: {error}") from error


def _draft(item: Any, number: int, game: str, collections: Sequence[str], names: Names) -> Draft:
    if not isinstance(item, dict):
        raise BadDraft("a record to try is an object, with by, collection (or kind) and value")
    if "sig" in item:
        return _signed(item, game)
    unknown = sorted(name for name in item if name not in PLAIN)
    if unknown or "by" not in item or "value" not in item:
        says = f"has the unknown fields {', '.join(unknown)}" if unknown else "needs by and value"
        raise BadDraft(f"a record to try {says}; its fields are {', '.join(PLAIN)}")
    by = item["by"]
    author = did_of(by) if isinstance(by, str) else by
    rkey = item.get("rkey", item.get("as", f"try.{number}"))
    value = codec.from_json(names.value(item["value"]))
    return draft(game, author, _collection(item, collections), rkey, value)


def _collection(item: dict[str, Any], collections: Sequence[str]) -> Any:
    if "collection" in item:
        return item["collection"]
    kind = item.get("kind", item.get("put"))
    found = [nsid for nsid in collections if nsid.rpartition(".")[2] == kind]
    if not found:
        last = ", ".join(sorted({nsid.rpartition(".")[2] for nsid in collections}))
        raise BadDraft(f"{kind!r} is no kind of record of this game; it has {last}")
    return found[0]


def _signed(item: dict[str, Any], game: str) -> Draft:
    envelope = envelope_from_json(item)
    verify_envelope(envelope)
    if envelope.game not in (None, game):
        raise BadDraft(f"the envelope is of another game, {envelope.game}")
    return Draft(envelope.author, envelope.collection, envelope.rkey, envelope.record)
