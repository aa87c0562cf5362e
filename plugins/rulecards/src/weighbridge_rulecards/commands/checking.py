"""`cards check`, `cards say`, `cards parse`: sentence and data, both ways."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weighbridge.contract import Problem

from weighbridge_rulecards.card_reading import CardReader
from weighbridge_rulecards.cards import parse, render
from weighbridge_rulecards.commands.terminal import (
    BadCards,
    BadSentence,
    is_there,
    load,
    read_file,
    rules_of,
    say,
    say_json,
)
from weighbridge_rulecards.forms import Forms
from weighbridge_rulecards.formula_reading import Wrong
from weighbridge_rulecards.nearest import hint
from weighbridge_rulecards.reader import Reader
from weighbridge_rulecards.shipped import SHIPPED
from weighbridge_rulecards.system_reading import read_system


def check(args: Any) -> int:
    """Check a file: 0 it holds, 1 it does not, every problem printed with its path."""
    found = load(args.file)
    problems, holds = _check_pairs(found) if "pairs" in found else _check_cards(args.file)
    if args.json:
        listed = [{"path": each.path, "says": each.says} for each in problems]
        say_json({"holds": not listed, "problems": listed})
    else:
        say(*([f"{each.path}: {each.says}" for each in problems] or [holds]))
    return 1 if problems else 0


def _check_cards(path: str) -> tuple[Sequence[Problem], str]:
    rules, problems = read_file(path)
    if rules is None:
        return problems, ""
    return (), f"holds: {len(rules.cards)} cards, each read back from its sentence, in {rules.system.name}"


def _check_pairs(found: dict[str, Any]) -> tuple[Sequence[Problem], str]:
    reader = Reader()
    if reader.fields(found, "$", ("pairs",), ("system",)) is None:
        return reader.problems, ""
    pairs = reader.items(found["pairs"], "$.pairs", 10_000)
    for at, pair in enumerate(pairs):
        _check_pair(reader, pair, f"$.pairs[{at}]", found.get("system"))
    return reader.problems, f"holds: {len(pairs)} pairs of sentence and card, both ways"


def _check_pair(reader: Reader, pair: Any, path: str, system: Any) -> None:
    found = reader.fields(pair, path, ("sentence", "card"), ("system",))
    if found is None:
        return
    read, problems = read_system(found.get("system", system), f"{path}.system")
    reader.problems += problems
    if problems:
        return
    forms = Forms(read)
    card = CardReader(reader, read, forms).read_data(found["card"], f"{path}.card")
    if card is None:
        return
    if (sentence := render(card.data, forms)) != found["sentence"]:
        reader.wrong(f"{path}.sentence", f"the card reads: {sentence}")
    try:
        if parse(str(found["sentence"]), forms) != card.data:
            reader.wrong(f"{path}.sentence", "it says another card")
    except Wrong as wrong:
        reader.wrong(f"{path}.sentence", wrong.says)


def say_cards(args: Any) -> int:
    """Print each card's name and sentence."""
    rules = rules_of(args.file)
    said = [
        {"id": card.id, "name": card.name, "sentence": render(card.data, rules.forms)} for card in rules.cards
    ]
    if args.json:
        say_json(said)
    else:
        say(*(f"{each['name']}: {each['sentence']}" for each in said))
    return 0


def parse_sentence(args: Any) -> int:
    """Print the data that a sentence says."""
    named = args.system in SHIPPED
    if not named and not is_there(args.system):
        raise BadCards(f"--system: {hint(args.system, SHIPPED, 'shipped system')}; and there is no such file")
    system, problems = read_system(args.system if named else load(args.system).get("system"), "$.system")
    if problems:
        raise BadCards("; ".join(f"{each.path}: {each.says}" for each in problems))
    forms = Forms(system)
    try:
        data = parse(args.sentence, forms)
    except Wrong as wrong:
        raise BadSentence(wrong.says) from wrong
    reader = Reader()
    card = CardReader(reader, system, forms).read_data(data, "$")
    if card is None:
        raise BadSentence("; ".join(f"{each.path}: {each.says}" for each in reader.problems))
    say_json(card.data)
    return 0
