"""Whose word stands behind a repository's record, by the log alone; and what a deletion needs beside the lister's."""

from __future__ import annotations

from typing import Any

import pytest
from book import ANN, BOB, GM, SECOND, Book, place
from coin import RULES
from hypothesis import given
from hypothesis import strategies as st
from test_evidence import LISTER, OPA, OPB, OPC, OPERATORS, operators_of, receipt
from weighbridge.codec import encode
from weighbridge.fold import Fold, MemoryHistory, SnapshotTooYoung
from weighbridge.fold.grades import MOST_SPANS, are_in_order, grade_of, name, spans_of
from weighbridge.fold.table import Cells
from weighbridge.identity import Signer

PLAYER = Signer(b"p" * 32).did


def proof(grade: str = "proved-now") -> dict[str, Any]:
    """What ingest keeps of a proof it has verified; the fold reads no more of it than that."""
    return {"grade": grade, "key": "did:key:zQ3", "doc": b"", "rev": "3kaaaaaaaaa22", "blocks": [b""]}


def opened(**root: Any) -> Book:
    book = Book(RULES, root={"gm": GM, "rules": {"perDay": 5}, **root})
    if root:
        operators_of(book)
    return book


def named() -> Book:
    """A game with three operators beside the lister."""
    return opened(lister=LISTER.did, policy=OPERATORS)


def write(book: Book, rkey: str = "a", text: str = "hello", what: str = "flip") -> str:
    uri = f"at://{ANN}/example.coin.{what}/{rkey}"
    value = {"game": book.game, "call": "heads"} if what == "flip" else {"game": book.game, "text": text}
    book.now += SECOND
    book.list(op="create", uri=uri, author=ANN, record=encode(value), prov=proof())
    return uri


def delete(book: Book, uri: str, grade: str = "proved-now") -> int:
    book.now += SECOND
    return book.list(op="delete", uri=uri, author=ANN, prov=proof(grade)).seq


