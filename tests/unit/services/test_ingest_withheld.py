"""When a record that a follower holds counts as withheld: what the log says, and what is held against its lister."""

from __future__ import annotations

import pytest
from ingest_facts import GAME, NOON, SECOND, beacon, note, opened, player, receipt
from repo_making import ALICE, Made
from weighbridge import codec
from weighbridge.cid import Cid
from weighbridge.fold.records import DAY
from weighbridge.repos import Proved, carry
from weighbridge_services.ingest.decide import Known
from weighbridge_services.ingest.opening import Opened, Refusal, read_record
from weighbridge_services.ingest.probing import answered_size
from weighbridge_services.ingest.withheld import (
    Awaited,
    Sight,
    accusation,
    awaited_of,
    days_of,
    ended,
    is_alive,
    is_late,
    kept_form,
    read_kept,
    settles,
)
from weighbridge_services.ingest.withholding import rejection_in

MOST = 4_096
PATH = "example.coin.note/a"
URI = f"at://{ALICE}/{PATH}"


class Repo(Made):
    """A repository whose changes are found one after the other."""

    def find(self, text: str | None) -> Awaited:
        new = None if text is None else {"$type": "example.coin.note", "game": GAME, "text": text}
        self.commit({PATH: new})
        assert self.last is not None
        proved = Proved(self.last, self.tree.get(PATH), None if new is None else codec.encode(new))
        data = carry(URI, self.key.public.did_key, Cid.of(b"doc", 0x55), proved, self.tree.prove(PATH))
        read = read_record(data, GAME, carried=True)
        assert isinstance(read, Opened)
        return awaited(read)


def awaited(read: Opened, at: int = NOON) -> Awaited:
    found = awaited_of(read, at, found=True, most=MOST)
    assert found is not None
    return found


def envelope_of(text: str = "hello") -> Awaited:
    return awaited(opened(note(player(1), "a", text)).opened)  # type: ignore[arg-type]


def version(of: Awaited, seq: int, **changes: object) -> Known:
    return Known(seq, NOON + seq, of.record, of.rev)._replace(**changes)  # type: ignore[arg-type]


# --- what the log says -----------------------------------------------------------------------------------------


def test_a_listed_version_settles_itself_and_no_other() -> None:
    one, two = envelope_of("one"), envelope_of("two")
    assert settles(one, [version(one, 3)])
    assert settles(one, [version(two, 2), version(one, 3), version(two, 4)])
    assert not settles(two, [version(one, 3)])
    assert not settles(one, [])


def test_a_first_version_is_still_awaited_where_nothing_is_listed_but_what_came_before_it() -> None:
    repo = Repo()
    one, two = repo.find("one"), repo.find("two")
    assert not settles(two, [version(one, 1)])
    assert settles(one, [version(one, 1)])


def test_what_came_later_in_the_repository_settles_what_it_replaced() -> None:
    """A lister that was away fetches a repository as it is, and nobody can ask it for what was there before."""
    repo = Repo()
    one, two, end = repo.find("one"), repo.find("two"), repo.find(None)
    assert settles(one, [version(two, 1)])
    assert settles(two, [version(end, 1)])
    assert settles(end, [version(two, 1), version(end, 2)])
    assert not settles(end, [version(one, 1), version(two, 2)])


def test_a_record_that_a_later_commit_still_holds_is_the_same_version() -> None:
    repo = Repo()
    listed = repo.find("one")
    repo.commit({"example.coin.note/b": {"text": "another"}})
    again = repo.find("one")
    assert again.rev != listed.rev
    assert settles(again, [version(listed, 1)])
    assert again.key == listed.key


def test_a_return_to_an_earlier_version_is_awaited_anew() -> None:
    repo = Repo()
    one, two, again = repo.find("one"), repo.find("two"), repo.find("one")
    assert not settles(again, [version(one, 1), version(two, 2)])
    assert settles(again, [version(one, 1), version(two, 2), version(again, 3)])


def test_two_ends_of_one_record_are_told_apart() -> None:
    repo = Repo()
    one, first = repo.find("one"), repo.find(None)
    again, second = repo.find("one"), repo.find(None)
    assert first.key != second.key
    assert not settles(second, [version(one, 1), version(first, 2), version(again, 3)])


def test_the_end_of_a_record_that_was_never_listed_is_nothing_to_list() -> None:
    repo = Repo()
    repo.find("one")
    assert settles(repo.find(None), [])


def test_a_record_that_ended_before_it_was_late_is_no_longer_to_be_had_and_no_other() -> None:
    repo = Repo()
    one = repo.find("one")
    end = repo.find(None)
    again = repo.find("two")
    assert ended([one, again, envelope_of()], [end]) == [one]
    assert ended([one], [again]) == []


