"""From frames to what is to be listed: each verified, each repository's chain kept, what was missed fetched.

Frames are taken one after the other, those of one repository in their order. A frame whose DID cannot be resolved
now lies in the queue until it can, and a commit waits there while its repository is fetched; other repositories go
on. What is wrong with a frame is counted under its code and costs that frame; where a commit is missing for it, the
chain shows it, and the repository is fetched.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Final

from weighbridge.ports import Refused
from weighbridge.repos import RevNotAfter

from weighbridge_atproto import chain
from weighbridge_atproto.asking import Asking
from weighbridge_atproto.chain import Link, Repo, Step
from weighbridge_atproto.checklist import check_host, examine_commit, examine_sync
from weighbridge_atproto.commits import VerifiedCommit
from weighbridge_atproto.documents import Identity, read_document
from weighbridge_atproto.errors import ChainBreak, FrameTooLarge, OtherHost
from weighbridge_atproto.fetching import Fetching
from weighbridge_atproto.finding import Finding
from weighbridge_atproto.frames import AccountFrame, CommitFrame, Frame, IdentityFrame, SyncFrame, parse_frame
from weighbridge_atproto.guarded import Guarded
from weighbridge_atproto.handles import NOT_VERIFIED
from weighbridge_atproto.hosts import fetch_repo
from weighbridge_atproto.keeping import Keeping, Queued
from weighbridge_atproto.resolving import Resolver
from weighbridge_atproto.waiting import Waiting
from weighbridge_atproto.watching import Bundle, Watched

RETRY: Final = 1.0
RETRY_MOST: Final = 600.0
TURN: Final = 16
"""Frames that are taken, and what comes of them written, at once; then others get a turn."""
CATCH_UP: Final = 30.0
"""Seconds that a stream has to say what a fetched state had beyond it; then the state is told without it."""
MAX_WAITING_BYTES: Final = 268_435_456
"""Bytes of all frames whose commits wait for their repositories."""
MAX_UNHEARD: Final = 1_000
"""DIDs that are still asked for although their frames were given up, to fetch their repositories then."""
_KEY_CODES: Final = frozenset(("commit-signature", "commit-high-s", "commit-signature-form", "other-host"))


def pause(failures: int) -> float:
    """Return how long (s) to wait after so many failures."""
    return min(RETRY * float(2 ** min(failures, 20)), RETRY_MOST)


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
        self.queued = asyncio.Event()
        """To be set whenever frames were queued."""
        self._keeping = keeping
        self._resolver = resolver
        self._client = client
        self._watched = watched
        self._clock = clock
        self._host = host
        self._repos: dict[str, Repo] = {}
        self._followed = {*keeping.dids(), *keeping.queued_dids()}
        self._waiting = Waiting(keeping, self.refused)
        self._finding = Finding(keeping, watched, self._waiting, self.refused)
        self._waiting_bytes = 0
        self._unheard: set[str] = set()
        self._stopped = False
        self._looks: dict[str, asyncio.TimerHandle] = {}
        self._error: BaseException | None = None
        self._fetches = Fetching(
            self.refused, fetch=self._fetch, needed=self._needs_fetching, pause=pause, broken=self._broken
        )  # fmt: skip
        self._asking = Asking(
            keeping, self.refused, pause=pause, released=self._resolved, given_up=self._gave_up, broken=self._broken
        )  # fmt: skip
        self.news = self._finding.news
        """Set whenever something was found."""

    # --- life ----------------------------------------------------------------------------------------------

    def start(self, dids: tuple[str, ...] = ()) -> None:
        """Fetch what is not synchronized, and these repositories if they are not known."""
        for did in (*self._keeping.dids(), *dids):
            if self.repo(did) is None:
                self._keep(Repo(did))
            self._fetches.fetch(did)
            self._look_later(did)

    async def run(self) -> None:
        """Take the frames of the queue, for ever. Raises KeepingBroken."""
        while True:
            self.queued.clear()
            if self._error is not None:
                raise self._error
            frames = self._keeping.next_frames(TURN)
            if frames:
                # A crash within has taken none of them.
                with self._keeping.batch():
                    for queued in frames:
                        self._take(queued)
                await asyncio.sleep(0)
            else:
                await self.queued.wait()

    async def stop(self) -> None:
        """Let go of what is being asked and fetched."""
        self._stopped = True
        await self._asking.stop()
        await self._fetches.stop()
        for look in self._looks.values():
            look.cancel()

    def _broken(self, error: BaseException) -> None:
        self._error = error
        self.queued.set()

    def repo(self, did: str) -> Repo | None:
        """Return what is known of a repository, None where it is not followed."""
        if did not in self._repos:
            kept = self._keeping.repo(did)
            if kept is None:
                return None
            self._repos[did] = kept._replace(waiting=self._waiting.links(did))
            self._waiting_bytes += sum(link.size for link in self._repos[did].waiting)
        return self._repos[did]

    def concerns(self, frame: Frame) -> str | None:
        """Return the DID of a frame whose repository is followed, or from now on is; None of all others.

        Operations are not signed; but a repository is followed for what they say, and believed for what it holds.
        """
        if not isinstance(frame, CommitFrame | SyncFrame | AccountFrame | IdentityFrame):
            return None
        if isinstance(frame, CommitFrame) and any(
            self._watched.wants(frame.repo, op.path) for op in frame.ops
        ):
            self._followed.add(frame.repo)
        return frame.repo if frame.repo in self._followed else None

    def gap(self) -> None:
        """Fetch every repository anew: the stream has a gap, and the end of a record leaves no other trace.

        Not at once: what the stream has yet to say comes first, so that no version of a record is passed over.
        """
        for did in self._keeping.dids():
            self._keep(self._known(did)._replace(ahead=chain.UNSURE))
            self._look_later(did)

    def doubt_all(self) -> None:
        """Fetch every repository anew, at once."""
        for did in self._keeping.dids():
            self._doubt(did)

    def _doubt(self, did: str) -> None:
        self._keep(chain.lost(self._known(did)))
        self._fetches.fetch(did)

    def _gave_up(self, did: str) -> None:
        """Have a repository fetched whose frames were given up: one that is not known once it is known whose."""
        if self.repo(did) is not None:
            self._doubt(did)
        elif len(self._unheard) < MAX_UNHEARD:
            self._unheard.add(did)
        else:
            self._asking.drop(did)
            self._left(did)

    def _resolved(self, did: str, identity: Identity | None) -> None:
        if did in self._unheard:
            self._unheard.discard(did)
            with suppress(OtherHost):
                if identity is not None:
                    check_host(identity, self._host)
                    self._doubt(did)
            self._left(did)
        self.queued.set()

    # --- frames --------------------------------------------------------------------------------------------

    def _take(self, queued: Queued) -> None:
        """Take one frame of the stream. Whatever it is, the next can be taken."""
        if self._asking.asks(queued.did):
            self._asking.hold(queued)
            return
        leaves = True
        try:
            frame = parse_frame(queued.data)
            if isinstance(frame, CommitFrame | SyncFrame):
                leaves = self._take_signed(frame, queued)
            elif isinstance(frame, AccountFrame):
                leaves = self._take_account(frame, queued)
            elif isinstance(frame, IdentityFrame):
                leaves = self._take_identity(frame, queued)
        except Refused as refusal:
            self.refused[refusal.code] += 1
        if leaves:
            self._keeping.done(queued.number)
            self._left(queued.did)

    def _left(self, did: str) -> None:
        """Remember nothing of a DID that no frame needs, and that nothing is known of: anybody can name any number."""
        first = self._keeping.lies(did)
        self._asking.done(did, first)
        if first is None and did not in self._unheard and self.repo(did) is None:
            self._followed.discard(did)
            self._keeping.drop_documents(did)

    def _take_signed(self, frame: CommitFrame | SyncFrame, queued: Queued) -> bool:
        """Take a commit or the word of one; whether its frame can leave the queue."""
        identity = self._identity(queued)
        if identity is None:
            return self._asked(queued, self._resolver.identity)
        try:
            return self._examine(frame, identity, queued)
        except Refused as refusal:
            if refusal.code in _KEY_CODES and self._asking.answer(queued) is None:
                return self._asked(queued, self._resolver.again)
            if not isinstance(frame, CommitFrame) or not isinstance(refusal, FrameTooLarge):
                raise
            self._step(Step(chain.lost(self._known(frame.repo)), refusal=refusal, fetch=True))
            return True

    def _identity(self, queued: Queued) -> Identity | None:
        """Return who a frame's DID is, None where it must be asked. Raises what was answered since the frame came."""
        kept = self._keeping.document(queued.did)
        if kept is not None:
            return read_document(queued.did, kept)
        answer = self._asking.answer(queued)
        if answer is not None and answer.refusal is not None:
            raise answer.refusal
        return None

    def _asked(self, queued: Queued, how: Callable[[str], Awaitable[Identity | None]]) -> bool:
        self._asking.ask(queued.did, how)
        self._asking.hold(queued)
        return False

    def _examine(self, frame: CommitFrame | SyncFrame, identity: Identity, queued: Queued) -> bool:
        repo = self._known(frame.repo)
        if isinstance(frame, SyncFrame):
            self._step(chain.on_sync(repo, examine_sync(frame, identity, self._host), self._clock()))
            return True
        verified = examine_commit(frame, identity, self._host)
        link = verified.link(queued.number, len(queued.data))
        room = self._waiting_bytes + link.size <= MAX_WAITING_BYTES
        step = chain.on_commit(repo, link, self._clock(), room=room)
        waits = link in step.repo.waiting
        if waits:
            self._keeping.wait(queued.number, identity.cid)
        self._step(step, {link: verified})
        return not waits

    def _known(self, did: str) -> Repo:
        return self.repo(did) or Repo(did)

    def _take_account(self, frame: AccountFrame, queued: Queued) -> bool:
        """Take the word on whether an account is active; whether its frame can leave the queue."""
        repo = self.repo(frame.repo)
        if repo is None:
            return True
        step = chain.on_account(repo, frame.active, frame.status)
        if (step.repo.active, step.repo.status) == (repo.active, repo.status):
            return True
        if not self._may_speak(queued):
            return False
        self._keep(step.repo)
        self._finding.tell(frame.repo, "account", frame.status or ("active" if frame.active else "inactive"))
        if frame.active:
            self._fetches.fetch(frame.repo)
        return True

    def _take_identity(self, frame: IdentityFrame, queued: Queued) -> bool:
        """Take the word that a document may have changed; whether its frame can leave the queue."""
        if self.repo(frame.repo) is not None:
            # Before the document is dropped: it says who may say so.
            if not self._may_speak(queued):
                return False
            # A stream may name any handle; whose it is would have to be asked of its own host.
            named = "changed" if frame.handle is None else f"{NOT_VERIFIED}: {frame.handle}"
            self._finding.tell(frame.repo, "identity", named)
        if self._asking.answer(queued) is None:
            self._resolver.forget(frame.repo)
        return True

    def _may_speak(self, queued: Queued) -> bool:
        """Whether a stream is one that may speak of a known account, which nobody signs: that of its own host.

        A relay may of all: the operator chose it, and what it holds back it can as well leave out. False: it has to
        be asked whose the account is. Raises OtherHost, and what was answered.
        """
        if self._host is None:
            return True
        identity = self._identity(queued)
        if identity is None:
            return self._asked(queued, self._resolver.identity)
        try:
            check_host(identity, self._host)
        except OtherHost:
            if self._asking.answer(queued) is not None:
                raise
            # It may have moved here: its new host is the first to say so.
            return self._asked(queued, self._resolver.again)
        return True

    # --- what comes of them --------------------------------------------------------------------------------

    def _step(self, step: Step, at_hand: Mapping[Link, VerifiedCommit] | None = None) -> None:
        if isinstance(step.refusal, RevNotAfter):
            self.old += 1
        elif step.refusal is not None:
            self.refused[step.refusal.code] += 1
        for link in step.apply:
            self._finding.apply((at_hand or {}).get(link) or self._waiting.commit(link.number))
        self._keep(step.repo)
        if step.apply:
            self.news.set()
        if step.fetch:
            self._fetches.fetch(step.repo.did)

    def _keep(self, repo: Repo) -> None:
        before = self._repos.get(repo.did, Repo(repo.did))
        self._repos[repo.did] = repo
        self._followed.add(repo.did)
        self._keeping.keep_repo(repo)
        if before.waiting != repo.waiting:
            waits = {link.number for link in repo.waiting}
            for link in before.waiting:
                if link.number not in waits:
                    self._keeping.done(link.number)
            self._waiting_bytes += sum(each.size for each in repo.waiting)
            self._waiting_bytes -= sum(each.size for each in before.waiting)

    # --- fetching ------------------------------------------------------------------------------------------

    def _needs_fetching(self, did: str) -> bool:
        repo = self.repo(did)
        return repo is not None and repo.phase != "synchronized" and repo.active

    async def _fetch(self, did: str) -> bool:
        # From here on commits wait: none is told between the fetched state and the stream.
        self._keep(chain.begin(self._known(did)))
        return self._take_fetched(await self._fetch_once(did))

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
        """Take a whole repository, and the commits that waited; whether it need not be fetched at once again."""
        did = bundle.identity.did
        step = chain.on_fetched(self._known(did), bundle.commit, self._clock())
        with self._keeping.batch():
            taken = step.refusal is None or isinstance(step.refusal, ChainBreak)
            if taken and not self._finding.compare(bundle, step):
                step = step._replace(repo=step.repo._replace(ahead=chain.UNSURE))
            self._step(step._replace(fetch=False))
        self.news.set()
        self._look_later(did)
        return step.repo.phase == "synchronized"

    def _look_later(self, did: str) -> None:
        """Fetch a repository again if by then the stream has not said what a state of it had."""
        if self._known(did).ahead is not None and did not in self._looks and not self._stopped:
            self._looks[did] = asyncio.get_running_loop().call_later(CATCH_UP, self._look, did)

    def _look(self, did: str) -> None:
        del self._looks[did]
        if self._known(did).ahead is not None:
            self._doubt(did)
