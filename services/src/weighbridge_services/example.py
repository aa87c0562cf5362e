"""The configuration that `weighbridge node init` writes: every setting, with a comment, ready to be edited."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

HEAD = """\
# A Weighbridge node. The whole node is this folder: keep keys/ secret, and back up keys/ and ledger/.
# What stands here behind a "#" is not set, and shows how. Check your changes with `weighbridge node doctor`.

[node]
{name}
{clock}

[broker]
{broker}
# domain = "alma"              # a JetStream domain of your own, where your broker meets others'
# sync-interval = "10s"        # how often the embedded broker syncs its files; "always" halves its speed
# [[broker.operators]]         # others who use your embedded broker, with the file of their password
# did = "did:key:…"
# password-file = "keys/bela.password"
# [broker.leaf]
# port = 7422                  # where other operators' brokers come in
# hubs = ["nats-leaf://…"]     # or: where yours goes to

[http]
{http}
# host = "127.0.0.1"

[log]
# format = "people"            # or "json", one object per line
# level = "info"

[plugins]                      # what this node loads, by name (`weighbridge plugin list`); nothing else is imported
rulesets = {rulesets}
{beacons}
# audits = []
{sources}
# tracers = ["form"]

{asked}[[beacons]]                  # where beacons come from: asked in this order, each named under [plugins]
{asked}source = "drand"             # or "file" with a path, or "local" with seed, genesis and period
# [beacons.settings]
# seconds = 5.0
"""
GAME = """
[[games]]
uri = {uri}
{role}
ruleset = {ruleset}
{lister}
# gm = "did:plc:…"             # whose rulings count, where the root does not say it
# withheld-after = 60          # seconds that a lister has for what its follower holds; then the follower accuses it
# [[games.peers]]              # the other operators
# did = "did:key:…"
# domain = "bela"              # where they have brokers of their own
# [games.source]               # where a lister finds records; and a follower, who then misses what is not listed
# plugin = "firehose"          # a plugin, named under [plugins] too, and the settings that it needs; "keys" lets a
#                              # follower find out whose the keys are in the lister's log, and reads nothing
# host = "https://relay.example.net"
# relay = true
# collections = ["town.delve.*"]
# root = "root.json"           # the root itself, as an envelope, where it is not handed in with `weighbridge submit`
# [games.traces.dictated]      # settings of a tracer; this one reads what `weighbridge trace say` writes
# path = "traces.jsonl"
"""
NO_GAME = """
# [[games]]
# uri = "at://did:plc:…/network.weighbridge.game/…"
# role = "lister"              # or "follower", with lister = "did:key:…"
# ruleset = "delvetown"
"""


def example(
    name: str,
    *,
    game: str | None = None,
    role: str = "lister",
    ruleset: str | None = None,
    lister: str | None = None,
    port: int = 4222,
    url: str | None = None,
    http: int = 0,
    recorded: bool = False,
    attached: Sequence[str] = (),
    sources: Sequence[str] = (),
    drand: bool = False,
) -> str:
    """Return the text of a configuration. `attached`: what the game's root attaches, by name."""
    text = HEAD.format(
        name=_line(f"name = {_q(name)}", "your name as an operator: it names your keys in signed notes"),
        clock=_line(
            'clock = "recorded"' if recorded else '# clock = "system"',
            '"recorded": the time of the log itself, for a season of the past',
        ),
        broker=_embedded(port) if url is None else _elsewhere(url),
        http=_line(
            f"port = {http}" if http else "# port = 0",
            "/health, /ready and /metrics; 0: none; --processes: and the 7 after",
        ),
        rulesets=_q([ruleset, *attached] if ruleset else []),
        beacons=f'{"" if drand else "# "}beacons = ["drand"]',
        sources=f"sources = {_q(list(sources))}" if sources else "# sources = []",
        asked="" if drand else "# ",
    )
    return text + (NO_GAME if game is None else _game(game, role, ruleset, lister))


def _game(game: str, role: str, ruleset: str | None, lister: str | None) -> str:
    listed_by = f"lister = {_q(lister)}" if lister else '# lister = "did:key:…"'
    what = '"lister": this node writes the log; "follower": it verifies the lister\'s'
    return GAME.format(
        uri=_q(game),
        role=_line(f"role = {_q(role)}", what),
        ruleset=_q(ruleset or ""),
        lister=_line(listed_by, "whom a follower follows"),
    )


def _embedded(port: int) -> str:
    kind = _line('kind = "embedded"', 'or "url", with url, user and password-file, or credentials')
    return f"{kind}\n" + _line(f"port = {port}", "0: any that is free")


def _elsewhere(url: str) -> str:
    lines = ['kind = "url"', f"url = {_q(url)}", 'password-file = "keys/broker.password"']
    return "\n".join(
        [
            *lines,
            _line('# user = "…"', "by default the token of your DID, as other brokers of nodes expect it"),
        ]
    )


def _line(setting: str, comment: str) -> str:
    return f"{setting:<31}# {comment}" if len(setting) < 31 else f"# {comment}\n{setting}"


def _q(value: Any) -> str:
    """Return a value as TOML: JSON is a part of it for text and lists of text, but for surrogates."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")
