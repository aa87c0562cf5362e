"""The streams of a node: declared here, by `weighbridge node streams` and at a node's start, and nowhere else."""

from __future__ import annotations

from typing import Any, ClassVar, Final, NamedTuple

import nats.errors
from nats.js import JetStreamContext
from nats.js.api import (
    DiscardPolicy,
    ExternalStream,
    RetentionPolicy,
    StorageType,
    StreamConfig,
    StreamSource,
)
from nats.js.errors import APIError, NotFoundError
from weighbridge.errors import Broken

from weighbridge_services.config import GameTable, Peer
from weighbridge_services.node import Node
from weighbridge_services.subjects import STREAM_KINDS, Subjects, stream_subjects
from weighbridge_services.wire.errors import BrokerUnavailable

INBOX_BYTES = 1 << 30
"""Bytes of submissions and rejections that are kept at most."""
INBOX_AGE = 30 * 86_400.0
"""Seconds for which they are kept at most."""
CHAINED = ("LOG", "TRANSCRIPT")
"""The streams that are appended to, many messages at a time, each of which names the one before."""
NAMED: Final = 2.0
"""Seconds for which such a name is remembered: nothing is sent twice, and it is asked for at once."""
FIXED = ("retention", "storage", "deny_delete", "deny_purge", "persist_mode", "mirror")
"""What JetStream does not let anybody change, or only one way; other settings are put right."""


class StreamDiffers(Broken):
    """A stream is there with settings that cannot be put right."""

    code: ClassVar[str] = "stream-differs"


class Declared(NamedTuple):
    """What became of a stream: created, corrected (which settings), or as it should be."""

    name: str
    done: str
    settings: tuple[str, ...] = ()


def wanted(subjects: Subjects, kind: str) -> StreamConfig:
    """Return the settings of a stream of one's own."""
    core = kind != "INBOX"
    return StreamConfig(
        name=subjects.stream(kind),
        subjects=stream_subjects(subjects, kind),
        retention=RetentionPolicy.LIMITS,
        storage=StorageType.FILE,
        discard=DiscardPolicy.NEW if core else DiscardPolicy.OLD,
        max_age=0 if core else INBOX_AGE,
        max_bytes=-1 if core else INBOX_BYTES,
        deny_delete=core,
        deny_purge=core,
        allow_direct=True,
        duplicate_window=NAMED if kind in CHAINED else 0,
        num_replicas=1,
    )


def mirror_of(subjects: Subjects, kind: str, domain: str, filtered: str | None = None) -> StreamConfig:
    """Return the settings of the mirror of a stream in another operator's domain, of one subject of it or of all."""
    source = StreamSource(
        name=subjects.stream(kind),
        filter_subject=filtered,
        external=ExternalStream(api=f"$JS.{domain}.API"),
    )
    return StreamConfig(
        name=subjects.stream(kind),
        mirror=source,
        retention=RetentionPolicy.LIMITS,
        storage=StorageType.FILE,
        discard=DiscardPolicy.NEW if kind != "INBOX" else DiscardPolicy.OLD,
        max_age=0 if kind != "INBOX" else INBOX_AGE,
        max_bytes=-1 if kind != "INBOX" else INBOX_BYTES,
        deny_delete=kind != "INBOX",
        deny_purge=kind != "INBOX",
        allow_direct=True,
        num_replicas=1,
    )


def mirrored(node: Node, game: GameTable, peer: Peer, domain: str) -> list[StreamConfig]:
    """Return what a node keeps a copy of: everybody's records; of the lister its log and what it rejected.

    A lister keeps a copy of what is handed in at its peers, which is its to list. Logs of followers and transcripts
    are read where they are (`wire.elsewhere`), in the rare case that they are wanted: to restore, to find a difference.
    """
    theirs = node.subjects(game.uri, peer.did)
    found = [mirror_of(theirs, "RECORDS", domain)]
    if peer.did == game.lister:
        found += [mirror_of(theirs, "LOG", domain), mirror_of(theirs, "INBOX", domain, theirs.rejected)]
    elif game.role == "lister":
        found.append(mirror_of(theirs, "INBOX", domain, f"{theirs.prefix}.submit.>"))
    return found


def mirrors(node: Node) -> list[StreamConfig]:
    """Return the mirrors a node keeps: of peers that have a domain of their own."""
    return [
        config
        for game in node.games
        for peer in game.peers
        if peer.domain is not None
        for config in mirrored(node, game, peer, peer.domain)
    ]


