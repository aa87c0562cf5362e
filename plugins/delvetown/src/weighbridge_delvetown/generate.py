"""Random games for the conformance kit and the benches: crews, rolls, picks, strikes, and much that is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weighbridge.contract import Random

from weighbridge_delvetown.actions import DELVETOWN, XP_KINDS
from weighbridge_delvetown.days import day_from, text_of
from weighbridge_delvetown.results import CONSEQUENCES

Step = dict[str, Any]
FIRST = "2026-10-18"
PLACES = ("ferry", "mill", "green")
PICKS = tuple(pick for options in CONSEQUENCES.values() for pick in options)


def random_game(random: Random) -> dict[str, Any]:
    """Return a random game as a scenario: its root and its steps."""
    return Season(random, players=3 + random.randrange(4), moves=20 + random.randrange(60)).document()


class Season:
    """A season of so many players and moves, told step by step. `density` is the most seconds between moves."""

    def __init__(self, random: Random, players: int, moves: int, density: int = 7200) -> None:
        self.random = random
        self.players = [f"@p{n}" for n in range(players)]
        self.moves = moves
        self.density = density
        self.steps: list[Step] = []
        self.names: dict[str, list[str]] = {}
        self.second = 8 * 3600
        self.day = day_from(FIRST) or 0

    def document(self) -> dict[str, Any]:
        """Return the scenario."""
        self._begin()
        for _ in range(self.moves):
            self._pass_time(1 + self.random.randrange(self.density))
            self.random.choice(self._moves())()
        self._pass_time(3 * 86_400)
        return {"ruleset": "delvetown", "root": self._root(), "steps": self.steps}

    def _root(self) -> dict[str, Any]:
        places = [{"name": name, "namer": self.players[n]} for n, name in enumerate(PLACES)]
        rules: dict[str, Any] = {
            "places": places,
            "gate": 2,
            "advance": {"track": 4, "cost": 1, "buys": ["dot", "ability"]},
        }
        if self.random.randrange(3) == 0:
            rules["perDay"] = {"action": 2, "between": 2}
        if self.random.randrange(4) == 0:
            rules["consequenceDefault"] = "none"
        return {"gm": "@gm", "rules": rules}

    # --- time and records ----------------------------------------------------------------------------------

    def _pass_time(self, seconds: int) -> None:
        self.second += seconds
        while self.second >= 86_400:
            self.second -= 86_400
            self.day += 1
            self.steps.append({"at": f"{text_of(self.day)}T00:00:00Z", "tick": True})

    def _at(self) -> str:
        hour, rest = divmod(self.second, 3600)
        return f"{text_of(self.day)}T{hour:02}:{rest // 60:02}:{rest % 60:02}Z"

    def _put(self, by: str, what: str, group: str, value: dict[str, Any]) -> str:
        name = f"{group}{len(self.names.setdefault(group, [])) + 1}"
        self.steps.append({"at": self._at(), "by": by, "put": what, "as": name, "value": value})
        self.names[group].append(name)
        return name

    def _move(self, by: str, group: str, kind: str, **fields: Any) -> str:
        return self._put(by, "move", group, {"kind": kind, **fields})

    def _some(self, group: str) -> str:
        """Return a uri of a record of a group: mostly one of the last few, as people speak of what is new."""
        names = self.names.get(group, ())
        return (
            f"uri:{self.random.choice(names[-6:])}" if names else "at://did:plc:nobody/town.delve.move/none"
        )

    def _player(self) -> str:
        return self.random.choice(self.players)

    # --- the beginning -------------------------------------------------------------------------------------

    def _begin(self) -> None:
        for did in self.players:
            self._sheet(did)
        half = len(self.players) // 2
        for members in (self.players[:half], self.players[half:]):
            crew = self._put(
                members[0], "crew", "crew", {"name": f"Crew of {members[0][1:]}", "sheets": members}
            )
            for did in members:
                self._move(did, "join", "join", crew=f"uri:{crew}")
        self._prompt()

    def _sheet(self, did: str) -> None:
        dots: dict[str, int] = {}
        while sum(dots.values()) < 7:
            action = self.random.choice(DELVETOWN)
            dots[action] = min(2, dots.get(action, 0) + 1)
        value: dict[str, Any] = {
            "name": did[1:],
            "look": "grey coat",
            "drive": "see it through",
            "dots": dots,
        }
        value["abilities"] = ["Remembers every door."] if self.random.randrange(2) else []
        if self.random.randrange(4) == 0:
            value["operator"] = self.players[0]
        self._put(did, "sheet", "sheet", value)

    # --- moves ---------------------------------------------------------------------------------------------

    def _moves(self) -> tuple[Callable[[], None], ...]:
        return (
            self._ask, self._ask, self._ask, self._ask, self._ask, self._ask, self._audit, self._mend, self._assist,
            self._rest, self._resist, self._resist, self._pick, self._pick, self._pick, self._answer, self._answer,
            self._claim, self._claim, self._advance, self._stance, self._prompt, self._prompt, self._close, self._join,
            self._scar, self._strike, self._rule, self._outage, self._say, self._second_sheet,
        )  # fmt: skip

    def _target(self) -> dict[str, Any]:
        kind = self.random.randrange(4)
        if kind == 0:
            return {}
        if kind == 1:
            return {"target": {"place": self.random.choice(PLACES)}}
        return {"target": {"crew": self._some("crew")} if kind == 2 else {"self": True}}

    def _prompt(self) -> None:
        last = text_of(self.day + self.random.randrange(4))
        fields: dict[str, Any] = {"from": text_of(self.day), "to": last, **self._target()}
        kind = self.random.randrange(4)
        if kind == 0:
            fields["clock"] = {"name": self.random.choice(("Feud", "Flood")), "size": 4, "kind": "faction"}
        elif kind == 1:
            fields["clock"] = {"name": "Work", "size": 4, "kind": "project"}
            fields["invited"] = [self._player()]
        self._move("@gm", "prompt", "prompt", **fields)

    def _close(self) -> None:
        self._move("@gm", "close", "close", prompt=self._some("prompt"))

    def _ask(self) -> None:
        action, trace = self.random.choice(_TRACES)
        page = self.random.randrange(200)
        self._asked(action, {name: text.replace("N", f"{page}") for name, text in trace.items()})

    def _audit(self) -> None:
        self._asked("audit", {"claim": self._some("vouched"), "check": "https://delve.example/check"})

    def _mend(self) -> None:
        trace = {"before": "https://delve.example/broken", "after": "https://delve.example/fixed"}
        self._asked("mend", trace, {"for": self._player(), "harm": self.random.choice(("fetch", "vouch"))})

    def _asked(self, action: str, trace: dict[str, Any], more: dict[str, Any] | None = None) -> None:
        fields: dict[str, Any] = {"action": action, "trace": trace, **self._target(), **(more or {})}
        if self.random.randrange(10):
            fields["prompt"] = self._some("prompt")
        if self.random.randrange(4) == 0:
            fields["push"] = True
        name = self._move(self._player(), "ask", "ask", **fields)
        if action == "vouch":
            self.names.setdefault("vouched", []).append(name)
        self._evidence(name)

    def _evidence(self, name: str) -> None:
        chance = self.random.randrange(20)
        if chance > 1:
            verdict: Step = {"trace": name, "verdict": "unresolved" if chance == 2 else "ok"}
            if chance < 6:
                verdict["dated"] = f"{text_of(self.day - self.random.randrange(5))}T00:00:00Z"
            self._pass_time(4)
            self.steps.append({"at": self._at(), **verdict})
        if chance:
            self._pass_time(20)
            faces = [1 + self.random.randrange(6) for _ in range(6)]
            self.steps.append({"at": self._at(), "dice": name, "values": faces})

    def _assist(self) -> None:
        self._move(self._player(), "assist", "assist", prompt=self._some("prompt"), **{"for": self._player()})

    def _rest(self) -> None:
        fields: dict[str, Any] = {
            "purpose": "rest",
            "trace": {"url": "https://delve.example/notes", "quote": "again"},
        }
        if self.random.randrange(2):
            fields["harm"] = self.random.choice(("fetch", "vouch", "build"))
        name = self._move(self._player(), "rest", "between", **fields)
        self.steps.append({"at": self._at(), "trace": name, "verdict": "ok"})

    def _resist(self) -> None:
        ask = self._some("ask")
        by = next((s["by"] for s in self.steps if s.get("as") == ask.removeprefix("uri:")), self._player())
        name = self._move(by, "resist", "between", purpose="resist", ask=ask)
        self._pass_time(20)
        faces = [1 + self.random.randrange(6) for _ in range(2)]
        self.steps.append({"at": self._at(), "dice": name, "values": faces})

    def _pick(self) -> None:
        by = "@gm" if self.random.randrange(12) else self._player()
        self._move(by, "pick", "consequence", ask=self._some("ask"), pick=self.random.choice(PICKS))

    def _answer(self) -> None:
        how = self.random.choice(("resist", "oppose", "bargain"))
        self._move(self._player(), "answer", "answer", ask=self._some("ask"), how=how)

    def _claim(self) -> None:
        kind, post = self.random.choice(XP_KINDS), "https://delve.example/post"
        self._move(self._player(), "claim", "claim", xp=kind, post=post, about=self._some("ask"))

    def _advance(self) -> None:
        if self.random.randrange(2):
            self._move(self._player(), "advance", "advance", buys="dot", action=self.random.choice(DELVETOWN))
        else:
            self._move(self._player(), "advance", "advance", buys="ability", text="Knows the tides.")

    def _stance(self) -> None:
        place = self.random.randrange(len(PLACES))
        how = self.random.choice(("play", "play", "neutral", "sell", "refuse", "vouch"))
        toward = {"toward": self._some("crew")} if how in ("sell", "refuse", "vouch") else {}
        prompt = {"prompt": self._some("prompt")} if how == "vouch" else {}
        self._move(self.players[place], "stance", "stance", place=PLACES[place], how=how, **toward, **prompt)

    def _join(self) -> None:
        self._move(self._player(), "join", self.random.choice(("join", "leave")), crew=self._some("crew"))

    def _scar(self) -> None:
        self._move("@gm", "scar", "scar", sheet=self._player(), text="trusts the first source")

    def _strike(self) -> None:
        group = self.random.choice(
            ("ask", "ask", "ask", "assist", "claim", "pick", "sheet", "prompt", "crew", "answer")
        )
        self._move("@gm", "strike", "strike", subject=self._some(group), why="It does not fit.")

    def _rule(self) -> None:
        group = self.random.choice(("ask", "ask", "sheet", "advance"))
        answer = self.random.choice(("allow", "allow", "strike", "upheld", "not-upheld"))
        self._move("@gm", "rule", "rule", subject=self._some(group), answer=answer)

    def _outage(self) -> None:
        yesterday = text_of(self.day - 1)
        self._move("@gm", "outage", "outage", **{"from": yesterday, "to": yesterday})

    def _say(self) -> None:
        self._move(self._player(), "say", self.random.choice(("say", "say", "say", "retire")))

    def _second_sheet(self) -> None:
        self._sheet(self._player())


_TRACES: tuple[tuple[str, dict[str, str]], ...] = (
    ("fetch", {"url": "https://delve.example/page/N", "quote": "the ferry runs at dawn"}),
    ("fetch", {"url": "not a page", "quote": "nothing"}),
    ("build", {"made": "at://did:plc:maker/town.delve.thing/N"}),
    ("draw", {"image": "https://delve.example/map/N"}),
    ("vouch", {"vouchFor": "https://delve.example/praise/N"}),
    ("vouch", {"vouchFor": "https://delve.example/praise/N"}),
    ("keep", {"url": "https://delve.example/kept/N"}),
    ("bargain", {"offer": "https://delve.example/offer/N", "acceptance": "https://delve.example/yes/N"}),
)
