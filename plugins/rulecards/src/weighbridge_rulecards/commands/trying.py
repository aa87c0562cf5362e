"""`cards try`: fire cards against a character at a prompt; what happens, and why the rest does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weighbridge_rulecards.cards import Card, parse, render
from weighbridge_rulecards.commands.desk import ANN, GM, Desk, Memory, docket_of
from weighbridge_rulecards.commands.terminal import ask, rules_of, say
from weighbridge_rulecards.conditions import condition_words
from weighbridge_rulecards.formula_reading import Wrong, read_formula
from weighbridge_rulecards.formulas import BOOLEAN
from weighbridge_rulecards.moves import apply_move, judge
from weighbridge_rulecards.names import MOVE
from weighbridge_rulecards.rules import Rules
from weighbridge_rulecards.shapes import shape_of
from weighbridge_rulecards.sheets import character
from weighbridge_rulecards.system import GIVEN

HELP = """turn · rest · enter PLACE · meet PERSON · gain ITEM · lose ITEM · foe FOE · hit N (on the last foe)
blow N (on Ann) · fight start|end · quest NAME step|finish · level: grant +N xp
act CHECK [STAT] [vs TARGET] [advantage|disadvantage] [spend TRACK] [dice N N …]
do EFFECT (as in a sentence, such as: do Blessed for 3 turns) · story CARD yes|no · improve STAT
show (Ann as she stands) · why CARD (why it did not fire) · cards · help · quit
Places, checks and the like are named by id. `dice N N …` may end any line."""


class Bad(Exception):
    """A line that cannot be done. It never leaves this command."""


def try_cards(args: Any) -> int:
    """Run the prompt until its end."""
    trial = Trial(rules_of(args.file))
    say(f"{len(trial.rules.cards)} cards in {trial.rules.system.name}. help lists what can be typed.")
    while (line := ask("> ")) is not None and line != "quit":
        if line:
            say(*trial.run(line))
    return 0


class Trial:
    """A character, Ann, and the cards that are tried on her."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.table = Memory()
        self.desk = Desk()
        self.table[f"char/{ANN}"] = character({"name": "Ann"}, rules.system, "")
        for pool in rules.system.pools.values():
            self.table[f"pool/{pool.id}"] = {"value": pool.start}
        self._count = 0
        self._foe = ""
        self._passed: list[tuple[Card, str, str]] = []
        self._fired: list[str] = []

    def run(self, line: str) -> list[str]:
        """Do one line and return what to print."""
        words, _, dice = line.partition(" dice ") if not line.startswith("dice ") else ("", "", "")
        word, _, rest = words.partition(" ")
        try:
            faces = [_number(each) for each in dice.split(" ") if each]
            if word in _TELLS:
                return _TELLS[word](self, rest)
            if word not in _MOVES:
                raise Bad(f"{word} is nothing that can be typed here; help lists what can be")
            return self._move(_MOVES[word](self, rest.split(" ") if rest else []), faces)
        except (Bad, Wrong) as bad:
            return [getattr(bad, "says", str(bad))]

    # --- moves ---------------------------------------------------------------------------------------------

    def _move(self, value: dict[str, Any], faces: list[int]) -> list[str]:
        self._count += 1
        docket = docket_of(self._count, {**value, "game": self.desk.game}, self.rules)
        shape = shape_of(MOVE, docket.value)
        if shape.problems:
            raise Bad("; ".join(f"{each.path}: {each.says}" for each in shape.problems))
        before = dict(self.table.cells)
        self.desk.throw(faces)
        self.desk.uri = docket.uri
        judge(self.table, docket, self.rules)
        record = apply_move(self.table, docket, self.desk, self.rules)
        self._passed = record.passed if record is not None else []
        if record is not None and value["kind"] == "foe":
            self._foe = docket.uri
        return self._told(docket.id, before)

    def _told(self, record: str, before: dict[str, Any]) -> list[str]:
        lines = [f"refused or noted: {code}: {says}" for code, says in self.desk.reports]
        self._fired = []
        for _, cue in self.table.items(f"cue/{record}/"):
            self._fired.append(cue["card"])
            card = next(each for each in self.rules.cards if each.id == cue["card"])
            shown = "".join(f" — show: {each}" for each in cue["show"])
            lines.append(f"fired, step {cue['step']}: {card.name}: {cue['says']}{shown}")
        results = [f"roll/{record}", *self.table.keys(f"roll/{record}/"), *self.table.keys(f"blow/{record}/")]
        lines += [_outcome(self.table[key]) for key in results if key in self.table]
        lines += [f"did not fire: {card.name}: {self._reason(card, why)}" for card, _, why in self._passed]
        lines += _changes(before.get(f"char/{ANN}", {}), self.table.cells[f"char/{ANN}"])
        moved = [key for key in sorted(self.table.cells) if key.startswith(("clock/", "pool/", "foe/"))]
        lines += [
            f"{key}: {_flat(self.table[key])}" for key in moved if before.get(key) != self.table.cells[key]
        ]
        return lines or ["nothing happens"]

    def _reason(self, card: Card, why: str) -> str:
        if why == "condition" and card.test is not None:
            tree = read_formula(card.test.text, BOOLEAN)
            return f"only {condition_words(tree, self.rules.system, damage=card.on == 'damage')} ({card.test.text})"
        return {
            "already": "it has fired in this moment already",
            "stopped": "it would be the fourth step",
            "amount": "the blow is too small for it",
        }.get(why, why)

    # --- what is told --------------------------------------------------------------------------------------

    def help(self, rest: str) -> list[str]:
        """List what can be typed."""
        return [*HELP.split("\n")]

    def show(self, rest: str) -> list[str]:
        """Show Ann as she stands."""
        return [
            f"{name}: {_flat(value)}" for name, value in self.table[f"char/{ANN}"].items() if name != "pinned"
        ]

    def cards(self, rest: str) -> list[str]:
        """List the cards with their sentences."""
        return [f"{card.id}: {render(card.data, self.rules.forms)}" for card in self.rules.cards]

    def why(self, rest: str) -> list[str]:
        """Say why a card did not fire in the last move."""
        card = next((each for each in self.rules.cards if rest in (each.id, each.name)), None)
        if card is None:
            raise Bad(f"no card {rest}; cards lists them")
        if card.id in self._fired:
            return ["it fired"]
        reasons = [self._reason(each, why) for each, _, why in self._passed if each is card]
        return reasons or [f"what it watches for did not happen: {render(card.data, self.rules.forms)}"]

    def effect(self, words: str) -> dict[str, Any]:
        """Return the grant of an effect in words."""
        then = parse(f"When they rest → {words}.", self.rules.forms)["then"]
        return {"kind": "grant", "for": ANN, "then": then}

    def hit(self, words: list[str]) -> dict[str, Any]:
        """Return a blow of Ann's on the last foe."""
        if not self._foe:
            raise Bad("there is no foe on the stage; foe FOE puts one there")
        return {"kind": "blow", "to": self._foe, "from": ANN, "amounts": [_number(_one(words, "an amount"))]}

    def act(self, words: list[str]) -> dict[str, Any]:
        """Return an act of Ann's."""
        value: dict[str, Any] = {"kind": "act", "for": ANN, "check": _one(words[:1], "a check")}
        rest = words[1:]
        while rest:
            word = rest.pop(0)
            if word in ("vs", "spend"):
                given = _one(rest[:1], "a target" if word == "vs" else "a track")
                rest = rest[1:]
                value["target" if word == "vs" else "spend"] = _number(given) if word == "vs" else given
            elif word in ("advantage", "disadvantage"):
                value["edge"] = word
            else:
                value["stat"] = word
        check = self.rules.system.checks.get(value["check"])
        if check is not None and check.target == GIVEN:
            value.setdefault("target", 10)
        return value

    def story(self, words: list[str]) -> dict[str, Any]:
        """Return the ruling on a story card, about a scene of Ann's."""
        if len(words) != 2:
            raise Bad("story CARD yes|no")
        scene = f"at://{GM}/{MOVE}/scene"
        self.table[f"scene/{GM}:scene"] = {"for": ANN}
        if words[0] in self.rules.stories:
            self.desk.ask(f"story:{words[0]}", scene, "", ("yes", "no"))
        return {"kind": "rule", "subject": scene, "what": words[0], "answer": words[1]}


