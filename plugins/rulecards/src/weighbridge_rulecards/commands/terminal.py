"""What the commands read and write: files of JSON, lines at a prompt, lines of text."""

from __future__ import annotations

import json  # conformance: forbidden-import: a command, which no fold imports
import sys  # conformance: forbidden-import: a command, which no fold imports
from pathlib import Path  # conformance: forbidden-import: a command, which no fold imports
from typing import Any

from weighbridge.contract import Problem
from weighbridge.ports import Refused  # conformance: forbidden-import: a command, which no fold imports

from weighbridge_rulecards.reader import Reader
from weighbridge_rulecards.rules import Rules, read_set


class BadCardFile(Refused):
    """A file is no JSON, or holds neither cards nor pairs."""

    code = "bad-card-file"


class BadCards(Refused):
    """A file's system or cards are not well-formed."""

    code = "bad-cards"


class BadSentence(Refused):
    """A sentence says no card."""

    code = "bad-sentence"


def say(*lines: str) -> None:
    """Print lines, without what could move a cursor."""
    for line in lines:
        sys.stdout.write(
            "".join(each if each >= " " and not "\x7f" <= each <= "\x9f" else "�" for each in line) + "\n"
        )


def say_json(value: Any) -> None:
    """Print JSON."""
    say(json.dumps(value, ensure_ascii=False))


def ask(prompt: str) -> str | None:
    """Return the next line that is typed, or None at the end."""
    if sys.stdin.isatty():
        sys.stdout.write(prompt)
        sys.stdout.flush()
    line = sys.stdin.readline()
    return line.strip(" \r\n\t") if line else None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # Of two `if`s JSON's readers take the last: what is read would not be what runs.
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {key[:64]!a} stands twice in one object")
        found[key] = value
    return found


def is_there(path: str) -> bool:
    """Say whether something is there under a path."""
    return Path(path).exists()


def load(path: str) -> dict[str, Any]:
    """Read a JSON object from a file."""
    try:
        found = json.loads(Path(path).read_bytes(), object_pairs_hook=_once)
    except RecursionError as error:
        raise BadCardFile(f"{path} nests too deep to hold cards") from error
    except ValueError as error:
        raise BadCardFile(f"{path} is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise BadCardFile(f"{path} must hold an object: system and cards, or system and pairs")
    return found


def write(path: str, text: str) -> None:
    """Write a text file."""
    Path(path).write_text(text, "utf-8")


def read_file(path: str) -> tuple[Rules | None, tuple[Problem, ...]]:
    """Return the rules of a file of cards, and every problem."""
    found = load(path)
    reader = Reader()
    if reader.fields(found, "$", ("system",), ("cards",)) is None:
        return None, tuple(reader.problems)
    return read_set(found, "$", reader)


def rules_of(path: str) -> Rules:
    """Return the rules of a file of cards. Refused: `bad-cards`, with every problem."""
    rules, problems = read_file(path)
    if rules is None:
        raise BadCards(f"{path}: " + "; ".join(f"{each.path}: {each.says}" for each in problems))
    return rules
