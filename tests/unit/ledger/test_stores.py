from __future__ import annotations

from pathlib import Path

import pytest
from weighbridge.cid import RAW, Cid
from weighbridge.codec import encode
from weighbridge.errors import WeighbridgeError
from weighbridge.ledger import BadName, CheckpointConflict, Ledger, NotInLedger, WrongBlock
from weighbridge.log import CompactRange, MerkleLog, make_entry, verify_consistency, verify_inclusion
from weighbridge.log.entries import Listed
from weighbridge.log.errors import LogGap, LogOutOfOrder, RangeRefused, RecordMismatch, RecordMissing
from writer import ALICE, GAME, ORIGIN, entries, everything, uri, write_batch


def test_what_is_written_is_read_again_after_reopening(path: Path) -> None:
    listed = entries(40)
    with Ledger.open(path) as ledger:
        for number in range(10):
            write_batch(ledger, listed, number)
        before = everything(ledger)
        assert [ledger.log(GAME).listed(seq) for seq in range(40)] == listed
        assert ledger.verify().sound
    with Ledger.open(path) as ledger:
        assert everything(ledger) == before


def test_the_first_listing_of_a_uri_is_found_and_later_ones_after_it(ledger: Ledger) -> None:
    log = ledger.log(GAME)
    log.extend(entries(20))
    assert log.first(uri(0)) == 0
    assert log.about(uri(0)) == [0, 4, 9, 14, 19]
    assert log.first(uri(8)) == 8
    assert log.first(uri(6)) is None
    assert log.about("at://nobody\ud800") == []


def test_a_deletion_of_what_was_never_listed_is_known_and_no_first_listing(ledger: Ledger) -> None:
    log = ledger.log(GAME)
    more = ({"op": "delete"}, {"op": "create", "record": encode({"n": 1})}, {"op": "delete"})
    for fields in more:
        log.append(make_entry(log.last, game=GAME, at=1, uri=uri(0), author=ALICE, **fields))  # type: ignore[arg-type]
        assert log.knows(uri(0))
        assert log.first(uri(0)) == (None if log.size == 1 else 1)
    assert log.about(uri(0)) == [0, 1, 2]
    assert not log.knows(uri(1))


def test_entries_are_iterated_in_order_between_two_places(ledger: Ledger) -> None:
    listed = entries(600)
    log = ledger.log(GAME)
    log.extend(listed)
    assert list(log.entries()) == listed
    assert list(log.entries(250, 520)) == listed[250:520]
    assert list(log.entries(600)) == []


