"""Messages of a log stream, read once for all services of a process."""

from __future__ import annotations

import pytest
from weighbridge import codec
from weighbridge.cid import Cid
from weighbridge.errors import Refused
from weighbridge.log import make_entry
from weighbridge_services.following import listed_in, remember
from weighbridge_services.following.entries import LARGE, RECENT
from weighbridge_services.ingest.opening import log_message

GAME = "at://did:key:z6MkehRgf7yJbgaGfYsdoAsKdBPE3dj2CYhowQdcjqSJgvVd/example.coin.root/town"


def test_what_is_remembered_is_what_reading_the_message_gives() -> None:
    for number in range(3):
        listed = make_entry(None, game=GAME, at=1_700_000_000_000_000 + number, op="tick")
        message = log_message(listed)
        assert listed_in(bytes(message)) == listed  # read
        remember(message, listed)
        assert listed_in(bytes(message)) == listed  # remembered


def test_the_oldest_is_forgotten_and_read_again() -> None:
    entries = [make_entry(None, game=GAME, at=number, op="tick") for number in range(RECENT + 10)]
    messages = [log_message(each) for each in entries]
    for message, listed in zip(messages, entries, strict=True):
        remember(message, listed)
    assert listed_in(messages[-1]) is entries[-1]
    assert listed_in(messages[0]) is not entries[0]
    assert listed_in(messages[0]) == entries[0]


def test_a_record_that_the_entry_does_not_name_is_refused_whatever_was_remembered() -> None:
    listed = make_entry(None, game=GAME, at=5, op="tick")
    remember(log_message(listed), listed)
    forged = codec.encode({"entry": listed.data, "record": codec.encode({"a": Cid.of(b"")}), "proof": None})
    with pytest.raises(Refused):
        listed_in(forged)


def test_a_large_one_is_not_remembered_and_read_again() -> None:
    listed = make_entry(
        None,
        game=GAME,
        at=7,
        op="create",
        uri=GAME,
        author=GAME.split("/")[2],
        record=codec.encode("x" * LARGE),
    )
    message = log_message(listed, b"")
    remember(message, listed)
    assert listed_in(message) == listed
    assert listed_in(message) is not listed
