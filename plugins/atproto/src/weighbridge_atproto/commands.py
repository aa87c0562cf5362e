"""`weighbridge game`, `move` and `sheet`: publish a game's records, and follow a game from its at-uri alone."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from weighbridge.ports import Given
from weighbridge.repos import BadAtUri, Signer, is_nsid, open_carried, parse_record_uri

from weighbridge_atproto.guarded import Guarded
from weighbridge_atproto.hosts import fetch_record
from weighbridge_atproto.keeping import Keeping
from weighbridge_atproto.publishing import Account, BadRecord, as_envelope, beside, read_value
from weighbridge_atproto.resolving import DIRECTORY, Resolver
from weighbridge_atproto.sources import open_firehose


def register_game(subparsers: Any) -> None:
    """Add `game`."""
    group = subparsers.add_parser("game", help="begin a game, or follow one").add_subparsers(
        metavar="COMMAND", required=True
    )
    new = group.add_parser("new", help="publish the root of a game")
    new.add_argument("collection", metavar="NSID", help="the rule set's root collection")
    _publishing(new, None)
    follow = group.add_parser(
        "follow", help="say who lists a game and print its records as they come, verified"
    )
    follow.add_argument("game", metavar="AT-URI")
    follow.add_argument("--host", metavar="URL", help="whose stream to read; the GM's own host without it")
    follow.add_argument("--relay", action="store_true", help="that host serves the repositories of others")
    follow.add_argument(
        "--repo", metavar="DID", action="append", default=[], help="fetch this repository too"
    )
    follow.add_argument(
        "--folder", metavar="DIR", type=Path, default=Path(), help="where to keep what is known"
    )
    follow.add_argument("--count", metavar="N", type=int, help="end after so many records")
    _outward(follow)
    follow.set_defaults(run=run_follow)


def register_move(subparsers: Any) -> None:
    """Add `move`."""
    _record(subparsers, "move", "publish a move")


def register_sheet(subparsers: Any) -> None:
    """Add `sheet`."""
    _record(subparsers, "sheet", "publish a sheet")


def _record(subparsers: Any, name: str, says: str) -> None:
    parser = subparsers.add_parser(name, help=says)
    parser.add_argument("game", metavar="AT-URI")
    parser.add_argument(
        "--collection", metavar="NSID", help=f"where the root's collection with .{name} is not it"
    )
    _publishing(parser, name)


def _publishing(parser: argparse.ArgumentParser, name: str | None) -> None:
    parser.add_argument("file", metavar="FILE", type=Path, help="the record as JSON")
    parser.add_argument("--rkey", metavar="KEY", default="self" if name == "sheet" else None)
    parser.add_argument(
        "--key", metavar="FILE", type=Path, help="sign an envelope with this key, and print it"
    )
    parser.add_argument("--host", metavar="URL", help="the PDS to publish to")
    parser.add_argument("--account", metavar="NAME", help="handle or DID there")
    parser.add_argument("--password-file", metavar="FILE", type=Path, help="its (app) password")
    _outward(parser)
    parser.set_defaults(run=run_publish, name=name)


def _outward(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--directory", metavar="URL", default=DIRECTORY, help="the PLC directory")
    parser.add_argument("--development", action="store_true", help="ask loopback addresses as well")


# --- publishing --------------------------------------------------------------------------------------------


def run_publish(args: argparse.Namespace) -> int:
    """Run `game new`, `move` and `sheet`. Raises BadRecord, NotPublished, and what goes wrong on the way."""
    name: str | None = args.name
    game = None if name is None else args.game
    collection = args.collection or beside(game or "", name or "")
    if not is_nsid(collection):
        raise BadRecord(f"{collection!r} is no collection")
    value = read_value(_text(args.file), game)
    if args.key is not None:
        if args.rkey is None:
            raise BadRecord("an envelope needs --rkey")
        signer = Signer(_seed(args.key))
        sys.stdout.buffer.write(as_envelope(signer, game, collection, args.rkey, value))
        sys.stdout.flush()
        return 0
    if not (args.host and args.account and args.password_file):
        raise BadRecord("say how to publish: --key, or --host with --account and --password-file")
    uri, cid = asyncio.run(_publish(args, collection, value))
    print(json.dumps({"uri": uri, "cid": cid}))
    return 0


async def _publish(args: argparse.Namespace, collection: str, value: Mapping[str, Any]) -> tuple[str, str]:
    client = Guarded(loopback=args.development)
    try:
        password = _text(args.password_file).strip()
        account = await Account.login(client, args.host, args.account, password)
        return await account.create(collection, args.rkey, dict(value))
    finally:
        await client.close()


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadRecord(f"{path} cannot be read: {error}") from error


def _seed(path: Path) -> bytes:
    try:
        seed = bytes.fromhex(_text(path).strip())
    except ValueError as error:
        raise BadRecord(f"{path} holds no key: 64 characters of hex") from error
    if len(seed) != 32:
        raise BadRecord(f"{path} holds no key: 64 characters of hex")
    return seed


# --- following ---------------------------------------------------------------------------------------------


def run_follow(args: argparse.Namespace) -> int:
    """Run `game follow`."""
    asyncio.run(_follow(args))
    return 0


async def _follow(args: argparse.Namespace) -> None:
    root, host = await _root(args)
    collections = [f"{(parse_record_uri(args.game).collection or '').rpartition('.')[0]}.*"]
    policy = root.get("policy")
    print(
        json.dumps({"game": args.game, "gm": root.get("gm"), "lister": root.get("lister"), "policy": policy})
    )
    settings = {
        "game": args.game, "collections": collections, "host": args.host or host, "relay": args.relay,
        "repos": args.repo, "directory": args.directory, "development": args.development,
    }  # fmt: skip
    source = open_firehose(settings, str(args.folder))
    left = args.count
    try:
        async for _, item in source.read(0):
            if not isinstance(item, Given):
                continue
            found = open_carried(item.envelope)
            cid = None if found.cid is None else str(found.cid)
            print(json.dumps({"uri": str(found.uri), "cid": cid, "rev": found.commit.rev}), flush=True)
            left = None if left is None else left - 1
            if left == 0:
                return
    finally:
        await source.close()


async def _root(args: argparse.Namespace) -> tuple[dict[str, Any], str]:
    """Return the root of a game, proved by its own host, and that host."""
    uri = parse_record_uri(args.game)
    client, keeping = Guarded(loopback=args.development), Keeping(None)
    try:
        identity = await Resolver(client, keeping, args.directory).identity(uri.authority)
        path = f"{uri.collection}/{uri.rkey}"
        bundle = await fetch_record(client, identity, path)
        cid = bundle.tree.get(path)
        if cid is None:
            raise BadAtUri(f"{args.game} is not there: its host proves that it is absent", uri=args.game)
        return open_carried(bundle.carry(path, cid)).value, identity.host
    finally:
        await client.close()
        keeping.close()
