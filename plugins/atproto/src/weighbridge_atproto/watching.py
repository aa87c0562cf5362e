"""What of all repositories is of a game: the collections that are watched, and the records that name the game."""

from __future__ import annotations

from typing import Any, NamedTuple

from weighbridge.ports import Refused
from weighbridge.repos import (
    Car,
    Cid,
    Commit,
    Proved,
    Tree,
    carry,
    check_path,
    codec,
    record_of,
)

from weighbridge_atproto.documents import Identity


class Watched(NamedTuple):
    """The game, and its collections: NSIDs, or beginnings of such (`town.delve.*`)."""

    game: str
    collections: tuple[str, ...]

    def wants(self, did: str, path: str) -> bool:
        """Whether a path may be of the game."""
        collection = path.partition("/")[0]
        return self.game == f"at://{did}/{path}" or any(
            collection.startswith(each[:-1]) if each.endswith(".*") else collection == each
            for each in self.collections
        )

    def is_of_game(self, did: str, path: str, record: bytes) -> bool:
        """Whether a record is of the game: the root itself, or one that names it."""
        if self.game == f"at://{did}/{path}":
            return True
        try:
            value: Any = codec.decode(record)
        except Refused:
            return False
        return isinstance(value, dict) and value.get("game") == self.game


class Bundle(NamedTuple):
    """A commit with its tree, or the part at hand, its blocks and the identity it was verified against."""

    identity: Identity
    commit: Commit
    tree: Tree
    car: Car

    def record(self, path: str, cid: Cid) -> bytes:
        """Return a record. Raises RepoPath, RecordAbsent."""
        check_path(path)
        return record_of(self.car, cid)

    def carry(self, path: str, cid: Cid | None) -> bytes:
        """Return the bytes that carry a record, or its end. Raises RepoPath, RecordAbsent, ProofTooLarge."""
        record = None if cid is None else self.record(path, cid)
        uri = f"at://{self.identity.did}/{path}"
        proved = Proved(self.commit, cid, record)
        return carry(uri, self.identity.key.did_key, self.identity.cid, proved, self.tree.prove(path))
