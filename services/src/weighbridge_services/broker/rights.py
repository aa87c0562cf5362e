"""Who may publish and read what on an embedded broker.

An operator publishes under its own prefix alone, asks others' services, reads any stream of a game, and can
neither delete nor purge what is kept. Its streams are declared by the broker's owner: who may change a stream can
have it republish what comes in under anybody's subject. That a message is somebody's is shown by its signature,
never by the broker.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from weighbridge_services.subjects import STREAM_KINDS, Subjects, token

PLAYER = "player"
"""The user that players log in as."""
READING = (
    "$JS.API.INFO",
    "$JS.API.STREAM.INFO.*",
    "$JS.API.STREAM.MSG.GET.*",
    "$JS.API.DIRECT.GET.>",
    "$JS.API.STREAM.NAMES",
    "$JS.API.STREAM.LIST",
    "$JS.API.CONSUMER.CREATE.>",
    "$JS.API.CONSUMER.DURABLE.CREATE.>",
    "$JS.API.CONSUMER.INFO.>",
    "$JS.API.CONSUMER.MSG.NEXT.>",
    "$JS.API.CONSUMER.NAMES.*",
    "$JS.API.CONSUMER.LIST.*",
    "$JS.ACK.>",
    "$JS.FC.>",
)
MIRRORING = (
    "$JS.*.API.CONSUMER.CREATE.>",
    "$JS.*.API.STREAM.INFO.*",
    "$JS.*.API.STREAM.MSG.GET.*",
    "$JS.M.>",
    "$JSC.R.>",
    "$JS.FC.>",
)
"""What the broker of an operator who comes in as a leaf exchanges, both ways, to mirror and be mirrored, and to
read what is not mirrored message by message."""


def operator_rights(
    did: str, games: Iterable[str], others: Iterable[str] = (), *, declares: bool = True
) -> dict[str, Any]:
    """Return the permissions of an operator (DID) for its games (at-uris).

    `declares`: whether it declares its streams, and `others` (names), itself. Only an operator who shares its
    account with nobody, or whose broker it is, may.
    """
    own = token(did)
    streams = [Subjects.of(did, game).stream(kind) for game in games for kind in STREAM_KINDS]
    declaring = [
        f"$JS.API.STREAM.{verb}.{name}"
        for name in ((*streams, *others) if declares else ())
        for verb in ("CREATE", "UPDATE")
    ]
    bounded = [f"$JS.API.STREAM.PURGE.{name}" for name in streams if name.endswith("_INBOX")]
    publish = [f"wb.{own}.>", "wb.*.*.rpc.>", "_INBOX.>", *READING, *MIRRORING, *declaring, *bounded]
    subscribe = [f"wb.{own}.>", f"_INBOX.{own}.>", *MIRRORING]
    return {"publish": {"allow": publish}, "subscribe": {"allow": subscribe}}


def player_inbox(operator: str) -> str:
    """Return the prefix under which players hear answers at an operator's node (the token of its DID).

    It is the operator's own, so that the answer of a lister with a broker of its own finds the way there.
    """
    return f"_INBOX.{operator}.{PLAYER}"


def player_rights() -> dict[str, Any]:
    """Return the permissions of players: to hand records in, and to hear the answer."""
    return {
        "publish": {"allow": ["wb.*.*.submit.>"]},
        "subscribe": {"allow": [f"{player_inbox('*')}.>"]},
    }
