"""What the cross-check knows of a game: what this node's own fold says of it."""

from __future__ import annotations

from typing import Any, NamedTuple

from weighbridge.identity import OperatorRecord, Policy, check_operator, parse_policy

from weighbridge_services.cross_check.beyond import Ended, ended


class Known(NamedTuple):
    """Who a game's operators are, its policy, its transcripts, how many entries are folded.

    `weak`: what weakens the game itself, to be said with every statement. `ended`: the logs that were handed over.
    """

    operators: dict[str, OperatorRecord]
    policy: Policy | None
    origins: tuple[str, ...]
    folded: int
    weak: tuple[str, ...] = ()
    ended: tuple[Ended, ...] = ()


def known_of(answer: Any, own: OperatorRecord) -> Known:
    """Return what a fold's `status` says. Of this node's own keys its own record is the word."""
    operators = {did: check_operator(did, value)[0] for did, value in answer["operators"].items()}
    known = {did: record for did, record in operators.items() if record is not None}
    policy = None if answer["policy"] is None else parse_policy(answer["policy"])[0]
    return Known(
        {**known, own.did: own}, policy, tuple(answer["origins"]), answer["size"], tuple(answer["says"]),
        tuple(ended(answer["handed"], answer["lister"])),
    )  # fmt: skip
