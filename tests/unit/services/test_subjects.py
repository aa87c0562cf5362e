"""Subjects and streams are DESIGN §6's, and an operator's all begin with its prefix."""

from __future__ import annotations

import fnmatch
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from weighbridge_services.broker.rights import operator_rights, player_rights
from weighbridge_services.subjects import STREAM_KINDS, Subjects, stream_subjects, token

DID = "did:key:z6MkjHvHyx88yWH7Rr2vCBGtKyE4iv2pZpfDXjdqK15VWCxZ"
GAME = "at://did:plc:z72i7hdynmk6r22z27h6tvur/network.weighbridge.game/one"
SUBJECTS = Subjects.of(DID, GAME)
ALL = [
    SUBJECTS.log,
    SUBJECTS.transcript,
    SUBJECTS.rejected,
    SUBJECTS.checkpoint(812),
    SUBJECTS.trace("bafy"),
    SUBJECTS.ruling("bafy"),
    SUBJECTS.beacon(7),
    SUBJECTS.question("did:plc:gm", "q1"),
    SUBJECTS.statement("bafy"),
    SUBJECTS.finding("fairness", "bafy"),
    SUBJECTS.submit("bafy"),
]


def matches(pattern: str, subject: str) -> bool:
    """NATS's own rule: `*` is one token, `>` is one or more at the end."""
    wanted, found = pattern.split("."), subject.split(".")
    for place, each in enumerate(wanted):
        if each == ">":
            return len(found) > place
        if place >= len(found) or each not in ("*", found[place]):
            return False
    return len(wanted) == len(found)


def test_a_token_is_the_first_26_characters_of_the_base32_of_a_sha256() -> None:
    """Computed with sha256sum and base32."""
    assert token("did:plc:z72i7hdynmk6r22z27h6tvur") == "6w2xuve3pllid3s3ebe55onxhi"


@given(st.text())
def test_a_token_is_always_a_token_of_a_subject(text: str) -> None:
    assert re.fullmatch("[a-z2-7]{26}", token(text))


def test_every_subject_begins_with_the_operators_prefix() -> None:
    assert all(
        subject.startswith(f"wb.{token(DID)}.{token(GAME)}.") for subject in [*ALL, SUBJECTS.rpc("leaf")]
    )


def test_every_subject_but_a_question_to_services_is_held_by_exactly_one_stream() -> None:
    held = {kind: stream_subjects(SUBJECTS, kind) for kind in STREAM_KINDS}
    for subject in ALL:
        (_,) = [kind for kind, patterns in held.items() if any(matches(each, subject) for each in patterns)]
    rpc = SUBJECTS.rpc("leaf")
    assert not any(matches(each, rpc) for patterns in held.values() for each in patterns)


def test_the_names_of_streams_differ_between_operators_games_and_kinds() -> None:
    others = [SUBJECTS, Subjects.of("did:plc:other", GAME), Subjects.of(DID, "at://other")]
    names = [each.stream(kind) for each in others for kind in STREAM_KINDS]
    assert len(set(names)) == 12
    assert all(re.fullmatch("WB_[a-z2-7]{26}_[a-z2-7]{26}_[A-Z]+", name) for name in names)


def allowed(rights: dict[str, dict[str, list[str]]], subject: str, way: str = "publish") -> bool:
    return any(matches(pattern, subject) for pattern in rights[way]["allow"])


@pytest.mark.parametrize("subject", [*ALL, SUBJECTS.rpc("leaf")])
def test_an_operator_may_publish_its_own(subject: str) -> None:
    assert allowed(operator_rights(DID, [GAME]), subject)


@pytest.mark.parametrize("subject", ALL)
def test_an_operator_may_publish_nothing_of_another_one(subject: str) -> None:
    assert not allowed(operator_rights("did:plc:other", [GAME]), subject)


def test_an_operator_may_ask_another_ones_services() -> None:
    assert allowed(operator_rights("did:plc:other", [GAME]), SUBJECTS.rpc("leaf"))


@pytest.mark.parametrize("kind", ["LOG", "TRANSCRIPT", "RECORDS"])
@pytest.mark.parametrize("verb", ["STREAM.DELETE", "STREAM.PURGE", "STREAM.MSG.DELETE", "STREAM.RESTORE"])
def test_an_operator_may_not_delete_or_purge_even_its_own_core_streams(kind: str, verb: str) -> None:
    rights = operator_rights(DID, [GAME])
    assert not allowed(rights, f"$JS.API.{verb}.{SUBJECTS.stream(kind)}")
    assert allowed(rights, f"$JS.API.STREAM.CREATE.{SUBJECTS.stream(kind)}")


def test_a_player_may_hand_in_and_nothing_else() -> None:
    may = [
        subject for subject in [*ALL, SUBJECTS.rpc("me"), "$JS.API.INFO"] if allowed(player_rights(), subject)
    ]
    assert may == [SUBJECTS.submit("bafy")]
    assert not fnmatch.filter(player_rights()["subscribe"]["allow"], "wb.*")
