"""Repositories made for tests: signed commits, proofs and the frames of a stream, of either curve."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from weighbridge import codec
from weighbridge.cid import Cid
from weighbridge.logfile import write_car
from weighbridge.repos import K256, P256, Commit, RepoPublicKey, Tree, read_commit

CURVES = {K256: ec.SECP256K1(), P256: ec.SECP256R1()}
ORDERS = {
    K256: 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141,
    P256: 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551,
}
LETTERS = "234567abcdefghijklmnopqrstuvwxyz"
NOW = 1_700_000_000_000_000
MOVES = "town.delve.move"
ALICE = "did:plc:" + "a" * 24
BOB = "did:plc:" + "b" * 24


def tid(at: int) -> str:
    """The TID of a time (µs)."""
    number, letters = at << 10, ""
    for _ in range(13):
        number, digit = divmod(number, 32)
        letters = LETTERS[digit] + letters
    return letters


@dataclass
class Key:
    """A key pair of a curve, the same for the same number."""

    curve: str = K256
    number: int = 7

    def __post_init__(self) -> None:
        self.private = ec.derive_private_key(self.number, CURVES[self.curve])
        public = self.private.public_key()
        self.point = public.public_bytes(Encoding.X962, PublicFormat.CompressedPoint)
        self.long_point = public.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        self.public = RepoPublicKey(self.curve, self.point)

    def sign(self, message: bytes, *, high: bool = False) -> bytes:
        r, s = decode_dss_signature(self.private.sign(message, ec.ECDSA(SHA256())))
        order = ORDERS[self.curve]
        if (s > order // 2) != high:
            s = order - s
        return r.to_bytes(32, "big") + s.to_bytes(32, "big")


@dataclass
class Made:
    """A repository under way: its tree, its records, its last commit."""

    did: str = ALICE
    key: Key = field(default_factory=Key)
    at: int = NOW
    tree: Tree = field(default_factory=Tree.empty)
    records: dict[Cid, bytes] = field(default_factory=dict)
    last: Commit | None = None
    seq: int = 0

    def sign(self, **changed: Any) -> Commit:
        """Sign the tree as it stands, with fields of the commit changed, and `high` for a signature of high s."""
        high = changed.pop("high", False)
        fields = {"data": self.tree.root, "did": self.did, "prev": None, "rev": tid(self.at), "version": 3}
        fields |= changed
        sig = self.key.sign(codec.encode(fields), high=high)
        return read_commit(codec.encode({**fields, "sig": sig}))

    def put(self, changes: Mapping[str, object | None]) -> list[dict[str, Any]]:
        """Change records by path (None: delete); return the operations."""
        ops = []
        for path, value in changes.items():
            before = self.tree.get(path)
            op: dict[str, Any] = {"path": path, "cid": None}
            if before is not None:
                op["prev"] = before
            if value is not None:
                block = codec.encode(value)
                op["cid"] = Cid.of(block)
                self.records[op["cid"]] = block
            op["action"] = "delete" if value is None else "update" if before else "create"
            self.tree = self.tree.update({path: op["cid"]})
            ops.append(op)
        return ops

    def commit(self, changes: Mapping[str, object | None], **changed: Any) -> dict[str, Any]:
        """Make a commit of these changes; return the body of its message. `changed`: fields of the commit."""
        self.at += 1_000_000
        before, old = self.tree, self.last
        ops = self.put(changes)
        commit = self.last = self.sign(**changed)
        self.seq += 1
        body: dict[str, Any] = {
            "blobs": [], "blocks": self.slice(commit, before), "commit": commit.cid, "ops": ops,
            "rebase": False, "repo": self.did, "rev": commit.rev, "seq": self.seq,
            "since": old.rev if old else None, "time": "2023-11-14T22:13:20.000Z", "tooBig": False,
        }  # fmt: skip
        if old is not None:
            body["prevData"] = before.root
        return body

    def slice(self, commit: Commit, before: Tree) -> bytes:
        """The blocks of a commit: here the whole tree and every record, which is allowed."""
        blocks = {**dict(before.blocks()), **dict(self.tree.blocks()), **self.records}
        blocks[commit.cid] = commit.block
        return b"".join(write_car([commit.cid], blocks.items()))

    def export(self) -> bytes:
        """The whole repository as a CAR."""
        commit = self.last or self.sign()
        return self.slice(commit, self.tree)


def frame(body: Mapping[str, Any], kind: str = "#commit", op: int = 1) -> bytes:
    """A frame with this body."""
    return codec.encode({"op": op, "t": kind}) + codec.encode(body)


def with_block_flipped(car: bytes) -> bytes:
    """The same CAR with one bit of its last block flipped."""
    return car[:-1] + bytes([car[-1] ^ 1])
