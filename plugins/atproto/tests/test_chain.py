"""The chain of commits of a repository, in each of its states."""

from __future__ import annotations

from typing import Any

from atproto_helping import identity
from repo_making import MOVES, NOW, Made, frame, tid
from weighbridge_atproto import chain
from weighbridge_atproto.chain import Link, Repo, Step, begin, on_account, on_commit, on_fetched, on_sync
from weighbridge_atproto.commits import verify_commit
from weighbridge_atproto.frames import CommitFrame, parse_frame

LATER = NOW * 2


class Telling(Made):
    """A repository whose commits come verified. The number of each is that of its message."""

    def tell(self, *numbers: int, **changed: Any) -> Link:
        body = self.commit({f"{MOVES}/{n}": {"n": n, "at": self.at} for n in numbers}, **changed)
        message = parse_frame(frame(body))
        assert isinstance(message, CommitFrame)
        return verify_commit(message, identity(self)).link(message.seq)


def synchronized(made: Telling) -> Repo:
    return on_commit(Repo(made.did), made.tell(), LATER).repo


def code(step: Step) -> str | None:
    return step.refusal.code if step.refusal else None


def test_a_repository_seen_from_its_first_commit_on_needs_no_fetching():
    made = Telling()
    step = on_commit(Repo(made.did), made.tell(), LATER)
    assert (step.repo.phase, len(step.apply), step.fetch) == ("synchronized", 1, False)


def test_a_repository_met_later_is_fetched_first_and_its_commits_wait():
    made = Telling()
    made.tell()
    met = made.tell(1)
    step = on_commit(Repo(made.did), met, LATER)
    assert (step.repo.phase, step.repo.waiting, step.apply, step.fetch) == (
        "desynchronized",
        (met,),
        (),
        True,
    )
    assert begin(step.repo).waiting == (met,)


def test_a_commit_told_twice_or_late_changes_nothing():
    made = Telling()
    repo = synchronized(made)
    first, second = made.tell(1), made.tell(2)
    repo = on_commit(on_commit(repo, first, LATER).repo, second, LATER).repo
    for old in (first, second):
        step = on_commit(repo, old, LATER)
        assert (step.repo, step.apply, code(step)) == (repo, (), "commit-rev-order")


def test_a_missing_commit_breaks_the_chain_and_the_repository_is_fetched():
    made = Telling()
    repo = synchronized(made)
    made.tell(1)
    told = made.tell(2)
    step = on_commit(repo, told, LATER)
    assert (step.repo.phase, step.repo.waiting) == ("desynchronized", (told,))
    assert (step.apply, step.fetch, code(step)) == ((), True, "chain-break")


def test_a_commit_that_names_another_rev_before_it_breaks_the_chain():
    made = Telling()
    repo = synchronized(made)
    told = made.tell(1)._replace(since=tid(NOW + 5))
    assert code(on_commit(repo, told, LATER)) == "chain-break"


def test_a_rev_of_the_far_future_is_refused_and_freezes_nothing():
    made = Telling()
    repo = synchronized(made)
    before = made.last
    step = on_commit(repo, made.tell(1, rev=tid(NOW + 10**12)), NOW + 10_000_000)
    assert (step.repo, code(step)) == (repo, "commit-rev-future")
    made.last, made.tree = before, type(made.tree).empty()
    assert on_commit(repo, made.tell(1), LATER).apply
    far = made.tell(rev=tid(NOW + 10**12))
    assert code(on_commit(Repo(made.did), far._replace(since=None), NOW)) == "commit-rev-future"
    assert made.last is not None
    assert code(on_sync(repo, made.last, NOW)) == "commit-rev-future"
    assert code(on_commit(begin(repo), far, NOW)) == "commit-rev-future"


def test_commits_wait_while_the_repository_is_fetched_and_follow_it_then():
    made = Telling()
    repo = begin(Repo(made.did))
    made.tell()
    for number in (1, 2):
        repo = on_commit(repo, made.tell(number), LATER).repo
    fetched = made.last
    assert fetched is not None
    for number in (3, 4):
        repo = on_commit(repo, made.tell(number), LATER).repo
    assert (repo.phase, len(repo.waiting)) == ("in-progress", 4)
    step = on_fetched(repo, fetched, LATER)
    assert (step.repo.phase, step.repo.data, step.repo.waiting) == ("synchronized", made.tree.root, ())
    assert ([[each.number for each in run] for run in step.runs], step.whole) == ([[2, 3]], True)
    assert [each.number for each in step.apply] == [4, 5]


def test_what_waited_and_does_not_follow_waits_on_with_all_behind_it_while_the_repository_is_fetched_again():
    made = Telling()
    repo = begin(Repo(made.did))
    made.tell()
    fetched = made.last
    assert fetched is not None
    first = made.tell(1)
    made.tell(2)
    later = [made.tell(3), made.tell(4)]
    for told in (first, *later):
        repo = on_commit(repo, told, LATER).repo
    step = on_fetched(repo, fetched, LATER)
    assert (step.repo.phase, step.fetch, code(step)) == ("desynchronized", True, "chain-break")
    assert (step.apply, step.repo.waiting) == ((first,), tuple(later))
    assert made.last is not None
    step = on_fetched(begin(step.repo), made.last, LATER)
    assert (step.repo.phase, step.runs, step.repo.data) == ("synchronized", (tuple(later),), made.tree.root)


