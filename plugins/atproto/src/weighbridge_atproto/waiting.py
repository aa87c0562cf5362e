"""The commits that wait in the queue until their repository is fetched, read back from there when they are needed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from weighbridge.ports import Refused

from weighbridge_atproto.chain import Link
from weighbridge_atproto.commits import VerifiedCommit, verify_commit
from weighbridge_atproto.documents import read_document
from weighbridge_atproto.frames import CommitFrame, parse_frame
from weighbridge_atproto.keeping import Keeping


class Waiting:
    """Reads frames that wait. None is held in memory: many of them may be large."""

    def __init__(self, keeping: Keeping, refused: Counter[str]) -> None:
        self._keeping = keeping
        self._refused = refused

    def commit(self, number: int) -> VerifiedCommit | None:
        """Return the commit of a frame, verified again against the document that held when it came."""
        queued = self._keeping.frame(number)
        document = None if queued.doc is None else self._keeping.kept_document(queued.doc)
        try:
            frame = parse_frame(queued.data)
            if document is not None and isinstance(frame, CommitFrame):
                return verify_commit(frame, read_document(queued.did, document))
        except Refused as refusal:
            # It held once: a newer version of this program may be stricter.
            self._refused[refusal.code] += 1
        return None

    def links(self, did: str) -> tuple[Link, ...]:
        """Return the commits of a repository that waited when the source was last closed."""
        links: list[Link] = []
        for number in self._keeping.waiting(did):
            commit = self.commit(number)
            if commit is None:
                self._keeping.done(number)
            else:
                links.append(commit.link(number, len(self._keeping.frame(number).data)))
        return tuple(links)

    def touched(self, links: Iterable[Link]) -> set[str]:
        """Return the paths that commits change."""
        commits = (self.commit(link.number) for link in links)
        return {change.path for commit in commits if commit is not None for change in commit.changes}