@pytest.mark.parametrize("size", [0, 1, 31, 32, 33, 1023, 1024, 1025, 1500])
def test_roots_and_proofs_are_those_of_a_merkle_log_at_every_size(path: Path, size: int) -> None:
    plain = MerkleLog()
    with Ledger.open(path) as ledger:
        transcript = ledger.transcript(ORIGIN)
        with ledger.batch():
            for number in range(size):
                entry, delta = Cid.of(b"%d" % number), b"\x80"
                plain.append(entry.raw + Cid.of(delta).raw)
                transcript.append(entry, delta)
    with Ledger.open(path) as ledger:
        tree = ledger.transcript(ORIGIN).tree
        assert tree.leaf_hashes() == plain.leaf_hashes()
        for past in sorted({0, min(1, size), size // 3, size // 2, max(size - 1, 0), size}):
            assert tree.root(past) == plain.root(past)
            verify_consistency(past, size, tree.consistency(past), tree.root(past), plain.root())
            if past < size:
                verify_inclusion(plain.leaf(past), past, size, tree.inclusion(past), plain.root())


def test_appending_one_by_one_and_in_batches_leads_to_the_same_tree(path: Path, tmp_path: Path) -> None:
    listed = entries(70)
    frontier = CompactRange()
    for one in listed:
        frontier.append(one.data)
    with Ledger.open(path) as single, Ledger.open(tmp_path / "other") as batched:
        for one in listed:
            single.log(GAME).append(one)
        for start in range(0, 70, 23):
            batched.log(GAME).extend(listed[start : start + 23])
        assert single.log(GAME).root() == batched.log(GAME).root() == frontier.root()


def test_several_games_and_eras_share_one_ledger(ledger: Ledger) -> None:
    other = f"at://{ALICE}/network.weighbridge.game/other"
    ledger.log(GAME).extend(entries(9))
    first = make_entry(None, game=other, at=5, op="tick")
    ledger.log(other).append(first)
    assert ledger.log(other).listed(0) == first
    assert ledger.log(other).first(uri(0)) is None
    assert sorted(ledger.logs()) == sorted([GAME, other])
    assert ledger.log(GAME).size == 9


LISTED = entries(6)
ALIEN = make_entry(None, game=GAME, at=1, op="tick")


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        pytest.param(LISTED[3], LogGap, id="leaves-out-an-entry"),
        pytest.param(LISTED[1], LogGap, id="repeats-an-entry"),
        pytest.param(
            make_entry(LISTED[1]._replace(cid=ALIEN.cid), game=GAME, at=LISTED[2].entry.at, op="tick"),
            LogOutOfOrder,
            id="follows-another-entry",
        ),
        pytest.param(LISTED[2]._replace(record=b"other"), RecordMismatch, id="another-record"),
        pytest.param(LISTED[2]._replace(record=None), RecordMissing, id="no-record"),
        pytest.param(LISTED[2]._replace(data=LISTED[1].data), WrongBlock, id="another-entrys-bytes"),
        pytest.param(LISTED[2]._replace(cid=LISTED[1].cid), WrongBlock, id="another-entrys-cid"),
    ],
)
def test_an_entry_that_is_not_the_next_is_refused(
    ledger: Ledger, wrong: object, error: type[WeighbridgeError]
) -> None:
    log = ledger.log(GAME)
    log.extend(LISTED[:2])
    with pytest.raises(error):
        log.append(wrong)  # type: ignore[arg-type]
    assert log.size == 2
    log.append(LISTED[2])
    assert log.last == LISTED[2]
    assert ledger.verify().sound


@pytest.mark.parametrize("wrong", [LISTED[3], LISTED[1]], ids=["leaves-out-an-entry", "repeats-an-entry"])
def test_also_of_entries_known_to_be_well_formed_each_must_be_the_next(ledger: Ledger, wrong: Listed) -> None:
    log = ledger.log(GAME)
    assert log.extend(LISTED[:2], formed=True) == 2
    with pytest.raises(LogGap):
        log.extend([wrong], formed=True)
    log.extend(LISTED[2:], formed=True)
    assert [each.cid for each in log.entries()] == [each.cid for each in LISTED]
    assert ledger.verify().sound


@pytest.mark.parametrize("seq", [-1, 6, "0", True])
def test_a_place_the_log_does_not_hold_is_refused(ledger: Ledger, seq: int) -> None:
    ledger.log(GAME).extend(LISTED)
    with pytest.raises(RangeRefused):
        ledger.log(GAME).listed(seq)
    with pytest.raises(RangeRefused):
        ledger.transcript(ORIGIN).leaf(seq)


def test_a_batch_that_fails_leaves_nothing_and_forgets_what_it_knew(ledger: Ledger) -> None:
    log = ledger.log(GAME)
    log.extend(LISTED[:2])
    root = log.root()

    def fails_after_writing() -> None:
        with ledger.batch():
            log.append(LISTED[2])
            ledger.positions.set("stream", 7)
            assert (log.size, ledger.positions.get("stream")) == (3, 7)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fails_after_writing()
    assert (log.size, log.root(), ledger.positions.get("stream")) == (2, root, None)
    assert log.first(uri(2)) is None
    assert log.last == LISTED[1]
    log.append(LISTED[2])
    assert ledger.verify().sound