def test_a_state_that_is_ahead_of_the_stream_is_told_as_far_as_the_stream_has_come():
    made = Telling()
    made.tell()
    repo = begin(Repo(made.did))
    told = [made.tell(1), made.tell(2)]
    later = made.tell(3), made.tell(4)
    for each in told:
        repo = on_commit(repo, each, LATER).repo
    assert made.last is not None
    step = on_fetched(repo, made.last, LATER)
    assert (step.runs, step.apply, step.whole, step.fetch) == ((tuple(told),), (), False, False)
    assert (step.repo.phase, step.repo.rev, step.repo.ahead) == ("synchronized", told[1].rev, made.last.rev)
    first = on_commit(step.repo, later[0], LATER)
    assert (first.apply, first.repo.ahead) == (later[:1], made.last.rev)
    second = on_commit(first.repo, later[1], LATER)
    assert (second.apply, second.repo.ahead) == (later[1:], None)


def test_a_state_whose_last_commits_the_stream_left_out_is_told_whole():
    made = Telling()
    made.tell()
    repo = begin(Repo(made.did))
    first = made.tell(1)
    made.tell(2)
    state = made.last
    later = made.tell(3)
    for each in (first, later):
        repo = on_commit(repo, each, LATER).repo
    assert state is not None
    step = on_fetched(repo, state, LATER)
    assert (step.runs, step.apply, step.whole, step.repo.ahead) == (((first,),), (later,), True, None)


def test_commits_with_a_gap_between_them_wait_as_two_runs():
    made = Telling()
    made.tell()
    repo = begin(Repo(made.did))
    first = made.tell(1)
    made.tell(2)
    later = made.tell(3)
    for each in (first, later):
        repo = on_commit(repo, each, LATER).repo
    assert made.last is not None
    assert on_fetched(repo, made.last, LATER).runs == ((first,), (later,))


def test_a_state_older_than_the_first_commit_that_waits_loses_none_of_them():
    made = Telling()
    made.tell()
    old = made.last
    made.tell(1)
    waits = (made.tell(2), made.tell(3))
    repo = begin(Repo(made.did, waiting=waits))
    assert old is not None
    step = on_fetched(repo, old, LATER)
    assert (step.repo.rev, step.apply, step.repo.waiting, step.fetch) == (old.rev, (), waits, True)


def test_with_more_than_may_wait_all_are_told_without_what_was_before_them(monkeypatch):
    monkeypatch.setattr(chain, "MAX_WAITING", 2)
    made = Telling()
    made.tell()
    repo = begin(Repo(made.did))
    told = [made.tell(number) for number in range(3)]
    for each in told[:2]:
        repo = on_commit(repo, each, LATER).repo
    step = on_commit(repo, told[2], LATER)
    assert (step.apply, step.repo.waiting, step.fetch) == (tuple(told), (), True)
    assert (step.repo.phase, code(step)) == ("in-progress", "waited-enough")
    for each in told:
        assert code(on_commit(step.repo, each, LATER)) == "commit-rev-order"
    assert on_commit(repo, told[2], LATER, room=False).apply == tuple(told)


def test_a_commit_that_is_known_does_not_wait():
    made = Telling()
    repo = synchronized(made)
    known = made.tell(1)
    repo = on_commit(repo, known, LATER).repo
    step = on_commit(begin(repo), known, LATER)
    assert (step.repo.waiting, code(step)) == ((), "commit-rev-order")
    step = on_commit(begin(repo), made.tell(2), LATER)
    assert code(on_commit(step.repo, step.repo.waiting[0], LATER)) == "commit-rev-order"


def test_what_is_lost_while_a_state_is_on_its_way_has_it_fetched_again():
    made = Telling()
    made.tell()
    repo = begin(Repo(made.did))
    fetched = made.last
    waits = made.tell(1)
    repo = on_commit(repo, waits, LATER).repo
    made.tell(2)
    assert made.last is not None
    assert fetched is not None
    synced = on_sync(repo, made.last, LATER)
    assert (synced.repo.phase, synced.repo.waiting, synced.fetch) == ("desynchronized", (waits,), True)
    step = on_fetched(synced.repo, fetched, LATER)
    assert (step.apply, step.repo.rev, step.fetch) == ((waits,), waits.rev, True)
    assert step.repo.phase == "desynchronized"
    assert on_fetched(begin(step.repo), made.last, LATER).repo.phase == "synchronized"


def test_an_older_state_than_was_known_is_no_state():
    made = Telling()
    repo = synchronized(made)
    old = made.last
    repo = on_commit(repo, made.tell(1), LATER).repo
    assert old is not None
    waits = made.tell(2)
    step = on_fetched(on_commit(begin(repo), waits, LATER).repo, old, LATER)
    assert (step.repo.phase, step.repo.rev, code(step)) == ("desynchronized", repo.rev, "commit-rev-order")
    assert step.repo.waiting == (waits,)


def test_a_sync_says_nothing_new_what_is_known_or_that_all_must_be_fetched():
    made = Telling()
    repo = synchronized(made)
    assert made.last is not None
    assert on_sync(repo, made.last, LATER) == Step(repo)
    made.at += 1
    same = made.sign()
    assert on_sync(repo, same, LATER).repo == repo._replace(rev=same.rev)
    made.tell(1)
    step = on_sync(repo, made.last, LATER)
    assert (step.repo.phase, step.fetch) == ("desynchronized", True)


def test_an_account_that_is_not_active_lists_nothing_until_it_is_again():
    made = Telling()
    repo = synchronized(made)
    away = on_account(repo, False, "takendown").repo
    told = made.tell(1)
    step = on_commit(away, told, LATER)
    assert (step.apply, code(step), away.status) == ((), "account-inactive", "takendown")
    back = on_account(away, True, None).repo
    assert (back.status, len(on_commit(back, told, LATER).apply)) == (None, 1)
