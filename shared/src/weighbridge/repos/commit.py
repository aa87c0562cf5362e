"""The signed commit of a repository, version 3: what it says, what it signs, and the order of revs.

A commit is DAG-CBOR, {data, did, prev, rev, sig, version}; its signature is over the SHA-256 of the same map
without `sig`, its CID over the whole. Source: AT Protocol, "Repository".
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from weighbridge.cid import DAG_CBOR, Cid
from weighbridge.codec import decode, encode
from weighbridge.codec.errors import CodecRefused
from weighbridge.identity.syntax import is_did, is_tid, tid_time
from weighbridge.limits import MAX_COMMIT, MAX_REV_AHEAD
from weighbridge.repos.errors import CommitForm, CommitOtherDid, CommitVersion, RevInFuture, RevNotAfter
from weighbridge.repos.keys import RepoPublicKey

VERSION: Final = 3
_FIELDS: Final = frozenset(("data", "did", "prev", "rev", "sig", "version"))


class Commit(NamedTuple):
    """A commit: of which repository, at which `rev` (a TID), the root of its tree, the signature, its own bytes."""

    cid: Cid
    did: str
    rev: str
    data: Cid
    prev: Cid | None
    sig: bytes
    block: bytes

    @property
    def signed(self) -> bytes:
        """The bytes that the signature is over."""
        return encode(
            {"data": self.data, "did": self.did, "prev": self.prev, "rev": self.rev, "version": VERSION}
        )

    @property
    def at(self) -> int:
        """The time (µs) that the rev names: a clock of whoever hosts the repository."""
        return tid_time(self.rev)


def read_commit(block: bytes) -> Commit:
    """Return the commit of a block, its signature not yet checked. Raises CommitForm, CommitVersion."""
    if len(block) > MAX_COMMIT:
        raise CommitForm(f"a commit has at most {MAX_COMMIT} bytes, and this has {len(block)}")
    try:
        value: Any = decode(block)
    except CodecRefused as error:
        raise CommitForm(f"the commit is no strict DAG-CBOR: {error.message} ({error.code})") from error
    if not isinstance(value, dict):
        raise CommitForm("a commit is a map")
    version = value.get("version")
    if type(version) is not int or version != VERSION:
        raise CommitVersion(f"commits of version {VERSION} are read here, and this has {version!r:.40}")
    if value.keys() != _FIELDS:
        odd = sorted(value.keys() ^ _FIELDS)
        raise CommitForm(f"a commit has data, did, prev, rev, sig and version; amiss: {odd!r:.200}")
    _check_fields(value)
    return Commit(
        Cid.of(block), value["did"], value["rev"], value["data"], value["prev"], value["sig"], block
    )


def _check_fields(value: dict[str, Any]) -> None:
    fits = {
        "did": is_did(value["did"]),
        "rev": is_tid(value["rev"]),
        "data": _is_block(value["data"]),
        "prev": value["prev"] is None or _is_block(value["prev"]),
        "sig": type(value["sig"]) is bytes,
    }
    for name, fine in fits.items():
        if not fine:
            raise CommitForm(f"{name} of a commit is not {value[name]!r:.200}", field=name)


def _is_block(value: object) -> bool:
    return type(value) is Cid and value.codec == DAG_CBOR


def check_commit(commit: Commit, did: str, key: RepoPublicKey) -> None:
    """Check that a commit is of this repository and signed by this key.

    Raises CommitOtherDid, SignatureForm, SignatureHighS and SignatureWrong.
    """
    if commit.did != did:
        raise CommitOtherDid(f"the commit is of {commit.did}, not of {did}", did=commit.did)
    key.verify(commit.signed, commit.sig)


def check_rev(rev: str, last: str | None, now: int) -> None:
    """Check that a rev is after the last one and not of the future, at a time (µs).

    Raises RevNotAfter, RevInFuture.
    """
    if last is not None and rev <= last:
        raise RevNotAfter(f"rev {rev} is not after {last}", rev=rev, last=last)
    ahead = tid_time(rev) - now
    if ahead > MAX_REV_AHEAD:
        raise RevInFuture(f"rev {rev} lies {ahead // 1_000_000} s ahead", rev=rev)
