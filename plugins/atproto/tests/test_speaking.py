"""Who may speak of an account, which nobody signs; and what is left of DIDs that a stream has no business with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from atproto_play import Play, move, play
from atproto_waiting import A, held
from repo_making import ALICE, BOB, MOVES, frame
from weighbridge.ports import Told
from weighbridge_atproto import asking, following
from weighbridge_atproto.chain import Repo

ELSEWHERE = "https://pds.elsewhere.town"


@pytest.fixture
def table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Callable[[Play], Awaitable[None]]], None]:
    return lambda work: play(work, tmp_path, monkeypatch)


def kept_of(at: Play, did: str) -> dict[str, int]:
    """In how many rows of which tables of the source's file something is kept of a DID."""
    keeping = at.source.keeping
    names = ("queue", "repos", "ahead", "records", "documents", "kept_of", "histories")
    rows = {name: keeping._value(f"SELECT count(*) FROM {name} WHERE did = ?", did) for name in names}
    rows |= {
        name: keeping._value(f"SELECT count(*) FROM {name} WHERE instr(data, ?)", did.encode())
        for name in ("kept", "found")
    }
    return {name: count for name, count in rows.items() if count}


def known(at: Play, did: str = ALICE) -> Repo:
    repo = at.source.following.repo(did)
    assert repo is not None
    return repo


async def told(at: Play, until: str) -> list[tuple[str, str, str]]:
    """What the source tells of accounts, until a record comes with this text."""
    at._reading = at._reading or at.source.read(at.position)
    found: list[tuple[str, str, str]] = []
    while True:
        at.position, item = await anext(at._reading)
        if isinstance(item, Told):
            found.append((item.did, item.event, item.status))
        elif until.encode() in getattr(item, "envelope", b""):
            return found


async def lied_about(at: Play, did: str) -> None:
    """Say all that a stream can say of an account without its key, after a commit that makes it known."""
    await at.host.event("#identity", did=did, handle="a.liar.town")
    await at.host.event("#account", did=did, active=False, status="deleted")
    await at.host.event("#account", did=did, active=True)


@pytest.mark.parametrize("whose", ["of-another-host", "nobody-s"])
@pytest.mark.parametrize("too_big", [False, True], ids=["a-commit", "a-commit-without-its-blocks"])
def test_what_a_host_says_of_accounts_that_it_does_not_serve_leaves_nothing_behind(
    table: Any, whose: str, too_big: bool
):
    async def work(at: Play) -> None:
        assert await at.texts() == ["root"]
        if whose == "nobody-s":
            at.host.directory[BOB] = 404
        else:
            at.host.homes[BOB] = ELSEWHERE
        at.host.seq += 1
        body = at.bob.commit({f"{MOVES}/b": move("b")}) | {"seq": at.host.seq, "tooBig": too_big}
        await at.host.send(frame(body), at.host.seq)
        await lied_about(at, BOB)
        await at.until(lambda: at.source.stream.cursor == at.host.seq and not kept_of(at, BOB))
        await at.host.commit(at.alice, {A: move("a")})
        assert await told(at, "a") == []
        assert (kept_of(at, BOB), at.source.following.repo(BOB)) == ({}, None)
        asks = at.source.following._asking
        assert BOB not in {*at.source.following._followed, *asks._answers, *asks._tasks}
        assert at.refused == {"did-gone" if whose == "nobody-s" else "other-host": 1}

    table(work)


def test_an_account_that_moved_away_is_no_longer_its_old_host_s_to_speak_of(table: Any):
    async def work(at: Play) -> None:
        await at.host.commit(at.alice, {A: move("a")})
        assert await at.texts(2) == ["root", "a"]
        at.host.homes[ALICE] = ELSEWHERE
        await at.host.event("#identity", did=ALICE)
        await at.host.event("#account", did=ALICE, active=False, status="deleted")
        await at.until(lambda: at.refused.get("other-host") == 1)
        await at.host.event("#identity", did=ALICE)
        await at.until(lambda: at.refused.get("other-host") == 2)
        await at.host.commit(at.bob, {f"{MOVES}/b": move("last")})
        assert await told(at, "last") == [(ALICE, "identity", "changed")]
        assert known(at).active

    table(work)


