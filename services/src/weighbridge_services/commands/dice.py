"""`weighbridge dice`: why dice are what they are, and every step of it by hand."""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import uvicorn
from weighbridge.chain import (
    DEFAULT_MARGIN,
    MAX_MARGIN,
    MIN_MARGIN,
    SECOND,
    Chain,
    chain_value,
    round_after,
    round_at,
    round_time,
)
from weighbridge.cid import Cid
from weighbridge.dice import BadDice, Stream
from weighbridge.errors import Refused

from weighbridge_services.commands import Subparsers, group_of, parser_of
from weighbridge_services.commands import _dicing as dicing
from weighbridge_services.commands._dice_check import add_check
from weighbridge_services.output import clean, say_json

ROUND_TEXT = "TIME is RFC 3339 in UTC, such as 2026-10-18T12:00:00Z."
VERIFY_TEXT = """Exit code 0: the signature is the chain's own for that round; 1: it is not. With --file, 0
only if all of them are."""
ROLL_TEXT = """What a record would roll: give the round and everything that makes a roll that record's own.
Nothing is listed. DICE are such as 2d10, drawn in that order. The beacon is --signature, or comes from
--source."""
SERVE_TEXT = """A chain of your own with a real key, over the paths of a drand relay, for development and
tests. Prints one line of JSON, the address and the chain as a root names it, then serves until it is
stopped. A game on it is shown as `private chain`: whoever has the seed knows the dice in advance."""
DICE = re.compile(r"([0-9]{1,6})d([0-9]{1,19})", re.ASCII)
MAX_DICE = 100_000
MAX_PORT = 65_535


def register(subparsers: Subparsers) -> None:
    """Add the commands."""
    group = group_of(subparsers, "dice", "check dice and beacons, by hand or from a log")
    add_check(group)
    _add_round(group)
    _add_verify(group)
    _add_roll(group)
    _add_serve(group)


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--chain", metavar="FILE", type=Path, help="another chain than quicknet: its JSON, as a root names it"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


# --- round -------------------------------------------------------------------------------------------------


def _add_round(group: Subparsers) -> None:
    parser = parser_of(
        group, "round", "say which round a time has, and which a record then rolls on", ROUND_TEXT
    )
    parser.add_argument("time", metavar="TIME")
    parser.add_argument(
        "--margin", type=int, default=DEFAULT_MARGIN, metavar="SECONDS", help="the root's margin (15)"
    )
    _options(parser)
    parser.set_defaults(run=round_of)


def round_of(args: argparse.Namespace) -> int:
    """Run `dice round`."""
    chain, at = dicing.chain_from(args.chain), dicing.parse_time(args.time)
    if not MIN_MARGIN <= args.margin <= MAX_MARGIN:
        raise dicing.BadMargin(f"a margin is {MIN_MARGIN} to {MAX_MARGIN} seconds, not {args.margin}")
    newest, rolls = round_at(chain, at), round_after(chain, at, args.margin)
    due = dicing.shown_time(round_time(chain, rolls) * SECOND)
    if args.json:
        say_json({"chain": chain.label, "newest": newest, "round": rolls, "due": due, "margin": args.margin})
        return 0
    print(f"{chain.label}: at {args.time} the newest round due is {newest}")
    print(
        f"a record listed then rolls on round {rolls}, due {due}: the first after {args.margin} s have passed"
    )
    return 0


# --- verify ------------------------------------------------------------------------------------------------


def _add_verify(group: Subparsers) -> None:
    parser = parser_of(group, "verify", "verify a beacon, or a file of them", VERIFY_TEXT)
    parser.add_argument("round", metavar="ROUND", nargs="?")
    parser.add_argument("signature", metavar="SIGNATURE", nargs="?")
    parser.add_argument(
        "--file", metavar="FILE", type=Path, help="a JSON list of {round, signature}, verified as one batch"
    )
    _options(parser)
    parser.set_defaults(run=verify, usage=parser.error)


def verify(args: argparse.Namespace) -> int:
    """Run `dice verify`."""
    given = [value is not None for value in (args.round, args.signature, args.file)]
    if given not in ([True, True, False], [False, False, True]):
        args.usage("give either ROUND and SIGNATURE, or --file FILE")
    chain = dicing.chain_from(args.chain)
    if args.file is not None:
        return _verify_file(args, chain)
    judged = dicing.judge(chain, str(args.round), str(args.signature))
    if args.json:
        say_json(dicing.verdict(judged))
    elif isinstance(judged, Refused):
        print(clean(f"not valid on {chain.label}: {judged}"))
    else:
        print(f"valid: round {args.round} of {chain.label}, randomness {judged.hex()}")
    return 1 if isinstance(judged, Refused) else 0