def test_half_of_an_inner_batch_does_not_stay_when_its_error_is_swallowed(ledger: Ledger) -> None:
    log = ledger.log(GAME)

    def swallows() -> None:
        with ledger.batch():
            with pytest.raises(LogGap):
                log.extend([LISTED[0], LISTED[2]])
            ledger.positions.set("stream", 1)

    with pytest.raises(LogGap):
        swallows()
    assert log.size == 0
    assert ledger.positions.get("stream") is None


def test_a_refused_entry_does_not_undo_the_batch_around_it(ledger: Ledger) -> None:
    log = ledger.log(GAME)
    with ledger.batch():
        log.append(LISTED[0])
        with pytest.raises(LogGap):
            log.append(LISTED[2])
    assert log.size == 1


def test_blocks_are_stored_once_under_their_own_cid_only(ledger: Ledger) -> None:
    data = encode({"a": 1})
    ledger.blocks.put(Cid.of(data), data)
    ledger.blocks.put(Cid.of(data), data)
    ledger.blocks.put(Cid.of(data, RAW), data)
    assert ledger.blocks.get(Cid.of(data)) == ledger.blocks.need(Cid.of(data, RAW)) == data
    assert ledger.blocks.get(Cid.of(b"")) is None
    with pytest.raises(WrongBlock):
        ledger.blocks.put(Cid.of(b""), data)


def test_blocks_stored_together_may_be_there_already_or_come_twice(ledger: Ledger) -> None:
    some = [(Cid.of(data), data) for data in (b"\x01", b"\x02", b"\x03")]
    ledger.blocks.put(*some[1])
    with ledger.batch():
        ledger.blocks.put_all_checked([*some, some[0]])
    assert [ledger.blocks.need(cid) for cid, _ in some] == [data for _, data in some]
    assert ledger.verify().sound


@pytest.mark.parametrize("size", [10, 100_000], ids=["remembered", "read-again"])
def test_a_leaf_and_its_delta_can_be_read_in_the_batch_that_appends_them(ledger: Ledger, size: int) -> None:
    transcript, delta = ledger.transcript(ORIGIN), encode("x" * size)
    with ledger.batch():
        for number in range(3):
            transcript.append(LISTED[number].cid, delta)
            assert transcript.leaf(number).entry == LISTED[number].cid
            assert transcript.delta(number) == delta
    assert [leaf.entry for leaf in transcript.leaves()] == [each.cid for each in LISTED[:3]]
    assert ledger.verify().sound


def test_two_roots_of_one_size_are_kept_as_evidence_and_refused(ledger: Ledger) -> None:
    checkpoints = ledger.checkpoints(GAME)
    assert checkpoints.put(3, b"a" * 32, b"one")
    assert not checkpoints.put(3, b"a" * 32, b"again")
    with pytest.raises(CheckpointConflict) as caught:
        checkpoints.put(3, b"b" * 32, b"two")
    assert (caught.value.detail["known"], caught.value.detail["other"]) == (b"one", b"two")
    kept = checkpoints.at(3)
    assert kept is not None
    assert kept.note == b"one"


def test_the_newest_checkpoint_and_the_first_cosignature_are_found(ledger: Ledger) -> None:
    checkpoints, other = ledger.checkpoints(GAME), ledger.checkpoints(ORIGIN)
    assert checkpoints.newest() is None
    for size in (1, 5, 300):
        checkpoints.put(size, bytes([size % 256]) * 32, b"note")
    newest, before = checkpoints.newest(), checkpoints.newest(299)
    assert newest is not None
    assert before is not None
    assert (newest.size, before.size, checkpoints.sizes()) == (300, 5, [1, 5, 300])
    assert other.newest() is None
    assert checkpoints.cosign(5, "bob", b"early")
    assert not checkpoints.cosign(5, "bob", b"late")
    assert checkpoints.cosign(5, "carol%2 x", b"line")
    assert checkpoints.cosignatures(5) == {"bob": b"early", "carol%2 x": b"line"}
    with pytest.raises(NotInLedger):
        checkpoints.cosign(6, "bob", b"line")


