"""In which order the records of a fetched repository are taken: a repository does not say in which they came."""

from __future__ import annotations

import re
from typing import Final

TID: Final = re.compile(r"[2-7a-j][2-7a-z]{12}\Z", re.ASCII)


def place_of(path: str, root: str) -> tuple[bool, bool, bool, str, str]:
    """Return what a record's path sorts by: the game's root, what an account has once, the rest, then by time.

    Keys that are TIDs tell the time at which their author says they were made, which is the best there is; keys of
    other kinds tell none, and `self` names what moves rest on. By plain path a move would come before its sheet.
    """
    key = path.rpartition("/")[2]
    timed = TID.match(key) is not None
    return (path != root, timed, key != "self", key if timed else "", path)
