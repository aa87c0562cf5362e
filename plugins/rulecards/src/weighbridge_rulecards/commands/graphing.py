"""`cards graph`: which card can set off which, as text and as a picture."""

from __future__ import annotations

from typing import Any

from weighbridge_rulecards.cards import render
from weighbridge_rulecards.commands.picture import picture
from weighbridge_rulecards.commands.terminal import rules_of, say, say_json, write
from weighbridge_rulecards.graph import KINDS
from weighbridge_rulecards.names import LAST_STEP
from weighbridge_rulecards.rules import Rules


def graph(args: Any) -> int:
    """Print the graph, and write its picture if asked for."""
    rules = rules_of(args.file)
    if args.json:
        say_json(plain(rules))
    else:
        say(*text_of(rules))
    if args.svg is not None:
        write(args.svg, picture(rules))
    return 0


def plain(rules: Rules) -> dict[str, Any]:
    """Return the graph as JSON, cards by id: `links`, `circles`, chains that are `stopped`, moves that await `dice`."""
    return {
        "cards": [
            {"id": card.id, "name": card.name, "sentence": render(card.data, rules.forms)}
            for card in rules.cards
        ],
        "links": [{"from": link.source, "to": link.target, "by": link.by} for link in rules.graph.links],
        "circles": rules.graph.cycles(),
        "stopped": stopped(rules),
        "dice": [kind for kind in KINDS if rules.rolling[kind]],
    }


def text_of(rules: Rules) -> list[str]:
    """Return the graph as lines: each card, circles, stopped chains, and which moves wait for dice."""
    names = {card.id: card.name for card in rules.cards}
    lines: list[str] = []
    found: dict[str, dict[str, list[str]]] = {card.id: {} for card in rules.cards}
    for link in rules.graph.links:
        found[link.source].setdefault(link.target, []).append(link.by)
    for card in rules.cards:
        lines.append(f"{card.name}: {render(card.data, rules.forms)}")
        lines += [f"    can set off {names[each]}, by {'; '.join(by)}" for each, by in found[card.id].items()]
    circles = rules.graph.cycles()
    lines += [f"circle: {', '.join(names[each] for each in group)}" for group in circles]
    lines += [f"stopped: {' → '.join(names[each] for each in path)} ✗" for path in stopped(rules)]
    waits = [kind for kind in KINDS if rules.rolling[kind]]
    lines.append(f"await their dice for a card that rolls: {', '.join(waits) or 'no moves'}")
    if not circles:
        lines.append("no circles")
    return lines


def stopped(rules: Rules) -> list[list[str]]:
    """Return a chain of four different cards to each card that a chain would come to as the fourth step."""
    graph = rules.graph
    paths = [[card] for card, step in graph.first_steps().items() if step == 1]
    for _ in range(LAST_STEP):
        # Of the chains that end with the same two cards one is enough.
        longer: dict[tuple[str, str], list[str]] = {}
        for path in paths:
            for target in graph.targets(path[-1]):
                if target not in path:
                    longer.setdefault((path[-1], target), [*path, target])
        paths = list(longer.values())
    found: dict[str, list[str]] = {}
    for path in paths:
        found.setdefault(path[-1], path)
    return [found[card.id] for card in rules.cards if card.id in found]
