"""How things are named: collections, entries, words, and the limits on all of them."""

from __future__ import annotations

import re
from functools import lru_cache

ROOT = "town.delve.cards.root"
SHEET = "town.delve.cards.sheet"
MOVE = "town.delve.cards.move"
SET = "town.delve.cards.set"

MOST = 1_000_000_000
"""Every whole number of a system, a card, a record or a formula's result lies within ± this."""
MOST_CARDS = 500
MOST_ENTRIES = 200
MOST_EFFECTS = 16
MOST_BLOWS = 10
MOST_DAMAGE = 1_000_000
MOST_IN_FIGHT = 64
MOST_DICE = 40
MOST_SIDES = 1_000_000
MOST_SEGMENTS = 24
FIRST_SIZE = 4
"""The size of a clock whose first tick gives none."""
LAST_STEP = 3
"""How deep cards set each other off."""

ID = re.compile(r"[a-z][a-z0-9_]{0,31}", re.ASCII)
SYSTEM_ID = re.compile(r"[a-z][a-z0-9_-]{0,31}", re.ASCII)
EVENT_ID = re.compile(r"[a-z][a-z0-9_-]{0,31}", re.ASCII)
FIELD = re.compile(r"[a-z][a-z0-9_]{0,31}", re.ASCII)
GROUP = re.compile(r"[A-Z][A-Za-z0-9]{0,31}", re.ASCII)
QUEST = re.compile(r"[a-z0-9-]{1,32}", re.ASCII)
DID = re.compile(r"did:[a-z]+:[A-Za-z0-9._:%-]*[A-Za-z0-9._-]", re.ASCII)
AT_URI = re.compile(rf"at://({DID.pattern})/([a-zA-Z0-9.-]+)/([A-Za-z0-9._~:-]+)", re.ASCII)

OUTCOMES = ("critical", "success", "failure", "fumble")
EDGES = ("advantage", "disadvantage")
RESERVED = ("level", "stat", "cond", "clock", "pool", "item", "event", "group")
"""What formulas call something else: no track's id."""

_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f]", re.ASCII)
_IN_NAMES = '→;:()“”"@+−<>=,'
_IN_TEXTS = "→;()“”"
_WORDS = (
    "and", "or", "is", "are", "for", "set", "rises", "falls", "while", "when", "unless", "maximum", "lands", "succeeds",
    "fails", "fumbles",
)  # fmt: skip
_FIRST = ("lose", "tick", "roll", "blocked", "advantage", "disadvantage", "a", "an")
_NUMBER = re.compile(r"[0-9]+", re.ASCII)


def name_fault(name: str, *, with_the: bool = False) -> str:
    """Return what is wrong with a name that stands in sentences, or nothing. `with_the`: of a place or a person."""
    if not 1 <= len(name) <= 48:
        return "a name has 1 to 48 characters"
    found = next((each for each in _IN_NAMES if each in name), None)
    if found is not None or _CONTROLS.search(name):
        return f"a name holds no control character and none of {' '.join(_IN_NAMES)}"
    words = name.split(" ")
    if "" in words:
        return "a name has single spaces, and none at its ends"
    taken = next((word for word in words if word in _WORDS), None)
    if taken is not None:
        return f"a name does not hold the word {taken}, by which sentences are read"
    if words[0] in _FIRST or (words[0] == "the" and not with_the):
        return f"a name does not begin with {words[0]}, by which sentences are read"
    return "a name does not end in a number" if _NUMBER.fullmatch(words[-1]) else ""


def text_fault(text: str) -> str:
    """Return what is wrong with a text that stands in a sentence, or nothing."""
    if not 1 <= len(text) <= 200:
        return "a text has 1 to 200 characters"
    if _CONTROLS.search(text) or any(each in text for each in _IN_TEXTS):
        return f"a text holds no control character and none of {' '.join(_IN_TEXTS)}"
    return "a text has single spaces, and none at its ends" if "" in text.split(" ") else ""


def plain_fault(text: str, most: int) -> str:
    """Return what is wrong with a text that stands in no sentence (a card's name, a note), or nothing."""
    if not 1 <= len(text) <= most:
        return f"a text of 1 to {most} characters"
    return "a text without control characters" if _CONTROLS.search(text) else ""


@lru_cache(maxsize=16_384)
def split(uri: str) -> tuple[str, str, str] | None:
    """Return DID, collection and record key of a record's at-uri, or None where it is none."""
    found = AT_URI.fullmatch(uri)
    return None if found is None else (found[1], found[2], found[3])


def id_of(uri: str, collection: str) -> str:
    """Return the `<did>:<rkey>` of a record of that collection; empty for any other text."""
    parts = split(uri)
    return f"{parts[0]}:{parts[2]}" if parts is not None and parts[1] == collection else ""
