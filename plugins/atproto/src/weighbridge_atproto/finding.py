"""What is found in repositories that are proved: each version of a record of the game, once, in its order."""

from __future__ import annotations

import asyncio
from collections import Counter

from weighbridge.ports import Refused
from weighbridge.repos import Cid, codec, tid_time

from weighbridge_atproto.chain import Step
from weighbridge_atproto.commits import VerifiedCommit
from weighbridge_atproto.keeping import Keeping
from weighbridge_atproto.ordering import likely_older, place_of, since
from weighbridge_atproto.waiting import Waiting
from weighbridge_atproto.watching import Bundle, Watched


class Finding:
    """Finds changes of the game's records. `refused` counts by code what is wrong with one."""

    def __init__(self, keeping: Keeping, watched: Watched, waiting: Waiting, refused: Counter[str]) -> None:
        self.news = asyncio.Event()
        """Set whenever something was found."""
        self._keeping = keeping
        self._watched = watched
        self._waiting = waiting
        self._refused = refused

    def tell(self, did: str, event: str, status: str) -> None:
        """Find what a stream said of an account."""
        self._keeping.add("told", codec.encode({"did": did, "event": event, "status": status[:256]}))
        self.news.set()

    def apply(self, commit: VerifiedCommit | None) -> None:
        """Find what a commit changes."""
        if commit is not None:
            for change in commit.changes:
                self._change(commit.bundle, change.path, change.cid)

    def compare(self, bundle: Bundle, step: Step) -> bool:
        """Find what a fetched repository has and this node had not, and the other way round; whether all was found.

        What was so before the commits that waited comes before them, the root first; what is newer comes after them,
        or is left to the stream.
        """
        all_found = True
        touched = self._waiting.touched(link for run in step.runs for link in run)
        for run in step.runs:
            first = self._waiting.commit(run[0].number)
            same = since(first, bundle)
            for path in self._paths(bundle):
                was = same(path) if path not in touched else False
                all_found = all_found and was is not None
                if was or (was is None and likely_older(path, tid_time(run[0].rev))):
                    self._change(bundle, path, bundle.tree.get(path))
            for link in run:
                self.apply(self._waiting.commit(link.number))
        if step.whole:
            for path in self._paths(bundle):
                self._change(bundle, path, bundle.tree.get(path))
        return all_found or step.whole

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
            self._refused[refusal.code] += 1

    def _paths(self, bundle: Bundle) -> list[str]:
        did = bundle.identity.did
        root = self._watched.game.removeprefix(f"at://{did}/")
        there = {path for path, _ in bundle.tree.items() if self._watched.wants(did, path)}
        return sorted({*self._keeping.records(did), *there}, key=lambda each: place_of(each, root))
