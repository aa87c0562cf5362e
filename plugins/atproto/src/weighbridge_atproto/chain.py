"""The chain of commits of one repository: what is known of it, and what each message does to that. Pure.

`desynchronized` (the repository is to be fetched) → `in-progress` (it is being fetched, and commits wait) →
`synchronized` (each commit follows the one before). A commit that leaves the first or the last of these waits as
well: what it says is proved, though not that nothing is missing before it. Source: AT Protocol, "Sync", and the notes
on proposal 0006.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from weighbridge.ports import Refused
from weighbridge.repos import Cid, Commit, check_rev

from weighbridge_atproto.commits import VerifiedCommit
from weighbridge_atproto.errors import AccountInactive, ChainBreak

Phase = Literal["desynchronized", "in-progress", "synchronized"]
MAX_WAITING: Final = 200
"""Commits of one repository that wait while it is fetched; more, and it is fetched anew."""


class Repo(NamedTuple):
    """What is known of a repository: its phase, the last commit's rev and root, whether its host serves it."""

    did: str
    phase: Phase = "desynchronized"
    rev: str | None = None
    data: Cid | None = None
    active: bool = True
    status: str | None = None
    waiting: tuple[VerifiedCommit, ...] = ()


class Step(NamedTuple):
    """What came of a message: the repository after it, commits to apply in order, and a refusal if there is one.

    `fetch`: whether the repository is to be fetched. `before`: commits that waited and are older than the state
    that was fetched: what they did is history, to be told before what differs.
    """

    repo: Repo
    apply: tuple[VerifiedCommit, ...] = ()
    refusal: Refused | None = None
    fetch: bool = False
    before: tuple[VerifiedCommit, ...] = ()


def on_commit(repo: Repo, commit: VerifiedCommit, now: int) -> Step:
    """Take a verified commit at a time (µs)."""
    if not repo.active:
        why = repo.status or "no reason given"
        return Step(repo, refusal=AccountInactive(f"the host says that {repo.did} is not active: {why}"))
    if repo.phase == "in-progress":
        return _wait(repo, commit, now)
    if repo.phase == "desynchronized":
        return _first(repo, commit, now)
    try:
        check_rev(commit.commit.rev, repo.rev, now)
        check_follows(repo, commit)
    except ChainBreak as refusal:
        return Step(_met(repo, commit), refusal=refusal, fetch=True)
    except Refused as refusal:
        return Step(repo, refusal=refusal)
    return Step(_at(repo, commit.commit), (commit,))


def check_follows(repo: Repo, commit: VerifiedCommit) -> None:
    """Check that a commit follows the last one that is known. Raises ChainBreak."""
    if commit.prev_data != repo.data:
        raise ChainBreak(f"{repo.did}: prevData is {commit.prev_data}, and the last root {repo.data}")
    if commit.since != repo.rev:
        raise ChainBreak(f"{repo.did}: since is {commit.since}, and the last rev {repo.rev}")


def _first(repo: Repo, commit: VerifiedCommit, now: int) -> Step:
    """Take a commit of a repository that is not synchronized: only the very first needs no fetching."""
    try:
        check_rev(commit.commit.rev, repo.rev, now)
    except Refused as refusal:
        return Step(repo, refusal=refusal)
    if commit.since is None and repo.rev is None:
        return Step(_at(repo, commit.commit), (commit,))
    return Step(_met(repo, commit), fetch=True)


def _wait(repo: Repo, commit: VerifiedCommit, now: int) -> Step:
    try:
        check_rev(commit.commit.rev, repo.waiting[-1].commit.rev if repo.waiting else None, now)
    except Refused as refusal:
        return Step(repo, refusal=refusal)
    if len(repo.waiting) >= MAX_WAITING:
        return Step(lost(repo), fetch=True)
    return Step(repo._replace(waiting=(*repo.waiting, commit)))


def on_sync(repo: Repo, commit: Commit, now: int) -> Step:
    """Take a `#sync` whose signature holds: what is old says nothing, what is known is so, all else is fetched."""
    try:
        check_rev(commit.rev, None, now)
    except Refused as refusal:
        return Step(repo, refusal=refusal)
    if repo.rev is not None and commit.rev <= repo.rev:
        return Step(repo)
    if repo.phase == "synchronized" and commit.data == repo.data:
        return Step(_at(repo, commit))
    return Step(lost(repo), fetch=True)


def on_account(repo: Repo, active: bool, status: str | None) -> Step:
    """Take the word of its host on an account. Any status can be taken back; what was known stays known."""
    return Step(repo._replace(active=active, status=None if active else status))


def begin(repo: Repo) -> Repo:
    """Return the repository while it is being fetched; what waits already goes on waiting."""
    return repo._replace(phase="in-progress")


def _met(repo: Repo, commit: VerifiedCommit) -> Repo:
    """Return a repository that is to be fetched since this commit, which waits for that."""
    return repo._replace(phase="in-progress", waiting=(commit,))


def lost(repo: Repo) -> Repo:
    """Return the repository when nothing more can be said of it before it is fetched."""
    return repo._replace(phase="desynchronized", waiting=())


def on_fetched(repo: Repo, commit: Commit, now: int) -> Step:
    """Take the commit of a repository that was fetched and verified whole, then the commits that waited.

    A host that gives an older state than it gave before has lost or hidden something: it is refused.
    """
    last = repo.rev if repo.rev is not None and repo.rev > commit.rev else None
    try:
        check_rev(commit.rev, last, now)
    except Refused as refusal:
        return Step(lost(repo), refusal=refusal)
    before = tuple(each for each in repo.waiting if each.commit.rev <= commit.rev)
    found = _at(repo, commit)
    applied: list[VerifiedCommit] = []
    for each in repo.waiting[len(before) :]:
        step = on_commit(found, each, now)
        found = step.repo
        applied += step.apply
        if step.fetch:
            return Step(found, tuple(applied), step.refusal, True, before)
    return Step(found, tuple(applied), before=before)


def _at(repo: Repo, commit: Commit) -> Repo:
    return repo._replace(phase="synchronized", rev=commit.rev, data=commit.data, waiting=())
