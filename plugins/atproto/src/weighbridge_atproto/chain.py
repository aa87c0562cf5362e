"""The chain of commits of one repository: what is known of it, and what each message does to that. Pure.

`desynchronized` (the repository is to be fetched) → `in-progress` (it is being fetched) → `synchronized` (each
commit follows the one before). In the first two, and where a commit breaks the third, commits wait: what they say is
proved, though not that nothing is missing before it. None of them is let go untold. A host gives a repository as it is
now, and its stream lags behind that: what waits is told after what it rests on, and what the stream has yet to say is
left to it to say, so that no version between is skipped. Source: AT Protocol, "Sync", and the notes on proposal 0006.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from weighbridge.ports import Refused
from weighbridge.repos import Cid, Commit, check_rev

from weighbridge_atproto.errors import AccountInactive, ChainBreak, WaitedEnough

Phase = Literal["desynchronized", "in-progress", "synchronized"]
MAX_WAITING: Final = 1_000
"""Commits of one repository that wait until it is fetched; with one more, all are told without it."""
UNSURE: Final = "~"
"""A rev after all others: only another fetch says whether all was told."""


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
    """What is known of a repository: its phase, the last commit's rev and root, whether its host serves it.

    `ahead`: the rev of a state that was fetched and is newer than what the stream has said; None: it has said as much.
    """

    did: str
    phase: Phase = "desynchronized"
    rev: str | None = None
    data: Cid | None = None
    active: bool = True
    status: str | None = None
    waiting: tuple[Link, ...] = ()
    ahead: str | None = None


class Step(NamedTuple):
    """What came of a message: the repository after it, commits to apply in order, and a refusal if there is one.

    `fetch`: whether the repository is to be fetched. Of a state that was fetched: `runs` are commits that waited and
    that it has, each run without a gap: to be told after what the state and the time before the run have in common.
    `whole`: whether what differs then is to be told as well; else the stream will say it.
    """

    repo: Repo
    apply: tuple[Link, ...] = ()
    refusal: Refused | None = None
    fetch: bool = False
    runs: tuple[tuple[Link, ...], ...] = ()
    whole: bool = False


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
    """Take the commit of a repository that was fetched and verified whole, and the commits that waited.

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
    within = tuple(each for each in repo.waiting if each.rev <= commit.rev)
    later = repo.waiting[len(within) :]
    runs = _runs(repo, within)
    if within and not later and within[-1].rev < commit.rev:
        # The stream has yet to say what the state has beyond these.
        ahead = max(repo.ahead or "", commit.rev)
        found = _after(repo, within[-1])._replace(waiting=(), ahead=ahead)
        return Step(_phase(found, again), fetch=again, runs=runs)
    found = repo._replace(rev=commit.rev, data=commit.data, waiting=(), ahead=None)
    for number, link in enumerate(later):
        try:
            check_follows(found, link)
        except ChainBreak as refusal:
            return Step(
                lost(found)._replace(waiting=later[number:]), later[:number], refusal, True, runs, True
            )
        found = _after(found, link)
    return Step(_phase(found, again), later, fetch=again, runs=runs, whole=True)


def _runs(repo: Repo, links: tuple[Link, ...]) -> tuple[tuple[Link, ...], ...]:
    """Return commits in runs, each of which follows without a gap."""
    runs: list[list[Link]] = []
    for link in links:
        try:
            check_follows(repo, link)
        except ChainBreak:
            runs.append([])
        repo = _after(repo, link)
        runs = runs or [[]]
        runs[-1].append(link)
    return tuple(map(tuple, runs))


def _phase(repo: Repo, again: bool) -> Repo:
    return repo._replace(phase="desynchronized" if again else "synchronized")


def _after(repo: Repo, link: Link) -> Repo:
    ahead = None if repo.ahead is None or link.rev >= repo.ahead else repo.ahead
    return repo._replace(rev=link.rev, data=link.data, ahead=ahead)
