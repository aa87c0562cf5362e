"""A toy rule set: call a coin, win a point. Small, and yet it uses most of what the contract offers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal

from weighbridge.contract import (
    NOTHING,
    Context,
    Docket,
    Effect,
    Event,
    Grid,
    Needs,
    Problem,
    Question,
    Random,
    RuleSet,
    Ruling,
    Table,
    Value,
    View,
)

DAY = 86_400_000_000
DEFAULTS = {"perDay": 3, "mercyHours": 30}
TEXT = {"type": "string", "maxLength": 300}
URI = {"type": "string", "format": "at-uri"}
DID = {"type": "string", "format": "did"}
SIDE = {"type": "string", "enum": ["heads", "tails"]}


def lexicon(name: str, required: list[str], properties: dict[str, Any]) -> dict[str, Any]:
    record = {"type": "object", "required": required, "properties": properties}
    main = {"type": "record", "key": "any", "record": record}
    return {"lexicon": 1, "id": f"example.coin.{name}", "defs": {"main": main}}


class Coin(RuleSet):
    """Players flip, the GM may be merciful to a lost flip, strike one or let it stand again."""

    name = "coin"
    version = "1.0"
    root = "example.coin.root"
    codes = ("over-ration", "not-gm", "no-rules", "unwitnessed", "no-question")
    versions: ClassVar[frozenset[str]] = frozenset(("example.coin.note",))
    collections: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "example.coin.root": lexicon("root", ["gm"], {"gm": DID, "rules": {"type": "unknown"}}),
        "example.coin.flip": lexicon("flip", ["call"], {"call": SIDE, "trace": TEXT}),
        "example.coin.note": lexicon("note", ["text"], {"text": TEXT}),
        "example.coin.move": lexicon(
            "move",
            ["kind"],
            {
                "kind": {"type": "string", "enum": ["mercy", "strike", "release", "uphold", "hide", "open"]},
                "subject": URI, "answer": TEXT, "seal": TEXT, "opens": URI, "salt": TEXT, "value": TEXT,
            },
        ),
    }  # fmt: skip

    def rules(self, root: Mapping[str, Any]) -> tuple[Any, tuple[Problem, ...]]:
        given = root.get("rules", {})
        if not isinstance(given, dict):
            return None, (Problem("$.rules", "must be a map"),)
        problems = [Problem(f"$.rules.{key}", "is no option") for key in sorted(given) if key not in DEFAULTS]
        for key in DEFAULTS:
            if type(given.get(key, 1)) is not int or not 1 <= given.get(key, 1) <= 1000:
                problems.append(Problem(f"$.rules.{key}", "must be a whole number from 1 to 1000"))
        return {**DEFAULTS, **given}, tuple(problems)

    def needs(self, docket: Docket, rules: Any) -> Needs:
        if docket.collection != "example.coin.flip" or docket.op != "create":
            return NOTHING
        return Needs(dice=("flip",), trace="trace" in docket.value)

    def judge(self, table: Table, docket: Docket, ctx: Context) -> Needs:
        if docket.collection != "example.coin.flip":
            return NOTHING
        if docket.rules is None:
            ctx.report("no-rules", docket.uri, "The game has no rules yet.")
            return NOTHING
        purse = table.get(f"purse/{docket.author}", {"score": 0, "day": docket.day, "used": 0})
        used = purse["used"] if purse["day"] == docket.day else 0
        if used >= docket.rules["perDay"] and not docket.upheld:
            ctx.report(
                "over-ration", docket.uri, f"You have flipped {used} times today, which is all there is."
            )
            return NOTHING
        table[f"purse/{docket.author}"] = {**purse, "day": docket.day, "used": used + 1}
        table[f"flip/{docket.id}"] = {"status": "pending", "call": docket.value["call"]}
        return self.needs(docket, docket.rules)

    def apply(self, table: Table, docket: Docket, ctx: Context) -> None:
        if docket.collection == "example.coin.note":
            table[f"note/{docket.id}"] = {
                "text": docket.value["text"] if docket.value else None,
                "op": docket.op,
            }
        elif docket.collection == "example.coin.move":
            self._move(table, docket, ctx)
        elif f"flip/{docket.id}" in table:
            self._flip(table, docket, ctx)

    def _flip(self, table: Table, docket: Docket, ctx: Context) -> None:
        if docket.trace is not None and docket.trace.verdict == "unresolved":
            ctx.report("unwitnessed", docket.uri, "Nobody could see what you point at.")
        face = ("heads", "tails")[ctx.dice("flip").die(2) - 1]
        won = face == docket.value["call"]
        if docket.roll == "untimely":
            table[f"flip/{docket.id}"] = {"status": "untimely", "call": docket.value["call"], "face": face}
            return
        table[f"flip/{docket.id}"] = {
            "status": "flipped",
            "call": docket.value["call"],
            "face": face,
            "won": won,
        }
        if won:
            self._score(table, docket.author, 1)
        else:
            due = ctx.at + docket.rules["mercyHours"] * 3_600_000_000
            ctx.ask("mercy", docket.uri, "Will you be merciful?", ("yes", "no"), default="no", due=due)
            table[f"mercy/{docket.id}"] = {"due": due, "flip": docket.uri, "by": docket.author}
        ctx.emit(Event("flipped", docket.author, {"face": face}))

    def _move(self, table: Table, docket: Docket, ctx: Context) -> None:
        kind, subject = docket.value["kind"], docket.value.get("subject", "")
        if kind == "hide":
            ctx.seal(("hide",), opens_from=docket.at + 1, opens_until=docket.at + DAY)
        elif kind == "open":
            opened = ctx.unseal(
                docket.value.get("opens", ""), docket.value.get("salt", ""), docket.value.get("value", "")
            )
            if opened is not None:
                self._score(table, docket.author, 2)
        elif docket.author != docket.gm:
            ctx.report("not-gm", docket.uri, "This is for the GM to do.")
        elif kind == "uphold":
            ctx.uphold(subject)
        elif kind == "mercy":
            id_ = _id(subject)
            if not ctx.close("mercy", subject):
                ctx.report("no-question", docket.uri, "Nobody has asked for mercy.")
            elif docket.value.get("answer") == "yes":
                self._score(table, table[f"mercy/{id_}"]["by"], 1)
            if f"mercy/{id_}" in table:
                del table[f"mercy/{id_}"]

    def _score(self, table: Table, who: str, points: int) -> None:
        purse = table.get(f"purse/{who}", {"score": 0, "day": 0, "used": 0})
        table[f"purse/{who}"] = {**purse, "score": purse["score"] + points}

    def day_end(self, table: Table, day: int, ctx: Context) -> None:
        table["game/-"] = {"day": day, "flips": len(table.keys("flip/"))}

    def due(self, table: Table) -> Iterable[int]:
        return sorted(cell["due"] for _, cell in table.items("mercy/"))

    def at_due(self, table: Table, time: int, ctx: Context) -> None:
        for key, cell in list(table.items("mercy/")):
            if cell["due"] <= time:
                ctx.close("mercy", cell["flip"])
                del table[key]

    def ruling(self, docket: Docket, rules: Any) -> Ruling | None:
        kind = docket.value.get("kind") if docket.op == "create" else None
        effects: dict[Any, Literal["void", "release"]] = {"strike": "void", "release": "release"}
        return Ruling(docket.value.get("subject", ""), effect=effects[kind]) if kind in effects else None

    def voidable(self, docket: Docket) -> Literal["back", "forward"]:
        return "back" if docket.collection == "example.coin.flip" else "forward"

    def stake(self, table: Table, docket: Docket) -> Value:
        return 1 if f"flip/{docket.id}" in table else None

    def effect(self, table: Table, effect: Effect, ctx: Context) -> None:
        self._score(table, effect.about, effect.fields["points"])

    def vocabulary(self) -> Mapping[str, Any]:
        return {"events": {"flipped": ["face"]}, "effects": {"gift": ["points"]}}

    def answer(
        self, question: Question, answer: str, why: str | None = None
    ) -> tuple[str, dict[str, Any]] | None:
        if question.kind != "mercy" or answer not in question.options:
            return None
        return "example.coin.move", {"kind": "mercy", "subject": question.about, "answer": answer}

    def view(self, table: Table) -> View:
        rows = tuple((key.removeprefix("purse/"), str(cell["score"])) for key, cell in table.items("purse/"))
        return View("Coin", (Grid(("Player", "Points"), rows),))

    def generate(self, random: Random) -> dict[str, Any]:
        steps: list[dict[str, Any]] = []
        minute, flips = 0, 0
        for _ in range(random.randrange(4, 16)):
            minute += random.randrange(0, 600)
            at = f"2026-10-{18 + minute // 1440:02}T{minute // 60 % 24:02}:{minute % 60:02}"
            if not flips or random.randrange(3):
                flips += 1
                who = random.choice(("@ann", "@bob"))
                steps.append(
                    {
                        "at": f"{at}:00Z",
                        "by": who,
                        "put": "flip",
                        "as": f"f{flips}",
                        "value": {"call": random.choice(("heads", "tails"))},
                    }
                )
                if random.randrange(4):
                    steps.append({"at": f"{at}:20Z", "dice": f"f{flips}", "values": [random.randrange(1, 3)]})
            else:
                subject = f"uri:f{random.randrange(1, flips + 1)}"
                value = {
                    "kind": random.choice(("mercy", "strike", "release", "uphold")),
                    "subject": subject,
                    "answer": "yes",
                }
                steps.append(
                    {
                        "at": f"{at}:30Z",
                        "by": random.choice(("@gm", "@gm", "@ann")),
                        "put": "move",
                        "value": value,
                    }
                )
        return {"ruleset": "coin", "root": {"gm": "@gm", "rules": {"perDay": 2}}, "steps": steps}


def _id(uri: str) -> str:
    did, _, rkey = uri.removeprefix("at://").partition("/")
    return f"{did}:{rkey.rpartition('/')[2]}"


RULES = Coin()
