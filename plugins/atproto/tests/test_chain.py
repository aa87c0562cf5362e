"""The chain of commits of a repository, in each of its states."""

from __future__ import annotations

from typing import Any

from atproto_helping import identity
from repo_making import MOVES, NOW, Made, frame, tid
from weighbridge_atproto import chain
from weighbridge_atproto.chain import Repo, Step, begin, on_account, on_commit, on_fetched, on_sync
from weighbridge_atproto.commits import VerifiedCommit, verify_commit
from weighbridge_atproto.frames import CommitFrame, parse_frame

LATER = NOW * 2


class Telling(Made):
    """A repository whose commits come verified."""

    def tell(self, *numbers: int, **changed: Any) -> VerifiedCommit:
        body = self.commit({f"{MOVES}/{n}": {"n": n, "at": self.at} for n in numbers}, **changed)
        message = parse_frame(frame(body))
        assert isinstance(message, CommitFrame)
        return verify_commit(message, identity(self))


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
    assert (step.repo.phase, step.repo.waiting, step.apply, step.fetch) == ("in-progress", (met,), (), True)
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
    assert (step.repo.phase, step.repo.waiting) == ("in-progress", (told,))
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
    assert code(on_sync(repo, far.commit, NOW)) == "commit-rev-future"
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
    assert [each.changes[0].path[-1] for each in step.before] == ["1", "2"]
    assert [each.changes[0].path[-1] for each in step.apply] == ["3", "4"]


def test_what_waited_and_does_not_follow_is_fetched_again():
    made = Telling()
    repo = begin(Repo(made.did))
    made.tell()
    fetched = made.last
    assert fetched is not None
    made.tell(1)
    repo = on_commit(repo, made.tell(2), LATER).repo
    step = on_fetched(repo, fetched, LATER)
    assert (step.repo.phase, step.fetch, code(step)) == ("in-progress", True, "chain-break")
    assert len(step.repo.waiting) == 1


def test_too_many_waiting_commits_are_let_go_and_the_repository_is_fetched_again(monkeypatch):
    monkeypatch.setattr(chain, "MAX_WAITING", 2)
    made = Telling()
    repo = begin(Repo(made.did))
    steps = []
    for number in range(3):
        steps.append(on_commit(repo, made.tell(number), LATER))
        repo = steps[-1].repo
    assert (repo.phase, repo.waiting, steps[-1].fetch) == ("desynchronized", (), True)
    assert code(on_commit(repo._replace(rev=tid(LATER)), made.tell(4), LATER)) == "commit-rev-order"
    repo = on_commit(begin(Repo(made.did)), steps and made.tell(5), LATER).repo
    assert code(on_commit(repo, repo.waiting[0], LATER)) == "commit-rev-order"


def test_an_older_state_than_was_known_is_no_state():
    made = Telling()
    repo = synchronized(made)
    old = made.last
    repo = on_commit(repo, made.tell(1), LATER).repo
    assert old is not None
    step = on_fetched(begin(repo), old, LATER)
    assert (step.repo.phase, step.repo.rev, code(step)) == ("desynchronized", repo.rev, "commit-rev-order")


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
