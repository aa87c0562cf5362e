from __future__ import annotations

import json

import pytest
from coin import RULES
from weighbridge.cid import Cid
from weighbridge.codec import decode
from weighbridge.scenario import Listing, Records, ScenarioWrong, account, load, run
from weighbridge.seals import seal_hash

ANN, GM = account("ann"), account("gm")
GAME = f"at://{GM}/example.coin.root/root"


def listed(*steps, root=None, **more):
    steps = [{"at": f"2026-10-18T08:00:{n:02}Z", **step} for n, step in enumerate(steps)]
    document = {"ruleset": "coin", "root": {"gm": "@gm"} if root is None else root, "steps": steps, **more}
    scenario = load(json.dumps(document))
    records = Records(scenario, RULES.root, RULES.collections)
    return list(Listing(scenario, records).entries())


def note(text="x", by="@ann", **more):
    return {"by": by, "put": "note", "value": {"text": text}, **more}


def flip(name="f1"):
    return {"by": "@ann", "put": "flip", "as": name, "value": {"call": "heads"}}


def values(entries):
    return [None if each.record is None else decode(each.record) for each in entries]


def test_an_account_is_a_did_made_from_its_name():
    assert account("ann") == "did:plc:jybizy4lys5qctgqznqycgtc"


def test_the_root_comes_first_at_the_time_of_the_first_step():
    root, first = listed(note())
    assert (root.entry.seq, root.entry.uri, root.entry.at) == (0, GAME, first.entry.at)
    assert (root.entry.author, decode(root.record)) == (GM, {"gm": GM})


def test_every_step_is_one_entry_that_follows_the_one_before():
    entries = listed(note(), {"tick": True}, note())
    assert [each.entry.op for each in entries] == ["create", "create", "tick", "create"]
    assert [each.entry.prev for each in entries[1:]] == [each.cid for each in entries[:-1]]


def test_game_is_filled_in_everywhere_but_in_the_root():
    root, put = values(listed(note()))
    assert ("game" in root, put["game"]) == (False, GAME)


def test_a_uri_does_not_depend_on_the_value():
    one, other = listed(note("a"))[1].entry, listed(note("b"))[1].entry
    assert one.uri == other.uri == f"at://{ANN}/example.coin.note/step.1"
    assert one.record != other.record


def test_names_are_replaced_where_they_are_the_whole_text():
    text = "@ann and uri:f1"
    value = {"a": "@ann", "b": ["uri:f1"], "c": "cid:f1", "d": "ref:f1", "e": text, "@ann": "@event.amount"}
    entries = listed(flip(), {"by": "@ann", "put": "note", "value": value})
    found = values(entries)[2]
    uri = f"at://{ANN}/example.coin.flip/f1"
    cid = str(entries[1].entry.record)
    expected = {
        "a": ANN,
        "b": [uri],
        "c": cid,
        "d": {"uri": uri, "cid": cid},
        "e": text,
        ANN: "@event.amount",
    }
    assert found == {**expected, "game": GAME}


def test_a_record_may_be_named_before_it_is_put():
    entries = listed({"by": "@ann", "put": "note", "value": {"a": "cid:f1", "b": "cid:root"}}, flip())
    first = values(entries)[1]
    assert (first["a"], first["b"]) == (str(entries[2].entry.record), str(entries[0].entry.record))


def test_a_cid_is_that_of_the_first_version():
    update = {"by": "@ann", "update": "f1", "value": {"call": "tails"}}
    entries = listed(flip(), update, {"by": "@ann", "put": "note", "value": {"a": "cid:f1"}})
    assert values(entries)[3]["a"] == str(entries[1].entry.record) != str(entries[2].entry.record)


def test_a_seal_hashes_game_author_slot_and_value_with_their_names_replaced():
    seals = {"s": {"by": "@ann", "slot": ["a", "uri:f1"], "salt": "ab", "value": {"at": "@gm"}}}
    move = {"by": "@ann", "put": "move", "value": {"kind": "hide", "seal": "seal:s"}}
    found = values(listed(flip(), move, seals=seals))[2]["seal"]
    slot = ["a", f"at://{ANN}/example.coin.flip/f1"]
    assert found == seal_hash(GAME, ANN, slot, b"\xab", {"at": GM})


CYCLES = {
    "itself": ([{**flip(), "value": {"call": "cid:f1"}}], {}),
    "each other": ([{**flip("f1"), "value": {"a": "cid:f2"}}, {**flip("f2"), "value": {"a": "cid:f1"}}], {}),
    "by a seal": (
        [{**flip(), "value": {"a": "seal:s"}}],
        {"s": {"by": "@ann", "slot": ["cid:f1"], "salt": "", "value": 1}},
    ),
}


@pytest.mark.parametrize(("steps", "seals"), CYCLES.values(), ids=CYCLES)
def test_what_holds_its_own_hash_is_refused(steps, seals):
    with pytest.raises(ScenarioWrong, match="holds its own hash"):
        listed(note("cid"), *steps, {"by": "@bob", "put": "note", "value": {"a": "cid:f1"}}, seals=seals)