# --- when ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("until", "alive", "late"),
    [
        pytest.param(NOON + 60 * SECOND, 60.0, True, id="the log has gone on, and the lister with it"),
        pytest.param(NOON + 60 * SECOND - 1, 60.0, False, id="the log is not known far enough"),
        pytest.param(NOON + DAY, None, False, id="the lister has shown no life since"),
        pytest.param(NOON + DAY, 59.9, False, id="the lister has just come back"),
        pytest.param(NOON - SECOND, 600.0, False, id="the log stands still"),
    ],
)
def test_a_record_is_late_only_when_the_log_went_on_past_its_time(
    until: int, alive: float | None, late: bool
) -> None:
    assert is_late(envelope_of(), Sight(until, alive), 60.0) is late


def test_a_lister_is_alive_once_its_log_has_gone_on_since_a_record_was_found() -> None:
    assert is_alive(envelope_of(), NOON)
    assert not is_alive(envelope_of(), NOON - 1)


def test_a_record_found_before_midnight_may_have_met_the_limit_of_either_day() -> None:
    late = envelope_of()._replace(at=20_001 * DAY - SECOND)
    assert list(days_of(late, 60.0)) == [20_000, 20_001]
    assert list(days_of(late, 0.5)) == [20_000]


# --- what is said ----------------------------------------------------------------------------------------------


def test_an_accusation_names_the_version_and_shows_its_proof() -> None:
    found = Repo().find("one")
    fault = accusation(found, None)
    assert (fault.code, fault.about) == ("withheld", URI)
    assert fault.detail == {
        "given": found.given,
        "cid": str(found.record),
        "rev": found.rev,
        "proof": found.proof,
    }
    assert "found by this node's own source" in fault.says


def test_an_accusation_over_an_end_says_so_and_one_over_a_large_record_shows_no_proof() -> None:
    repo = Repo()
    repo.find("one")
    end = repo.find(None)._replace(proof=None)
    fault = accusation(end, None)
    assert fault.says.startswith("The end of this record")
    assert fault.detail == {"given": end.given, "rev": end.rev}
    large = read_record(opened(note(player(1), "a", "x" * 2 * MOST)).opened.proof, GAME)  # type: ignore[union-attr]
    assert isinstance(large, Opened)
    assert awaited(large).proof is None


def test_a_rejection_that_this_node_sees_to_be_wrong_is_what_it_accuses_of() -> None:
    fault = accusation(envelope_of(), Refusal("bad-signature", "It does not hold."))
    assert (fault.code, fault.detail["rejected"]) == ("wrong-rejection", "bad-signature")
    assert "(bad-signature)" in fault.says
    assert accusation(envelope_of(), Refusal("flooded", "Full.")).code == "withheld"


def test_the_same_accusation_is_the_same_finding_whenever_it_is_made() -> None:
    found = envelope_of()
    assert accusation(found, None) == accusation(found._replace(at=NOON + DAY), None)


# --- what is not awaited, and what is kept ---------------------------------------------------------------------


def test_of_beacons_and_receipts_one_is_listed_for_many_and_none_is_awaited() -> None:
    for handed in (beacon(player(2), 7), receipt(player(2), 3)):
        read = opened(handed).opened
        assert isinstance(read, Opened)
        assert awaited_of(read, NOON, found=True, most=MOST) is None


def test_what_a_ledger_keeps_is_what_was_awaited() -> None:
    repo = Repo()
    for each in (envelope_of(), repo.find("one"), repo.find(None)):
        assert read_kept(kept_form(each)) == each


@pytest.mark.parametrize(
    "data",
    [b"", b"\xff", codec.encode([1]), codec.encode({"cid": 3, "code": "x"}), codec.encode({"cid": "x"})],
    ids=["nothing", "no value", "no map", "a number for a CID", "no code"],
)
def test_a_message_that_is_no_rejection_rejects_nothing(data: bytes) -> None:
    assert rejection_in(data) is None


def test_a_rejection_is_read_with_its_code() -> None:
    data = codec.encode({"cid": "bafy", "code": "flooded", "says": "Full.", "from": "jsonl"})
    assert rejection_in(data) == ("bafy", Refusal("flooded", "Full."))


@pytest.mark.parametrize(
    ("answer", "size"),
    [
        ({"listed": 3, "receipt": f"{GAME}/log\n7\n{'A' * 43}=\n\n— x y\n"}, 7),
        ({"listed": 3, "receipt": "no checkpoint"}, None),
        ({"rejected": "flooded", "says": ""}, None),
        ({"unavailable": "clock-off", "says": ""}, None),
    ],
    ids=["listed", "with a bad note", "rejected", "put off"],
)
def test_only_an_answer_with_a_checkpoint_is_a_sign_of_life(
    answer: dict[str, object], size: int | None
) -> None:
    assert answered_size(codec.encode(answer)) == size
    assert answered_size(b"\xff") is None
