"""The chain of commits of one repository: what is known of it, and what each message does to that. Pure.

`desynchronized` (the repository is to be fetched) → `in-progress` (it is being fetched) → `synchronized` (each
commit follows the one before). In the first two, and where a commit breaks the third, commits wait: what they say is
proved, though not that nothing is missing before it. None of them is let go untold. Source: AT Protocol, "Sync", and
the notes on proposal 0006.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from weighbridge.ports import Refused
from weighbridge.repos import Cid, Commit, check_rev

from weighbridge_atproto.errors import AccountInactive, ChainBreak, WaitedEnough

Phase = Literal["desynchronized", "in-progress", "synchronized"]
MAX_WAITING: Final = 1_000
"""Commits of one repository that wait until it is fetched; with one more, all are told without it."""


class Link(NamedTuple):
    """What the chain needs of a verified commit: what it follows and what it leads to.

    `number`: that of its frame in the queue; `size`: bytes of it.
    """

    number: int
    rev: str
    since: str | None
    prev_data: Cid
    data: Cid
    size: int = 0


class Repo(NamedTuple):
    """What is known of a repository: its phase, the last commit's rev and root, whether its host serves it."""

    did: str
    phase: Phase = "desynchronized"
    rev: str | None = None
    data: Cid | None = None
    active: bool = True
    status: str | None = None
    waiting: tuple[Link, ...] = ()


class Step(NamedTuple):
    """What came of a message: the repository after it, commits to apply in order, and a refusal if there is one.

    `fetch`: whether the repository is to be fetched. `before`: commits that waited and are older than the state
    that was fetched: what they did is history, to be told before what differs.
    """

    repo: Repo
    apply: tuple[Link, ...] = ()
    refusal: Refused | None = None
    fetch: bool = False
    before: tuple[Link, ...] = ()


def on_commit(repo: Repo, link: Link, now: int, *, room: bool = True) -> Step:
    """Take a verified commit at a time (µs). `room`: whether another commit may wait at all."""
    if not repo.active:
        why = repo.status or "no reason given"
        return Step(repo, refusal=AccountInactive(f"the host says that {repo.did} is not active: {why}"))
    try:
        check_rev(link.rev, repo.waiting[-1].rev if repo.waiting else repo.rev, now)
    except Refused as refusal:
        return Step(repo, refusal=refusal)
    if repo.phase != "synchronized":
        return _unsynchronized(repo, link, room)
    try:
        check_follows(repo, link)
    except ChainBreak as refusal:
        return Step(lost(repo)._replace(waiting=(link,)), refusal=refusal, fetch=True)
    return Step(_after(repo, link), (link,))


def check_follows(repo: Repo, link: Link) -> None:
    """Check that a commit follows the last one that is known. Raises ChainBreak."""
    if link.prev_data != repo.data:
        raise ChainBreak(f"{repo.did}: prevData is {link.prev_data}, and the last root {repo.data}")
    if link.since != repo.rev:
        raise ChainBreak(f"{repo.did}: since is {link.since}, and the last rev {repo.rev}")


def _unsynchronized(repo: Repo, link: Link, room: bool) -> Step:
    """Have a commit wait. Only the very first of a repository needs no fetching."""
    if link.since is None and repo.rev is None and repo.phase == "desynchronized" and not repo.waiting:
        return Step(_after(repo, link)._replace(phase="synchronized"), (link,))
    waiting = (*repo.waiting, link)
    if room and len(waiting) <= MAX_WAITING:
        return Step(repo._replace(waiting=waiting), fetch=True)
    # Told without what the repository held before them, they are told out of order; let go, some never were.
    says = f"{len(waiting)} commits of {repo.did} are told before what it held: there is no room for more to wait"
    return Step(_after(repo, link)._replace(waiting=()), waiting, WaitedEnough(says), True)


def on_sync(repo: Repo, commit: Commit, now: int) -> Step:
    """Take a `#sync` whose signature holds: what is old says nothing, what is known is so, all else is fetched."""
    try:
        check_rev(commit.rev, None, now)
    except Refused as refusal:
        return Step(repo, refusal=refusal)
    if repo.rev is not None and commit.rev <= repo.rev:
        return Step(repo)
    if repo.phase == "synchronized" and commit.data == repo.data:
        return Step(repo._replace(rev=commit.rev))
    return Step(lost(repo), fetch=True)


def on_account(repo: Repo, active: bool, status: str | None) -> Step:
    """Take the word of its host on an account. Any status can be taken back; what was known stays known."""
    return Step(repo._replace(active=active, status=None if active else status))


def begin(repo: Repo) -> Repo:
    """Return the repository while it is being fetched; what waits already goes on waiting."""
    return repo._replace(phase="in-progress")


def lost(repo: Repo) -> Repo:
    """Return the repository when a state fetched from now on is needed; one being fetched already may be too old."""
    return repo._replace(phase="desynchronized")


def on_fetched(repo: Repo, commit: Commit, now: int) -> Step:
    """Take the commit of a repository that was fetched and verified whole, then the commits that waited.

    A host that gives an older state than it gave before has lost or hidden something: it is refused, and what waits
    goes on waiting, as does what follows neither the state nor one another. Where something was lost while the state
    was on its way, it is taken for what it is, and the repository fetched again.
    """
    last = repo.rev if repo.rev is not None and repo.rev > commit.rev else None
    try:
        check_rev(commit.rev, last, now)
    except Refused as refusal:
        return Step(lost(repo), refusal=refusal, fetch=True)
    again = repo.phase == "desynchronized"
    before = tuple(each for each in repo.waiting if each.rev <= commit.rev)
    found = repo._replace(rev=commit.rev, data=commit.data, waiting=())
    later = repo.waiting[len(before) :]
    for number, link in enumerate(later):
        try:
            check_follows(found, link)
        except ChainBreak as refusal:
            return Step(lost(found)._replace(waiting=later[number:]), later[:number], refusal, True, before)
        found = _after(found, link)
    phase: Phase = "desynchronized" if again else "synchronized"
    return Step(found._replace(phase=phase), later, fetch=again, before=before)


def _after(repo: Repo, link: Link) -> Repo:
    return repo._replace(rev=link.rev, data=link.data)
