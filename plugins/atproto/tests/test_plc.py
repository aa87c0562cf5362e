"""Histories of did:plc: what the real directory's own code made is verified, and nothing that nobody may write."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from atproto_helping import code_of
from plc_making import BEGIN, HOUR, Plc, signed
from repo_making import Key
from weighbridge.repos import P256
from weighbridge_atproto.plc import PlcRefused, read_history

HISTORIES: dict[str, Any] = json.loads((Path(__file__).parent / "plc_histories.json").read_text())
"""Made by @did-plc/lib and taken by @did-plc/server."""
STRONG, WEAK, EVIL = Key(P256, 7), Key(number=8), Key(number=6)
FIRST, SECOND, THIRD = Key(number=3), Key(number=4), Key(number=5)
BOTH = [STRONG, WEAK]


def read(entries: list[dict[str, Any]]) -> list[str | None]:
    names = {key: name for name, key in HISTORIES["keys"].items()}
    spans = read_history(entries[0]["did"], json.dumps(entries).encode())
    assert [span.until for span in spans] == [*(span.since for span in spans[1:]), None]
    return [None if span.key is None else names[span.key] for span in spans]


def keys_of(plc: Plc) -> list[str | None]:
    return [span.key for span in read_history(plc.did, plc.data)]


def code(plc: Plc, data: bytes | None = None) -> str:
    return code_of(lambda: read_history(plc.did, plc.data if data is None else data))


def test_a_history_of_the_real_directory_tells_whose_key_was_when() -> None:
    assert read(HISTORIES["rotated"]) == ["sign1", "sign2", "sign2"]


def test_a_recovery_undoes_what_a_thief_wrote_and_what_was_in_force_until_then_is_told_so() -> None:
    assert [each["nullified"] for each in HISTORIES["recovered"]] == [False, True, True, False]
    assert read(HISTORIES["recovered"]) == ["sign1", "evil", "evil", "sign3"]


def test_the_oldest_form_of_a_first_operation_and_the_end_of_a_did_are_read() -> None:
    assert read(HISTORIES["legacy"]) == ["sign1", "sign2", None]


def test_another_did_has_another_history() -> None:
    theirs = [each | {"did": HISTORIES["legacy"][0]["did"]} for each in HISTORIES["rotated"]]
    assert code_of(lambda: read(theirs)) == "plc-genesis"


def test_a_first_operation_that_was_changed_and_signed_anew_is_that_of_another_did() -> None:
    plc, other = Plc(BOTH, FIRST), Plc(BOTH, EVIL)
    plc.entries[0] = other.entries[0] | {"did": plc.did}
    assert code(plc) == "plc-genesis"


def test_a_first_operation_follows_none_and_ends_nothing() -> None:
    plc = Plc(BOTH, FIRST)
    plc.change(SECOND, WEAK, BEGIN + HOUR, rotation=BOTH)
    del plc.entries[0]
    assert code(plc) == "plc-genesis"


def test_a_first_operation_is_signed_by_a_rotation_key_of_its_own() -> None:
    assert code(Plc(BOTH, FIRST, by=EVIL)) == "plc-signer"


def test_who_has_no_rotation_key_changes_nothing() -> None:
    plc = Plc(BOTH, FIRST)
    plc.change(EVIL, EVIL, BEGIN + HOUR, rotation=[EVIL])
    assert code(plc) == "plc-signer"


def test_the_repository_s_own_key_is_no_rotation_key() -> None:
    plc = Plc(BOTH, FIRST)
    plc.change(SECOND, FIRST, BEGIN + HOUR, rotation=BOTH)
    assert code(plc) == "plc-signer"


def test_a_rotation_key_that_was_given_up_signs_no_more() -> None:
    plc = Plc(BOTH, FIRST)
    plc.change(SECOND, STRONG, BEGIN + HOUR, rotation=[STRONG])
    assert keys_of(plc) == [FIRST.public.did_key, SECOND.public.did_key]
    plc.change(THIRD, WEAK, BEGIN + 2 * HOUR, rotation=BOTH)
    assert code(plc) == "plc-signer"


def test_a_signature_of_high_s_is_none() -> None:
    plc = Plc(BOTH, FIRST)
    plc.change(SECOND, WEAK, BEGIN + HOUR, rotation=BOTH, high=True)
    assert code(plc) == "plc-signer"


@pytest.mark.parametrize("late", [0, 71, 72], ids=["at once", "71 hours", "72 hours"])
def test_a_mightier_key_undoes_what_a_lesser_one_wrote_within_72_hours(late: int) -> None:
    plc = Plc(BOTH, FIRST)
    plc.change(EVIL, WEAK, BEGIN + HOUR, rotation=[EVIL])
    plc.change(SECOND, STRONG, BEGIN + HOUR + late * HOUR, rotation=BOTH, after=0)
    assert keys_of(plc) == [each.public.did_key for each in (FIRST, EVIL, SECOND)]


def test_later_than_72_hours_nothing_is_undone() -> None:
    plc = Plc(BOTH, FIRST)
    plc.change(EVIL, WEAK, BEGIN + HOUR, rotation=[EVIL])
    plc.change(SECOND, STRONG, BEGIN + 73 * HOUR + 1_000, rotation=BOTH, after=0)
    assert code(plc) == "plc-late-recovery"


@pytest.mark.parametrize(
    ("wrote", "undoes"),
    [
        pytest.param(STRONG, WEAK, id="a lesser key"),
        pytest.param(WEAK, WEAK, id="the same key"),
        pytest.param(STRONG, STRONG, id="the mightiest against itself"),
        pytest.param(WEAK, EVIL, id="a key of its own making"),
    ],
)
def test_nobody_but_a_mightier_key_undoes(wrote: Key, undoes: Key) -> None:
    plc = Plc(BOTH, FIRST)
    plc.change(SECOND, wrote, BEGIN + HOUR, rotation=BOTH)
    plc.change(EVIL, undoes, BEGIN + 2 * HOUR, rotation=[EVIL], after=0)
    assert code(plc) == "plc-signer"


def test_what_was_undone_is_followed_by_nothing() -> None:
    plc = Plc(BOTH, FIRST)
    plc.change(EVIL, WEAK, BEGIN + HOUR, rotation=[EVIL])
    plc.change(SECOND, STRONG, BEGIN + 2 * HOUR, rotation=BOTH, after=0)
    undone = plc.entries[1]["cid"]
    plc.add(signed(plc.operation([EVIL], EVIL, undone), EVIL), BEGIN + 3 * HOUR)
    assert code(plc) == "plc-order"


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_directory_that_marks_the_wrong_operations_as_undone_is_not_believed(place: int) -> None:
    plc = Plc(BOTH, FIRST)
    plc.change(EVIL, WEAK, BEGIN + HOUR, rotation=[EVIL])
    plc.change(SECOND, STRONG, BEGIN + 2 * HOUR, rotation=BOTH, after=0)
    plc.entries[place]["nullified"] = not plc.entries[place]["nullified"]
    assert code(plc) == "plc-marks"


def test_an_operation_is_the_one_that_its_cid_names() -> None:
    plc = Plc(BOTH, FIRST)
    plc.entries[0]["cid"] = str(Plc(BOTH, SECOND).entries[0]["cid"])
    assert code(plc) == "plc-marks"


def test_after_its_end_a_did_has_no_key_and_no_more_operations() -> None:
    plc = Plc(BOTH, FIRST)
    plc.end(WEAK, BEGIN + HOUR)
    assert keys_of(plc) == [FIRST.public.did_key, None]
    plc.change(SECOND, WEAK, BEGIN + 2 * HOUR, rotation=BOTH)
    assert code(plc) == "plc-order"


def test_operations_come_in_the_order_of_their_times() -> None:
    plc = Plc(BOTH, FIRST)
    plc.change(SECOND, WEAK, BEGIN - 1_000, rotation=BOTH)
    assert code(plc) == "plc-order"


def test_an_operation_left_out_is_missed() -> None:
    plc = Plc(BOTH, FIRST)
    plc.change(SECOND, WEAK, BEGIN + HOUR, rotation=BOTH)
    plc.change(THIRD, WEAK, BEGIN + 2 * HOUR, rotation=BOTH)
    del plc.entries[1]
    assert code(plc) == "plc-order"


def test_a_key_of_another_kind_is_the_key_of_no_repository() -> None:
    plc = Plc(BOTH, FIRST)
    ed25519 = "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK"
    operation = plc.operation(BOTH, SECOND, plc.entries[0]["cid"]) | {
        "verificationMethods": {"atproto": ed25519}
    }
    plc.add(signed(operation, WEAK), BEGIN + HOUR)
    assert keys_of(plc) == [FIRST.public.did_key, None]


def changed(change: Callable[[dict[str, Any]], object]) -> bytes:
    plc = Plc(BOTH, FIRST)
    change(plc.entries[0])
    return plc.data


@pytest.mark.parametrize(
    "data",
    [
        b"", b"{}", b"[]", b"[7]", b"[" * 100_000, b"\xff", b"[" + b" " * 4_194_304 + b"]",
        changed(lambda e: e.pop("operation")), changed(lambda e: e.update(did="did:plc:other")),
        changed(lambda e: e.update(createdAt="yesterday")),
        changed(lambda e: e.update(createdAt="2023-02-31T00:00:00Z")),
        changed(lambda e: e.update(createdAt=7)), changed(lambda e: e.update(nullified="no")),
        changed(lambda e: e["operation"].update(sig="AAAA")), changed(lambda e: e["operation"].pop("sig")),
        changed(lambda e: e["operation"].update(sig=e["operation"]["sig"] + "==")),
        changed(lambda e: e["operation"].update(type="plc_other")), changed(lambda e: e["operation"].pop("prev")),
        changed(lambda e: e["operation"].update(rotationKeys=[])), changed(lambda e: e["operation"].update(x=1.5)),
        changed(lambda e: e["operation"].update(rotationKeys=[7])),
        changed(lambda e: e["operation"].update(rotationKeys=["did:key:zQ3"] * 6)),
        changed(lambda e: e["operation"].update(verificationMethods=[])),
    ],
)  # fmt: skip
def test_what_is_no_history_is_none(data: bytes) -> None:
    assert code(Plc(BOTH, FIRST), data) == "plc-form"


def test_whatever_letter_is_changed_no_other_key_comes_of_it() -> None:
    entries = HISTORIES["rotated"]
    whole, did = json.dumps(entries).encode(), entries[0]["did"]
    told = {(span.key, span.operation) for span in read_history(did, whole)}
    read = 0
    for place in range(0, len(whole), 11):
        data = whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :]
        try:
            found = read_history(did, data)
        except PlcRefused:
            continue
        read += 1
        assert {(span.key, span.operation) for span in found} == told
    assert read < 40  # the letters of times and of fields that are not the operations' own
