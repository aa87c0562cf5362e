"""Statements are an operator's, and their notes bear them out."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from weighbridge.errors import Refused
from weighbridge.identity import (
    SIGNATURE,
    Envelope,
    Signer,
    encode_envelope,
    make_operator_record,
    sign_record,
    verifier_key,
)
from weighbridge.identity.vkeys import COSIGNATURE
from weighbridge_services.folding.statements import (
    STATEMENT,
    NoStatement,
    Statement,
    cosigned,
    open_statement,
    sign_finding,
    sign_statement,
)

RECORDS, LOG, RECOMPUTE, OTHER = (Signer(bytes([n]) * 32) for n in (1, 2, 3, 4))
GAME = f"at://{RECORDS.did}/example.game.root/self"
OPERATOR = make_operator_record(
    RECORDS.did, GAME, "alma", verifier_key("alma", SIGNATURE, LOG.public),
    verifier_key("alma", COSIGNATURE, RECOMPUTE.public),
)  # fmt: skip
ROOT = bytes(range(32))


def note(signer: Signer = RECOMPUTE, *, origin: str = "o", size: int = 3, root: bytes = ROOT) -> str:
    return cosigned(signer, "alma", origin, size, root, 1_700_000_000)


OK = Statement(GAME, "ok", "o", 3, ROOT, 3, note=note())


def test_a_statement_comes_back_as_it_was_said() -> None:
    said = open_statement(encode_envelope(sign_statement(RECORDS, OK)), GAME, OPERATOR)
    assert (said.statement, said.operator, said.time) == (OK, RECORDS.did, 1_700_000_000)


def test_what_is_no_ok_needs_no_note() -> None:
    abstain = Statement(GAME, "abstain", "o", 3, ROOT, reason="outvoted", says=["why"])
    said = open_statement(encode_envelope(sign_statement(RECORDS, abstain)), GAME, OPERATOR)
    assert (said.statement.reason, said.time) == ("outvoted", None)


def changed(**fields: Any) -> Envelope:
    return sign_statement(RECORDS, msgspec.structs.replace(OK, **fields))


@pytest.mark.parametrize(
    "envelope",
    [
        pytest.param(sign_statement(OTHER, OK), id="by somebody else"),
        pytest.param(changed(note=None), id="ok without a note"),
        pytest.param(changed(note=note(OTHER)), id="cosigned with another key"),
        pytest.param(changed(size=4), id="another size than its note"),
        pytest.param(changed(root=bytes(32)), id="another root than its note"),
        pytest.param(changed(origin="another"), id="another origin than its note"),
        pytest.param(changed(note="no note"), id="a note that is none"),
        pytest.param(
            sign_record(RECORDS, GAME, "example.game.note", "a", {"game": GAME}), id="another record"
        ),
        pytest.param(
            sign_record(RECORDS, GAME, STATEMENT, "a", {"game": GAME}), id="a statement without fields"
        ),
    ],
)
def test_what_is_no_statement_of_the_operator_is_refused(envelope: Envelope) -> None:
    with pytest.raises(Refused):
        open_statement(encode_envelope(envelope), GAME, OPERATOR)


def test_an_ok_that_its_operator_has_not_cosigned_is_no_statement() -> None:
    with pytest.raises(NoStatement):
        open_statement(encode_envelope(changed(note=note(OTHER))), GAME, OPERATOR)


def test_a_finding_is_the_same_record_whenever_it_is_found() -> None:
    first, again = (sign_finding(RECORDS, GAME, "a", "code", "about", "says", seq=3) for _ in range(2))
    assert encode_envelope(first) == encode_envelope(again)
    assert sign_finding(RECORDS, GAME, "a", "code", "about", "says", seq=4).uri != first.uri
