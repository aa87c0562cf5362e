"""Random games for the conformance kit and the benches: cards that set each other off, strikes, and much refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weighbridge.contract import Random

from weighbridge_rulecards.random_cards import random_cards
from weighbridge_rulecards.shipped import SHIPPED

Step = dict[str, Any]
FIRST_DAY = 18


def random_game(random: Random) -> dict[str, Any]:
    """Return a random game as a scenario: its root and its steps."""
    return Play(random, players=2 + random.randrange(3), moves=15 + random.randrange(30)).document()


class Play:
    """A game of so many players and moves, told step by step."""

    def __init__(self, random: Random, players: int, moves: int, cards: int = 24) -> None:
        self.random = random
        self.players = [f"@p{n}" for n in range(players)]
        self.moves = moves
        self.base = random.choice(sorted(SHIPPED))
        self.system: dict[str, Any] = SHIPPED[self.base]
        self.cards = random_cards(random, self.system, cards)
        self.steps: list[Step] = []
        self.names: dict[str, list[str]] = {}
        self.second = 8 * 3600

    def document(self) -> dict[str, Any]:
        """Return the scenario."""
        for did in self.players:
            self._sheet(did)
        for _ in range(self.moves):
            self._pass_time(1 + self.random.randrange(7200))
            self.random.choice(self._moves())()
            self._pass_time(20)
        self._pass_time(3 * 86_400)
        root = {"gm": "@gm", "rules": {"system": self.base, "cards": self.cards}}
        return {"ruleset": "rulecards", "root": root, "steps": self.steps}

    # --- time and records ----------------------------------------------------------------------------------

    def _pass_time(self, seconds: int) -> None:
        before = self.second // 86_400
        self.second += seconds
        for day in range(before + 1, self.second // 86_400 + 1):
            self.steps.append({"at": _at(day * 86_400), "tick": True})

    def _put(self, by: str, what: str, group: str, value: dict[str, Any]) -> str:
        name = f"{group}{len(self.names.setdefault(group, [])) + 1}"
        self.steps.append({"at": _at(self.second), "by": by, "put": what, "as": name, "value": value})
        self.names[group].append(name)
        return name

    def _move(self, by: str, group: str, kind: str, **fields: Any) -> str:
        value = {"kind": kind, **{name.rstrip("_"): field for name, field in fields.items()}}
        name = self._put(by, "move", group, value)
        if self.random.randrange(5):
            faces = [1 + self.random.randrange(6) for _ in range(60)]
            self.second += 19
            self.steps.append({"at": _at(self.second), "dice": name, "values": faces})
        return name

    def _some(self, group: str) -> str:
        names = self.names.get(group, ())
        return (
            f"uri:{self.random.choice(names[-6:])}"
            if names
            else "at://did:plc:nobody/town.delve.cards.move/none"
        )

    def _player(self) -> str:
        return self.random.choice(self.players)

    def _entry(self, entries: str) -> str:
        found = self.system[entries]
        return str(self.random.choice(found)["id"]) if found and self.random.randrange(12) else "nothing"

    def _sheet(self, did: str) -> None:
        stats = {
            each["id"]: self.random.randrange(each["from"], each["to"] + 1) for each in self.system["stats"]
        }
        value: dict[str, Any] = {"name": did[1:], "stats": stats}
        if self.base == "classic-d20":
            most = 5 + self.random.randrange(30)
            value["tracks"] = {"hp": {"max": most, "value": self.random.randrange(1, most + 1)}}
        self._put(did, "sheet", "sheet", value)

    # --- moves ---------------------------------------------------------------------------------------------

    def _moves(self) -> tuple[Callable[[], None], ...]:
        return (
            self._act, self._act, self._act, self._answer, self._answer, self._blow, self._blow, self._blow, self._turn,
            self._turn, self._rest, self._enter, self._enter, self._meet, self._item, self._foe, self._foe, self._fight,
            self._quest, self._grant, self._grant, self._scene, self._rule, self._rule, self._strike, self._improve,
        )  # fmt: skip

    def _act(self) -> None:
        check = self.random.choice(self.system["checks"])
        fields: dict[str, Any] = {"check": check["id"], "for": self._player(), "stat": self._entry("stats")}
        if check.get("target") == "given":
            fields["target"] = 1 + self.random.randrange(4)
        if not self.random.randrange(4):
            fields["edge"] = self.random.choice(("advantage", "disadvantage"))
        self._move("@gm", "act", "act", **fields)

    def _answer(self) -> None:
        who = self._player()
        check = self.random.choice(self.system["checks"])
        target = {"target": 2} if check.get("target") == "given" else {}
        call = self._move("@gm", "call", "call", for_=who, check=check["id"], **target)
        spend = {"spend": "inspiration"} if self.random.randrange(2) else {}
        self._move(
            who if self.random.randrange(8) else self._player(), "act", "act", call=f"uri:{call}", **spend
        )

    def _blow(self) -> None:
        sides = [self._player(), self._some("foe"), self._some("foe")]
        fields: dict[str, Any] = {"to": self.random.choice(sides), "from_": self.random.choice(sides)}
        if self.random.randrange(3):
            fields["amounts"] = [self.random.randrange(12) for _ in range(1 + self.random.randrange(3))]
        else:
            fields["dice"] = {"n": 2, "sides": 6, "add": self.random.randrange(-3, 4)}
        self._move("@gm", "blow", "blow", **fields)

    def _turn(self) -> None:
        self._move(self._player(), "turn", "turn")

    def _rest(self) -> None:
        self._move(self._player(), "rest", "rest")

    def _enter(self) -> None:
        self._move(self._player(), "enter", "enter", place=self._entry("places"))

    def _meet(self) -> None:
        self._move("@gm", "meet", "meet", for_=self._player(), person=self._entry("people"))

    def _item(self) -> None:
        which = self.random.choice(("gain", "gain", "lose"))
        self._move("@gm", "item", "item", for_=self._player(), item=self._entry("items"), is_=which)

    def _foe(self) -> None:
        self._move("@gm", "foe", "foe", foe=self._entry("foes"))

    def _fight(self) -> None:
        start = {"is_": "start", "who": self.players[: 1 + self.random.randrange(3)]}
        self._move("@gm", "fight", "fight", **(start if self.random.randrange(2) else {"is_": "end"}))

    def _quest(self) -> None:
        which = self.random.choice(("step", "step", "finish"))
        self._move(
            "@gm", "quest", "quest", for_=self._player(), quest=f"q{self.random.randrange(3)}", is_=which
        )

    def _grant(self) -> None:
        effects = [
            each
            for card in self.cards
            for each in card["then"]
            if each["kind"] in ("track", "condition", "xp", "pool")
        ]
        plain = [
            each
            for each in effects
            if "@event" not in each.get("amount", "") and "@group" not in each.get("amount", "")
        ]
        if plain:
            self._move("@gm", "grant", "grant", for_=self._player(), then=[self.random.choice(plain)])

    def _scene(self) -> None:
        self._move("@gm", "scene", "scene", for_=self._player(), text="What happened.")

    def _rule(self) -> None:
        stories = [card["id"] for card in self.cards if card["when"]["on"] == "story"]
        what = self.random.choice(stories) if stories else "nothing"
        answer = self.random.choice(("yes", "yes", "no", "perhaps"))
        self._move("@gm", "rule", "rule", subject=self._some("scene"), what=what, answer=answer)

    def _strike(self) -> None:
        group = self.random.choice(
            ("act", "blow", "turn", "enter", "grant", "item", "call", "scene", "rule", "strike")
        )
        self._move(
            self.random.choice(("@gm", "@gm", "@gm", "@p0")),
            "strike",
            "strike",
            subject=self._some(group),
            why="Because.",
        )

    def _improve(self) -> None:
        self._move(self._player(), "improve", "improve", stat=self._entry("stats"))


def _at(second: int) -> str:
    day, rest = divmod(second, 86_400)
    hour, rest = divmod(rest, 3600)
    days = FIRST_DAY + day
    month, date = (10, days) if days <= 31 else (11, days - 31)
    return f"2026-{month:02}-{date:02}T{hour:02}:{rest // 60:02}:{rest % 60:02}Z"
