"""When a record that this node holds counts as withheld by the lister. Pure.

Not while this node is behind the lister's log, and not while the lister is away: the log has to have gone on past
the time that a record had, and the lister to have shown life for as long since. What the author has replaced and
the log shows replaced is not missed; neither is what came on a day that was full for its author.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from weighbridge import codec
from weighbridge.cid import Cid
from weighbridge.fold.records import BEACON, DAY, RECEIPT

from weighbridge_services.ingest.decide import Known
from weighbridge_services.ingest.following import Fault
from weighbridge_services.ingest.opening import Opened, Refusal

SECOND: Final = 1_000_000
SAID_ELSEWHERE: Final = (BEACON, RECEIPT)
"""Collections of which the lister lists one where many say the same."""
LATER: Final = frozenset(("flooded", "other-lister"))
"""Codes of rejections that hold of a record which verifies: whether the day is full is looked up in the log."""


class Awaited(NamedTuple):
    """A version of a record, or its end (no `record`), that the log is to list.

    `at`: when this node came by it (µs). `found`: whether its own source found it; else it was handed in here.
    `given`: the CID of the bytes in which it came. `proof`: those bytes, where they are few enough to be shown.
    """

    uri: str
    author: str
    record: Cid | None
    rev: str | None
    at: int
    found: bool
    given: str
    proof: bytes | None = None

    @property
    def key(self) -> str:
        """By what it is told from others: of ends, one at each rev."""
        rev = self.rev if self.record is None else None
        return str(codec.cid_of([self.uri, self.record, rev]))


class Sight(NamedTuple):
    """How this node sees the log: known up to a time (µs), the lister alive for so many seconds since something was
    awaited (None: no sign of life since)."""

    until: int
    alive: float | None


def awaited_of(opened: Opened, at: int, *, found: bool, most: int) -> Awaited | None:
    """Return what the log is to list of a verified record; None where it need not be listed itself."""
    if opened.envelope.collection in SAID_ELSEWHERE:
        return None
    proof = opened.proof if len(opened.proof) <= most else None
    given = str(Cid.of(opened.proof))
    return Awaited(opened.uri, opened.author, opened.cid, opened.rev, at, found, given, proof)


def settles(awaited: Awaited, versions: Sequence[Known]) -> bool:
    """Whether the listed versions of a record (in their order) say what is awaited, or what came after it.

    The end of a record that was never listed is nothing to list: see `ended`.
    """
    if awaited.record is None and not versions:
        return True
    if awaited.rev is None:
        return any(version.record == awaited.record for version in versions)
    if any(version.rev is not None and version.rev >= awaited.rev for version in versions):
        return True
    return bool(versions) and versions[-1].record == awaited.record


def ended(open_: Iterable[Awaited], found: Iterable[Awaited]) -> list[Awaited]:
    """Return what is awaited of records that were found to have ended since.

    A lister that was away meanwhile can no longer come by them: nobody's repository holds them any more.
    """
    ends = {each.uri: each.rev or "" for each in found if each.record is None}
    return [each for each in open_ if each.record is not None and (each.rev or "") < ends.get(each.uri, "")]


def is_late(awaited: Awaited, sight: Sight, after: float) -> bool:
    """Whether the log should have listed by now what is awaited, `after` being the time (s) that it has for it."""
    if sight.alive is None or sight.alive < after:
        return False
    return sight.until >= awaited.at + int(after * SECOND)


def is_alive(awaited: Awaited, until: int) -> bool:
    """Whether a log that is known up to a time has gone on since something was awaited."""
    return until >= awaited.at


def days_of(awaited: Awaited, after: float) -> range:
    """Return the days on which it may have met the limit of a day."""
    return range(awaited.at // DAY, (awaited.at + int(after * SECOND)) // DAY + 1)


def accusation(awaited: Awaited, rejection: Refusal | None) -> Fault:
    """Return the fault of a lister that has not listed what is awaited, or has rejected it without reason."""
    what = "This record" if awaited.record is not None else "The end of this record"
    where = "was found by this node's own source" if awaited.found else "was handed in at this node"
    detail: dict[str, Any] = {"given": awaited.given}
    if awaited.record is not None:
        detail["cid"] = str(awaited.record)
    if awaited.rev is not None:
        detail["rev"] = awaited.rev
    if awaited.proof is not None:
        detail["proof"] = awaited.proof
    if rejection is None or rejection.code in LATER:
        says = f"{what} {where}, and the log has gone on without it."
        return Fault("withheld", awaited.uri, says, detail)
    detail["rejected"] = rejection.code
    says = (
        f"{what} {where}, where it verifies; the lister rejected it ({rejection.code}) and has not listed it."
    )
    return Fault("wrong-rejection", awaited.uri, says, detail)


def kept_form(awaited: Awaited) -> bytes:
    """Return the bytes by which a ledger keeps what is awaited."""
    return codec.encode(dict(awaited._asdict()))


def read_kept(data: bytes) -> Awaited:
    """Return what a ledger keeps."""
    value: Mapping[str, Any] = codec.decode_own(data)
    return Awaited(**value)
