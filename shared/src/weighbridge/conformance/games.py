"""Games to hold a rule set to: generated ones, ones with strikes put in, and ones full of nonsense."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

from weighbridge.contract import Attachment, RuleSet
from weighbridge.fold import Fold, MemoryHistory
from weighbridge.log.entries import Listed
from weighbridge.scenario import Listing, Records, Scenario, read

Document = dict[str, Any]


class Game:
    """A log to fold: its entries, and the rule set (with what is attached) that folds it."""

    def __init__(
        self, ruleset: RuleSet, document: Document, attachments: Mapping[str, Attachment] | None = None
    ) -> None:
        """`document` is a scenario, as `RuleSet.generate` returns one. Raises `ScenarioWrong`."""
        # Through JSON, as a file goes: a tuple or an enum in a generated game is not what a log would hold.
        self.scenario: Scenario = read(json.loads(json.dumps(document)))
        self.ruleset = ruleset
        self.attachments = dict(attachments or {})
        attached = [nsid for each in self.attachments.values() for nsid in each.collections]
        self.records = Records(self.scenario, ruleset.root, [*ruleset.collections, *attached])
        self.entries: list[Listed] = list(Listing(self.scenario, self.records).entries())

    def fold(self, history: MemoryHistory | None = None) -> Fold:
        """Return a fold of this game that has folded nothing yet."""
        return Fold(
            self.records.game, self.ruleset, scenario=True, attachments=self.attachments, history=history
        )

    def history(self) -> MemoryHistory:
        """Return all entries, as a fold looks back into them."""
        history = MemoryHistory()
        for listed in self.entries:
            history.append(listed)
        return history


def generated(ruleset: RuleSet, seed: int, attachments: Mapping[str, Attachment] | None = None) -> Game:
    """Return the rule set's own game for a seed."""
    return Game(ruleset, ruleset.generate(Random(seed)), attachments)


def struck(game: Game, document: Document, seed: int) -> Game:
    """Return the same game with more strikes in it, at random places and on random records.

    They are copies of a strike in it, with other subjects; a game without a strike comes back as it is.
    """
    random = Random(seed)
    steps: list[Any] = json.loads(json.dumps(document["steps"]))
    found = next(_strikes(game, steps), None)
    if found is None:
        return game
    strike, subject = found
    for _ in range(random.randrange(1, 5)):
        place = random.randrange(1, len(steps) + 1)
        names = [step["as"] for step in steps[:place] if "as" in step]
        if not names:
            continue
        text = json.dumps(strike["value"]).replace(f'"uri:{subject}"', f'"uri:{random.choice(names)}"')
        copy = {**strike, "at": steps[place - 1]["at"], "value": json.loads(text)}
        steps.insert(place, copy)
    return Game(game.ruleset, {**document, "steps": steps}, game.attachments)


def _strikes(game: Game, steps: list[Any]) -> Iterator[tuple[Document, str]]:
    """Yield the strikes of a game, without their names, and the names of what they strike."""
    fold = game.fold()
    names = {place.uri: name for name, place in game.records.places.items()}
    for listed in game.entries:
        fold.fold(listed)
        step = steps[listed.entry.seq - 1] if listed.entry.seq else {}
        if "put" not in step:
            continue
        docket = fold.world.docket(listed)
        if game.ruleset.shape(docket.collection, docket.value).problems:
            continue
        ruling = game.ruleset.ruling(docket, docket.rules)
        if ruling is not None and ruling.effect == "void" and ruling.subject in names:
            yield {key: value for key, value in step.items() if key != "as"}, names[ruling.subject]


_TEXTS = (
    "", "x", "@ann", "@gm", "did:plc:x", "at://did:plc:x/a.b.c/d", "at://", "2026-10-18", "2026-02-30", "-1",
    "\u0663", "\u2028", "İ", "\U0001f3b2", "https://delve.example/a", "$type", "yes", "a" * 400, "../..",
    "{}", "null", "\x00",
)  # fmt: skip
_NUMBERS = (0, 1, -1, 2, 6, 7, 2**31, 2**53, 2**63 - 1, -(2**63))


def junk(random: Random, depth: int = 3) -> Any:
    """Return a value that hardly any rule set expects, though a record may hold it."""
    kind = random.randrange(8 if depth else 5)
    match kind:
        case 0:
            return random.choice((None, True, False))
        case 1 | 2:
            return random.choice(_NUMBERS)
        case 3 | 4:
            return random.choice(_TEXTS)
        case 5:
            return {"$bytes": random.choice(("", "AAAA"))}
        case 6:
            return [junk(random, depth - 1) for _ in range(random.randrange(4))]
    return {random.choice(_TEXTS) or "k": junk(random, depth - 1) for _ in range(random.randrange(4))}


def spoiled(document: Document, seed: int) -> Document:
    """Return a generated game in which many records, and perhaps the root, are spoiled."""
    random = Random(seed)
    spoilt: Document = json.loads(json.dumps(document))
    if random.randrange(4) == 0:
        spoilt["root"] = _spoil(spoilt["root"], random)
    for step in spoilt["steps"]:
        if "value" in step and random.randrange(2):
            step["value"] = _spoil(step["value"], random)
    return spoilt


def _spoil(value: Any, random: Random) -> Any:
    """Spoil a value: mostly one thing in it, so that it gets past the checks of its shape."""
    if isinstance(value, dict) and value and random.randrange(12):
        key = random.choice(sorted(value))
        if random.randrange(6) == 0:
            return {name: each for name, each in value.items() if name != key}
        return {**value, key: _spoil(value[key], random)}
    if isinstance(value, list) and value and random.randrange(6):
        at = random.randrange(len(value))
        return [*value[:at], _spoil(value[at], random), *value[at + 1 :]]
    return junk(random)


def junk_records(ruleset: RuleSet, seed: int) -> Document:
    """Return a game of junk alone, put into each of the rule set's collections, with the fields they know."""
    random = Random(seed)
    root = ruleset.generate(Random(seed))["root"]
    steps: list[Document] = [{"at": "2026-10-18T08:00:00Z", "tick": True}]
    for nsid in (nsid for nsid in ruleset.collections for _ in range(4)):
        fields = sorted(ruleset.collections[nsid]["defs"]["main"]["record"]["properties"])
        names = [name for name in fields if random.randrange(3)]
        value: Any = {name: junk(random) for name in names} if random.randrange(5) else junk(random)
        put = {"by": random.choice(("@gm", "@ann")), "put": nsid.rpartition(".")[2], "value": value}
        steps.append({"at": "2026-10-18T09:00:00Z", **put})
    steps.append({"at": "2026-11-18T09:00:00Z", "tick": True})
    return {"ruleset": ruleset.name, "root": root, "steps": steps}
