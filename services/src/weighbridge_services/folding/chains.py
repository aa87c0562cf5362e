"""What the chain of a game's dice is called: from what its fold has kept, without folding."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from weighbridge import codec
from weighbridge.chain import Chain, chain_of
from weighbridge.errors import WeighbridgeError
from weighbridge.fold.world import ROOT_KEY, RootCell

from weighbridge_services.folding.explaining import Past
from weighbridge_services.folding.reading import read_ledger
from weighbridge_services.folding.store import LEDGER, FoldStore


def label_of(store: FoldStore) -> str | None:
    """Return what the chain of a game's dice is called, or None before a root has opened the game."""
    chain = chain_in(store)
    return None if chain is None else chain.label


def label_at(folder: Path, game: str) -> str | None:
    """Return the same of a node's folder; None too where there is no ledger yet or none that can be read."""
    chain = chain_at(folder, game)
    return None if chain is None else chain.label


def chain_at(folder: Path, game: str) -> Chain | None:
    """Return the chain of a game's dice as a node's folder knows it; None as `label_at`."""
    try:
        with read_ledger(folder / "ledger" / f"{LEDGER}.db") as ledger:
            return chain_in(FoldStore(ledger, game))
    except WeighbridgeError:
        return None


def chain_in(store: FoldStore) -> Chain | None:
    """Return the chain of a game's dice, or None before a root has opened the game."""
    data = Past(store).value(ROOT_KEY, store.folded - 1) if store.folded else None
    versions = () if data is None else codec.decode_as(data, RootCell).versions
    if not versions:
        return None
    value: Any = codec.decode_own(store.log.listed(versions[0][1]).record or b"")
    return chain_of(value.get("beacon"))[0].chain
