"""What can be wrong with a repository's key, commit, slice and proof."""

from __future__ import annotations

from typing import ClassVar

from weighbridge.errors import Refused


class RepoRefused(Refused):
    """What every refusal of a repository is."""


class RepoKey(RepoRefused):
    """The text names no public key of K-256 or P-256."""

    code: ClassVar[str] = "repo-key"


class SignatureForm(RepoRefused):
    """The signature is not 64 bytes, r and s, each within the order of the curve."""

    code: ClassVar[str] = "commit-signature-form"


class SignatureHighS(RepoRefused):
    """The signature's s lies in the upper half: anyone can make that of a good one, so that none is taken."""

    code: ClassVar[str] = "commit-high-s"


class SignatureWrong(RepoRefused):
    """The signature is not that of the key over the commit."""

    code: ClassVar[str] = "commit-signature"


class CommitForm(RepoRefused):
    """A commit that is not {data, did, prev, rev, sig, version}, each of its type."""

    code: ClassVar[str] = "commit-form"


class CommitVersion(RepoRefused):
    """A commit of another version than 3."""

    code: ClassVar[str] = "commit-version"


class CommitOtherDid(RepoRefused):
    """The commit is of another repository than the one asked about."""

    code: ClassVar[str] = "commit-other-did"


class RevInFuture(RepoRefused):
    """The commit's rev lies further ahead than `limits.MAX_REV_AHEAD`."""

    code: ClassVar[str] = "commit-rev-future"


class RevNotAfter(RepoRefused):
    """The commit's rev is not after the last one: a commit of before, or one told twice."""

    code: ClassVar[str] = "commit-rev-order"


class CarRoot(RepoRefused):
    """A CAR that names no root, or does not hold the block of its first one."""

    code: ClassVar[str] = "repo-car-root"


class CarTooLarge(RepoRefused):
    """A CAR of more bytes or blocks than are read."""

    code: ClassVar[str] = "repo-car-size"


class RepoPath(RepoRefused):
    """A key of a repository's tree that is not `<collection>/<record key>`."""

    code: ClassVar[str] = "repo-path"


class RecordAbsent(RepoRefused):
    """A CAR does not hold the record that the repository's tree names."""

    code: ClassVar[str] = "repo-record-absent"


class ProofForm(RepoRefused):
    """Bytes that are to carry a record with its proof, and do not."""

    code: ClassVar[str] = "repo-proof-form"


class ProofTooLarge(RepoRefused):
    """A proof of more bytes than an entry has room for."""

    code: ClassVar[str] = "repo-proof-size"


class ProofMismatch(RepoRefused):
    """What is carried is not what the repository holds at that path."""

    code: ClassVar[str] = "repo-proof-mismatch"
