"""The words of numbers, articles and lists, as sentences write them and as they are read back."""

from __future__ import annotations

import re

from weighbridge_rulecards.names import MOST

MINUS = "−"
_NUMBER = re.compile(r"[0-9]{1,10}", re.ASCII)
_LITERAL = re.compile(r"-?[0-9]{1,10}", re.ASCII)


def an(name: str) -> str:
    """Return a name with its indefinite article."""
    return f"{'an' if name[:1] in tuple('aeiouAEIOU') else 'a'} {name}"


def without_article(text: str) -> str | None:
    """Return what follows `a` or `an`, or None."""
    for article in ("a ", "an "):
        if text.startswith(article) and an(text[len(article) :]) == text:
            return text[len(article) :]
    return None


def listed(phrases: list[str]) -> str:
    """Return phrases joined by commas and a last `or`."""
    return " or ".join([", ".join(phrases[:-1]), phrases[-1]] if len(phrases) > 1 else phrases)


def number(text: str) -> int | None:
    """Return a number written out, at most 10⁹."""
    if not _NUMBER.fullmatch(text) or (len(text) > 1 and text[0] == "0"):
        return None
    return int(text) if int(text) <= MOST else None


def literal(formula: str) -> int | None:
    """Return the number that a formula is, if it is one written out."""
    return int(formula) if _LITERAL.fullmatch(formula) else None


def signed(formula: str) -> str:
    """Return an amount as a change: `+2`, `−2`, `+(@level / 2)`."""
    value = literal(formula)
    if value is None:
        return f"+({formula})"
    return f"{MINUS}{-value}" if value < 0 else f"+{value}"


def unsigned(formula: str) -> str:
    """Return an amount as a value: `2`, `−2`, `(@level / 2)`."""
    value = literal(formula)
    if value is None:
        return f"({formula})"
    return f"{MINUS}{-value}" if value < 0 else str(value)


def from_signed(text: str) -> str | None:
    """Return the amount that a change says, as a formula's text."""
    if text.startswith("+("):
        return inside(text[1:])
    value = number(text[1:])
    if value is None or text[0] not in f"+-{MINUS}":
        return None
    return str(value) if text[0] == "+" else f"-{value}"


def from_unsigned(text: str) -> str | None:
    """Return the amount that a value says, as a formula's text."""
    if text.startswith("("):
        return inside(text)
    sign = "-" if text[:1] in ("-", MINUS) and text else ""
    value = number(text[len(sign) :])
    return None if value is None else f"{sign}{value}"


def inside(text: str) -> str | None:
    """Return what stands in brackets that enclose a whole text."""
    if not text.startswith("(") or not text.endswith(")"):
        return None
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0 and at < len(text) - 1:
            return None
    return text[1:-1].strip(" ") if depth == 0 else None


def squeezed(text: str) -> str:
    """Return a text with single spaces, and none at its ends."""
    return " ".join(each for each in text.replace("\n", " ").replace("\t", " ").split(" ") if each)
