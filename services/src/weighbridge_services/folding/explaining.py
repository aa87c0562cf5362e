"""Why a cell is as it is: every entry that changed it, with what stood there before and after."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from weighbridge import codec
from weighbridge.fold.breach import RuleBreach
from weighbridge.fold.records import place_of

from weighbridge_services.folding.store import FoldStore, read_delta

MOST = 500
"""Changes that are shown at most, the newest."""


def explain(store: FoldStore, key: str) -> dict[str, Any]:
    """Return the history of a cell: `changes`, oldest first, each with its entry and the cell's bytes then.

    `left_out`: how many older ones are not shown. `ruleset` and `pin`: by which rules each change came about.
    """
    seqs = list(store.changes(key))
    shown = seqs[-MOST:]
    changes = [_change(store, key, seq) for seq in shown]
    for before, after in pairwise(changes):
        after["before"] = before["after"]
    if changes and len(shown) < len(seqs):
        changes[0]["before"] = _change(store, key, seqs[-MOST - 1])["after"]
    return {"key": key, "changes": changes, "left_out": len(seqs) - len(shown), "size": store.folded}


def _change(store: FoldStore, key: str, seq: int) -> dict[str, Any]:
    listed = store.log.listed(seq)
    entry = listed.entry
    era = store.era_of(seq)
    return {
        "seq": seq, "at": entry.at, "op": entry.op, "uri": entry.uri, "author": entry.author,
        "cid": None if entry.record is None else str(entry.record), "ruleset": era.name, "pin": era.pin,
        "record": listed.record, "before": None, "after": _value_at(store, key, seq),
        "reports": reports_on(store, entry.uri),
    }  # fmt: skip


def _value_at(store: FoldStore, key: str, seq: int) -> bytes | None:
    era = store.era_of(seq)
    delta = store.transcript(era.origin).delta(era.index_of(seq))
    cid = dict(read_delta(delta)).get(key)
    return None if cid is None else store.ledger.blocks.get(cid)


def reports_on(store: FoldStore, uri: str | None) -> dict[str, str]:
    """Return the reports that stand on a record: code to sentence."""
    try:
        key = f"_/report/{place_of(uri)}" if uri is not None else ""
    except RuleBreach:
        return {}
    last: int | None = None
    for seq in store.changes(key):
        last = seq
    data = None if last is None else _value_at(store, key, last)
    if data is None:
        return {}
    found: Any = codec.decode_own(data)
    return dict(found)
