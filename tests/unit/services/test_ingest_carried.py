"""Records of repositories in ingest: from a source only, listed with their proof, and taken by a follower for it."""

from __future__ import annotations

import coin
import pytest
from ingest_facts import GAME, LISTER, NOON, opened_book
from repo_making import ALICE, Made
from weighbridge import codec
from weighbridge.cid import Cid
from weighbridge.fold import Fold
from weighbridge.fold.records import place_of
from weighbridge.log.entries import Listed, read_listed
from weighbridge.ports import Told
from weighbridge.repos import Proved, carry
from weighbridge_services.ingest.decide import Handed, Placed
from weighbridge_services.ingest.driver import told
from weighbridge_services.ingest.following import Fault, Taken, stray, take_entry
from weighbridge_services.ingest.opening import Opened, Refusal, log_message, proof_of, read_record

NOTES = "example.coin.note"
PATH = f"{NOTES}/a"
DOC = Cid.of(b"document", 0x55)


def value(text: str, game: str = GAME) -> dict[str, str]:
    return {"$type": NOTES, "game": game, "text": text}


class Repo(Made):
    """A repository whose changes come carried."""

    def tell(self, path: str, new: dict[str, str] | None) -> bytes:
        self.commit({path: new})
        assert self.last is not None
        record = None if new is None else codec.encode(new)
        proved = Proved(self.last, self.tree.get(path), record)
        return carry(f"at://{ALICE}/{path}", self.key.public.did_key, DOC, proved, self.tree.prove(path))


def taken(data: bytes) -> Opened:
    found = read_record(data, GAME, carried=True)
    assert isinstance(found, Opened), found
    return found


def code(found: Opened | Refusal) -> str | None:
    return found.code if isinstance(found, Refusal) else None


def test_a_carried_record_is_none_where_anybody_may_hand_in() -> None:
    """The key in it is only the word of whoever brings it."""
    data = Repo().tell(PATH, value("hello"))
    assert isinstance(read_record(data, GAME), Refusal)
    assert taken(data).author == ALICE


def test_versions_and_the_end_of_a_record_are_listed_with_their_proofs() -> None:
    repo, book = Repo(), opened_book()
    told = [repo.tell(PATH, each) for each in (value("one"), value("two"), None, value("one"))]
    made = [book.list(Handed(taken(each)), now=NOON + n) for n, each in enumerate(told)]
    entries = [each for one in made for each in one.entries]
    assert [each.entry.op for each in entries] == ["create", "update", "delete", "update"]
    assert [each.entry.record is None for each in entries] == [False, False, True, False]
    for listed, data in zip(entries, told, strict=True):
        assert proof_of(listed) == data
        again = take_entry(log_message(listed), GAME)
        assert isinstance(again, Taken), again
        assert again.proof == data


def test_what_a_stream_tells_twice_is_listed_once() -> None:
    repo, book = Repo(), opened_book()
    told = [repo.tell(PATH, each) for each in (value("one"), None, value("one"))]
    first = [book.list(Handed(taken(each))).answers[0] for each in told]
    for data, before in zip(told, first, strict=True):
        made = book.list(Handed(taken(data)), now=NOON + 9)
        assert made.entries == ()
        assert isinstance(before, Placed)
        assert made.answers == (before._replace(fresh=False),)


ELSEWHERE = "at://did:plc:x/a.b.c/d"
STRAYS = [{"$type": NOTES, "game": ELSEWHERE, "text": "x"}, {"$type": NOTES, "text": "x"}]


@pytest.mark.parametrize("new", STRAYS, ids=["another game", "none"])
def test_a_record_of_another_game_or_of_none_is_refused(new: dict[str, str]) -> None:
    made = opened_book().list(Handed(taken(Repo().tell(PATH, new))))
    assert made.entries == ()
    assert [code(each) for each in made.answers] == ["other-game"]  # type: ignore[arg-type]


