"""What tests of waiting share: a repository that was met late, and how many of its frames and commits wait."""

from __future__ import annotations

from atproto_play import Play, move
from repo_making import ALICE, MOVES

GET_REPO = "/xrpc/com.atproto.sync.getRepo"
A = f"{MOVES}/a"


def waiting(at: Play, did: str = ALICE) -> int:
    repo = at.source.following.repo(did)
    return 0 if repo is None else len(repo.waiting)


def held(at: Play) -> int:
    return sum(1 for (state,) in at.source.keeping._rows("SELECT state FROM queue") if state == 1)


async def met(at: Play) -> None:
    """Have the root read, and alice's first commit made where nobody saw it: what follows needs a fetch."""
    assert await at.texts() == ["root"]
    await at.host.commit(at.alice, {}, tell=False)


async def north_and_south(at: Play) -> None:
    for text in ("north", "south"):
        await at.host.commit(at.alice, {A: move(text)})
