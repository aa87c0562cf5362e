"""Frames: what each kind says, and what is none."""

from __future__ import annotations

import tracemalloc
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from atproto_helping import code_of, frames_in
from hypothesis import given, settings
from hypothesis import strategies as st
from repo_making import ALICE, MOVES, Made, frame
from weighbridge.ports import Refused
from weighbridge.repos import MAX_FRAME, MAX_OPS, Cid, codec
from weighbridge_atproto.frames import (
    AccountFrame,
    CommitFrame,
    IdentityFrame,
    InfoFrame,
    OtherFrame,
    StreamError,
    SyncFrame,
    parse_frame,
)


def body(**changed: Any) -> dict[str, Any]:
    whole = Made().commit({f"{MOVES}/a": {"n": 1}}) | changed
    return {name: value for name, value in whole.items() if value is not ...}


def test_each_kind_of_frame_says_what_is_in_it():
    commit = parse_frame(frame(body()))
    assert isinstance(commit, CommitFrame)
    assert (commit.repo, commit.since, commit.prev_data, len(commit.ops)) == (ALICE, None, None, 1)
    sync = parse_frame(frame({"seq": 4, "did": ALICE, "rev": commit.rev, "blocks": b""}, "#sync"))
    assert sync == SyncFrame(4, ALICE, commit.rev, b"")
    assert parse_frame(frame({"seq": 5, "did": ALICE, "handle": "a.b"}, "#identity")) == IdentityFrame(
        5, ALICE, "a.b"
    )
    gone = parse_frame(frame({"seq": 6, "did": ALICE, "active": False, "status": "deleted"}, "#account"))
    assert gone == AccountFrame(6, ALICE, False, "deleted")
    assert parse_frame(frame({"name": "OutdatedCursor"}, "#info")) == InfoFrame("OutdatedCursor", "")
    error = codec.encode({"op": -1}) + codec.encode({"error": "FutureCursor", "message": "no"})
    assert parse_frame(error) == StreamError("FutureCursor", "no")


def test_what_is_not_known_yet_is_let_pass():
    assert parse_frame(frame({"seq": 7}, "#story")) == OtherFrame("#story", 7)
    assert parse_frame(frame({}, "#commit", op=2)) == OtherFrame("op 2", None)
    assert isinstance(parse_frame(frame(body(extra=[1, {"x": None}]))), CommitFrame)


@pytest.mark.parametrize(
    ("data", "code"),
    [
        pytest.param(b"", "frame-encoding", id="nothing"),
        pytest.param(b"\x80" * 9, "frame-encoding", id="no-map"),
        pytest.param(codec.encode({"op": 1, "t": "#commit"}), "frame-encoding", id="no-body"),
        pytest.param(frame({})[:9], "frame-encoding", id="half-a-header"),
        pytest.param(frame(body())[:-1], "frame-encoding", id="cut-short"),
        pytest.param(frame(body()) + b"\0", "frame-encoding", id="bytes-behind"),
        pytest.param(
            codec.encode({"op": 1, "t": "x" * 600}) + b"\xa0", "frame-encoding", id="endless-header"
        ),
        pytest.param(
            codec.encode({"op": 1, "t": ["#commit"]}) + b"\xa0", "frame-encoding", id="nested-header"
        ),
        pytest.param(b"\xa2bop\x01at\x67#commit" + b"\xa0", "frame-encoding", id="unsorted-header"),
        pytest.param(codec.encode({"t": "#commit"}) + b"\xa0", "frame-header", id="no-op"),
        pytest.param(codec.encode({"op": True, "t": "#info"}) + b"\xa0", "frame-header", id="op-true"),
        pytest.param(codec.encode({"op": 1}) + b"\xa0", "frame-header", id="no-kind"),
        pytest.param(codec.encode({"op": -1}) + b"\xa0", "frame-body", id="an-error-without-a-name"),
        pytest.param(bytes(5_000_001), "frame-size", id="more-than-5-mb"),
        pytest.param(frame(body(blocks=bytes(2_000_001))), "frame-size", id="blocks-more-than-2-mb"),
        pytest.param(frame(body(ops=body()["ops"] * 201)), "frame-size", id="201-operations"),
        pytest.param(frame(body(seq=...)), "frame-body", id="no-seq"),
        pytest.param(frame(body(seq=2**53)), "frame-body", id="seq-too-high"),
        pytest.param(frame(body(repo="alice")), "frame-body", id="no-did"),
        pytest.param(frame(body(rev="now")), "frame-body", id="no-tid"),
        pytest.param(frame(body(since="then")), "frame-body", id="since-no-tid"),
        pytest.param(frame(body(commit=None)), "frame-body", id="no-commit"),
        pytest.param(frame(body(blocks="x")), "frame-body", id="blocks-a-text"),
        pytest.param(frame(body(prevData="x")), "frame-body", id="prev-data-a-text"),
        pytest.param(frame(body(tooBig=1)), "frame-body", id="too-big-a-number"),
        pytest.param(frame(body(ops={})), "frame-body", id="ops-no-list"),
        pytest.param(frame(body(ops=[1])), "frame-body", id="an-op-no-map"),
        pytest.param(frame(body(ops=[{"action": "move", "path": "a/b"}])), "frame-body", id="another-action"),
        pytest.param(frame(body(ops=[{"action": "delete", "path": 1}])), "frame-body", id="no-path"),
        pytest.param(frame({"seq": 1, "did": ALICE}, "#account"), "frame-body", id="active-or-not"),
        pytest.param(frame({}, "#info"), "frame-body", id="an-info-without-a-name"),
    ],
)
def test_what_is_no_frame_is_refused_by_what_is_wrong(data, code):
    assert code_of(lambda: parse_frame(data)) == code


