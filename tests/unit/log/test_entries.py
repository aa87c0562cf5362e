from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from weighbridge import codec
from weighbridge.cid import Cid
from weighbridge.errors import Refused
from weighbridge.limits import MAX_ENTRY
from weighbridge.log import Entry, check_form, decode_entry, encode_entry, make_entry, read_listed
from weighbridge.log.errors import (
    EntryEncoding,
    EntryMalformed,
    EntryTooLarge,
    EntryVersion,
    RecordMismatch,
    RecordMissing,
)

GM = "did:plc:ewvi7nxzyoun6zhxrhs64oiz"
GAME = f"at://{GM}/network.weighbridge.root/self"
URI = f"at://{GM}/town.delve.move/3k2a"
RECORD = codec.encode({"$type": "town.delve.move"})
LINK = Cid.of(RECORD)

TICK = {"v": 1, "game": GAME, "seq": 0, "at": 5, "op": "tick"}
MOVE = {**TICK, "op": "create", "uri": URI, "record": LINK, "author": GM}
LATER = {**TICK, "seq": 3, "prev": LINK}
DELETE = {**LATER, "op": "delete", "uri": URI, "author": GM}
FLOOD = {**LATER, "op": "flood", "author": GM, "count": 3}
WHOLE = [
    pytest.param(TICK, id="tick"),
    pytest.param(LATER, id="later tick"),
    pytest.param(MOVE, id="create"),
    pytest.param({**MOVE, "op": "update"}, id="update"),
    pytest.param({**MOVE, "prov": {"rev": "3k2", "proof": [b"\x01"]}}, id="proven"),
    pytest.param(DELETE, id="delete"),
    pytest.param(FLOOD, id="flood of one author"),
    pytest.param({name: value for name, value in FLOOD.items() if name != "author"}, id="flood of many"),
]


def without(fields, *names):
    return {name: value for name, value in fields.items() if name not in names}


@pytest.mark.parametrize("fields", WHOLE)
def test_an_entry_is_read_and_written_as_the_same_bytes(fields):
    data = codec.encode(fields)
    entry = decode_entry(data)
    assert {name: getattr(entry, name) for name in fields} == fields
    assert encode_entry(entry) == data


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        pytest.param(["v", 1], EntryMalformed, id="a list"),
        pytest.param(1, EntryMalformed, id="a number"),
        pytest.param(without(TICK, "v"), EntryVersion, id="no version"),
        pytest.param({**TICK, "v": 2}, EntryVersion, id="another version"),
        pytest.param({**TICK, "v": True}, EntryVersion, id="a truth for a version"),
        pytest.param({**TICK, "note": 1}, EntryMalformed, id="an unknown field"),
        pytest.param({**TICK, "prev": None}, EntryMalformed, id="a null"),
        pytest.param(without(TICK, "game"), EntryMalformed, id="no game"),
        pytest.param({**TICK, "game": 5}, EntryMalformed, id="game no text"),
        pytest.param({**TICK, "game": GM}, EntryMalformed, id="game no at-uri"),
        pytest.param({**TICK, "game": f"at://{GM}"}, EntryMalformed, id="game no record"),
        pytest.param(
            {**TICK, "game": GAME.replace(GM, "gm.example.com")}, EntryMalformed, id="game by handle"
        ),
        pytest.param(without(TICK, "seq"), EntryMalformed, id="no seq"),
        pytest.param({**TICK, "seq": -1}, EntryMalformed, id="seq negative"),
        pytest.param({**TICK, "seq": 1 << 63, "prev": LINK}, EntryMalformed, id="seq of 64 bits"),
        pytest.param({**TICK, "seq": False}, EntryMalformed, id="a truth for a seq"),
        pytest.param({**TICK, "seq": "0"}, EntryMalformed, id="text for a seq"),
        pytest.param(without(TICK, "at"), EntryMalformed, id="no time"),
        pytest.param({**TICK, "at": -1}, EntryMalformed, id="time before 1970"),
        pytest.param({**TICK, "at": 1 << 63}, EntryMalformed, id="time of 64 bits"),
        pytest.param(without(TICK, "op"), EntryMalformed, id="no op"),
        pytest.param({**TICK, "op": "Tick"}, EntryMalformed, id="an unknown op"),
        pytest.param({**TICK, "op": ["tick"]}, EntryMalformed, id="op a list"),
        pytest.param({**TICK, "prev": LINK}, EntryMalformed, id="the first with a prev"),
        pytest.param(without(LATER, "prev"), EntryMalformed, id="a later one without prev"),
        pytest.param({**LATER, "prev": LINK.raw}, EntryMalformed, id="prev no link"),
        pytest.param({**LATER, "prev": Cid.of(b"", 0x55)}, EntryMalformed, id="prev a raw block"),
        pytest.param(without(MOVE, "uri"), EntryMalformed, id="create without uri"),
        pytest.param(without(MOVE, "record"), EntryMalformed, id="create without record"),
        pytest.param(without(MOVE, "author"), EntryMalformed, id="create without author"),
        pytest.param({**MOVE, "count": 1}, EntryMalformed, id="create with count"),
        pytest.param({**MOVE, "record": str(LINK)}, EntryMalformed, id="record no link"),
        pytest.param({**MOVE, "record": Cid.of(RECORD, 0x55)}, EntryMalformed, id="record a raw block"),
        pytest.param({**MOVE, "author": "gm.example.com"}, EntryMalformed, id="author a handle"),
        pytest.param({**MOVE, "author": "did:plc:other"}, EntryMalformed, id="uri of another author"),
        pytest.param({**MOVE, "uri": f"at://{GM}"}, EntryMalformed, id="uri of a repo"),
        pytest.param({**MOVE, "uri": f"at://{GM}/town/3k2a"}, EntryMalformed, id="collection no NSID"),
        pytest.param({**MOVE, "uri": URI + "#x"}, EntryMalformed, id="uri with a fragment"),
        pytest.param({**MOVE, "uri": 5}, EntryMalformed, id="uri no text"),
        pytest.param({**MOVE, "prov": [1]}, EntryMalformed, id="prov no map"),
        pytest.param(without(DELETE, "uri"), EntryMalformed, id="delete without uri"),
        pytest.param({**DELETE, "record": LINK}, EntryMalformed, id="delete with record"),
        pytest.param({**TICK, "uri": URI}, EntryMalformed, id="tick with uri"),
        pytest.param({**TICK, "author": GM}, EntryMalformed, id="tick with author"),
        pytest.param({**TICK, "prov": {}}, EntryMalformed, id="tick with prov"),
        pytest.param(without(FLOOD, "count"), EntryMalformed, id="flood without count"),
        pytest.param({**FLOOD, "count": 0}, EntryMalformed, id="flood of none"),
        pytest.param({**FLOOD, "count": True}, EntryMalformed, id="a truth for a count"),
        pytest.param({**FLOOD, "uri": URI}, EntryMalformed, id="flood with uri"),
        pytest.param({**FLOOD, "record": LINK}, EntryMalformed, id="flood with record"),
        pytest.param({**MOVE, "prov": {"proof": b"\x00" * MAX_ENTRY}}, EntryTooLarge, id="too large"),
    ],
)
def test_a_malformed_entry_is_refused(fields, error):
    with pytest.raises(error) as caught:
        decode_entry(codec.encode(fields))
    assert type(caught.value) is error


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(codec.encode(TICK) + b"\x00", id="a trailing byte"),
        pytest.param(codec.encode(TICK)[:-1], id="a byte short"),
        pytest.param(codec.encode(TICK).replace(b"bat\x05", b"bat\x18\x05"), id="a number too long"),
        pytest.param(codec.encode(TICK).replace(b"bat\x05", b"bat\xfb" + bytes(8)), id="a float"),
        pytest.param(b"\xa2av\x01av\x01", id="a key twice"),
        pytest.param(b"\xbfav\x01\xff", id="indefinite length"),
    ],
)
def test_bytes_that_are_no_strict_dag_cbor_are_no_entry(data):
    with pytest.raises(EntryEncoding):
        decode_entry(data)


