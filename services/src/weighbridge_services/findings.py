"""Findings: signed records in which a service or an audit says what it has found. They are published, not listed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from weighbridge import codec
from weighbridge.cid import Cid
from weighbridge.identity import Signer, encode_envelope, sign_record

from weighbridge_services.subjects import Subjects, token

COLLECTION: Final = "network.weighbridge.finding"


class Finding(NamedTuple):
    """A finding, as it is published: under which subject, and the envelope's bytes."""

    subject: str
    data: bytes


def make_finding(
    signer: Signer, subjects: Subjects, game: str, audit: str, code: str, about: str, says: str,
    detail: Mapping[str, Any] | None = None,
) -> Finding:  # fmt: skip
    """Return a signed finding of an audit or a service about an at-uri or a cell. The same one has the same bytes."""
    value: dict[str, Any] = {"game": game, "audit": audit, "code": code, "about": about, "says": says}
    if detail:
        value["detail"] = dict(detail)
    rkey = token(codec.encode(value).hex())
    data = encode_envelope(sign_record(signer, game, COLLECTION, rkey, value))
    return Finding(subjects.finding(audit, str(Cid.of(data))), data)
