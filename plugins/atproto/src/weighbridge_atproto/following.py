"""From frames to what is to be listed: each verified, each repository's chain kept, what was missed fetched.

Frames are taken one after the other; a repository is fetched beside that, while its own commits wait. What is
wrong with a frame is counted under its code and costs that frame; where a commit is missing for it, the chain
shows it, and the repository is fetched.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Final

from weighbridge.ports import Refused, Unavailable
from weighbridge.repos import Cid, RevNotAfter, codec

from weighbridge_atproto import chain
from weighbridge_atproto.chain import Repo, Step
from weighbridge_atproto.checklist import examine_commit, examine_sync
from weighbridge_atproto.commits import VerifiedCommit
from weighbridge_atproto.documents import Identity
from weighbridge_atproto.frames import AccountFrame, CommitFrame, Frame, IdentityFrame, SyncFrame, parse_frame
from weighbridge_atproto.guarded import Guarded
from weighbridge_atproto.hosts import fetch_repo
from weighbridge_atproto.keeping import Keeping
from weighbridge_atproto.ordering import place_of
from weighbridge_atproto.resolving import Resolver
from weighbridge_atproto.watching import Bundle, Watched

FETCHES: Final = 4
"""Repositories that are fetched at a time."""
RETRY: Final = 1.0
RETRY_MOST: Final = 600.0
_KEY_CODES: Final = frozenset(("commit-signature", "commit-high-s", "commit-signature-form", "other-host"))


class Following:
    """The repositories of one stream.

    `clock`: the time (µs). `host`: whose stream it is; None for a relay. `refused` counts by code what was not
    believed; `accounts`: whether the status of accounts is to be found as well.
    """

    def __init__(
        self,
        keeping: Keeping,
        resolver: Resolver,
        client: Guarded,
        watched: Watched,
        clock: Callable[[], int],
        host: str | None = None,
    ) -> None:
        self.refused: Counter[str] = Counter()
        self.old = 0
        """Commits that say what is known already: streams send things twice."""
        self.news = asyncio.Event()
        """Set whenever something was found."""
        self._keeping = keeping
        self._resolver = resolver
        self._client = client
        self._watched = watched
        self._clock = clock
        self._host = host
        self._repos: dict[str, Repo] = {}
        self._fetches: dict[str, asyncio.Task[None]] = {}
        self._slots = asyncio.Semaphore(FETCHES)
        self._failures: Counter[str] = Counter()

    # --- life ----------------------------------------------------------------------------------------------

    def start(self, dids: tuple[str, ...] = ()) -> None:
        """Fetch what is not synchronized, and these repositories if they are not known."""
        for did in (*self._keeping.dids(), *dids):
            if self.repo(did) is None:
                self._keep(Repo(did))
            self._fetch_if_needed(did)

    async def stop(self) -> None:
        """Let go of what is being fetched."""
        tasks = list(self._fetches.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def repo(self, did: str) -> Repo | None:
        """Return what is known of a repository, None where it is not followed."""
        if did not in self._repos:
            kept = self._keeping.repo(did)
            if kept is None:
                return None
            self._repos[did] = kept
        return self._repos[did]

    def concerns(self, frame: Frame) -> bool:
        """Whether a frame is of a repository that is followed, or that from now on is.

        Operations are not signed; but a repository is followed for what they say, and believed for what it holds.
        """
        if isinstance(frame, CommitFrame):
            wanted = any(self._watched.wants(frame.repo, op.path) for op in frame.ops)
            return wanted or self.repo(frame.repo) is not None
        known = isinstance(frame, SyncFrame | AccountFrame | IdentityFrame)
        return known and self.repo(frame.repo) is not None  # type: ignore[union-attr]

    def doubt_all(self) -> None:
        """Fetch every repository anew: the stream has a gap, and the end of a record leaves no other trace."""
        for did in self._keeping.dids():
            repo = self.repo(did)
            if repo is not None:
                self._keep(chain.lost(repo))
                self._fetch_if_needed(did)

    # --- frames --------------------------------------------------------------------------------------------

    async def take(self, data: bytes) -> None:
        """Take one frame of the stream. Whatever it is, the next can be taken."""
        try:
            frame = parse_frame(data)
            if isinstance(frame, CommitFrame | SyncFrame):
                await self._take_signed(frame)
            elif isinstance(frame, AccountFrame):
                self._take_account(frame)
            elif isinstance(frame, IdentityFrame):
                self._take_identity(frame)
        except Refused as refusal:
            self.refused[refusal.code] += 1

    async def _take_signed(self, frame: CommitFrame | SyncFrame) -> None:
        repo = self.repo(frame.repo)
        if repo is None:
            if not self.concerns(frame):
                return
            repo = Repo(frame.repo)
            self._keep(repo)
        try:
            step = await self._examined(frame)
        except Unavailable as error:
            # Nothing can be said of it now; fetched later, the repository tells what was in it.
            self.refused[error.code] += 1
            self._step(Step(chain.lost(repo), fetch=True))
            return
        except Refused as refusal:
            if isinstance(frame, CommitFrame) and frame.too_big:
                step = Step(chain.lost(repo), refusal=refusal, fetch=True)
            else:
                raise
        self._step(step)

    async def _examined(self, frame: CommitFrame | SyncFrame) -> Step:
        identity = await self._resolver.identity(frame.repo)
        try:
            return self._examine(frame, identity)
        except Refused as refusal:
            if refusal.code not in _KEY_CODES:
                raise
            newer = await self._resolver.again(frame.repo)
            if newer is None or newer.cid == identity.cid:
                raise
            return self._examine(frame, newer)

    def _examine(self, frame: CommitFrame | SyncFrame, identity: Identity) -> Step:
        if isinstance(frame, CommitFrame):
            verified = examine_commit(frame, identity, self._host)
            return chain.on_commit(self._known(frame.repo), verified, self._clock())
        commit = examine_sync(frame, identity, self._host)
        return chain.on_sync(self._known(frame.repo), commit, self._clock())

    def _known(self, did: str) -> Repo:
        # Looked up after whatever was waited for: a fetch may have ended meanwhile.
        return self.repo(did) or Repo(did)

    def _take_account(self, frame: AccountFrame) -> None:
        repo = self.repo(frame.repo)
        if repo is None:
            return
        step = chain.on_account(repo, frame.active, frame.status)
        if (step.repo.active, step.repo.status) == (repo.active, repo.status):
            return
        with self._keeping.batch():
            self._keep(step.repo)
            self._tell(frame.repo, "account", frame.status or ("active" if frame.active else "inactive"))
        self.news.set()
        if frame.active:
            self._fetch_if_needed(frame.repo)

    def _take_identity(self, frame: IdentityFrame) -> None:
        self._resolver.forget(frame.repo)
        if self.repo(frame.repo) is not None:
            self._tell(frame.repo, "identity", frame.handle or "changed")

    def _tell(self, did: str, event: str, status: str) -> None:
        self._keeping.add("told", codec.encode({"did": did, "event": event, "status": status[:256]}))
        self.news.set()

    # --- what comes of them --------------------------------------------------------------------------------

    def _step(self, step: Step) -> None:
        if isinstance(step.refusal, RevNotAfter):
            self.old += 1
        elif step.refusal is not None:
            self.refused[step.refusal.code] += 1
        with self._keeping.batch():
            self._keep(step.repo)
            for commit in step.apply:
                self._apply(commit)
        if step.apply:
            self.news.set()
        if step.fetch:
            self._fetch_if_needed(step.repo.did)

    def _apply(self, commit: VerifiedCommit) -> None:
        for change in commit.changes:
            self._change(commit.bundle, change.path, change.cid)

    def _change(self, bundle: Bundle, path: str, cid: Cid | None) -> None:
        """Find a change of a record of the game. What is wrong with a record costs that record."""
        did = bundle.identity.did
        if not self._watched.wants(did, path):
            return
        known = self._keeping.record(did, path)
        if known == cid:
            return
        try:
            if (
                known is None
                and cid is not None
                and not self._watched.is_of_game(did, path, bundle.record(path, cid))
            ):
                return
            self._keeping.add("record", bundle.carry(path, cid))
            self._keeping.keep_record(did, path, cid)
        except Refused as refusal:
            self.refused[refusal.code] += 1

    def _keep(self, repo: Repo) -> None:
        self._repos[repo.did] = repo
        self._keeping.keep_repo(repo)

    # --- fetching ------------------------------------------------------------------------------------------

    def _fetch_if_needed(self, did: str) -> None:
        repo = self.repo(did)
        if repo is None or repo.phase == "synchronized" or not repo.active or did in self._fetches:
            return
        task = asyncio.create_task(self._fetch(did), name=f"fetch {did}")
        self._fetches[did] = task
        task.add_done_callback(lambda _: self._fetched(did))

    def _fetched(self, did: str) -> None:
        task = self._fetches.pop(did, None)
        # A commit may have broken the chain between the end of the task and this.
        if task is not None and not task.cancelled():
            self._fetch_if_needed(did)

    async def _fetch(self, did: str) -> None:
        while True:
            try:
                async with self._slots:
                    # From here on commits wait: none is told between the fetched state and the stream.
                    self._keep(chain.begin(self._known(did)))
                    again = self._take_fetched(await self._fetch_once(did))
                self._failures[did] = 0
                if not again:
                    return
            except (Refused, Unavailable) as error:
                self.refused[error.code] += 1
                self._failures[did] += 1
            if not self._known(did).active:
                return
            await asyncio.sleep(min(RETRY * 2 ** min(self._failures[did], 20), RETRY_MOST))

    async def _fetch_once(self, did: str) -> Bundle:
        identity = await self._resolver.identity(did)
        try:
            return await fetch_repo(self._client, identity)
        except Refused as refusal:
            newer = await self._resolver.again(did) if refusal.code in _KEY_CODES else None
            if newer is None:
                raise
            return await fetch_repo(self._client, newer)

    def _take_fetched(self, bundle: Bundle) -> bool:
        """Take a whole repository, and the commits that waited; whether it must be fetched again."""
        did = bundle.identity.did
        step = chain.on_fetched(self._known(did), bundle.commit, self._clock())
        with self._keeping.batch():
            if step.refusal is None or step.apply or step.repo.rev == bundle.commit.rev:
                self._compare(bundle, step.before)
            self._keep(step.repo)
            for commit in step.apply:
                self._apply(commit)
        self.news.set()
        if step.refusal is not None:
            self.refused[step.refusal.code] += 1
        return step.repo.phase != "synchronized"

    def _compare(self, bundle: Bundle, before: tuple[VerifiedCommit, ...]) -> None:
        """Find what a fetched repository has and this node had not, and the other way round; the root first.

        What the commits `before` it touched comes after the rest, and in their order: all else is older than they.
        """
        did = bundle.identity.did
        touched = {change.path for commit in before for change in commit.changes}
        known, now = self._keeping.records(did), dict(bundle.tree.items())
        root = self._watched.game.removeprefix(f"at://{did}/")
        paths = sorted({*known, *now}, key=lambda each: place_of(each, root))
        for path in paths:
            if path not in touched:
                self._change(bundle, path, now.get(path))
        for commit in before:
            self._apply(commit)
        for path in paths:
            if path in touched:
                self._change(bundle, path, now.get(path))
