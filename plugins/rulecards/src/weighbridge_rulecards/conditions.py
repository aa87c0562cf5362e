"""The `if` of a card in words: what is common reads as words, anything else shows the formula itself."""

from __future__ import annotations

import re
from itertools import pairwise

from weighbridge_rulecards.formula_reading import Wrong, read_formula
from weighbridge_rulecards.formulas import BOOLEAN, Node, text_of
from weighbridge_rulecards.nearest import hint
from weighbridge_rulecards.system import System
from weighbridge_rulecards.words import number

_SHOWS = re.compile(r"the ([A-Za-z0-9]+) die shows (a 1|[0-9]+)", re.ASCII)


def condition_words(tree: Node, system: System, *, damage: bool) -> str:
    """Return a condition in words. `damage`: whether the card is on damage, where `it` is the amount."""
    terms = tree.parts if tree.op == "and" else (tree,)
    said = [_term(each, system, damage) for each in terms]
    if any(not each for each in said):
        return text_of(tree)
    text = said[0]
    for before, each in pairwise(said):
        again = before.startswith("while ") and each.startswith("while ")
        text += f" and {each.removeprefix('while ') if again else each}"
    return text


def _term(node: Node, system: System, damage: bool) -> str:
    if len(node.parts) != 2 or node.parts[0].op != "name" or node.parts[1].op != "num":
        return ""
    path, value = node.parts[0].word[1:].split("."), node.parts[1].value
    if path[0] == "cond":
        word = {(">", 0): "while", ("==", 0): "unless"}.get((node.op, value), "")
        return f"{word} {system.conditions[path[1]].name}" if word else ""
    if path[0] == "group" and value >= 0:
        return _group_term(node.op, path, value)
    if path == ["event", "amount"] and damage and node.op == ">=" and value >= 0:
        return f"when it is at least {value}"
    return _track_term(path, node.op, value, system)


def _track_term(path: list[str], op: str, value: int, system: System) -> str:
    if len(path) != 1 or path[0] not in system.tracks or op not in ("<", ">=") or value < 0:
        return ""
    track = system.tracks[path[0]]
    return (
        f"while {track.name} {'are' if track.plural else 'is'} {'below' if op == '<' else 'at least'} {value}"
    )


def _group_term(op: str, path: list[str], value: int) -> str:
    if path[2] == "high" and op == "==":
        return f"when the {path[1]} die shows {value}"
    return f"when the {path[1]} die shows a 1" if path[2] == "ones" and op == ">" and value == 0 else ""


# --- reading -----------------------------------------------------------------------------------------------


def read_words(text: str, system: System, *, damage: bool) -> str:
    """Return the formula that a condition in words says, or the formula that it is. Raises `Wrong`."""
    first = text.partition(" ")[0]
    if first not in ("while", "unless", "when"):
        return text_of(read_formula(text, BOOLEAN))
    terms: list[str] = []
    keyword = ""
    for part in text.split(" and "):
        word, piece = part.partition(" ")[0], part
        if word in ("while", "unless", "when"):
            keyword, piece = word, part[len(word) + 1 :]
        elif keyword != "while":
            raise Wrong(f"{piece[:64]} needs a word before it: while, unless or when")
        terms.append(_READ[keyword](piece, system, damage))
    return " and ".join(terms)


def _while(text: str, system: System, damage: bool) -> str:
    names = {each.name: each.id for each in system.conditions.values()}
    if text in names:
        return f"@cond.{names[text]} > 0"
    tracks = {system.tracks[each].name: each for each in system.own_tracks}
    for words, op in ((" below ", "<"), (" at least ", ">=")):
        left, found, right = text.rpartition(words)
        for verb in (" is", " are"):
            if found and left.endswith(verb):
                return _track(left.removesuffix(verb), op, right, tracks)
    raise Wrong(hint(text, [*names, *tracks], "condition or track"))


def _track(name: str, op: str, least: str, tracks: dict[str, str]) -> str:
    value = number(least)
    if name not in tracks:
        raise Wrong(hint(name, tracks, "track"))
    if value is None:
        raise Wrong(f"{least[:64]} is no number here")
    return f"@{tracks[name]} {op} {value}"


def _unless(text: str, system: System, damage: bool) -> str:
    names = {each.name: each.id for each in system.conditions.values()}
    if text not in names:
        raise Wrong(hint(text, names, "condition"))
    return f"@cond.{names[text]} == 0"


def _when(text: str, system: System, damage: bool) -> str:
    shows = _SHOWS.fullmatch(text)
    if shows is not None:
        if shows[1] not in system.groups:
            raise Wrong(hint(shows[1], system.groups, "group of dice"))
        if shows[2] == "a 1":
            return f"@group.{shows[1]}.ones > 0"
        value = number(shows[2])
        if value is not None:
            return f"@group.{shows[1]}.high == {value}"
    least = number(text.removeprefix("it is at least ")) if text.startswith("it is at least ") else None
    if least is not None and damage:
        return f"@event.amount >= {least}"
    raise Wrong(f"when {text[:64]}: a die shows a number, or, of damage, it is at least a number")


_READ = {"while": _while, "unless": _unless, "when": _when}
