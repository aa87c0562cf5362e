"""A handle is shown as an account's only where its own host and the account's document both say so."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
from atproto_commands import FITS, GAME, Shell, outside
from atproto_helping import document
from repo_making import ALICE
from weighbridge_atproto.documents import Identity, read_document
from weighbridge_atproto.guarded import AnswerTooLarge, Guarded
from weighbridge_atproto.handles import asking, is_verified
from weighbridge_atproto_tools import publish

HANDLE = "alice.delve.town"
BOB = "did:plc:" + "b" * 24


def who(*names: str) -> Identity:
    return read_document(ALICE, json.dumps(document(alsoKnownAs=[*names])).encode())


class Hosts:
    """The hosts of handles, and what they name."""

    def __init__(self, named: dict[str, bytes]) -> None:
        self.named = {f"https://{handle}/.well-known/atproto-did": did for handle, did in named.items()}

    async def get(self, url: str, most: int) -> bytes:
        if url not in self.named:
            raise AnswerTooLarge("it does not answer so")
        return self.named[url][:most]


@pytest.mark.parametrize(
    ("claims", "named", "verified"),
    [
        pytest.param([f"at://{HANDLE}"], {HANDLE: ALICE}, True, id="both say so"),
        pytest.param([f"at://{HANDLE}"], {HANDLE: f"{ALICE}\n"}, True, id="with a line's end"),
        pytest.param([f"at://{HANDLE}"], {HANDLE: BOB}, False, id="the host names another"),
        pytest.param([f"at://{HANDLE}"], {HANDLE: f"{ALICE} {BOB}"}, False, id="the host names two"),
        pytest.param([f"at://{HANDLE}"], {}, False, id="the host names nobody"),
        pytest.param(["at://bob.delve.town"], {HANDLE: ALICE}, False, id="the document claims another"),
        pytest.param([], {HANDLE: ALICE}, False, id="the document claims none"),
    ],
)
def test_a_handle_is_verified_only_both_ways(claims: list[str], named: dict[str, str], verified: bool):
    hosts = cast("Guarded", Hosts({handle: did.encode() for handle, did in named.items()}))
    assert asyncio.run(is_verified(HANDLE, who(*claims), asking(hosts))) is verified


def test_a_handle_is_the_same_in_capital_letters():
    hosts = cast("Guarded", Hosts({"Alice.Delve.Town": ALICE.encode()}))
    assert asyncio.run(is_verified("Alice.Delve.Town", who(f"at://{HANDLE}"), asking(hosts)))


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    pytest.importorskip("weighbridge_delvetown", reason="the rule set that records are held against")
    with outside(1) as at:
        at.hosts[0].member(ALICE, 5)
        at.hosts[0].handles[HANDLE] = ALICE
        yield Shell(at, tmp_path)


async def nobody(handle: str, did: str) -> bool:
    return False


def test_who_publishes_by_a_handle_is_told_whose_it_is_not_known_to_be(
    shell: Shell, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(publish, "asking", lambda _: nobody)
    assert shell.run("sheet", GAME, shell.record(**FITS), account=HANDLE) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["uri"].startswith(f"at://{ALICE}/")
    assert f"{HANDLE}: handle not verified; {shell.at.hosts[0].url} says that it is {ALICE}" in said.err


def test_who_publishes_by_a_verified_handle_or_a_did_is_told_nothing(
    shell: Shell, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    async def holds(handle: str, did: str) -> bool:
        return (handle, did) == (HANDLE, ALICE)

    monkeypatch.setattr(publish, "asking", lambda _: holds)
    assert shell.run("sheet", GAME, shell.record(**FITS), account=HANDLE) == 0
    assert shell.run("sheet", GAME, shell.record(**FITS), "--rkey", "two", account=ALICE) == 0
    assert "not verified" not in capsys.readouterr().err