@pytest.mark.parametrize("item", [b"\xa0", b"\x80", b"\x40", b"\x00", b"\xf6", b"\x61a"], ids=bytes.hex)
@pytest.mark.parametrize("inside", [b"\xa1\x63ops\x9a", b"\x9a"], ids=["in-a-list", "as-the-body"])
def test_five_megabytes_of_small_items_are_refused_before_they_are_read(item: bytes, inside: bytes):
    header = codec.encode({"op": 1, "t": "#commit"})
    count = (MAX_FRAME - len(header) - len(inside) - 4) // len(item)
    data = header + inside + count.to_bytes(4, "big") + item * count
    assert MAX_FRAME - 1 <= len(data) <= MAX_FRAME
    tracemalloc.start()
    try:
        assert code_of(lambda: parse_frame(data)) == "frame-size"
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # The body is cut off the frame once.
    assert peak < MAX_FRAME + 1_000_000


def test_the_largest_commit_that_may_be_has_far_fewer_items_than_a_frame_may_have():
    made = Made()
    made.commit({})
    whole = made.commit({f"{MOVES}/{n}": {"n": n} for n in range(MAX_OPS)})
    assert len(parse_frame(frame(whole | {"blobs": [Cid.of(b"x", 0x55)] * 5_000})).ops) == MAX_OPS  # type: ignore[union-attr]


def test_every_recorded_frame_is_read(pds: Path):
    kinds = [type(parse_frame(data)).__name__ for data in frames_in(pds / "live_frames.bin")]
    assert len(kinds) == 45
    assert {kind: kinds.count(kind) for kind in kinds} == {
        "IdentityFrame": 4, "AccountFrame": 7, "CommitFrame": 31, "SyncFrame": 3,
    }  # fmt: skip


GOOD = frame(body())


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(GOOD)), st.integers(0, 3), st.binary(max_size=4)), max_size=4))
def test_whatever_is_done_to_a_frame_it_is_read_or_refused(changes):
    data = bytearray(GOOD)
    for at, length, new in changes:
        data[at : at + length] = new
    with suppress(Refused):
        parse_frame(bytes(data))


@given(st.binary(max_size=100))
def test_any_bytes_are_a_frame_or_refused(data):
    with suppress(Refused):
        parse_frame(data)
    with suppress(Refused):
        parse_frame(codec.encode({"op": 1, "t": "#commit"}) + data)
    assert Cid.of(data)
