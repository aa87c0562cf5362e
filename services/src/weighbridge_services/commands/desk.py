"""`weighbridge desk`: the GM's queue."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weighbridge_services.commands import Subparsers, parser_of
from weighbridge_services.output import clean, console, say_json

if TYPE_CHECKING:
    from rich.table import Table

    from weighbridge_services.desking import Client

TEXT = """What falls due first stands first. Answer with `weighbridge rule QUESTION ANSWER`; the beginning of
an id is enough. The node has to run. An answered question is one whose ruling is on its way into the log; the table
closes it. A * marks the answer that applies by itself when the question falls due."""


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = parser_of(subparsers, "desk", "show the questions that await the GM", TEXT)
    parser.add_argument("game", metavar="GAME", nargs="?", help="its at-uri; a node with one game needs none")
    parser.add_argument("--node", metavar="DIR", type=Path, required=True, help="the node's folder")
    parser.add_argument("--all", action="store_true", help="closed questions too")
    parser.add_argument("--follow", action="store_true", help="go on with each new question, until Ctrl-C")
    parser.add_argument(
        "--json", action="store_true", help="print JSON; with --follow a line for each question"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run `desk`."""
    return asyncio.run(_run(args))


async def _run(args: argparse.Namespace) -> int:
    from weighbridge_services.commands._games import game_in  # noqa: PLC0415 - the list needs none of it
    from weighbridge_services.desking import desk_of  # noqa: PLC0415
    from weighbridge_services.node import Node  # noqa: PLC0415

    node = Node.open(args.node)
    async with desk_of(node, game_in(node, args.game)) as desk:
        found = await desk.queue(everything=args.all)
        if args.json and not args.follow:
            say_json(found)
        elif args.json:
            for each in found["questions"]:
                say_json(each)
        else:
            show(found)
        if args.follow:
            await _follow(args, desk, {each["id"] for each in found["questions"]})
    return 0


async def _follow(args: argparse.Namespace, desk: Client, shown: set[str]) -> None:
    everything = await desk.queue(everything=True)
    shown |= {each["id"] for each in everything["questions"]}
    async for each in desk.coming():
        if each["id"] in shown:
            continue
        if args.json:
            say_json(each)
        else:
            print(line_of(each), flush=True)


def show(found: dict[str, Any]) -> None:
    """Print the queue as a table."""
    items: Sequence[dict[str, Any]] = found["questions"]
    if found["folded"] is None:
        print("the node's fold does not answer: this is the queue as it was published")
    if not items:
        print("no question is open")
        return
    console().print(table_of(items))


def table_of(items: Sequence[dict[str, Any]]) -> Table:
    """Return the queue as a table."""
    from rich import box  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    table = Table(box=box.SIMPLE, pad_edge=False)
    for name in ("question", "what", "about", "answers", "due", "state"):
        table.add_column(name, overflow="fold")
    for each in items:
        table.add_row(
            each["id"][:10], clean(each["words"]), clean(each["about"].removeprefix("at://")), clean(answers_of(each)),
            due_of(each), each.get("state", "open"),
        )  # fmt: skip
    return table


def line_of(item: dict[str, Any]) -> str:
    """Return a question as one line."""
    due = f", due {due_of(item)}" if due_of(item) else ""
    return clean(f"{item['id'][:10]}  {item['words']} ({answers_of(item)}{due})  {item['about']}")


def answers_of(item: dict[str, Any]) -> str:
    """Return the answers a question takes, the default marked."""
    options = item.get("options") or ["a line of text"]
    return " | ".join(f"{each}*" if each == item.get("default") else each for each in options)


def due_of(item: dict[str, Any]) -> str:
    """Return when a question falls due, as text; nothing where it does not."""
    from weighbridge_services.commands._dicing import shown_time  # noqa: PLC0415

    return "" if item.get("due") is None else shown_time(item["due"])