@given(st.binary(max_size=200))
def test_any_bytes_are_an_entry_or_refused(data):
    try:
        entry = decode_entry(data)
    except Refused:
        return
    assert encode_entry(entry) == data


VALUES = (
    st.none()
    | st.booleans()
    | st.integers(-(1 << 64), (1 << 64) - 1)
    | st.sampled_from([GAME, URI, GM, "", "tick", "create", "flood"])
    | st.just(LINK)
    | st.binary(max_size=3)
    | st.just({})
    | st.just([])
)


@given(st.sampled_from([TICK, LATER, MOVE, DELETE, FLOOD]), st.sampled_from(Entry.__struct_fields__), VALUES)
def test_any_value_in_any_field_is_an_entry_or_refused(fields, name, value):
    data = codec.encode({**fields, name: value})
    try:
        entry = decode_entry(data)
    except Refused:
        return
    assert encode_entry(entry) == data


def test_entries_are_made_one_upon_the_other():
    first = make_entry(None, game=GAME, at=5, op="tick")
    second = make_entry(first, game=GAME, at=6, op="create", uri=URI, author=GM, record=RECORD)
    assert (first.entry.seq, first.entry.prev) == (0, None)
    assert (second.entry.seq, second.entry.prev, second.entry.record) == (1, first.cid, LINK)
    assert (second.cid, second.record) == (Cid.of(second.data), RECORD)
    assert read_listed(second.data, RECORD) == second


@pytest.mark.parametrize(
    ("more", "error"),
    [
        pytest.param({"op": "create", "uri": URI, "author": GM}, EntryMalformed, id="create without record"),
        pytest.param({"op": "tick", "record": RECORD}, EntryMalformed, id="tick with record"),
        pytest.param({"op": "tick", "at": -1}, EntryMalformed, id="time before 1970"),
        pytest.param({"op": "tick", "game": "delve"}, EntryMalformed, id="game no at-uri"),
        pytest.param(
            {"op": "create", "uri": URI, "author": GM, "record": RECORD, "prov": {"a": 0.5}},
            EntryMalformed,
            id="a float in prov",
        ),
        pytest.param(
            {"op": "create", "uri": URI, "author": GM, "record": RECORD, "prov": {"a": b"\x00" * MAX_ENTRY}},
            EntryTooLarge,
            id="too large",
        ),
    ],
)
def test_no_malformed_entry_is_made(more, error):
    with pytest.raises(error):
        make_entry(None, **{"game": GAME, "at": 5, **more})


def test_no_entry_of_another_version_is_written():
    with pytest.raises(EntryVersion):
        check_form(Entry(v=2, game=GAME, seq=0, at=5, op="tick"))


@pytest.mark.parametrize(
    ("fields", "record", "error"),
    [
        pytest.param(MOVE, None, RecordMissing, id="named and missing"),
        pytest.param(TICK, RECORD, RecordMissing, id="there and not named"),
        pytest.param(DELETE, RECORD, RecordMissing, id="a delete with a record"),
        pytest.param(MOVE, RECORD + b"\x00", RecordMismatch, id="another record"),
        pytest.param(MOVE, b"", RecordMismatch, id="no bytes"),
    ],
)
def test_an_entry_without_its_very_record_is_refused(fields, record, error):
    with pytest.raises(error):
        read_listed(codec.encode(fields), record)
