"""`weighbridge game new`, `move` and `sheet`: publish a record to a PDS, or print it as an envelope."""

from __future__ import annotations

import argparse
import asyncio
import json
import secrets
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from weighbridge.ports import Refused, Unavailable
from weighbridge.repos import is_did, is_handle, is_nsid, is_rkey, parse_record_uri
from weighbridge_atproto.guarded import Guarded
from weighbridge_atproto.handles import NOT_VERIFIED, asking, is_verified
from weighbridge_atproto.keeping import Keeping
from weighbridge_atproto.publishing import Account, BadRecord, as_envelope, beside, read_value
from weighbridge_atproto.resolving import Resolver
from weighbridge_services.for_plugins import read_key, read_secret

from weighbridge_atproto_tools.fitting import check_fit, check_gm

LETTERS: Final = "234567abcdefghijklmnopqrstuvwxyz"


class BadArguments(Refused):
    """The arguments do not say what to publish, how, or under which name."""

    code = "bad-arguments"


def run_publish(args: argparse.Namespace) -> int:
    """Run `game new`, `move` and `sheet`. Raises BadArguments, BadRecord, BadShape, NotPublished, and more."""
    game: str | None = None if args.name is None else args.game
    collection = args.collection or beside(game or "", args.name or "")
    if not is_nsid(collection):
        raise BadArguments(f"{collection!r:.200} is no collection: an NSID like town.delve.root")
    _check_way(args)
    value = read_value(_text(args.file), game)
    if value.pop("$type", collection) != collection:
        raise BadRecord(f"the record names another type than {collection}")
    root_of = collection if game is None else parse_record_uri(game).collection or ""
    check_fit(collection, value, root_of, args.ruleset, root=game is None, force=args.force)
    if args.key is not None:
        _print_envelope(args, game, collection, value)
    else:
        uri, cid = asyncio.run(_publish(args, collection, value))
        print(json.dumps({"uri": uri, "cid": cid}))
    return 0


def _check_way(args: argparse.Namespace) -> None:
    """Check that the arguments say how to publish, one way. Raises BadArguments."""
    needed = {"--host": args.host, "--account": args.account, "--password-file": args.password_file}
    missing = [name for name, given in needed.items() if not given]
    if args.key is None and missing:
        raise BadArguments(
            f"say how to publish: --key, or --host, --account and --password-file (missing: {', '.join(missing)})"
        )
    if args.key is not None and len(missing) < len(needed):
        raise BadArguments("say one way to publish: --key, or --host with --account and --password-file")
    if args.rkey is not None and not is_rkey(args.rkey):
        raise BadArguments(
            f"{args.rkey!r:.200} is no record key: letters, digits and _ ~ . : -, 512 of them at most"
        )


def _print_envelope(
    args: argparse.Namespace, game: str | None, collection: str, value: dict[str, Any]
) -> None:
    signer = read_key(args.key)
    if game is None:
        check_gm(value, signer.did, force=args.force)
    rkey = args.rkey or new_tid(time.time_ns() // 1000)
    sys.stdout.buffer.write(as_envelope(signer, game, collection, rkey, value))
    sys.stdout.buffer.flush()
    if game is None:
        print(f"the game: at://{signer.did}/{collection}/{rkey}", file=sys.stderr)


async def _publish(args: argparse.Namespace, collection: str, value: Mapping[str, Any]) -> tuple[str, str]:
    password = read_secret(args.password_file)
    client = Guarded(loopback=args.development)
    try:
        account = await Account.login(client, args.host, args.account, password)
        if not is_did(account.did):
            raise BadRecord(f"{args.host} says that {args.account} is {account.did!r:.200}, which is no DID")
        if is_handle(args.account) and not await _is_verified(args, client, account.did):
            says = f"{args.account}: {NOT_VERIFIED}; {args.host} says that it is {account.did}"
            print(f"weighbridge: {says}", file=sys.stderr)
        if args.name is None:
            check_gm(value, account.did, force=args.force)
        return await account.create(collection, args.rkey, dict(value))
    finally:
        await client.close()


async def _is_verified(args: argparse.Namespace, client: Guarded, did: str) -> bool:
    keeping = Keeping(None)
    try:
        identity = await Resolver(client, keeping, args.directory).identity(did)
        return await is_verified(args.account, identity, asking(client))
    except (Refused, Unavailable):
        return False
    finally:
        keeping.close()


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadRecord(f"{path} cannot be read: {error}") from error


def new_tid(at: int) -> str:
    """Return a record key made of a time (µs): a TID, whose last ten bits are chance."""
    number, letters = at << 10 | secrets.randbelow(1024), ""
    for _ in range(13):
        number, digit = divmod(number, 32)
        letters = LETTERS[digit] + letters
    return letters
