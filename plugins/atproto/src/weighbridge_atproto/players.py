"""Who plays, as far as it was looked into: what was found of an account, and how much is looked into at most."""

from __future__ import annotations

from typing import NamedTuple

from weighbridge.ports import Refused

PLAYS = "plays"
NO_RECORDS = "no-records"
NOT_ASKED = "not-asked"


class RootAbsent(Refused):
    """The root of a game is not in its GM's repository, as its host proves."""

    code = "root-absent"


class NoRepository(Refused):
    """A DID of a method whose accounts have no repositories, such as did:key."""

    code = "no-repository"


class Player(NamedTuple):
    """What was found of an account.

    `state`: `plays` (its repository, verified, holds records of the game), `no-records`, `not-asked` (more were
    named than are looked into, or its host has not answered for others), or the code of what went wrong; `says`
    that in a sentence. `verified`: whether the host of the handle names the account, too.
    """

    did: str
    state: str
    host: str | None = None
    records: int = 0
    handle: str | None = None
    verified: bool = False
    says: str = ""

    @property
    def plays(self) -> bool:
        """Whether its repository holds records of the game."""
        return self.state == PLAYS


class Bounds(NamedTuple):
    """How much is looked into at most, whatever indexes and records name.

    `dids`: accounts in all; `hosted`: accounts of one host that are looked through where no index answers; `named`:
    accounts that only records named. `bytes`: of all repositories fetched. `failures`: of one host, after which
    the rest of its accounts are not asked for. `beside`: accounts looked into at a time; `fetches`: repositories.
    """

    dids: int = 10_000
    hosted: int = 2_000
    named: int = 1_000
    bytes: int = 2_000_000_000
    failures: int = 3
    beside: int = 8
    fetches: int = 2


USUAL = Bounds()


class Progress(NamedTuple):
    """How far it is: accounts named so far, looked into, and found to play; what is being done, in words."""

    named: int
    looked: int
    playing: int
    doing: str
