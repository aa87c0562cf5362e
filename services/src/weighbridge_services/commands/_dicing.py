"""What the commands of `weighbridge dice` share: times, chains, beacons from files and how they are
judged."""

from __future__ import annotations

import importlib.metadata
import json
import re
import socket
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
from weighbridge.beacon import parse_signature, verify, verify_many
from weighbridge.chain import QUICKNET, SECOND, Chain, chain_of
from weighbridge.errors import Refused, Unavailable
from weighbridge.ports import BadBeaconSettings, BeaconSource

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?Z", re.ASCII)
_ROUND = re.compile(r"-?[0-9]{1,25}", re.ASCII)


class BadTime(Refused):
    """A time on the command line is RFC 3339 in UTC, to the microsecond at most."""

    code = "bad-time"


class BadMargin(Refused):
    """A margin on the command line is out of the bounds that a root's has."""

    code = "bad-margin"


class BadChainFile(Refused):
    """A file that should hold a chain does not."""

    code = "bad-chain"


class BadBeaconFile(Refused):
    """A file that should hold a JSON list of beacons does not, or an item of it is no {round, signature}."""

    code = "bad-beacon-file"


class OtherRandomness(Refused):
    """The randomness stated beside a beacon is not the hash of its signature."""

    code = "randomness-mismatch"


class NoBeaconSource(Refused):
    """No plugin of that name gives beacons here."""

    code = "no-beacon-source"


class CannotListen(Unavailable):
    """Nothing can be served at that address: it is taken, not this machine's, or not to be had by this user."""

    code = "cannot-listen"


def parse_time(text: str) -> int:
    """Return the µs since 1970 UTC of a time in text."""
    advice = "give it in UTC, such as 2026-10-18T12:00:00Z, to microseconds at most"
    if not _TIME.fullmatch(text):
        raise BadTime(f"{text!r} is no time; {advice}")
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise BadTime(f"{text!r} names a day or time that does not exist; {advice}") from error
    return (moment - EPOCH) // timedelta(microseconds=1)


def shown_time(at_us: int) -> str:
    """Return a time in µs as text; beyond the calendar, its seconds."""
    try:
        return (EPOCH + timedelta(microseconds=at_us)).isoformat().replace("+00:00", "Z")
    except OverflowError:
        return f"{at_us // SECOND} s"


def system_time() -> int:
    """Return the machine's time in µs."""
    return time.time_ns() // 1000


def chain_from(path: Path | None) -> Chain:
    """Return the chain that a file names, as a root's `beacon.chain` does; quicknet without a file."""
    if path is None:
        return QUICKNET
    rule, problems = chain_of({"chain": _json(path, BadChainFile)}, "$")
    if problems:
        raise BadChainFile(f"{path}: " + "; ".join(f"{each.path}: {each.says}" for each in problems))
    return rule.chain


def _json(path: Path, wrong: type[Refused]) -> Any:
    try:
        return msgspec.json.decode(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise wrong(f"{path} is no JSON: {error}") from error


Judged = bytes | Refused
"""The randomness of a beacon, or why it is none."""


def judge(chain: Chain, round: str, signature: str) -> Judged:
    """Judge a round and a signature in text."""
    try:
        return verify(chain, number(round), parse_signature(signature))
    except Refused as refusal:
        return refusal


def number(text: str) -> int:
    """Return a round in text, or 0 (which is no round) for what is no number."""
    return int(text) if _ROUND.fullmatch(text) else 0


def judge_file(chain: Chain, path: Path) -> list[tuple[int, Judged]]:
    """Return each round of a JSON list of {round, signature, randomness?} with its judgment, as one batch."""
    items = _json(path, BadBeaconFile)
    if not isinstance(items, list):
        raise BadBeaconFile(f"{path} must hold a JSON list of {{round, signature}}")
    if not items:
        raise BadBeaconFile(f"{path} holds an empty list: there is no beacon in it to verify")
    rounds = [_round(item, place, path) for place, item in enumerate(items)]
    judged: list[Judged | bytes] = [_signature(item) for item in items]
    batch = [place for place, each in enumerate(judged) if isinstance(each, bytes)]
    pairs = [(rounds[place], _as_bytes(judged[place])) for place in batch]
    for place, result in zip(batch, verify_many(chain, pairs), strict=True):
        judged[place] = _compared(items[place], result)
    return list(zip(rounds, judged, strict=True))


def _as_bytes(value: Judged) -> bytes:
    if isinstance(value, Refused):
        raise value
    return value


def _round(item: object, place: int, path: Path) -> int:
    if isinstance(item, Mapping) and type(item.get("round")) is int:
        return int(item["round"])
    raise BadBeaconFile(f"{path}: $[{place}] must be an object with a whole number `round`")


def _signature(item: Mapping[str, Any]) -> Judged:
    try:
        return parse_signature(item.get("signature"))
    except Refused as refusal:
        return refusal


def _compared(item: Mapping[str, Any], result: Judged) -> Judged:
    stated = item.get("randomness")
    if isinstance(result, bytes) and stated is not None and stated != result.hex():
        return OtherRandomness(f"the randomness of round {item['round']} is {result.hex()}, not {stated!r}")
    return result


def verdict(judged: Judged) -> dict[str, Any]:
    """Return a judgment as JSON."""
    if isinstance(judged, bytes):
        return {"valid": True, "randomness": judged.hex(), "code": None}
    return {"valid": False, "randomness": None, "code": judged.code}


def listening_at(host: str, port: int) -> tuple[socket.socket, str]:
    """Return a socket that listens at an address, and its URL. Raises CannotListen."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family)
    except OSError as error:
        why = error.strerror or str(error)
        raise CannotListen(
            f"cannot listen at {host}, port {port}: {why}; name another with --host and --port"
        ) from error
    shown = f"[{host}]" if family == socket.AF_INET6 else listening.getsockname()[0]
    return listening, f"http://{shown}:{listening.getsockname()[1]}"


def open_source(name: str, settings: Mapping[str, Any]) -> BeaconSource:
    """Open a source of beacons by its plugin's name, on the machine's clock."""
    points = sorted(importlib.metadata.entry_points(group="weighbridge.beacons", name=name))
    if not points:
        raise NoBeaconSource(f"no plugin gives beacons under the name {name!r}; install it")
    source: BeaconSource = points[0].load()(settings, system_time)
    return source


def parse_settings(pairs: Sequence[str]) -> dict[str, Any]:
    """Return settings given as NAME=VALUE, each value JSON or else text."""
    found: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise BadBeaconSettings(f"{pair!r} must be NAME=VALUE")
        try:
            found[name] = json.loads(value)
        except (ValueError, RecursionError):
            found[name] = value
    return found
