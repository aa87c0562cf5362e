"""What a fold came to, in the words that commands and services show: transcript, reports, questions, page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from weighbridge import codec
from weighbridge.contract import Table, View
from weighbridge.fold import Fold
from weighbridge.fold.records import place_of

REPORTS = "_/report/"
QUESTIONS = "_/question/"


class Places:
    """The at-uris behind the cells' short names of records, noted as entries come by."""

    def __init__(self) -> None:
        self._uris: dict[str, str] = {}

    def note(self, uri: str | None) -> None:
        """Remember a record's place."""
        if uri is not None:
            self._uris.setdefault(place_of(uri), uri)

    def uri(self, place: str) -> str:
        """Return the at-uri of a place, or the place itself where no entry had it."""
        return self._uris.get(place, place)


def reports(table: Table, places: Places) -> Iterator[tuple[str, str, str]]:
    """Yield (at-uri, code, sentence) of every report that stands, sorted by record and code."""
    for key, codes in table.items(REPORTS):
        for code in sorted(codes):
            yield places.uri(key.removeprefix(REPORTS)), code, codes[code]


def questions(table: Table) -> Iterator[dict[str, Any]]:
    """Yield every open question as JSON, the oldest first."""
    found = [{"id": key.removeprefix(QUESTIONS), **cell} for key, cell in table.items(QUESTIONS)]
    yield from sorted(found, key=lambda each: (each.get("asked", 0), each["id"]))


def chain_label(fold: Fold) -> str | None:
    """Return what the chain of the game's dice is called, or None before a root has opened the game."""
    first = fold.world.first_root()
    return None if first is None else first.chain.label


def transcript(fold: Fold) -> dict[str, Any]:
    """Return the transcript as JSON: its origin, size and root (hex), and the ended ones before it."""
    ended = [{"origin": origin, "size": size, "root": root.hex()} for origin, size, root in fold.eras]
    log = fold.transcript
    now = {"origin": fold.origin, "size": log.size, "root": log.root().hex()}
    return {**now, "stateRoot": str(fold.state_root()), **({"before": ended} if ended else {})}


def as_json(fold: Fold, view: View, places: Places, cells: bool) -> dict[str, Any]:
    """Return the whole outcome as JSON; with `cells`, every cell too (AT Protocol JSON)."""
    standing: dict[str, dict[str, str]] = {}
    for uri, code, sentence in reports(fold.table, places):
        standing.setdefault(uri, {})[code] = sentence
    found = {
        "game": fold.game,
        "entries": fold.size,
        "chain": chain_label(fold),
        "transcript": transcript(fold),
        "reports": standing,
        "questions": list(questions(fold.table)),
        "view": msgspec.to_builtins(view),
    }
    return found | ({"cells": all_cells(fold)} if cells else {})


def all_cells(fold: Fold) -> dict[str, Any]:
    """Return every cell as AT Protocol JSON, by key."""
    return {key: _plain(data) for key, data in fold.world.cells.everything().items()}


def _plain(data: bytes) -> Any:
    value = codec.decode_own(data)
    try:
        return codec.to_json(value)
    except codec.CodecRefused:
        # A map that a player wrote may have a key `$link`, which AT Protocol JSON has no way to say.
        return {"dagCbor": codec.to_json(data)}
