"""`weighbridge game follow`: from a game's at-uri alone, who runs and plays it; then its records, or a node."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from pathlib import Path
from typing import Any, Final, NamedTuple

from weighbridge.plugins import CannotRun
from weighbridge.ports import Given
from weighbridge.repos import BadAtUri, OpenedRecord, is_did, is_nsid, open_carried, parse_record_uri
from weighbridge_atproto.discovery import Discovery, fetch_root
from weighbridge_atproto.documents import Identity
from weighbridge_atproto.guarded import Guarded
from weighbridge_atproto.index import RELAY
from weighbridge_atproto.keeping import Keeping
from weighbridge_atproto.network import Network, open_network
from weighbridge_atproto.players import Player
from weighbridge_atproto.resolving import Resolver
from weighbridge_atproto.watching import Watched
from weighbridge_services.for_plugins import Subparsers, clean, game_rules, joining, parser_of

from weighbridge_atproto_tools.arguments import add_outward
from weighbridge_atproto_tools.shown import Waiting, rows, table

TEXT = """The root says who is GM and who lists the game; whoever plays is found through a relay's index (--relay, a
public one without it), where none answers at the GM's own host, and through what the records name. All of that
is hints: an account plays once its own repository, verified, holds a record of the game. Who was found is printed.

Then, without more, the game's records are printed as they come, verified, one a line. --list ends before that.

--node DIR makes a node that follows the game instead: its lister, rule set, operators and sources set up, its keys
made. --nats says at which NATS server the lister's log is; the rule set must be installed here, with the root's pin."""

DIGITS: Final = 19
"""Digits of a number that is no number of records any more."""


class Game(NamedTuple):
    """A game: its root, its GM's identity, and its rule set, None where it is not installed here."""

    root: dict[str, Any]
    gm: Identity
    rules: game_rules.GameRules | None


def add_follow(group: Subparsers) -> None:
    """Add the command."""
    parser = parser_of(group, "follow", "find who runs and plays a game, and follow it", TEXT)
    parser.add_argument("game", metavar="AT-URI", help="the game's root")
    names = parser.add_argument_group("who is found, and where their records are read")
    names.add_argument(
        "--relay", metavar="URL", default=RELAY, help="whose index is asked who plays (%(default)s)"
    )
    names.add_argument("--no-relay", action="store_true", help="ask no relay: look through the GM's own host")
    names.add_argument(
        "--firehose", action="store_true", help="read the relay's stream, not one for each host"
    )
    names.add_argument(
        "--host", metavar="URL", action="append", default=[], help="read this host's stream as well"
    )
    names.add_argument(
        "--repo", metavar="DID", action="append", default=[], help="look into this account as well"
    )
    names.add_argument(
        "--collection", metavar="NSID", action="append", default=[], help="where no rule set tells them"
    )
    names.add_argument(
        "--ruleset", metavar="NAME", help="the rule set, where neither root nor collection tell"
    )
    add_outward(names)  # type: ignore[arg-type]
    records = parser.add_argument_group("printing its records")
    records.add_argument("--list", action="store_true", help="end once it is said who plays")
    records.add_argument("--json", action="store_true", help="print JSON, one object a line")
    records.add_argument(
        "--folder", metavar="DIR", type=Path, default=Path(), help="where to keep what is known"
    )
    records.add_argument("--count", metavar="N", type=_count, help="end after so many records")
    node = parser.add_argument_group("making a node")
    node.add_argument("--node", metavar="DIR", type=Path, help="a folder that is empty or not there")
    node.add_argument("--name", help="your name as an operator; without it the folder's")
    node.add_argument("--nats", metavar="URL", help="the NATS server with the lister's log: nats://host:4222")
    parser.set_defaults(run=run_follow)


def _count(text: str) -> int:
    """Return how many records are printed. Raises ArgumentTypeError, which the parser makes a line of."""
    if not (text.isascii() and text.isdigit() and 0 < len(text) < DIGITS and int(text)):
        raise argparse.ArgumentTypeError(f"{text!r:.80} is no number of records: a whole number from 1 on")
    return int(text)


def run_follow(args: argparse.Namespace) -> int:
    """Run `game follow`. Raises RootAbsent, NoRepository, and what stands in a node's or the search's way."""
    _check(args)
    named = ("", "")
    if args.node is not None:
        named = joining.check_folder(args.node, args.name, args.nats or _asked_for_broker())
    asyncio.run(_run(args, *named))
    return 0


def _check(args: argparse.Namespace) -> None:
    for did in args.repo:
        if not is_did(did):
            raise BadAtUri(f"{did!r:.200}, given with --repo, is no DID")
    for nsid in args.collection:
        if not is_nsid(nsid):
            raise BadAtUri(f"{nsid!r:.200}, given with --collection, is no NSID")