def see(book: Book, *who: Signer, unproved: list[list[int]] | None = None) -> None:
    """Let operators receipt all that is listed so far."""
    size = len(book.entries)
    for signer in who:
        more = {} if unproved is None else {"unproved": unproved}
        assert book.reports(receipt(book, signer, book.now // SECOND, size=size, **more)) == []


def test_a_record_of_a_repository_is_the_listers_word_until_a_majority_has_receipted_it() -> None:
    book = named()
    write(book)
    seq = len(book.entries) - 1
    assert grade_of(book.fold.world, seq) == "lister-says"
    see(book, LISTER, OPA)
    assert grade_of(book.fold.world, seq) == "lister-says"
    see(book, OPB)
    assert grade_of(book.fold.world, seq) == "seen-by-quorum"


def test_a_receipt_that_names_an_entry_unproved_has_not_seen_whose_it_is_until_a_later_one_names_it_no_more() -> (
    None
):
    book = named()
    write(book)
    seq = len(book.entries) - 1
    see(book, OPA)
    see(book, OPB, unproved=[[seq, seq + 1]])
    assert grade_of(book.fold.world, seq) == "lister-says"
    assert book.fold.table[f"_/receipt/{OPB.did}"]["unproved"] == [[seq, seq + 1]]
    see(book, OPB, unproved=[[seq + 1, seq + 2]])
    assert grade_of(book.fold.world, seq) == "seen-by-quorum"


def test_what_a_did_key_signed_is_proved_by_itself_and_ticks_have_no_grade() -> None:
    book = named()
    book.put(PLAYER, "note", {"text": "hello"})
    book.tick()
    assert [grade_of(book.fold.world, seq) for seq in (-2 + len(book.entries), -1 + len(book.entries))] == [
        "proved-now",
        None,
    ]


def test_an_account_is_what_a_lister_says_of_it_whoever_has_receipted_that() -> None:
    book = named()
    book.put(LISTER.did, "network.weighbridge.account", {"did": ANN, "event": "account", "status": "deleted"})
    step = book.steps[-1]
    see(book, OPA, OPB, OPC)
    assert (step.delta, grade_of(book.fold.world, step.seq)) == ((), "lister-says")


def test_a_repository_of_a_did_key_is_proved_by_itself_too() -> None:
    book = named()
    record = encode({"game": book.game, "text": "hello"})
    uri = f"at://{PLAYER}/example.coin.note/a"
    seq = book.list(op="create", uri=uri, author=PLAYER, record=record, prov=proof() | {"key": PLAYER}).seq
    assert grade_of(book.fold.world, seq) == "proved-now"


def test_no_other_operator_makes_no_quorum() -> None:
    book = opened()
    write(book)
    assert grade_of(book.fold.world, 1) == "lister-says"


def test_a_record_that_was_created_counts_at_its_listing_whatever_its_grade() -> None:
    book = named()
    uri = write(book, what="note")
    assert book.fold.table[f"note/{place(uri).removeprefix('example.coin.note/')}"]["text"] == "hello"


def test_a_deletion_changes_no_cell_while_only_the_lister_says_so() -> None:
    book = named()
    uri = write(book)
    seq = delete(book, uri)
    assert book.steps[seq].delta == ()
    see(book, LISTER)
    see(book, OPA)
    assert book.reports(uri) == []


@pytest.mark.parametrize("two", [(OPA, OPB), (OPC, OPA)])
def test_a_deletion_counts_from_the_receipt_on_with_which_a_majority_has_seen_it(
    two: tuple[Signer, Signer],
) -> None:
    book = named()
    uri = write(book)
    seq = delete(book, uri)
    see(book, two[0])
    assert (book.reports(uri), book.fold.table.keys("_/deletion/")) == ([], [f"_/deletion/{seq:016}"])
    see(book, two[1])
    assert (book.reports(uri), book.fold.table.keys("_/deletion/")) == (["deleted"], [])
    assert {key for key, _ in book.steps[-1].delta} >= {f"_/report/{place(uri)}"}


def test_who_names_a_deletion_unproved_has_not_seen_it_and_may_later() -> None:
    book = named()
    uri = write(book)
    seq = delete(book, uri)
    see(book, OPA)
    see(book, OPB, unproved=[[0, seq + 1]])
    assert book.reports(uri) == []
    see(book, OPB)
    assert book.reports(uri) == ["deleted"]


def test_the_end_of_the_root_waits_for_a_quorum_as_well() -> None:
    book = named()
    seq = book.list(op="delete", uri=book.game, author=GM, prov=proof()).seq
    assert (book.steps[seq].delta, book.reports(book.game)) == ((), [])
    see(book, OPA, OPB)
    assert book.reports(book.game) == ["deleted"]


def test_in_a_game_that_names_no_other_operator_the_listers_proof_counts_at_once_and_that_is_said() -> None:
    book = opened()
    uri = write(book)
    delete(book, uri)
    (says,) = book.fold.table[f"_/report/{place(uri)}"].values()
    assert says.endswith("The game names no operator beside the lister, who alone says so.")


def test_a_deletion_that_its_lister_has_not_proved_itself_changes_nothing_even_there() -> None:
    book = opened()
    uri = write(book)
    seq = delete(book, uri, "lister-says")
    assert (book.steps[seq].delta, book.reports(uri)) == ((), [])


def test_a_deletion_of_what_was_never_listed_changes_nothing_and_spoils_nothing() -> None:
    book = named()
    delete(book, f"at://{ANN}/example.coin.flip/a")
    see(book, OPA, OPB)
    assert book.fold.table[f"flip/{ANN}:{write(book).rpartition('/')[2]}"]["status"] == "pending"


def note_of(book: Book, uri: str) -> dict[str, Any]:
    found: dict[str, Any] = book.fold.table[f"note/{ANN}:{uri.rpartition('/')[2]}"]
    return found


def test_where_versions_count_the_end_of_one_does_not_outlive_a_newer_one() -> None:
    book = named()
    uri = write(book, what="note")
    delete(book, uri)
    write(book, text="back", what="note")
    see(book, OPA, OPB)
    assert note_of(book, uri) == {"text": "back", "op": "create"}
    delete(book, uri)
    see(book, OPA, OPB)
    assert note_of(book, uri)["op"] == "delete"


def test_several_deletions_that_one_receipt_completes_take_effect_in_their_order() -> None:
    book = named()
    uris = [write(book, rkey) for rkey in "cab"]
    for uri in uris:
        delete(book, uri)
    see(book, OPA, OPB)
    assert [book.reports(uri) for uri in uris] == [["deleted"]] * 3


def test_operators_are_those_of_the_root_in_force_at_the_deletion() -> None:
    book = opened()
    uri = write(book)
    book.put(
        GM,
        "root",
        {"gm": GM, "rules": {"perDay": 5}, "lister": LISTER.did, "policy": OPERATORS},
        uri=book.game,
    )
    operators_of(book)
    seq = delete(book, uri)
    assert book.steps[seq].delta == ()
    see(book, OPB, OPC)
    assert book.reports(uri) == ["deleted"]


def name_operators(book: Book, *dids: str) -> None:
    policy = {"dids": [LISTER.did, *dids], "quorum": 2}
    value = {"gm": GM, "rules": {"perDay": 5}, "lister": LISTER.did, "policy": policy}
    book.put(GM, "root", value, uri=book.game)


def test_a_deletion_from_before_operators_were_named_opens_no_cell() -> None:
    book = opened()
    took, informational = write(book, "a"), write(book, "b")
    delete(book, took)
    delete(book, informational, "lister-says")
    name_operators(book, OPA.did, OPB.did, OPC.did)
    operators_of(book)
    see(book, OPA, OPB, OPC)
    assert book.fold.table.keys("_/deletion/") == []
    assert (book.reports(took), book.reports(informational)) == (["deleted"], [])


def test_whom_no_root_named_at_a_deletion_changes_no_cell_of_it() -> None:
    book = opened()
    operators_of(book)
    name_operators(book, OPA.did, OPB.did)
    uri = write(book)
    seq = delete(book, uri)
    name_operators(book, OPA.did, OPB.did, OPC.did)
    see(book, OPA, OPB, unproved=[[seq, seq + 1]])  # the quorum in force lets OPC in
    see(book, OPC)
    assert book.fold.table[f"_/deletion/{seq:016}"] == {"seq": seq, "seen": []}
    see(book, OPA, OPB)
    assert book.reports(uri) == ["deleted"]


def test_a_receipt_reads_only_the_deletions_that_it_can_change(monkeypatch: pytest.MonkeyPatch) -> None:
    book, read = named(), list[str]()
    ends = [delete(book, write(book, f"k{number}")) for number in range(6)]
    dark = [[ends[0], ends[3] + 1]]
    see(book, OPA, unproved=dark)
    monkeypatch.setattr(Cells, "read", read_and_note(read))
    see(book, OPA, unproved=dark)
    assert read == []  # two it has seen, four it names unproved as before
    see(book, OPA, unproved=[[ends[0], ends[1] + 1]])
    assert read == [f"_/deletion/{seq:016}" for seq in (ends[2], ends[3])]


def read_and_note(read: list[str]) -> Any:
    plain = Cells.read

    def noting(cells: Cells, key: str, shape: Any) -> Any:
        if key.startswith("_/deletion/") and key not in read:
            read.append(key)
        return plain(cells, key, shape)

    return noting


@pytest.mark.parametrize(
    "unproved",
    [
        [[3, 3]], [[4, 2]], [[0, 1], [0, 2]], [[-1, 2]], [[0, 1_000]], [[n * 2, n * 2 + 1] for n in range(65)],
        [7], "all",
    ],
)  # fmt: skip
def test_a_receipt_whose_unproved_entries_are_not_in_order_is_none(unproved: Any) -> None:
    book = named()
    write(book)
    for _ in range(140):
        book.tick()
    uri = receipt(book, OPA, book.now // SECOND, unproved=unproved)
    assert book.reports(uri) == ["bad-receipt"]
    assert f"_/receipt/{OPA.did}" not in book.fold.table


def lively() -> Book:
    book = named()
    for number, rkey in enumerate("abcdef"):
        uri = write(book, rkey, what="flip" if number % 2 else "note")
        if number % 3:
            delete(book, uri)
        see(book, (OPA, OPB, OPC)[number % 3])
        if number == 3:
            book.put(GM, "move", {"kind": "strike", "subject": f"at://{ANN}/example.coin.flip/b"})
        if number == 4:
            book.put(GM, "move", {"kind": "release", "subject": f"at://{ANN}/example.coin.flip/b"})
        book.put(BOB, "note", {"text": rkey})
    see(book, OPA, OPB, OPC)
    return book


def test_a_fold_restored_anywhere_goes_on_as_the_one_that_never_stopped() -> None:
    book = lively()
    leaves, compared = [step.leaf for step in book.steps], 0
    for size in range(1, len(book.entries)):
        history = MemoryHistory()
        first = Fold(book.game, RULES, history=history)
        for listed in book.entries[:size]:
            history.append(listed)
            first.fold(listed)
        second = Fold(book.game, RULES, history=history)
        second.restore(first.snapshot())
        for listed in book.entries[size:]:
            history.append(listed)
            try:
                step = second.fold(listed)
            except SnapshotTooYoung:
                break  # a strike reaches behind the snapshot: an older one is to be restored
            assert step.leaf == leaves[listed.entry.seq]
            compared += 1
    assert compared > 200


def test_a_strike_that_folds_the_past_anew_sees_the_same_deletions() -> None:
    book = lively()
    cells = book.cells()
    assert {key: data for key, data in cells.items() if "_/deletion/" in key} == {}
    assert [book.reports(f"at://{ANN}/example.coin.flip/{rkey}") for rkey in "bf"] == [["deleted"]] * 2


@given(st.sets(st.integers(0, 2_000)), st.integers(0, 2_100))
def test_spans_name_every_entry_that_they_are_made_of_and_are_never_too_many(
    seqs: set[int], size: int
) -> None:
    spans = spans_of(sorted(seqs), size)
    assert are_in_order(spans, size)
    within = {seq for seq in seqs if seq < size}
    named = {seq for start, stop in spans for seq in range(start, stop)}
    assert within <= named
    if len(spans) < MOST_SPANS:
        assert within == named
    assert all(name(spans, seq) for seq in within)


@given(
    st.sets(st.integers(0, 2_000), max_size=400),
    st.lists(st.integers(0, 2_000), max_size=100, unique=True),
    st.integers(0, 2_100),
)
def test_what_is_to_be_kept_apart_is_not_named_for_what_lies_around_it(
    seqs: set[int], apart: list[int], size: int
) -> None:
    apart = [each for each in apart if each not in seqs]
    spans = spans_of(sorted(seqs), size, apart)
    assert are_in_order(spans, size)
    assert all(name(spans, seq) for seq in seqs if seq < size)
    # The newest of them, however many other entries are unproved.
    assert not any(name(spans, seq) for seq in apart[1 - MOST_SPANS :])
