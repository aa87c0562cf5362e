"""Random cards over any system: for random games, and for whoever holds the engine to its bounds."""

from __future__ import annotations

from typing import Any

from weighbridge.contract import Random

from weighbridge_rulecards.names import OUTCOMES

Json = dict[str, Any]


def random_cards(random: Random, system: Json, count: int) -> list[Json]:
    """Return well-formed cards over a system's data, which like to set each other off."""
    maker = _Maker(random, system)
    return [maker.card(n) for n in range(count)]


class _Maker:
    def __init__(self, random: Random, system: Json) -> None:
        self.random = random
        self.system = system
        owned = [track for item in system["items"] for track in item.get("tracks", ())]
        self.tracks = [each["id"] for each in system["tracks"] if each["id"] not in owned]
        self.owned = [(item["id"], track) for item in system["items"] for track in item.get("tracks", ())]
        self.rollable = [each["id"] for each in system["checks"] if each.get("target") != "given"]

    def card(self, number: int) -> Json:
        before = self.random.randrange(4) == 0
        when = self._before() if before else self._after()
        card: Json = {"id": f"card_{number}", "name": f"Card {number}", "when": when}
        if before:
            card["stage"] = "before"
        if self.random.randrange(3) == 0:
            card["if"] = self._condition(when, before)
        then = [self._effect(when, before) for _ in range(1 + self.random.randrange(3))]
        if self.random.randrange(4) == 0:
            card["note"] = "Show it."
        return {**card, "then": then}

    def _id(self, entries: str) -> str:
        return str(self.random.choice(self.system[entries])["id"])

    # --- triggers ------------------------------------------------------------------------------------------

    def _before(self) -> Json:
        when: Json = (
            {"on": "roll"}
            if self.random.randrange(2)
            else {"on": "damage", "dir": self._one("dealt", "taken")}
        )
        if self.system["places"] and self.random.randrange(3) == 0:
            when["place"] = self._id("places")
        if when["on"] == "roll" and self.random.randrange(2):
            when["check"] = self._id("checks")
        elif when["on"] == "damage" and self.random.randrange(2):
            when["min"] = 1 + self.random.randrange(6)
        return when

    def _one(self, *options: str) -> str:
        return self.random.choice(options)

    def _after(self) -> Json:
        plain: list[Json] = [
            {"on": "rest"}, {"on": "turn"}, {"on": "level"}, {"on": "clock"},
            {"on": "fight", "is": self._one("start", "end")},
            {"on": "quest", "is": self._one("step", "finish")}, {"on": "damage", "dir": self._one("dealt", "taken")},
            {"on": "item", "is": self._one("gain", "lose")}, {"on": "defeat"},
            {"on": "story", "ask": f"they keep promise number {self.random.randrange(5)} to a friend"},
        ]  # fmt: skip
        named = [self._roll(), self._roll(), self._track(), self._track(), self._track()]
        for on, field, entries in (
            ("place", "place", "places"),
            ("meet", "person", "people"),
            ("clock", "clock", "clocks"),
        ):
            if self.system[entries]:
                named.append({"on": on, field: self._id(entries)})
        return self.random.choice([*plain, *named, *named])

    def _roll(self) -> Json:
        when: Json = {"on": "roll"}
        check = self.random.choice(self.system["checks"])
        if self.random.randrange(2):
            when["check"] = check["id"]
        if self.random.randrange(3) == 0:
            when["band"] = self.random.choice(check["bands"])["id"]
        elif self.random.randrange(2):
            when["outcome"] = [each for each in OUTCOMES if self.random.randrange(2)] or ["critical"]
        return when

    def _track(self) -> Json:
        when: Json = {"on": "track", "cross": self._one("out", "full", "half", "reach")}
        if self.owned and self.random.randrange(5) == 0:
            when["of"], when["track"] = self.random.choice(self.owned)
        else:
            when["track"] = self.random.choice(self.tracks)
        return {**when, "at": self.random.randrange(4)} if when["cross"] == "reach" else when

    # --- conditions and effects ----------------------------------------------------------------------------

    def _condition(self, when: Json, before: bool) -> str:
        track, number = self.random.choice(self.tracks), self.random.randrange(5)
        condition = self._id("conditions")
        options = [
            f"@cond.{condition} > 0", f"@cond.{condition} == 0", f"@{track} < {number}", f"@{track} >= {number}",
            f"@cond.{condition} > 0 and @{track} >= {number}", f"not @{track}.max - {number} > 2 or @level >= 2",
        ]  # fmt: skip
        if when["on"] == "damage":
            options.append(f"@event.amount >= {number}")
        if when["on"] == "roll" and not before:
            options.append(f"@event.total >= @event.target - {number}")
        return self.random.choice(options)

    def _amount(self) -> str:
        track = self.random.choice(self.tracks)
        number = 1 + self.random.randrange(4)
        return self._one(
            str(number), f"-{number}", str(number), f"-{number}", f"@{track} / 2", f"{number} - @level * 2"
        )

    def _effect(self, when: Json, before: bool) -> Json:
        options = [
            self._on_track,
            self._on_track,
            self._on_track,
            self._on_condition,
            self._on_condition,
            self._xp,
            self._tell,
        ]
        if self.system["pools"]:
            options.append(self._pool)
        if self.system["clocks"]:
            options += [self._clock, self._clock]
        if before:
            return self._change(when) if self.random.randrange(2) else self.random.choice(options)()
        if self.rollable:
            options += [self._rolls]
        if when["on"] == "roll" and self.random.randrange(6) == 0:
            return {"kind": "mark"}
        return self.random.choice(options)()

    def _change(self, when: Json) -> Json:
        kind = self.random.randrange(5)
        if kind == 0:
            return {"kind": "block", "text": "It cannot be"}
        if kind < 3 and when["on"] == "roll":
            return {"kind": "modify", "edge": self._one("advantage", "disadvantage")}
        return {"kind": "modify", "amount": self._amount()}

    def _on_track(self) -> Json:
        effect: Json = {"kind": "track", "track": self.random.choice(self.tracks), "amount": self._amount()}
        if self.owned and self.random.randrange(5) == 0:
            effect["of"], effect["track"] = self.random.choice(self.owned)
        if self.random.randrange(4) == 0:
            effect["op"] = "set"
        if self.random.randrange(5) == 0:
            effect["part"] = "max"
        return effect

    def _on_condition(self) -> Json:
        condition = self.random.choice(self.system["conditions"])
        effect: Json = {"kind": "condition", "condition": condition["id"]}
        levels = condition.get("levels", 0)
        op = self.random.choice(("", "", "lose", "rise", "fall") if levels else ("", "", "lose"))
        if op:
            return {**effect, "op": op}
        if levels:
            effect["level"] = 1 + self.random.randrange(levels)
        if self.random.randrange(2):
            effect["turns"] = 1 + self.random.randrange(3)
        return effect

    def _xp(self) -> Json:
        return {"kind": "xp", "amount": str(self.random.choice((-50, 100, 300, 900)))}

    def _tell(self) -> Json:
        return {"kind": "tell", "text": "Something stirs"}

    def _pool(self) -> Json:
        return {"kind": "pool", "pool": self._id("pools"), "amount": self._amount()}

    def _clock(self) -> Json:
        effect: Json = {
            "kind": "clock",
            "clock": self._id("clocks"),
            "amount": str(1 + self.random.randrange(3)),
        }
        return {**effect, "size": 1 + self.random.randrange(6)} if self.random.randrange(2) else effect

    def _rolls(self) -> Json:
        return {"kind": "roll", "check": self.random.choice(self.rollable)}
