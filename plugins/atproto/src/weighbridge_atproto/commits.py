"""A commit from a stream, verified: its blocks, its fields, its signature, and every operation undone.

Only the commit is signed. That the operations are all there are and nothing else follows from undoing them in
the tree: the root must be `prevData`, and that the root this node knew before (see `chain`).
"""

from __future__ import annotations

from typing import NamedTuple

from weighbridge.repos import Car, Cid, Commit, Tree, check_commit, load, read_commit, read_slice

from weighbridge_atproto.chain import Link
from weighbridge_atproto.documents import Identity
from weighbridge_atproto.errors import (
    Inversion,
    MessageMismatch,
    OpForm,
    OpMismatch,
    OpTwice,
)
from weighbridge_atproto.frames import CommitFrame, Op, SyncFrame
from weighbridge_atproto.watching import Bundle


class Change(NamedTuple):
    """What a commit did to one path: the record's CID after it and before it, None where there is none."""

    path: str
    cid: Cid | None
    prev: Cid | None


class VerifiedCommit(NamedTuple):
    """A commit whose blocks, fields, signature and operations hold; whether it follows, the chain says.

    `bundle`: what proves each record of it. What is wrong with one record costs that record, and no other.
    """

    bundle: Bundle
    since: str | None
    prev_data: Cid
    changes: tuple[Change, ...]

    @property
    def commit(self) -> Commit:
        """The commit itself."""
        return self.bundle.commit

    def link(self, number: int, size: int = 0) -> Link:
        """Return what the chain needs of it; `number` and `size` are those of its frame."""
        return Link(number, self.commit.rev, self.since, self.prev_data, self.commit.data, size)


def open_message(frame: CommitFrame | SyncFrame) -> tuple[Commit, Car]:
    """Return the commit of a message and its blocks, all hashed; the message and the commit agree.

    Raises MessageMismatch, and what `read_slice` and `read_commit` do.
    """
    car = read_slice(frame.blocks)
    if isinstance(frame, CommitFrame) and car.root != frame.commit:
        raise MessageMismatch(f"the message names the commit {frame.commit}, and holds {car.root}")
    commit = read_commit(car.head)
    if commit.did != frame.repo:
        raise MessageMismatch(f"the message is of {frame.repo}, and its commit of {commit.did}")
    if commit.rev != frame.rev:
        raise MessageMismatch(f"the message is of rev {frame.rev}, and its commit of {commit.rev}")
    return commit, car


def verify_commit(frame: CommitFrame, identity: Identity) -> VerifiedCommit:
    """Return the commit of a message, verified against the identity of its repository.

    Raises what `open_message`, `check_commit` and `check_ops` do.
    """
    commit, car = open_message(frame)
    check_commit(commit, identity.did, identity.key)
    return check_ops(frame, identity, commit, car)


def check_ops(frame: CommitFrame, identity: Identity, commit: Commit, car: Car) -> VerifiedCommit:
    """Check every operation against the tree of the commit, and undo all of them.

    Raises OpForm, OpTwice, OpMismatch, Inversion, and what `tree.load` does.
    """
    tree = load(car.blocks, commit.data, partial=True)
    seen: set[str] = set()
    for op in frame.ops:
        _check_op(op, tree, seen)
    before = tree.update({op.path: op.prev for op in frame.ops}).root
    # Of a repository's first commit nothing comes before: undone, it must be empty.
    expected = Tree.empty().root if frame.prev_data is None else frame.prev_data
    if before != expected:
        raise Inversion(
            f"undone, the operations lead to {before}, and prevData is {frame.prev_data or 'absent'}",
            found=before,
        )
    changes = tuple(Change(op.path, op.cid, op.prev) for op in frame.ops)
    return VerifiedCommit(Bundle(identity, commit, tree, car), frame.since, expected, changes)


def _check_op(op: Op, tree: Tree, seen: set[str]) -> None:
    if op.path in seen:
        raise OpTwice(f"two operations are on {op.path!r:.200}", path=op.path)
    seen.add(op.path)
    has_cid, has_prev = op.cid is not None, op.prev is not None
    if (has_cid, has_prev) != (op.action != "delete", op.action != "create"):
        raise OpForm(f"a {op.action} has not these of cid and prev: {op.path!r:.200}", path=op.path)
    found = tree.get(op.path)
    if found != op.cid:
        raise OpMismatch(
            f"{op.action} of {op.path!r:.200} says {op.cid}, and the tree has {found}", path=op.path
        )
