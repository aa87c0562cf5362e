"""In which order the records of a fetched repository are taken: a repository does not say in which they came."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Callable
from typing import Final

from weighbridge.ports import Refused
from weighbridge.repos import Cid, load, tid_time

from weighbridge_atproto.commits import VerifiedCommit
from weighbridge_atproto.watching import Bundle

TID: Final = re.compile(r"[2-7a-j][2-7a-z]{12}\Z", re.ASCII)


def place_of(path: str, root: str) -> tuple[bool, bool, bool, str, str]:
    """Return what a record's path sorts by: the game's root, what an account has once, the rest, then by time.

    Keys that are TIDs tell the time at which their author says they were made, which is the best there is; keys of
    other kinds tell none, and `self` names what moves rest on. By plain path a move would come before its sheet.
    """
    key = path.rpartition("/")[2]
    timed = TID.match(key) is not None
    return (path != root, timed, key != "self", key if timed else "", path)


def since(commit: VerifiedCommit | None, state: Bundle) -> Callable[[str], bool | None]:
    """Return what tells of a path, which a commit did not touch, whether a later state has there what was there then.

    None: nobody can say, as where the commit is not at hand. Its tree says, and of that what did not change since is
    among the blocks of the state; what did may be among neither's.
    """
    if commit is None:
        return unknown
    blocks: ChainMap[Cid, bytes] = ChainMap(commit.bundle.car.blocks, state.car.blocks)
    try:
        tree = load(blocks, commit.commit.data, partial=True)
    except Refused:
        # Blocks of the state need not be of it: what a commit only names may be no tree.
        return unknown

    def same(path: str) -> bool | None:
        try:
            return tree.get(path) == state.tree.get(path)
        except Refused:
            return None

    return same


def unknown(_: str) -> None:
    """Say of no path how it was."""


def likely_older(path: str, at: int) -> bool:
    """Whether a record is more likely older than a time (µs) than not: its key names the time it was made, or none."""
    key = path.rpartition("/")[2]
    return TID.match(key) is None or tid_time(key) <= at