def test_snapshots_of_many_and_large_cells_come_back_whole(ledger: Ledger) -> None:
    snapshots = ledger.snapshots(ORIGIN)
    small = {f"cell/{number}": encode(number) for number in range(3000)}
    large = {f"big/{number}": bytes([number]) * 200_000 for number in range(4)}
    snapshots.save(4096, small | large)
    snapshots.save(8192, small)
    snapshots.save(8192, {})
    assert snapshots.load(4096) == small | large
    assert (snapshots.load(8192), snapshots.load(1)) == ({}, None)
    assert (snapshots.newest(), snapshots.newest(8191), snapshots.newest(5)) == (8192, 4096, None)
    assert snapshots.drop(4096)
    assert not snapshots.drop(4096)
    assert snapshots.seqs() == [8192]
    assert ledger.verify().sound


def test_messages_wait_in_order_until_they_are_sent(ledger: Ledger) -> None:
    outbox = ledger.outbox
    numbers = [outbox.add("s", b"p" * size, expected) for size, expected in ((0, 0), (3000, 1), (5, None))]
    outbox.sent(numbers[0], 77)
    assert [(m.number, len(m.payload), m.expected) for m in outbox.waiting()] == [(2, 3000, 1), (3, 5, None)]
    assert outbox.waiting(1) == [outbox.get(2)]
    assert [message.sent for message in outbox.all()] == [77, None, None]
    assert [message.number for message in outbox.all(after=1)] == [2, 3]
    outbox.again(1)
    assert [message.number for message in outbox.waiting()] == [1, 2, 3]
    outbox.sent(1, 78)
    outbox.sent(2, 79)
    assert outbox.prune(up_to=1) == 1
    assert outbox.prune(up_to=9) == 1
    assert outbox.add("s", b"") == 4
    with pytest.raises(NotInLedger):
        outbox.get(1)
    with pytest.raises(NotInLedger):
        outbox.sent(1, 1)


def test_rejected_answers_are_kept_up_to_a_number(ledger: Ledger) -> None:
    rejected = ledger.rejected
    cids = [Cid.of(b"%d" % number) for number in range(5)]
    for cid in cids:
        assert rejected.add(cid, b"code")
    assert not rejected.add(cids[0], b"other")
    assert rejected.get(cids[0]) == b"code"
    assert rejected.prune(2) == 3
    assert rejected.get(cids[0]) is None
    assert rejected.all() == [(cids[3], b"code"), (cids[4], b"code")]


def test_named_values_are_set_listed_and_deleted(ledger: Ledger) -> None:
    values = ledger.values
    for name in ("b/2", "a é", "b/1", "b"):
        values.set(name, name.encode())
    values.set("b", b"x" * 5000)
    assert values.get("b") == b"x" * 5000
    values.set("b", b"short")
    assert (values.get("b"), values.get("a é"), values.get("c")) == (b"short", "a é".encode(), None)
    assert (values.names(), values.names("b/")) == (["a é", "b", "b/1", "b/2"], ["b/1", "b/2"])
    assert values.delete("b/1")
    assert not values.delete("b/1")
    assert values.names("b") == ["b", "b/2"]
    assert ledger.verify().sound


@pytest.mark.parametrize("name", ["", "x" * 9000, "\ud800"], ids=["empty", "too-long", "no-text"])
def test_a_name_that_cannot_be_a_key_is_refused(ledger: Ledger, name: str) -> None:
    with pytest.raises(BadName):
        ledger.values.set(name, b"")


@pytest.mark.parametrize("number", [-1, 1 << 63], ids=["negative", "too-large"])
def test_a_number_that_cannot_be_kept_is_refused(ledger: Ledger, number: int) -> None:
    with pytest.raises(BadName):
        ledger.positions.set("stream", number)
    with pytest.raises(BadName):
        ledger.checkpoints(GAME).at(number)
