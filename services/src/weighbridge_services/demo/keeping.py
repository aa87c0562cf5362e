"""What `demo --keep` leaves: the nodes' folders, the game's log in both forms, and where to begin reading."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from weighbridge.logfile import log_to_car, log_to_jsonl

from weighbridge_services.demo.driver import Outcome
from weighbridge_services.demo.errors import DemoFolderInUse

README = """The nodes of `weighbridge demo`, and their game.

game.car, game.jsonl   the game's log: every record, every beacon, every receipt
alma                   the node that listed it, with the broker they all used
bela, cleo, dora       operators who followed, folded and cosigned; evidence/ holds what they have against egon
egon                   the operator with the changed rules, which are in egon-rules

The players' keys are made from words in weighbridge_services.demo.cast, which everybody knows: play with them,
and trust nothing that is signed with them. The operators' keys are in their folders and were made for this run.
"""


@contextmanager
def workspace(keep: Path | None) -> Generator[Path]:
    """Give a folder for the demo: the one to keep, or one that is gone afterwards. Raises DemoFolderInUse."""
    if keep is not None:
        if keep.exists() and (not keep.is_dir() or any(keep.iterdir())):
            raise DemoFolderInUse(f"{keep} holds something already; name a folder that is empty or not there")
        keep.mkdir(parents=True, exist_ok=True)
        yield keep.resolve()
        return
    folder = Path(tempfile.mkdtemp(prefix="weighbridge-demo-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def write_log(folder: Path, outcome: Outcome) -> None:
    """Write the game's log beside the nodes."""
    listed = outcome.checked.listed
    (folder / "game.car").write_bytes(b"".join(log_to_car(listed, listed[-1].cid)))
    (folder / "game.jsonl").write_bytes(b"".join(log_to_jsonl(listed)))
    (folder / "README").write_text(README, encoding="utf-8")