@pytest.mark.parametrize("new", STRAYS, ids=["another game", "none"])
@pytest.mark.parametrize(
    ("collection", "first"),
    [
        pytest.param(NOTES, {"text": "one"}, id="where versions count"),
        pytest.param("example.coin.flip", {"call": "heads"}, id="where the first is the record"),
    ],
)
def test_a_listed_record_that_names_another_game_now_is_listed_and_reported_as_changed(
    collection: str, first: dict[str, str], new: dict[str, str]
) -> None:
    repo, book, path = Repo(), opened_book(), f"{collection}/a"
    of_game = {"$type": collection, "game": GAME, **first}
    told = [repo.tell(path, each) for each in (of_game, {**new, "$type": collection}, of_game, None)]
    made = [book.list(Handed(taken(each)), now=NOON + n) for n, each in enumerate(told)]
    assert [each.entries[0].entry.op for each in made] == ["create", "update", "update", "delete"]
    assert isinstance(made[1].answers[0], Placed)
    assert made[1].answers[0].round is None
    fold = Fold(GAME, coin.RULES)
    fold.fold(book.entries[0])
    fold.fold(book.entries[1])
    step = fold.fold(book.entries[2])
    reports = f"_/report/{place_of(f'at://{ALICE}/{path}')}"
    assert [key for key, _ in step.delta] == [reports]  # nothing that it did is changed
    assert fold.table[reports]["edited"].startswith("This record was changed after it was listed")


def test_a_stray_is_no_version_of_a_record_that_has_only_ended() -> None:
    repo, book = Repo(), opened_book()
    repo.tell(PATH, value("never seen"))
    end, again = repo.tell(PATH, None), repo.tell(PATH, STRAYS[0])
    book.list(Handed(taken(end)))
    assert [code(each) for each in book.list(Handed(taken(again))).answers] == ["other-game"]  # type: ignore[arg-type]


def test_a_follower_reads_a_stray_and_leaves_to_the_log_whether_it_may_stand_there() -> None:
    repo, book = Repo(), opened_book()
    told = [repo.tell(PATH, each) for each in (value("one"), STRAYS[0])]
    entries = [book.list(Handed(taken(each))).entries[0] for each in told]
    found = [take_entry(log_message(each), GAME) for each in entries]
    assert all(isinstance(each, Taken) for each in found)
    assert [each.opened.is_stray for each in found] == [False, True]  # type: ignore[union-attr]
    assert stray(entries[1]).code == "malformed-log"


def forged(listed: Listed, **changed: object) -> bytes:
    prov = {**(listed.entry.prov or {}), **changed}
    value = codec.decode(listed.data)
    assert isinstance(value, dict)
    data = codec.encode({**value, "prov": prov})
    return log_message(read_listed(data, listed.record))


@pytest.mark.parametrize(
    "changed",
    [
        {"key": "did:key:zDnaembgSGUhZULN2Caob4HLJPaxBh92N7rtH21TErzqf8HQo"},
        {"blocks": []},
        {"rev": "3kaaaaaaaaaaa"},
    ],
    ids=["another-key", "no-proof", "another-rev"],
)
def test_a_follower_takes_no_entry_that_its_proof_does_not_prove(changed: dict[str, object]) -> None:
    book = opened_book()
    (listed,) = book.list(Handed(taken(Repo().tell(PATH, value("hello"))))).entries
    fault = take_entry(forged(listed, **changed), GAME)
    assert isinstance(fault, Fault)
    assert fault.code == "bad-proof"
    assert isinstance(Handed(taken(proof_of(listed) or b"")).opened, Opened)


def test_what_a_host_said_of_an_account_is_listed_as_the_listers_word_and_changes_no_cell() -> None:
    item = Told(ALICE, "account", "takendown")
    found = read_record(told(LISTER, GAME, 7, item), GAME)
    assert isinstance(found, Opened)
    assert (found.value["did"], found.value["status"], found.value["grade"]) == (
        ALICE,
        "takendown",
        "lister-says",
    )
    book = opened_book()
    book.list(Handed(found))
    fold = Fold(GAME, coin.RULES)
    before, after = [fold.fold(each).delta for each in book.entries]
    assert before
    assert after == ()
