"""A crooked lister, followers whose source finds out whose keys are whose, and what these say in their receipts."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

from ingest_games import GAME, Table, data_of, root
from nodes import until, until_async
from repo_making import Key, Made
from test_ingest_following import NOW, Crooked
from weighbridge import codec
from weighbridge.cid import Cid
from weighbridge.identity import open_envelope
from weighbridge.log.entries import Listed, make_entry
from weighbridge.ports import KeyAsked, Vouched
from weighbridge.repos import P256, Proved, carry, open_carried
from weighbridge_atproto import open_keys
from weighbridge_services.ingest.follower import Follower
from weighbridge_services.ingest.opening import log_message
from weighbridge_services.ingest.proved import SETTLED
from weighbridge_services.node import Node
from weighbridge_services.subjects import token

sys.path.append(str(Path(__file__).resolve().parents[2] / "plugins" / "atproto" / "tests"))

from plc_making import Directory

NOTES = "example.coin.note"
DOC = Cid.of(b"document", 0x55)
SETTLES = NOW + SETTLED
STRONG, FIRST, SECOND, LISTERS_OWN = Key(P256, 7), Key(number=3), Key(number=4), Key(number=6)


class Keys:
    """A source that vouches as a test tells it to; what it has no answer for waits until it has one."""

    def __init__(self) -> None:
        self.answers: dict[str, Vouched] = {}
        self.asked: list[KeyAsked] = []
        self._news = asyncio.Event()

    def __call__(self, settings: Any, folder: str) -> Any:
        return open_keys(settings, folder)

    def open_voucher(self, settings: Any, folder: str) -> Keys:
        return self

    def say(self, did: str, verdict: Any) -> None:
        self.answers[did] = Vouched(verdict, f"it is {verdict}", "document", str(DOC))
        self._news.set()

    async def vouch(self, asked: KeyAsked) -> Vouched:
        self.asked.append(asked)
        while asked.did not in self.answers:
            self._news.clear()
            await self._news.wait()
        return self.answers[asked.did]

    async def close(self) -> None:
        """It is the test's."""


async def laid(table: Table, followers: int = 1, source: str = 'plugin = "keys"', **fields: Any) -> Crooked:
    """A lister in the hands of a test, and followers whose source finds out whose keys are whose."""
    await table.lay(followers=followers, recorded=True)
    for number, node in enumerate(table.nodes[1:], 1):
        path = node.folder / "weighbridge.toml"
        path.write_text(path.read_text() + f"[games.source]\n{source}\n")
        table.nodes[number] = Node.open(node.folder)
    crooked = Crooked(table)
    await crooked.record(data_of(root(lister=crooked.node.did, **fields)))
    await crooked.introduce()
    await crooked.sign()
    return crooked


def by_directory(directory: Directory) -> str:
    return f'plugin = "keys"\ndirectory = "{directory.url}"\ndevelopment = true'


async def up(table: Table, name: str = "bela") -> Follower:
    follower = (await table.up(name)).games[0]
    assert isinstance(follower, Follower)
    return follower


async def write(
    crooked: Crooked, did: str, key: Key, rkey: str = "a", *, end: bool = False, at: int = NOW
) -> Listed:
    """List a record of somebody's repository, or its end, as signed with a key, its proof sound down to that."""
    repo, path = Made(did, key), f"{NOTES}/{rkey}"
    value = {"$type": NOTES, "game": GAME, "text": "hello"}
    repo.commit({path: value})
    if end:
        repo.commit({path: None})
    assert repo.last is not None
    proved = Proved(repo.last, repo.tree.get(path), None if end else codec.encode(value))
    opened = open_carried(carry(f"at://{did}/{path}", key.public.did_key, DOC, proved, repo.tree.prove(path)))
    listed = make_entry(
        crooked.last, game=GAME, at=at, op="delete" if end else "create", uri=str(opened.uri), author=did,
        record=opened.record, prov=opened.prov,
    )  # fmt: skip
    await crooked.list(listed, log_message(listed))
    await crooked.sign()
    return listed


async def until_it_is(crooked: Crooked, at: int) -> None:
    """Bring a time about: the followers' clocks stand where the log stands."""
    await crooked.introduce(at)
    await crooked.sign()


async def until_settled(crooked: Crooked, *followers: Follower) -> int:
    """Bring about the time from which on it counts that a key is in no history; return it once that was said."""
    await until_it_is(crooked, SETTLES)
    doubts = [follower.proving._doubts for follower in followers]
    await until(lambda: all(any(each.since is not None for each in those.values()) for those in doubts))
    return max(each.since or 0 for those in doubts for each in those.values())


async def unproved_at(table: Table, size: int, number: int = 1) -> list[list[int]]:
    """What a follower's receipt of so many entries names as unproved."""
    subjects = table.nodes[number].subjects(GAME)

    async def receipt() -> Any:
        return await table.bus(number).last(subjects.stream("RECORDS"), subjects.checkpoint(size))

    found = await until_async(receipt, what=f"a receipt of {size} entries")
    message: Any = codec.decode(found.data)
    unproved: list[list[int]] = open_envelope(message["envelope"]).value.get("unproved", [])
    return unproved


async def cosigned(table: Table, size: int, number: int = 1) -> bool:
    subjects = table.nodes[number].subjects(GAME)
    return await table.bus(number).last(subjects.stream("RECORDS"), subjects.checkpoint(size)) is not None


def kept(follower: Follower, did: str, key: Key) -> dict[str, Any]:
    """What the follower's ledger keeps of a key."""
    name = f"ingest/{token(GAME)}/key/{did} {key.public.did_key}"
    value: Any = codec.decode(follower.setting.store.ledger.values.get(name) or codec.encode({}))
    return dict(value)
