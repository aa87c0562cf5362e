"""Whose a key is, by what a real directory says of accounts of a real PDS."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from time import time_ns

import pytest
from pds_running import Pds
from weighbridge.ports import KeyAsked, Vouched
from weighbridge_atproto import open_keys

pytestmark = pytest.mark.interop

DAY = 86_400_000_000
DOC = "bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy"


@pytest.fixture(scope="module")
def pds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pds]:
    running = Pds(tmp_path_factory.mktemp("pds"))
    yield running
    running.stop()


def now() -> int:
    return time_ns() // 1000


def asked(pds: Pds, folder: Path, *questions: KeyAsked) -> list[Vouched]:
    async def main() -> list[Vouched]:
        settings = {
            "game": "at://did:plc:x/town.delve.root/one",
            "directory": pds.directory,
            "development": True,
        }
        voucher = open_keys.open_voucher(settings, str(folder))
        try:
            return [await voucher.vouch(each) for each in questions]
        finally:
            await voucher.close()

    return asyncio.run(main())


def test_a_key_that_was_changed_twice_is_vouched_for_by_the_history_of_its_time(
    pds: Pds, tmp_path: Path
) -> None:
    alice = pds.account("keeper1")
    begun = now()
    first = pds.rotate(alice.did)
    changed = now()
    second = pds.rotate(alice.did)
    own, now_its = first["own"], second["key"]
    found = asked(
        pds, tmp_path,
        KeyAsked(alice.did, own, DOC, begun), KeyAsked(alice.did, first["key"], DOC, changed),
        KeyAsked(alice.did, now_its, DOC, now()), KeyAsked(alice.did, own, DOC, changed + DAY),
    )  # fmt: skip
    assert [each.verdict for each in found] == ["vouched", "vouched", "vouched", "unavailable"]
    assert [each.how for each in found[:3]] == ["plc-log"] * 3
    assert [each.until is not None for each in found[:3]] == [True, True, False]
    assert begun <= (found[0].until or 0) <= (found[1].until or 0) <= now()


def test_a_key_of_somebody_else_is_contradicted(pds: Pds, tmp_path: Path) -> None:
    alice, bob = pds.account("keeper2"), pds.account("keeper3")
    bobs = pds.rotate(bob.did)["own"]
    (found,) = asked(pds, tmp_path, KeyAsked(alice.did, bobs, DOC, now()))
    assert found.verdict == "contradicted"


def test_of_a_did_that_no_directory_knows_nobody_says_anything(pds: Pds, tmp_path: Path) -> None:
    alice = pds.account("keeper4")
    key = pds.rotate(alice.did)["own"]
    (found,) = asked(pds, tmp_path, KeyAsked("did:plc:" + "a" * 24, key, DOC, now()))
    assert found.verdict == "unavailable"