def of_guests(node: Node) -> list[StreamConfig]:
    """Return the streams of those who use a node's embedded broker: only its owner may declare any there.

    Who has a domain of their own has a broker of their own, and comes in as a leaf.
    """
    table = node.config.broker
    apart = {peer.did for game in node.games for peer in game.peers if peer.domain is not None}
    guests = [each for each in table.operators if table.kind == "embedded" and each.did not in apart]
    return [
        wanted(Subjects.of(guest.did, game), kind)
        for guest in guests
        for game in guest.games or [each.uri for each in node.games]
        for kind in STREAM_KINDS
    ]


def names_for_others(node: Node) -> list[str]:
    """Return the names of the streams that a node declares beside its own: mirrors, and those of its guests."""
    return [str(each.name) for each in (*mirrors(node), *of_guests(node))]


def all_wanted(node: Node) -> list[StreamConfig]:
    """Return every stream a node is to have."""
    return [wanted(node.subjects(game.uri), kind) for game in node.games for kind in STREAM_KINDS] + mirrors(
        node
    )


async def declare_all(js: JetStreamContext, node: Node) -> list[Declared]:
    """Declare every stream of a node; return what became of each. Raises StreamDiffers, BrokerUnavailable."""
    return [await declare(js, each) for each in (*all_wanted(node), *of_guests(node))]


async def declare(js: JetStreamContext, config: StreamConfig) -> Declared:
    """Declare one stream: create it, put its settings right, or leave it as it is."""
    try:
        found = await info_of(js, str(config.name))
        if found is None:
            await js.add_stream(config)
            return Declared(str(config.name), "created")
        differing = differences(found, config)
        if not differing:
            return Declared(str(config.name), "as it should be")
        refuse_fixed(found, config, differing)
        await js.update_stream(config)
        return Declared(str(config.name), "corrected", differing)
    except APIError as error:
        raise StreamDiffers(
            f"{config.name}: the broker refuses to declare it: {error.description}"
        ) from error
    except (TimeoutError, nats.errors.Error, OSError) as error:
        raise BrokerUnavailable(
            f"{config.name}: no answer from the broker ({type(error).__name__}); on another operator's broker only"
            " its owner declares streams, for whom it names under [[broker.operators]]"
        ) from error


async def info_of(js: JetStreamContext, name: str) -> StreamConfig | None:
    """Return the settings of a stream, or None if there is none."""
    try:
        return (await js.stream_info(name)).config
    except NotFoundError:
        return None


def differences(found: StreamConfig, config: StreamConfig) -> tuple[str, ...]:
    """Return the names of the settings that are not as they should be."""
    names = (
        "subjects", "retention", "storage", "discard", "max_age", "max_bytes", "deny_delete", "deny_purge",
        "allow_direct",
    )  # fmt: skip
    differing = [name for name in names if _value(found, name) != _value(config, name)]
    # ADR-56: asynchronous persistence overrides the server's sync_interval.
    if (
        found.persist_mode is not None
        and str(getattr(found.persist_mode, "value", found.persist_mode)) == "async"
    ):
        differing.append("persist_mode")
    if (found.mirror is None) != (config.mirror is None) or found.sources:
        differing.append("mirror")
    return tuple(differing)


def _value(config: StreamConfig, name: str) -> Any:
    value = getattr(config, name)
    return sorted(value or []) if name == "subjects" else (value or 0)


def refuse_fixed(found: StreamConfig, config: StreamConfig, differing: tuple[str, ...]) -> None:
    """Raise StreamDiffers if one of the settings cannot be changed."""
    fixed = [name for name in differing if name in FIXED]
    if fixed:
        has = ", ".join(f"{name} is {_value(found, name)!r}, not {_value(config, name)!r}" for name in fixed)
        raise StreamDiffers(
            f"the stream {config.name} cannot be put right: {has}; delete it with the broker's own tools (the node"
            " publishes again what its ledger holds)"
        )


async def missing(js: JetStreamContext, node: Node) -> list[str]:
    """Return the names of the streams that a node is to have and that are not there. Raises BrokerUnavailable."""
    try:
        names = [str(each.name) for each in all_wanted(node)]
        return [name for name in names if await info_of(js, name) is None]
    except (nats.errors.Error, OSError) as error:
        raise BrokerUnavailable(f"no answer from the broker ({type(error).__name__})") from error