def _asked_for_broker() -> str | None:
    """Return the NATS server that a person at a terminal names; None where nobody is there to be asked."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    print(
        "The NATS server at which the lister's log is read (nats://host:4222): ",
        end="",
        file=sys.stderr,
        flush=True,
    )
    return sys.stdin.readline().strip() or None


async def _run(args: argparse.Namespace, name: str, url: str) -> None:
    client, keeping = Guarded(loopback=args.development), Keeping(None)
    try:
        resolver = Resolver(client, keeping, args.directory)
        root, gm = await fetch_root(client, resolver, args.game)
        game = Game(root, gm, _rules(args, root))
        operators = None if args.node is None else joining.who_runs(root)
        _say_root(args, root)
        players = await _find(args, game, client, resolver)
    finally:
        await client.close()
        keeping.close()
    if args.node is not None and operators is not None and game.rules is not None:
        made = joining.join(
            args.node, args.game, operators, game.rules, _source(args, game, players), name=name, url=url
        )
        _say_node(made, args.game, operators, url)
    elif not args.list:
        await _print_records(args, _source(args, game, players), players)


def _rules(args: argparse.Namespace, root: dict[str, Any]) -> game_rules.GameRules | None:
    """Return the game's rule set. Without one a node cannot be made, and records can still be looked at."""
    collection = parse_record_uri(args.game).collection or ""
    try:
        return game_rules.rules_of_game(collection, root, args.ruleset)
    except (game_rules.NoRuleSet, CannotRun) as refusal:
        if args.node is not None or args.ruleset is not None:
            raise
        _say(f"{refusal.message}. Going by the root's family of collections")
        return None


# --- who plays ---------------------------------------------------------------------------------------------


def collections_of(args: argparse.Namespace, rules: game_rules.GameRules | None) -> list[str]:
    """Return the collections of a game: its rule set's, or the root's with its siblings and all of their family."""
    if rules is not None:
        return sorted({*rules.collections, *args.collection})
    root = parse_record_uri(args.game).collection or ""
    family = root.rpartition(".")[0]
    return [*sorted({root, f"{family}.move", f"{family}.sheet", *args.collection}), f"{family}.*"]


async def _find(args: argparse.Namespace, game: Game, client: Guarded, resolver: Resolver) -> list[Player]:
    waiting = Waiting()
    search = Discovery(
        client,
        resolver,
        Watched(args.game, tuple(collections_of(args, game.rules))),
        relay="" if args.no_relay else args.relay,
        told=waiting,
        # The handles of a development network are no names that any host has.
        handles=not args.development,
    )
    players = await search.run(game.root, game.gm.host, tuple(args.repo))
    waiting.done()
    for each in search.failed:
        _say(f"could not be asked: {each}")
    if args.json:
        print(json.dumps({"players": rows(players)}), flush=True)
    else:
        print("\n".join(table(players)), flush=True)
    return players


def _source(args: argparse.Namespace, game: Game, players: list[Player]) -> dict[str, Any]:
    """Return the settings of the source that keeps up with whoever was found, and finds those who come later."""
    playing = [each for each in players if each.plays]
    settings: dict[str, Any] = {"plugin": "network", "collections": collections_of(args, game.rules)}
    if args.firehose:
        settings |= {"host": args.relay, "relay": True}
    hosts = {each.host for each in playing if each.host is not None} | set(args.host)
    if not args.firehose or args.host:
        settings["hosts"] = sorted(set(args.host) if args.firehose else hosts)
    settings["repos"] = sorted({each.did for each in playing} | set(args.repo))
    if not args.no_relay:
        settings["index"] = args.relay
    settings["directory"] = args.directory
    return settings | ({"development": True} if args.development else {})


# --- what comes of it --------------------------------------------------------------------------------------


async def _print_records(args: argparse.Namespace, settings: dict[str, Any], players: list[Player]) -> None:
    source: Network = open_network({"game": args.game, **settings}, str(args.folder))
    source.know(players)
    left: int | None = args.count
    try:
        async for _, item in source.read(0):
            if not isinstance(item, Given):
                continue
            _say_record(open_carried(item.envelope), args.json)
            left = None if left is None else left - 1
            if left == 0:
                return
    finally:
        await source.close()


def _say_root(args: argparse.Namespace, root: dict[str, Any]) -> None:
    told = {"game": args.game} | {name: root.get(name) for name in ("gm", "lister", "policy")}
    if args.json:
        print(json.dumps(told, default=str), flush=True)
        return
    for name, value in told.items():
        text = value if isinstance(value, str) else "—" if value is None else json.dumps(value, default=str)
        print(clean(f"{name:<8}{text}"), flush=True)


def _say_record(found: OpenedRecord, as_json: bool) -> None:
    cid = None if found.cid is None else str(found.cid)
    if as_json:
        print(json.dumps({"uri": str(found.uri), "cid": cid, "rev": found.commit.rev}), flush=True)
    else:
        print(clean(f"{found.uri}  {cid or 'deleted'}"), flush=True)


def _say_node(made: joining.Joined, game: str, operators: joining.Operators, url: str) -> None:
    node = made.folder
    print(f"{node}: a node for {made.did}, which follows {game}")
    print(f"Its log is read at {url}. The lister, {operators.lister}, has to let you in there:")
    print(f"  they need your DID and the password in {made.password}, and this says what to enter:")
    print(f"  weighbridge broker user --did {made.did} --game {game}")
    print(f"Look through {made.config}. Once you are let in:")
    print(f"  weighbridge node streams --node {node}      # where the server is not a node's own")
    print(f"  weighbridge node up --node {node}")


def _say(text: str) -> None:
    print(clean(f"weighbridge: {text}"), file=sys.stderr, flush=True)