def _verify_file(args: argparse.Namespace, chain: Chain) -> int:
    judged = dicing.judge_file(chain, args.file)
    bad = [(round, each) for round, each in judged if isinstance(each, Refused)]
    if args.json:
        say_json([{"round": round, **dicing.verdict(each)} for round, each in judged])
        return 1 if bad else 0
    for round, refusal in bad:
        print(clean(f"round {round} is not valid: {refusal}"))
    print(f"{len(judged) - len(bad)} of {len(judged)} beacons are valid on {chain.label}")
    return 1 if bad else 0


# --- roll --------------------------------------------------------------------------------------------------


def _add_roll(group: Subparsers) -> None:
    parser = parser_of(group, "roll", "roll what-if dice on a past round", ROLL_TEXT)
    parser.add_argument("round", metavar="ROUND")
    parser.add_argument("dice", metavar="DICE", nargs="+")
    parser.add_argument("--game", required=True, metavar="AT-URI", help="the game's root")
    parser.add_argument("--record", required=True, metavar="AT-URI", help="the record that rolls")
    parser.add_argument("--cid", required=True, help="the record's CID")
    parser.add_argument("--purpose", required=True, help="what the dice are for, as the rule set names it")
    parser.add_argument("--signature", metavar="HEX", help="the round's signature")
    parser.add_argument(
        "--source", metavar="NAME", default="drand", help="where the beacon comes from (drand)"
    )
    parser.add_argument(
        "--set", metavar="NAME=VALUE", action="append", default=[], help="a setting of the source"
    )
    _options(parser)
    parser.set_defaults(run=roll)


def roll(args: argparse.Namespace) -> int:
    """Run `dice roll`."""
    chain, asked = dicing.chain_from(args.chain), [_asked(each) for each in args.dice]
    judged = (
        dicing.judge(chain, args.round, args.signature)
        if args.signature is not None
        else asyncio.run(_fetched(args.source, dicing.parse_settings(args.set), chain, args.round))
    )
    if isinstance(judged, Refused):
        raise judged
    stream = Stream(judged, args.game, args.record, Cid.parse(args.cid), args.purpose)
    faces = [stream.roll(count, sides) for count, sides in asked]
    blocks = [stream.block(c).hex() for c in range(stream.blocks_read)]
    if args.json:
        say_json({"chain": chain.label, "randomness": judged.hex(), "blocks": blocks, "dice": faces})
        return 0
    print(f"{chain.label}: round {args.round}, randomness {judged.hex()}")
    for c, block in enumerate(blocks):
        print(f"block {c}: {block}")
    for text, rolled in zip(args.dice, faces, strict=True):
        print(f"{text}: {' '.join(map(str, rolled))}")
    return 0


def _asked(text: str) -> tuple[int, int]:
    match = DICE.fullmatch(text)
    if not match or not 1 <= int(match[1]) <= MAX_DICE:
        raise BadDice(f"{text!r} is no dice; give such as 2d10, {MAX_DICE} of them at most")
    return int(match[1]), int(match[2])


async def _fetched(name: str, settings: Mapping[str, Any], chain: Chain, round: str) -> bytes:
    source = dicing.open_source(name, settings)
    try:
        return (await source.fetch(chain, dicing.number(round))).randomness
    finally:
        await source.close()


# --- serve -------------------------------------------------------------------------------------------------


def _add_serve(group: Subparsers) -> None:
    parser = parser_of(group, "serve", "serve a local chain of beacons over HTTP", SERVE_TEXT)
    parser.add_argument("--seed", required=True, metavar="HEX", help="16 bytes or more: the chain's secret")
    parser.add_argument(
        "--genesis", type=int, metavar="SECONDS", help="when round 1 is due, since 1970 UTC (now)"
    )
    parser.add_argument("--period", type=int, default=3, metavar="SECONDS", help="between two rounds (3)")
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (127.0.0.1)")
    parser.add_argument("--port", type=int, default=8085, help="the port; 0 takes a free one (8085)")
    parser.set_defaults(run=serve, usage=parser.error)


def serve(args: argparse.Namespace) -> int:
    """Run `dice serve`."""
    if not 0 <= args.port <= MAX_PORT:
        args.usage(f"a port is 0 to {MAX_PORT}, not {args.port}")
    genesis = dicing.system_time() // SECOND if args.genesis is None else args.genesis
    settings = {"seed": args.seed, "genesis": genesis, "period": args.period}
    source: Any = dicing.open_source("local", settings)
    config = uvicorn.Config(
        source.app, log_level="warning", access_log=False, lifespan="on", timeout_graceful_shutdown=1
    )
    listening, url = dicing.listening_at(args.host, args.port)
    with listening:
        say_json({"url": url, "chain": chain_value(source.local.chain)})
        sys.stdout.flush()
        uvicorn.Server(config).run(sockets=[listening])
    return 0
