"""Operator records: three keys, each apart from the others, and every problem at once."""

from __future__ import annotations

import pytest
from weighbridge.identity import (
    COSIGNATURE,
    OPERATOR,
    SIGNATURE,
    Signer,
    check_operator,
    cosign,
    format_note,
    make_operator_record,
    open_note,
    parse_operator,
    sign_record,
    syntax,
    verifier_key,
)
from weighbridge.identity.operators import BadOperatorRecord

RECORDS, LOG, RECOMPUTE = Signer(b"r" * 32), Signer(b"l" * 32), Signer(b"c" * 32)
GAME = f"at://{RECORDS.did}/town.delve.root/self"
LOG_KEY = verifier_key("ada.example/log", SIGNATURE, LOG.public)
RECOMPUTE_KEY = verifier_key("ada.example/recompute", COSIGNATURE, RECOMPUTE.public)
RECORD = make_operator_record(RECORDS.did, GAME, "Ada's bridge", LOG_KEY, RECOMPUTE_KEY)


def test_an_operator_record_goes_both_ways_and_into_an_envelope():
    assert parse_operator(RECORDS.did, RECORD.value) == RECORD
    envelope = sign_record(RECORDS, GAME, OPERATOR, "ada", RECORD.value)
    assert parse_operator(envelope.author, envelope.value) == RECORD
    assert syntax.is_nsid(OPERATOR)


def test_fields_that_nobody_knows_are_left_alone():
    assert parse_operator(RECORDS.did, {**RECORD.value, "createdAt": "2026-01-01T00:00:00Z"}) == RECORD


def test_the_log_key_cosigns_receipts_under_an_id_of_its_own():
    text = f"{GAME}\n7\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n"
    note = format_note(text, [cosign(LOG, LOG_KEY.name, text, 1_700_000_000)])
    opened = open_note(note, [RECORD.cosigner, RECORD.log, RECORD.recompute])
    assert [(one.key, one.time) for one in opened.verified] == [(RECORD.cosigner, 1_700_000_000)]


OTHER = verifier_key("x", SIGNATURE, RECORDS.public)


@pytest.mark.parametrize(
    ("changes", "paths"),
    [
        pytest.param({"game": None}, ["$.game"], id="no-game"),
        pytest.param({"game": "delvetown"}, ["$.game"], id="game-no-uri"),
        pytest.param({"game": f"at://{RECORDS.did}"}, ["$.game"], id="game-no-record"),
        pytest.param({"name": None}, ["$.name"], id="no-name"),
        pytest.param({"name": ""}, ["$.name"], id="empty-name"),
        pytest.param({"name": "x" * 129}, ["$.name"], id="long-name"),
        pytest.param({"name": 7}, ["$.name"], id="number-for-a-name"),
        pytest.param({"log": None}, ["$.log"], id="no-log-key"),
        pytest.param({"log": 7}, ["$.log"], id="number-for-a-key"),
        pytest.param({"log": "nonsense"}, ["$.log"], id="log-key-no-vkey"),
        pytest.param({"log": str(RECOMPUTE_KEY)}, ["$.log"], id="log-key-of-type-4"),
        pytest.param({"recompute": str(LOG_KEY)}, ["$.recompute"], id="recompute-key-of-type-1"),
        pytest.param({"recompute": None}, ["$.recompute"], id="no-recompute-key"),
        pytest.param(
            {"recompute": str(verifier_key("x", COSIGNATURE, LOG.public))},
            ["$.recompute"],
            id="recompute-key-is-log-key",
        ),
        pytest.param(
            {"recompute": str(verifier_key("x", COSIGNATURE, RECORDS.public))},
            ["$.recompute"],
            id="recompute-key-is-records-key",
        ),
        pytest.param({"log": str(OTHER)}, ["$.log"], id="log-key-is-records-key"),
        pytest.param(
            {"game": 1, "name": 1, "log": 1, "recompute": 1},
            ["$.game", "$.name", "$.log", "$.recompute"],
            id="everything-at-once",
        ),
    ],
)
def test_a_record_that_does_not_fit_is_refused_with_every_problem(changes, paths):
    value = {name: field for name, field in {**RECORD.value, **changes}.items() if field is not None}
    record, problems = check_operator(RECORDS.did, value)
    assert record is None
    assert [problem.path for problem in problems] == paths
    with pytest.raises(BadOperatorRecord) as refused:
        parse_operator(RECORDS.did, value)
    assert refused.value.code == "bad-operator"
    assert refused.value.detail["problems"] == problems


@pytest.mark.parametrize("value", [None, [], "x", 7], ids=repr)
def test_what_is_no_map_is_no_operator_record(value):
    with pytest.raises(BadOperatorRecord):
        parse_operator(RECORDS.did, value)


def test_an_operator_signs_its_records_with_a_did_key():
    with pytest.raises(BadOperatorRecord) as refused:
        make_operator_record("did:plc:z72i7hdynmk6r22z27h6tvur", GAME, "x", LOG_KEY, RECOMPUTE_KEY)
    assert "did:key" in refused.value.message