def _number(text: str) -> int:
    if (
        not text
        or not all(each in "-0123456789" for each in text)
        or "-" in text[1:]
        or text == "-"
        or len(text) > 9
    ):
        raise Bad(f"{text} is no number")
    return int(text)


def _one(words: list[str], what: str) -> str:
    if len(words) != 1:
        raise Bad(f"{what} is wanted")
    return words[0]


def _flat(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_flat(each)}" for key, each in value.items()) or "–"
    return ", ".join(map(str, value)) or "–" if isinstance(value, list) else str(value)


def _outcome(cell: dict[str, Any]) -> str:
    chip = f" [{'; '.join(cell['chip'])}]" if cell.get("chip") else ""
    if "landed" in cell:
        return f"blow of {cell['amount']}: {cell['landed']} lands{chip}"
    if cell["status"] != "rolled":
        return f"{cell['check']}: {cell['status']}: {cell.get('reason', '')}{chip}"
    return f"{cell['check']}: dice {_flat(cell['dice'])}: {cell['maths']}: {cell['band']}{chip}"


def _changes(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    return [
        f"Ann: {name}: {_flat(before.get(name, '–'))} → {_flat(value)}"
        for name, value in after.items()
        if before.get(name) != value
    ]


def _simple(kind: str, field: str = "") -> Callable[[Trial, list[str]], dict[str, Any]]:
    def make(trial: Trial, words: list[str]) -> dict[str, Any]:
        value: dict[str, Any] = {"kind": kind}
        if kind != "foe":
            value["for"] = ANN
        return {**value, field: _one(words, field)} if field else value

    return make


def _item(which: str) -> Callable[[Trial, list[str]], dict[str, Any]]:
    return lambda trial, words: {"kind": "item", "for": ANN, "item": _one(words, "an item"), "is": which}


def _fight(trial: Trial, words: list[str]) -> dict[str, Any]:
    which = _one(words, "start or end")
    return (
        {"kind": "fight", "is": which, "who": [ANN]} if which == "start" else {"kind": "fight", "is": which}
    )


def _quest(trial: Trial, words: list[str]) -> dict[str, Any]:
    if len(words) != 2:
        raise Bad("quest NAME step|finish")
    return {"kind": "quest", "for": ANN, "quest": words[0], "is": words[1]}


_TELLS: dict[str, Callable[[Trial, str], list[str]]] = {
    "help": Trial.help, "show": Trial.show, "cards": Trial.cards, "why": Trial.why,
}  # fmt: skip
_MOVES: dict[str, Callable[[Trial, list[str]], dict[str, Any]]] = {
    "turn": _simple("turn"),
    "rest": _simple("rest"),
    "enter": _simple("enter", "place"),
    "meet": _simple("meet", "person"),
    "foe": _simple("foe", "foe"),
    "improve": _simple("improve", "stat"),
    "gain": _item("gain"),
    "lose": _item("lose"),
    "fight": _fight,
    "quest": _quest,
    "act": Trial.act,
    "hit": Trial.hit,
    "blow": lambda trial, words: {"kind": "blow", "to": ANN, "amounts": [_number(_one(words, "an amount"))]},
    "do": lambda trial, words: trial.effect(" ".join(words)),
    "grant": lambda trial, words: trial.effect(" ".join(words)),
    "story": Trial.story,
}
