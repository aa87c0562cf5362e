"""The proof of one record: the signed commit, the nodes of the tree down to it, and the record.

Held by itself it says: the repository of this DID held this record, or held none there, at this rev, as this
key signed it. Whose key it was, a DID document says, and that may change afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from weighbridge.cid import Cid
from weighbridge.identity.syntax import is_nsid, is_rkey
from weighbridge.limits import MAX_RECORD
from weighbridge.logfile.car import write_car
from weighbridge.repos.car import Car, read_slice
from weighbridge.repos.commit import Commit, check_commit, read_commit
from weighbridge.repos.errors import RecordAbsent, RepoPath
from weighbridge.repos.keys import RepoPublicKey
from weighbridge.tree import Tree, lookup


class Proved(NamedTuple):
    """What a proof says: the commit, and the record at the path with its CID; None where there is none."""

    commit: Commit
    cid: Cid | None
    record: bytes | None


def check_path(path: str) -> tuple[str, str]:
    """Return the collection and the record key of a path. Raises RepoPath."""
    collection, _, rkey = path.partition("/")
    if not is_nsid(collection) or not is_rkey(rkey):
        raise RepoPath(f"{path!r:.200} is no <collection>/<record key>", path=path)
    return collection, rkey


def read_proof(data: bytes, did: str, path: str, key: RepoPublicKey) -> Proved:
    """Return what a proof (a CAR) says of a path in the repository of a DID, signed by a key.

    Raises what `read_slice`, `check_commit` and `tree.lookup` do, RepoPath and RecordAbsent.
    """
    check_path(path)
    car = read_slice(data)
    commit = read_commit(car.head)
    check_commit(commit, did, key)
    return proved(commit, path, car)


def proved(commit: Commit, path: str, car: Car) -> Proved:
    """Return what blocks prove of a path, under a commit that is checked."""
    cid = lookup(commit.data, path, car.blocks)
    return Proved(commit, cid, None if cid is None else record_of(car, cid))


def record_of(car: Car, cid: Cid) -> bytes:
    """Return the bytes of a record among blocks. Raises RecordAbsent, also of one too large to be listed."""
    record = car.blocks.get(cid)
    if record is None:
        raise RecordAbsent(f"the record {cid} is not among the blocks", cid=cid)
    if len(record) > MAX_RECORD:
        raise RecordAbsent(f"the record {cid} has {len(record)} bytes, more than {MAX_RECORD}", cid=cid)
    return record


def prove(commit: Commit, tree: Tree, path: str, record: bytes | None) -> bytes:
    """Return the proof of a path, shortest and always the same: commit, nodes from the root down, record."""
    return write_proof(commit, tree.prove(path), record)


def write_proof(commit: Commit, nodes: Sequence[bytes], record: bytes | None) -> bytes:
    """Return a proof of these parts."""
    blocks = [(commit.cid, commit.block), *((Cid.of(node), node) for node in nodes)]
    if record is not None:
        blocks.append((Cid.of(record), record))
    return b"".join(write_car([commit.cid], blocks))
