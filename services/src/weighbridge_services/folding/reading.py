"""Looking into another service's ledger: for reading only, without its lock, while it may be written."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from weighbridge.errors import WeighbridgeError
from weighbridge.ledger import Ledger, LedgerMissing
from weighbridge.ledger.database import Database
from weighbridge.ledger.opening import connect, look

from weighbridge_services.config import ForeignNode
from weighbridge_services.node import Node


@contextmanager
def read_ledger(path: Path) -> Generator[Ledger]:
    """Open a ledger for reading, as of now. Raises LedgerMissing, ForeignLedger, LedgerCorrupt, DiskError."""
    where = path.absolute()
    if not look(where):
        raise LedgerMissing(f"there is no ledger at {where}; has the service run?", path=str(where))
    database = Database(connect(where, write=False), where)
    try:
        # One transaction for the whole look: what is read belongs together although the writer goes on.
        database.fetch("ledger", "begin", "BEGIN")
        yield Ledger(database, -1)
    finally:
        database.connection.close()


def refuse_foreign_ledgers(node: Node) -> None:
    """Raise ForeignNode if a ledger in the node's folder is another operator's, before anything of it runs."""
    for path in sorted((node.folder / "ledger").glob("*.db")):
        try:
            with read_ledger(path) as ledger:
                node.refuse_foreign(ledger, path)
        except ForeignNode:
            raise
        except WeighbridgeError:
            continue  # a damaged one stops the service whose it is, which says what to do