def test_a_record_is_updated_deleted_and_put_back_under_its_own_uri():
    change = {"by": "@ann", "update": "f1", "value": {"call": "tails"}}
    entries = listed(flip(), change, {"by": "@ann", "delete": "f1"}, change, change)
    assert [each.entry.op for each in entries[1:]] == ["create", "update", "delete", "create", "update"]
    assert {each.entry.uri for each in entries[1:]} == {f"at://{ANN}/example.coin.flip/f1"}


def test_the_root_is_updated_by_its_name():
    entries = listed(note(), {"by": "@gm", "update": "root", "value": {"gm": "@bob"}})
    assert (entries[2].entry.uri, entries[2].entry.op) == (GAME, "update")
    assert values(entries)[2] == {"gm": account("bob")}


MALFORMED = {
    "no map": 5,
    "no gm": {},
    "a gm that is no DID": {"gm": "me"},
    "a gm that is a number": {"gm": 5},
}


@pytest.mark.parametrize("root", MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_root_is_listed_as_it_stands(root):
    entry = listed(note(), root=root)[0]
    assert (entry.entry.uri, decode(entry.record)) == (GAME, root)


def test_a_malformed_record_is_listed_as_it_stands():
    assert values(listed({"by": "@ann", "put": "note", "value": [1]}))[1] == [1]


def test_links_and_bytes_are_written_as_in_the_at_protocol():
    cid = str(Cid.of(b"a"))
    value = {"link": {"$link": cid}, "bytes": {"$bytes": "YQ"}}
    found = values(listed({"by": "@ann", "put": "note", "value": value}))[1]
    assert (found["link"], found["bytes"]) == (Cid.parse(cid), b"a")


UNLISTABLE = {
    "a lone surrogate": {"text": "\ud800"},
    "an integer past 64 bits": {"n": 2**64},
    "a link that is none": {"a": {"$link": "b"}},
    "too deep": {"a": [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]},
    "too large": {"text": "a" * 262_144},
}


@pytest.mark.parametrize("value", UNLISTABLE.values(), ids=UNLISTABLE)
def test_a_value_that_can_be_no_record_is_an_error_of_the_file(value):
    with pytest.raises(ScenarioWrong) as caught:
        listed({"by": "@ann", "put": "note", "value": value})
    assert caught.value.detail["path"] == "$.steps[0].value"


def test_a_collection_that_the_rule_set_does_not_have_is_an_error_of_the_file():
    with pytest.raises(ScenarioWrong, match=r"\$\.steps\[0\]\.put must be a collection of coin: flip, move"):
        listed({"by": "@ann", "put": "sheet", "value": {}})


def test_another_rule_set_is_an_error_of_the_file():
    scenario = load(
        json.dumps({"ruleset": "dice", "root": {}, "steps": [{"at": "2026-10-18T08:00:00Z", "tick": True}]})
    )
    with pytest.raises(ScenarioWrong, match="must be 'coin'"):
        run(scenario, RULES)


# --- evidence ----------------------------------------------------------------------------------------------

DICE = {"dice": "f1", "values": [2]}
SUBJECT = {"game": GAME, "subject": f"at://{ANN}/example.coin.flip/f1"}


def test_evidence_is_a_record_that_only_a_scenario_lists():
    steps = [
        {"trace": "f1", "verdict": "ok", "dated": "2026-10-18T07:00:00Z"},
        {"trace": "f1", "verdict": "unsettled"},
        DICE,
        {"dice": "f1", "beacon": {"round": 7, "signature": "00ff"}},
        {"receipt": ["@op", "did:plc:x"], "for": "f1"},
    ]
    entries = listed(flip(), *steps)[2:]
    assert {each.entry.uri.split("/")[3] for each in entries} == {"network.weighbridge.scenario"}
    assert values(entries) == [
        {"kind": "trace", "verdict": "ok", "dated": 1_792_306_800_000_000, **SUBJECT},
        {"kind": "trace", "verdict": "unsettled", **SUBJECT},
        {"kind": "dice", "values": [2], "timely": False, **SUBJECT},
        {"kind": "beacon", "round": 7, "signature": b"\x00\xff", "timely": False, **SUBJECT},
        {"kind": "receipt", "operators": [account("op"), "did:plc:x"], "at": entries[4].entry.at, **SUBJECT},
    ]


RECEIPTS = {
    "none": ([], True),
    "for another record": ([{"receipt": ["@op"], "for": "f2"}], True),
    "one": ([{"receipt": ["@op"], "for": "f1"}], False),
    "an empty one": ([{"receipt": [], "for": "f1"}], False),
}


@pytest.mark.parametrize(("receipts", "timely"), RECEIPTS.values(), ids=RECEIPTS)
def test_dice_are_timely_unless_receipts_anywhere_in_the_file_decide(receipts, timely):
    entries = listed(flip(), flip("f2"), DICE, *receipts)
    assert values(entries)[3]["timely"] is timely
