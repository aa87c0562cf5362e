"""Why a cell is as it is: every entry that changed it, with what stood there before and after."""

from __future__ import annotations

from typing import Any

from weighbridge import codec
from weighbridge.changes import MOST, reasons, reports_on
from weighbridge.contract import RuleSet
from weighbridge.fold.breach import RuleBreach

from weighbridge_services.folding.store import CHUNK, STATE, FoldStore, read_delta


def explain(store: FoldStore, key: str, ruleset: RuleSet | None = None) -> dict[str, Any]:
    """Return the history of a cell: `changes`, oldest first, each with its entry and the cell's bytes then.

    `left_out`: how many older ones are not shown. `ruleset` and `pin`: by which rules each change came about. With
    a `ruleset`, `says`: why each came about, in its sentences.
    """
    seqs, past = list(store.changes(key)), Past(store)
    changes = [_change(past, key, seq, ruleset) for seq in seqs[-MOST:]]
    return {"key": key, "changes": changes, "left_out": len(seqs) - len(changes), "size": store.folded}


class Past:
    """The cells of a fold as they stood after each entry, read from what each changed."""

    def __init__(self, store: FoldStore) -> None:
        self.store = store
        self._chunks: dict[int, dict[str, list[int]]] = {}

    def value(self, key: str, seq: int) -> bytes | None:
        """Return a cell's bytes as they stood after entry `seq`, or None."""
        last = self._last_change(key, seq)
        return None if last is None else self._changed_to(key, last)

    def cells(self, seq: int) -> dict[str, tuple[bytes | None, bytes | None]]:
        """Return what stood in each cell that entry `seq` changed before it, and after."""
        keys = [key for key, _ in self._delta(seq) if key != STATE]
        return {key: (self.value(key, seq - 1), self._changed_to(key, seq)) for key in keys}

    def _last_change(self, key: str, seq: int) -> int | None:
        for chunk in range(seq // CHUNK, -1, -1):
            if chunk not in self._chunks:
                self._chunks[chunk] = self.store.changed_in(chunk)
            places = [each for each in self._chunks[chunk].get(key, ()) if chunk * CHUNK + each <= seq]
            if places:
                return chunk * CHUNK + places[-1]
        return None

    def _changed_to(self, key: str, seq: int) -> bytes | None:
        cid = dict(self._delta(seq)).get(key)
        return None if cid is None else self.store.ledger.blocks.get(cid)

    def _delta(self, seq: int) -> list[tuple[str, Any]]:
        era = self.store.era_of(seq)
        return read_delta(self.store.transcript(era.origin).delta(era.index_of(seq)))


def _change(past: Past, key: str, seq: int, ruleset: RuleSet | None) -> dict[str, Any]:
    store = past.store
    listed = store.log.listed(seq)
    entry, era = listed.entry, store.era_of(seq)
    found = {
        "seq": seq, "at": entry.at, "op": entry.op, "uri": entry.uri, "author": entry.author,
        "cid": None if entry.record is None else str(entry.record), "ruleset": era.name, "pin": era.pin,
        "record": listed.record, "before": past.value(key, seq - 1), "after": past.value(key, seq),
        "reports": _reports_on(past, entry.uri),
    }  # fmt: skip
    if ruleset is None:
        return found

    def look(other: str) -> Any:
        data = past.value(other, seq)
        return None if data is None else codec.decode_own(data)

    return found | {"says": list(reasons(ruleset, key, listed, past.cells(seq), look))}


def _reports_on(past: Past, uri: str | None) -> dict[str, str]:
    """Return the reports that stand on a record now: code to sentence."""

    def look(key: str) -> Any:
        data = past.value(key, past.store.folded - 1)
        return None if data is None else codec.decode_own(data)

    try:
        return reports_on(look, uri)
    except RuleBreach:
        return {}
