"""Whose a key is, asked of directories and hosts on loopback: vouched for, contradicted, or not to be told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from atproto_helping import document
from atproto_host import hosting
from plc_making import BEGIN, HOUR, Directory, Plc
from repo_making import ALICE, Key
from weighbridge.ports import KeyAsked, OpensVoucher, Pause, Vouched
from weighbridge.repos import P256, RAW, Cid
from weighbridge_atproto import open_firehose, open_keys, open_repository
from weighbridge_atproto.guarded import Guarded
from weighbridge_atproto.keeping import Keeping
from weighbridge_atproto.settings import BadSettings
from weighbridge_atproto.vouching import LATE, DidVoucher

GAME = f"at://{ALICE}/town.delve.root/one"
STRONG, WEAK, EVIL = Key(P256, 7), Key(number=8), Key(number=6)
FIRST, SECOND = Key(number=3), Key(number=4)
BOTH = [STRONG, WEAK]
DOC = str(Cid.of(b"what the lister calls its document", RAW))


class Asking:
    """A voucher, its directory, and the time at which it asks."""

    def __init__(self, directory: Directory) -> None:
        self.directory = directory
        self.now = BEGIN + 1_000 * HOUR
        self.keeping = Keeping(None)
        self.begin()

    def begin(self) -> None:
        self.client = Guarded(loopback=True)
        self.voucher = DidVoucher(self.client, self.keeping, self.directory.url, clock=lambda: self.now)

    async def restart(self) -> None:
        """Go on as the node does after a restart."""
        await self.client.close()
        self.begin()

    async def ask(self, did: str, key: Key, listed: int | None = None, doc: str = DOC) -> Vouched:
        when = self.now if listed is None else listed
        return await self.voucher.vouch(KeyAsked(did, key.public.did_key, doc, when))


def run(work: Callable[[Asking], Awaitable[None]]) -> None:
    async def main() -> None:
        async with hosting(Directory()) as directory:
            asking = Asking(directory)
            try:
                await work(asking)
            finally:
                await asking.voucher.close()

    asyncio.run(main())


def rotated() -> Plc:
    """A DID whose key was changed a hundred hours after its beginning."""
    plc = Plc(BOTH, FIRST)
    plc.change(SECOND, WEAK, BEGIN + 100 * HOUR, rotation=BOTH)
    return plc


def test_a_history_vouches_for_the_key_of_then_long_after_it_was_changed() -> None:
    plc = rotated()

    async def work(asking: Asking) -> None:
        asking.directory.has(plc)
        then = await asking.ask(plc.did, FIRST, BEGIN + 50 * HOUR)
        assert (then.verdict, then.how, then.evidence) == ("vouched", "plc-log", plc.entries[0]["cid"])
        assert then.until == BEGIN + 100 * HOUR
        now = await asking.ask(plc.did, SECOND)
        assert (now.verdict, now.evidence, now.until) == ("vouched", plc.entries[1]["cid"], None)
        assert asking.directory.asked == [f"/{plc.did}/log/audit"]

    run(work)


def test_a_key_that_the_history_never_names_is_contradicted_each_time_by_a_history_fetched_anew() -> None:
    plc = rotated()

    async def work(asking: Asking) -> None:
        asking.directory.has(plc)
        last = plc.entries[1]["cid"]
        for times in (1, 2):
            found = await asking.ask(plc.did, EVIL)
            assert (found.verdict, found.how, found.evidence) == ("contradicted", "plc-log", last)
            assert len(asking.directory.asked) == times
        assert f"history of 2 operations, up to {last}" in found.says

    run(work)


def test_a_directory_that_has_caught_up_vouches_at_the_next_asking() -> None:
    plc = Plc(BOTH, FIRST)
    before = plc.data
    plc.change(SECOND, WEAK, BEGIN + 999 * HOUR, rotation=BOTH)

    async def work(asking: Asking) -> None:
        asking.directory.answers[f"/{plc.did}/log/audit"] = [before, plc.data]
        verdicts = [(await asking.ask(plc.did, SECOND)).verdict for _ in range(2)]
        assert verdicts == ["contradicted", "vouched"]

    run(work)


@pytest.mark.parametrize(("late", "verdict"), [(0, "vouched"), (LATE, "vouched"), (LATE + 1, "unavailable")])
def test_a_key_that_was_given_up_vouches_a_little_while_longer_and_contradicts_nothing(
    late: int, verdict: str
) -> None:
    plc = rotated()

    async def work(asking: Asking) -> None:
        asking.directory.has(plc)
        found = await asking.ask(plc.did, FIRST, BEGIN + 100 * HOUR + late)
        assert found.verdict == verdict

    run(work)


def test_a_thief_s_key_vouches_for_what_was_listed_while_it_was_in_force_and_for_nothing_after() -> None:
    plc = Plc(BOTH, FIRST)
    plc.change(EVIL, WEAK, BEGIN + HOUR, rotation=[EVIL])
    plc.change(SECOND, STRONG, BEGIN + 2 * HOUR, rotation=BOTH, after=0)

    async def work(asking: Asking) -> None:
        asking.directory.has(plc)
        verdicts = [(await asking.ask(plc.did, EVIL, BEGIN + n * HOUR)).verdict for n in (1, 2, 3)]
        assert verdicts == ["vouched", "vouched", "unavailable"]

    run(work)


def test_a_dark_directory_says_nothing_of_a_new_key_and_takes_back_nothing_of_a_known_one() -> None:
    plc, other = rotated(), Plc(BOTH, EVIL)

    async def work(asking: Asking) -> None:
        asking.directory.has(plc)
        assert (await asking.ask(plc.did, SECOND)).verdict == "vouched"
        asking.directory.status, asking.now = 503, asking.now + HOUR
        await asking.restart()
        assert (await asking.ask(plc.did, FIRST, BEGIN + HOUR)).verdict == "vouched"
        assert (await asking.ask(plc.did, SECOND)).verdict == "unavailable"  # it may have been changed since
        assert (await asking.ask(other.did, EVIL)).verdict == "unavailable"
        assert (await asking.ask(plc.did, EVIL, BEGIN + HOUR)).verdict == "unavailable"

    run(work)


def test_a_history_that_does_not_hold_accuses_the_directory_and_not_the_lister() -> None:
    plc = rotated()
    plc.entries[1]["nullified"] = True

    async def work(asking: Asking) -> None:
        asking.directory.has(plc)
        found = await asking.ask(plc.did, EVIL)
        assert found.verdict == "unavailable"
        assert "plc-marks" in found.says

    run(work)


def test_a_directory_that_leaves_out_what_it_gave_before_has_nobody_accused() -> None:
    plc = Plc(BOTH, FIRST)
    before = plc.data
    plc.change(SECOND, WEAK, BEGIN + 100 * HOUR, rotation=BOTH)

    async def work(asking: Asking) -> None:
        asking.directory.has(plc)
        assert (await asking.ask(plc.did, FIRST, BEGIN)).verdict == "vouched"
        asking.directory.answers[f"/{plc.did}/log/audit"] = [before]
        asking.now += HOUR
        found = await asking.ask(plc.did, SECOND)
        assert found.verdict == "unavailable"
        assert "plc-left-out" in found.says

    run(work)


def test_a_directory_without_histories_vouches_by_its_document_and_contradicts_nothing() -> None:
    plc = rotated()

    async def work(asking: Asking) -> None:
        data = json.dumps(document(plc.did, SECOND)).encode()
        asking.directory.answers[f"/{plc.did}"] = [data]
        found = await asking.ask(plc.did, SECOND)
        assert (found.verdict, found.how, found.evidence) == ("vouched", "document", str(Cid.of(data, RAW)))
        assert (await asking.ask(plc.did, EVIL)).verdict == "unavailable"

    run(work)


def of_web(asking: Asking) -> str:
    return f"did:web:localhost%3A{asking.directory.url.rpartition(':')[2]}"


WELL_KNOWN = "/.well-known/did.json"


def test_a_did_web_is_vouched_for_by_its_document() -> None:
    async def work(asking: Asking) -> None:
        did = of_web(asking)
        asking.directory.answers[WELL_KNOWN] = [json.dumps(document(did, FIRST)).encode()]
        found = await asking.ask(did, FIRST)
        assert (found.verdict, found.how) == ("vouched", "document")

    run(work)


def test_a_did_web_contradicts_nobody_since_its_host_may_tell_each_asker_another_key() -> None:
    async def work(asking: Asking) -> None:
        did = of_web(asking)
        asking.directory.answers[WELL_KNOWN] = [json.dumps(document(did, SECOND)).encode()]
        found = await asking.ask(did, FIRST)
        assert found.verdict == "unavailable"
        assert SECOND.public.did_key in found.says

    run(work)


def test_a_document_of_before_vouches_for_nothing_that_is_listed_now() -> None:
    """Whoever has got hold of a key that was given up would name the document of then."""

    async def work(asking: Asking) -> None:
        did = of_web(asking)
        old = json.dumps(document(did, FIRST)).encode()
        asking.directory.answers[WELL_KNOWN] = [old, json.dumps(document(did, SECOND)).encode()]
        assert (await asking.ask(did, FIRST)).verdict == "vouched"
        await asking.restart()
        assert (await asking.ask(did, SECOND)).verdict == "vouched"
        assert (await asking.ask(did, FIRST, doc=str(Cid.of(old, RAW)))).verdict == "unavailable"

    run(work)


def test_a_did_plc_s_document_does_not_vouch_where_its_history_has_spoken() -> None:
    plc = rotated()

    async def work(asking: Asking) -> None:
        asking.directory.has(plc)
        asking.directory.answers[f"/{plc.did}"] = [json.dumps(document(plc.did, FIRST)).encode()]
        assert (await asking.ask(plc.did, FIRST)).verdict == "unavailable"

    run(work)


@pytest.mark.parametrize("did", ["did:web:dark.invalid", "did:plc:short", "did:other:x"])
def test_who_cannot_be_asked_is_vouched_for_by_nobody(did: str) -> None:
    async def work(asking: Asking) -> None:
        assert (await asking.ask(did, FIRST)).verdict == "unavailable"

    run(work)


def test_a_did_key_is_its_own_key_and_no_other() -> None:
    async def work(asking: Asking) -> None:
        did = FIRST.public.did_key
        assert (await asking.ask(did, FIRST)).verdict == "vouched"
        assert (await asking.ask(did, SECOND)).verdict == "contradicted"
        assert asking.directory.asked == []

    run(work)


def test_every_source_of_this_plugin_comes_with_a_voucher(tmp_path: Any) -> None:
    async def main() -> None:
        for opener in (open_firehose, open_repository, open_keys):
            assert isinstance(opener, OpensVoucher)
            voucher = opener.open_voucher({"game": GAME, "host": "https://pds.delve.town"}, str(tmp_path))
            key = FIRST.public.did_key
            assert (await voucher.vouch(KeyAsked(key, key, DOC, BEGIN))).verdict == "vouched"
            await voucher.close()
        with pytest.raises(BadSettings):
            open_keys.open_voucher({"game": "town"}, str(tmp_path))

    asyncio.run(main())


def test_the_source_of_keys_gives_no_record_and_does_not_end() -> None:
    async def main() -> None:
        source = open_keys({"game": GAME}, ".")
        reading = asyncio.ensure_future(anext(source.read(0), Pause()))
        done, _ = await asyncio.wait([reading], timeout=0.05)
        assert not done
        reading.cancel()
        await source.close()

    asyncio.run(main())