def test_the_host_that_an_account_has_moved_to_is_heard_once_its_document_names_it(table: Any):
    async def work(at: Play) -> None:
        await at.host.commit(at.alice, {A: move("a")})
        assert await at.texts(2) == ["root", "a"]
        at.host.homes[ALICE] = ELSEWHERE
        await at.host.event("#identity", did=ALICE)
        await at.host.event("#account", did=ALICE, active=False, status="deactivated")
        await at.until(lambda: at.refused.get("other-host") == 1)
        del at.host.homes[ALICE]
        await at.host.event("#account", did=ALICE, active=False, status="deactivated")
        await at.until(lambda: not known(at).active)
        await at.host.event("#account", did=ALICE, active=True)
        await at.host.commit(at.alice, {A: move("b")})
        assert await at.texts() == ["b"]
        assert known(at).active

    table(work)


def test_what_is_said_of_an_account_waits_while_it_cannot_be_asked_whose_it_is(table: Any):
    async def work(at: Play) -> None:
        await at.host.commit(at.alice, {A: move("a")})
        assert await at.texts(2) == ["root", "a"]
        at.host.directory[ALICE] = 503
        await at.host.event("#identity", did=ALICE)
        await at.host.event("#account", did=ALICE, active=False, status="takendown")
        await at.until(lambda: held(at) == 1 and at.refused.get("host-unavailable", 0) >= 2)
        assert known(at).active
        del at.host.directory[ALICE]
        await at.until(lambda: known(at).status == "takendown")

    table(work)


def test_the_relay_that_was_chosen_may_speak_of_accounts_of_other_hosts(table: Any):
    async def work(at: Play) -> None:
        await at.stop()
        at.host.homes[BOB] = ELSEWHERE
        at.source, at._reading = at.opened(relay=True), None
        await at.host.commit(at.bob, {f"{MOVES}/b": move("b")})
        assert await at.texts(2) == ["root", "b"]
        await at.host.event("#account", did=BOB, active=False, status="suspended")
        await at.until(lambda: known(at, BOB).status == "suspended")
        await at.host.event("#account", did=BOB, active=True)
        await at.host.commit(at.alice, {A: move("last")})
        assert await told(at, "last") == [(BOB, "account", "suspended"), (BOB, "account", "active")]

    table(work)


def test_nobody_is_asked_for_without_end_whose_frames_were_given_up(
    table: Any, monkeypatch: pytest.MonkeyPatch
):
    async def work(at: Play) -> None:
        await at.next()
        monkeypatch.setattr(asking, "MAX_HELD", 0)
        monkeypatch.setattr(following, "MAX_UNHEARD", 1)
        at.host.directory |= {ALICE: 503, BOB: 503}
        await at.host.commit(at.alice, {A: move("a")})
        await at.host.commit(at.bob, {f"{MOVES}/b": move("b")})
        await at.until(lambda: at.refused.get("frames-given-up") == 2)
        assert [*at.source.following._asking._tasks] == [ALICE]
        assert at.source.following._followed.isdisjoint({BOB})
        assert kept_of(at, ALICE) == kept_of(at, BOB) == {}
        at.host.directory.clear()
        assert await at.texts() == ["a"]

    table(work)


def test_given_up_frames_of_an_account_of_another_host_have_nothing_fetched(
    table: Any, monkeypatch: pytest.MonkeyPatch
):
    async def work(at: Play) -> None:
        await at.next()
        monkeypatch.setattr(asking, "MAX_HELD", 0)
        at.host.directory[BOB] = 503
        at.host.homes[BOB] = ELSEWHERE
        await at.host.commit(at.bob, {f"{MOVES}/b": move("b")})
        await at.until(lambda: at.refused.get("frames-given-up") == 1)
        del at.host.directory[BOB]
        await at.until(lambda: not at.source.following._asking.asks(BOB))
        assert (kept_of(at, BOB), at.source.following.repo(BOB)) == ({}, None)

    table(work)


def test_of_an_answer_nothing_is_kept_once_the_frames_it_is_for_are_taken(table: Any):
    async def work(at: Play) -> None:
        await at.next()
        at.host.directory[ALICE] = 503
        await at.host.commit(at.alice, {A: move("north")})
        await at.host.commit(at.alice, {A: move("south")})
        await at.until(lambda: held(at) == 2)
        del at.host.directory[ALICE]
        await at.host.commit(at.bob, {f"{MOVES}/b": move("b")})
        assert sorted(map(str, await at.texts(3))) == ["b", "north", "south"]
        assert at.source.following._asking._answers == {}

    table(work)
