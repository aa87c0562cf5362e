"""A record of a repository on its way into a log, with everything that proves it, as one block of bytes.

{blocks, doc, grade, key, record, uri}: the commit and the tree's nodes from the root down to the record, the CID
of the DID document that named the key, how the key was come by, the key, the record's bytes (null: there is no
record there any more) and its at-uri. The entry that lists it keeps all but record and uri in its `prov`, so
that a log proves its records by itself.
"""

from __future__ import annotations

from typing import Any, Final, Literal, NamedTuple

import msgspec

from weighbridge.cid import Cid
from weighbridge.codec import decode, decode_as, encode
from weighbridge.errors import Refused
from weighbridge.identity.syntax import AtUri, parse_record_uri
from weighbridge.limits import MAX_PROOF, MAX_RECORD
from weighbridge.repos.commit import Commit, check_commit, read_commit
from weighbridge.repos.errors import ProofForm, ProofMismatch, ProofTooLarge
from weighbridge.repos.keys import parse_did_key
from weighbridge.repos.proof import Proved, check_path, write_proof
from weighbridge.tree import verify

Grade = Literal["proved-now", "seen-by-quorum", "lister-says"]
"""How the key was come by: this node resolved the DID itself, live operators' receipts say so, or the lister does."""

# A map of six; an envelope is one of seven.
_FIRST: Final = b"\xa6"
_MOST: Final = MAX_PROOF + MAX_RECORD + 16_384


class Carried(msgspec.Struct, frozen=True):
    """What is carried, nothing of it checked. `blocks`: the commit, then the nodes from the root down."""

    uri: str
    key: str
    doc: Cid
    blocks: tuple[bytes, ...]
    record: bytes | None
    grade: Grade


class Opened(NamedTuple):
    """What a carried record proves: the record (bytes, CID and value; None: none is there), at a commit."""

    uri: AtUri
    commit: Commit
    cid: Cid | None
    record: bytes | None
    value: dict[str, Any]
    prov: dict[str, Any]

    @property
    def proof(self) -> bytes:
        """The proof as a CAR: what `com.atproto.sync.getRecord` would answer."""
        return write_proof(self.commit, self.prov["blocks"][1:], self.record)


def is_carried(data: bytes) -> bool:
    """Whether bytes look like a carried record rather than an envelope."""
    return data[:1] == _FIRST


def carry(
    uri: str, key: str, doc: Cid, proved: Proved, nodes: list[bytes], grade: Grade = "proved-now"
) -> bytes:
    """Return the bytes that carry a record. Raises ProofTooLarge."""
    blocks = [proved.commit.block, *nodes]
    _check_size(blocks)
    return encode(
        {"uri": uri, "key": key, "doc": doc, "blocks": blocks, "record": proved.record, "grade": grade}
    )


def carry_again(uri: str, prov: dict[str, Any], record: bytes | None) -> bytes | None:
    """Return the bytes that carried a record, from what its entry holds; None where it holds no such proof."""
    if not {"key", "doc", "blocks", "grade"} <= prov.keys():
        return None
    kept = {name: prov[name] for name in ("key", "doc", "blocks", "grade")}
    return encode({"uri": uri, **kept, "record": record})


def open_carried(data: bytes) -> Opened:
    """Return what a carried record proves, all of it checked: the signature, every node, the record.

    That the key is that of the DID is not in it: whoever resolves the DID says so.
    Raises ProofForm, ProofTooLarge, ProofMismatch, and what commits, keys and trees raise.
    """
    if len(data) > _MOST:
        raise ProofTooLarge(f"{len(data)} bytes are more than a record with its proof has")
    try:
        carried = decode_as(data, Carried)
    except Refused as error:
        raise ProofForm(f"the bytes carry no record: {error.message} ({error.code})") from error
    _check_size(carried.blocks)
    uri = parse_record_uri(carried.uri)
    path = f"{uri.collection}/{uri.rkey}"
    check_path(path)
    if not carried.blocks:
        raise ProofForm("a record is carried with its commit")
    if uri.authority.startswith("did:key:") and uri.authority != carried.key:
        raise ProofMismatch(f"{uri.authority} is its own key, and {carried.key} is carried", key=carried.key)
    commit = read_commit(carried.blocks[0])
    check_commit(commit, uri.authority, parse_did_key(carried.key))
    cid = verify(commit.data, path, carried.blocks[1:])
    if cid != (None if carried.record is None else Cid.of(carried.record)):
        raise ProofMismatch(
            f"{carried.uri} is {cid} in the repository, and something else is carried", cid=cid
        )
    prov = {
        "grade": carried.grade, "key": carried.key, "doc": carried.doc, "rev": commit.rev,
        "blocks": list(carried.blocks),
    }  # fmt: skip
    return Opened(uri, commit, cid, carried.record, _value(carried.record), prov)


def _check_size(blocks: list[bytes] | tuple[bytes, ...]) -> None:
    size = sum(len(block) for block in blocks)
    if size > MAX_PROOF:
        raise ProofTooLarge(f"a proof that is listed has at most {MAX_PROOF} bytes, and this has {size}")


def _value(record: bytes | None) -> dict[str, Any]:
    """Return a record's value. Raises what the codec does, and ProofForm for what is no map."""
    if record is None:
        return {}
    value = decode(record)
    if not isinstance(value, dict):
        raise ProofForm("a record is a map")
    return value
