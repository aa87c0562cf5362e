"""A snapshot made ready in a thread of its own is the one that would have been kept at once."""

from __future__ import annotations

from pathlib import Path

import pytest
from weighbridge.codec import encode
from weighbridge.codec.errors import CodecRefused
from weighbridge.ledger import Ledger
from weighbridge_services.fold.preparing import Preparing

CELLS = {f"note/{number}": encode({"text": "x" * (number % 900)}) for number in range(3_000)}


def test_what_was_prepared_is_kept_and_read_back(tmp_path: Path) -> None:
    prepared = Preparing(7, CELLS)
    with Ledger.open(tmp_path / "ledger") as ledger:
        snapshots = ledger.snapshots("fold")
        snapshots.save_chunks(prepared.size, prepared.chunks(), prepared.count)
        snapshots.save(8, CELLS)
        assert prepared.ready
        assert snapshots.load(7) == snapshots.load(8) == dict(sorted(CELLS.items()))
        assert ledger.verify().sound


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_what_cannot_be_kept_is_said_to_whoever_wants_to_keep_it() -> None:
    with pytest.raises(CodecRefused):
        Preparing(7, {"\ud800": b"\xf6"}).chunks()
