"""Asking an index: what it says is bounded, whatever it says."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from atproto_helping import code_of
from atproto_network import network
from weighbridge_atproto import index
from weighbridge_atproto.guarded import Guarded
from weighbridge_atproto.index import Page, by_collection, of_host, read_page

PLC = "did:plc:"


def did(number: int) -> str:
    letters = "abcdefghijklmnopqrstuvwxyz234567"
    return PLC + "a" * 20 + "".join(letters[number >> shift & 31] for shift in (15, 10, 5, 0))


def asked(lies: Any, most: int = 10_000) -> tuple[list[str], list[dict[str, str]]]:
    """What an index that lies so is found to name, and the questions it was asked."""

    async def ask() -> tuple[list[str], list[dict[str, str]]]:
        async with network(0) as (relay, _):
            relay.lies = lies
            client = Guarded(loopback=True)
            try:
                found = [each async for each in by_collection(client, relay.url, "town.delve.move", most)]
            finally:
                await client.close()
            return found, relay.indexes

    return asyncio.run(ask())


def repos(*numbers: int) -> list[dict[str, str]]:
    return [{"did": did(number)} for number in numbers]


def test_pages_are_followed_to_the_last():
    def pages(request: Any) -> Any:
        at = int(request.query.get("cursor", 0))
        return {"repos": repos(at, at + 1), **({"cursor": str(at + 2)} if at < 6 else {})}

    found, questions = asked(pages)
    assert found == [did(number) for number in range(8)]
    assert [each.get("cursor") for each in questions] == [None, "2", "4", "6"]
    assert {each["collection"] for each in questions} == {"town.delve.move"}
    assert {each["limit"] for each in questions} == {"1000"}


def test_an_index_that_repeats_itself_is_left_after_two_pages_with_nobody_new():
    count = iter(range(1_000_000))
    found, questions = asked(lambda _: {"repos": repos(1, 2, 1), "cursor": str(next(count))})
    assert found == [did(1), did(2)]
    assert len(questions) == 3


def test_a_cursor_that_was_given_before_ends_the_asking():
    count = iter(range(1_000_000))
    found, questions = asked(lambda _: {"repos": repos(next(count)), "cursor": "again"})
    assert (len(found), len(questions)) == (2, 2)


def test_an_endless_index_is_asked_for_so_many_pages_and_no_more():
    count = iter(range(1_000_000))
    found, questions = asked(lambda _: {"repos": repos(at := next(count)), "cursor": str(at)})
    assert (len(found), len(questions)) == (index.PAGES, index.PAGES)


def test_no_more_are_taken_than_are_wanted():
    found, questions = asked(lambda _: {"repos": repos(*range(50)), "cursor": "x"}, most=10)
    assert (len(found), len(questions)) == (10, 1)


def test_what_is_no_list_of_repositories_is_refused():
    for answer in (
        b"no json",
        b"[" * 100_000,
        b"[]",
        b"{}",
        b'{"repos": 1}',
        b'{"repos": ["did:plc:x"]}',
        json.dumps({"repos": [], "cursor": 5}).encode(),
        json.dumps({"repos": [], "cursor": "x" * 5000}).encode(),
    ):
        assert code_of(lambda answer=answer: read_page(answer)) == "index-form"  # type: ignore[misc]


def test_accounts_that_are_not_active_or_have_no_repositories_are_left_out():
    answer = {
        "repos": [
            {"did": did(1), "active": False, "status": "takendown"},
            {"did": did(2), "active": True},
            {"did": "did:key:z6Mk"},
            {"did": 5},
            {"did": "did:plc:" + "a" * 2000},
            {"name": "x"},
            {"did": "did:web:delve.town"},
        ],
        "cursor": "",
    }
    assert read_page(json.dumps(answer).encode()) == Page((did(2), "did:web:delve.town"), None)


@pytest.mark.parametrize("dark", [False, True], ids=["active", "dark"])
def test_a_host_is_asked_for_all_its_accounts(dark: bool):
    async def ask() -> list[str]:
        async with network(1) as (_, (host,)):
            for number in (1, 2, 3):
                host.member(did(number), number + 1)
            host.inactive.add(did(2))
            host.dark = dark
            client = Guarded(loopback=True)
            try:
                return [each async for each in of_host(client, host.url, 100)]
            finally:
                await client.close()

    if dark:
        with pytest.raises(Exception, match="503"):
            asyncio.run(ask())
    else:
        assert asyncio.run(ask()) == [did(1), did(3)]
