"""The season: Delvetown, 20 November to 13 December 2023, on rounds that quicknet had on those days.

Every roll stands in the three seconds whose round is one that came along (`data/beacons.json`). What the dice
would show nobody could know when they were listed; the GM's picks were written after the rolls, as in any game.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from weighbridge.identity import Envelope

from weighbridge_services.demo.cast import BY_KEY, GM, LANE, PLAYERS, ROW, signer
from weighbridge_services.demo.season import Season
from weighbridge_services.demo.story_december import december

PAGE: Final = "https://delve.example"
PLACES: Final = (
    ("lantern-row", "ilse", "Lantern Row"),
    ("ferry-lane", "bram", "Ferry Lane"),
    ("mill", "odile", "The old mill"),
    ("green", "wim", "The green"),
)


def rules() -> dict[str, Any]:
    """Return the root's own rules: the places, and what an advance costs."""
    places = [{"name": name, "namer": BY_KEY[namer].did, "title": title} for name, namer, title in PLACES]
    return {"places": places, "advance": {"track": 6, "cost": 2, "buys": ["dot", "ability"]}}


def tell(kernel: Mapping[str, Any], guests: Iterable[Envelope] = ()) -> Season:
    """Return the season; `kernel` is what the root says of lister, policy, witnesses and rule set.

    `guests`: operator records of those who follow although the root does not name them.
    """
    season = Season()
    opening(season, kernel, guests)
    for chapter in (
        the_bell,
        the_bell_again,
        tides,
        late_ferry,
        two_rounds,
        harbour_dues,
        the_last_of_november,
    ):
        chapter(season)
    december(season)
    return season


def opening(s: Season, kernel: Mapping[str, Any], guests: Iterable[Envelope]) -> None:
    """The root, seven sheets, two crews and the first prompt."""
    s.at("2023-11-20 08:00")
    s.root({"gm": signer(GM).did, "rules": rules(), **kernel})
    for guest in guests:
        s.hand_in(guest)
    for player in PLAYERS:
        s.put(
            player.key, "sheet", f"sheet-{player.key}", name=player.name, look=player.look, drive=player.drive,
            dots=player.dots, abilities=[player.ability],
        )  # fmt: skip
    for key, name, members in (("row", "Lantern Row", ROW), ("lane", "Ferry Lane", LANE)):
        s.put(members[0], "crew", f"crew-{key}", name=name, sheets=[f"did:@{member}" for member in members])
        for member in members:
            s.move(member, "join", f"join-{member}", crew=f"uri:crew-{key}")
    s.move("ilse", "stance", "stance-row", place="lantern-row", how="play")
    s.move("bram", "stance", "stance-lane", place="ferry-lane", how="play")
    s.move(GM, "prompt", "bell", from_="2023-11-21", to="2023-11-23")
    for key in ("ilse", "marek", "odile", "bram", "saskia", "wim"):
        s.move(GM, "rule", f"rule-{key}", subject=f"uri:sheet-{key}", answer="allow")
    s.settle()


def the_bell(s: Season) -> None:
    """21 November: the ferry bell is gone, and everybody goes to look."""
    s.towards(2581163)
    s.ask(
        "ilse",
        "1121-ilse",
        "fetch",
        "bell",
        {"url": f"{PAGE}/row/night-watch", "quote": "no bell after four"},
    )
    s.ask("marek", "1121-marek", "reckon", "bell", {"number": 412, "method": f"{PAGE}/marek/how-i-counted"})
    s.ask("odile", "1121-odile", "draw", "bell", {"image": f"{PAGE}/odile/wharf.png"}, push=True)
    s.ask("tomas", "1121-tomas", "sway", "bell", {"post": f"{PAGE}/tomas/1", "reply": f"{PAGE}/harbour/1"})
    s.ask("bram", "1121-bram", "build", "bell", {"made": f"{PAGE}/bram/a-bell-of-tin"})
    s.ask(
        "wim",
        "1121-wim",
        "fetch",
        "bell",
        {"url": f"{PAGE}/yard/ropes", "quote": "cut, not frayed"},
        push=True,
    )
    s.ask("wim", "1121-wim-again", "fetch", "bell", {"url": f"{PAGE}/yard/ropes-2", "quote": "cut twice"})
    s.roll()
    s.at("2023-11-21 18:30")
    s.move("ilse", "claim", "1121-claim", xp="lost-roll", post=f"{PAGE}/ilse/1", about="uri:1121-ilse")
    s.move("wim", "claim", "1121-claim-wim", xp="refused", post=f"{PAGE}/wim/1")
    s.forged("ilse", "1121-forged", signer("nobody"), kind="retire")
    s.move(GM, "strike", "1121-strike", subject="uri:sheet-tomas", what=1, why="Nobody knows everyone.")
    s.move(GM, "consequence", "1121-pick", ask="uri:1121-marek", pick="tick")
    s.move(GM, "prompt", "tide", from_="2023-11-23", to="2023-11-27", target={"place": "ferry-lane"},
           clock={"name": "The tide ledger", "size": 6, "kind": "faction"})  # fmt: skip
    s.at("2023-11-22 09:00")
    s.move("wim", "between", "1122-rest", purpose="rest", trace={"url": f"{PAGE}/wim/2", "quote": "slept"})


def the_bell_again(s: Season) -> None:
    """23 November: the last day of the bell, the first of the tide ledger."""
    s.towards(2645692)
    s.move("odile", "between", "1123-resist", purpose="resist", ask="uri:1121-odile")
    s.ask("ilse", "1123-ilse", "keep", "bell", {"url": f"{PAGE}/row/kept/lamp-7"})
    s.ask(
        "marek",
        "1123-marek",
        "audit",
        "tide",
        {"claim": f"{PAGE}/bram/a-bell-of-tin", "check": f"{PAGE}/marek/1"},
    )
    s.ask("odile", "1123-odile", "build", "tide", {"made": f"{PAGE}/odile/tide-pole"})
    s.ask(
        "bram",
        "1123-bram",
        "mend",
        "bell",
        {"before": f"{PAGE}/ferry/rope-1", "after": f"{PAGE}/ferry/rope-2"},
    )
    s.ask("saskia", "1123-saskia", "reckon", "tide", {"number": 1883, "method": f"{PAGE}/saskia/marks"})
    s.ask(
        "wim", "1123-wim", "sway", "tide", {"post": f"{PAGE}/wim/5", "reply": f"{PAGE}/harbour/6"}, push=True
    )
    s.roll()
    s.at("2023-11-23 20:00")
    s.move("saskia", "answer", "1123-answer", ask="uri:1123-marek", how="oppose")
    s.move("bram", "answer", "1123-answer-2", ask="uri:1123-odile", how="resist")
    s.move("ilse", "claim", "1123-claim", xp="lost-roll", post=f"{PAGE}/ilse/2", about="uri:1123-ilse")
    s.move("saskia", "claim", "1123-claim-saskia", xp="drive", post=f"{PAGE}/saskia/3")
    s.move("saskia", "claim", "1123-claim-again", xp="drive", post=f"{PAGE}/saskia/4")
    s.move(GM, "consequence", "1123-pick", ask="uri:1123-saskia", pick="heat")
    s.move(GM, "prompt", "lamps", from_="2023-11-25", to="2023-11-28", target={"crew": "uri:crew-row"},
           clock={"name": "The lamp tax", "size": 8, "kind": "faction"})  # fmt: skip
    s.at("2023-11-24 10:00")
    s.move("ilse", "advance", "1124-advance", buys="dot", action="mend")
    s.move(
        "bram",
        "between",
        "1124-repair",
        purpose="repair",
        trace={"made": f"{PAGE}/bram/splint"},
        harm="build",
    )


def tides(s: Season) -> None:
    """25 November: both crews in each other's streets."""
    s.at("2023-11-25 09:00")
    s.move(
        GM,
        "strike",
        "1125-strike",
        subject="uri:1123-odile",
        why="The tide pole is Bram's own, painted over.",
    )
    s.towards(2710221)
    s.move("marek", "between", "1125-resist", purpose="resist", ask="uri:1123-marek")
    s.move("tomas", "assist", "1125-assist", prompt="uri:tide", for_="did:@marek")
    s.ask(
        "ilse", "1125-ilse", "fetch", "tide", {"url": f"{PAGE}/lane/tide-book", "quote": "page 9 is missing"}
    )
    s.ask("marek", "1125-marek", "reckon", "tide", {"number": 9, "method": f"{PAGE}/marek/pages"})
    s.ask("bram", "1125-bram", "fetch", "lamps", {"url": f"{PAGE}/row/oil", "quote": "paid until spring"})
    s.ask("saskia", "1125-saskia", "trace", "lamps", {"uris": ["uri:1121-ilse", "uri:1123-ilse"]})
    s.ask("wim", "1125-wim", "draw", "lamps", {"image": f"{PAGE}/wim/row-at-night.png"}, push=True)
    s.roll()
    s.at("2023-11-25 21:00")
    s.move("ilse", "answer", "1125-answer", ask="uri:1125-bram", how="oppose")
    s.move("tomas", "answer", "1125-answer-2", ask="uri:1125-saskia", how="bargain")
    s.move("bram", "answer", "1125-answer-3", ask="uri:1125-ilse", how="resist")


def late_ferry(s: Season) -> None:
    """27 November: the last hour of the day, and of the tide ledger's window."""
    s.at("2023-11-27 08:00")
    s.move(GM, "prompt", "river", from_="2023-11-27", to="2023-12-04", target={"self": True}, invited=["did:@odile"],
           clock={"name": "The river as it runs", "size": 4, "kind": "project"})  # fmt: skip
    s.towards(2774750)
    s.ask(
        "ilse", "1127-ilse", "sway", "tide", {"post": f"{PAGE}/ilse/3", "reply": f"{PAGE}/lane/4"}, push=True
    )
    s.ask("odile", "1127-odile", "draw", "river", {"image": f"{PAGE}/odile/bend-1.png"})
    s.ask("tomas", "1127-tomas", "vouch", "tide", {"vouchFor": f"{PAGE}/lane/the-old-clerk"})
    s.ask("bram", "1127-bram", "build", "lamps", {"made": f"{PAGE}/bram/oil-scale"}, push=True)
    s.ask(
        "saskia",
        "1127-saskia",
        "audit",
        "lamps",
        {"claim": f"{PAGE}/row/kept/lamp-7", "check": f"{PAGE}/saskia/2"},
    )
    s.ask("wim", "1127-wim", "fetch", "river", {"url": f"{PAGE}/odile/bend-1", "quote": "not my river"})
    s.roll()


def two_rounds(s: Season) -> None:
    """28 November: two rounds in one evening, and time between them to pick and to resist."""
    s.at("2023-11-28 09:00")
    s.move(GM, "prompt", "dues", from_="2023-11-28", to="2023-11-30", target={"place": "green"})
    s.move("wim", "stance", "stance-green", place="green", how="neutral")
    s.move(GM, "consequence", "1128-pick", ask="uri:1127-ilse", pick="harm", action="sway")
    s.move(GM, "consequence", "1128-pick-2", ask="uri:1127-bram", pick="harm+tick", action="keep")
    s.towards(2797373)
    s.move("ilse", "between", "1128-resist", purpose="resist", ask="uri:1127-ilse")
    s.ask("marek", "1128-marek", "trace", "dues", {"uris": ["uri:1123-saskia"]})
    s.ask(
        "ilse", "1128-ilse", "fetch", "dues", {"url": f"{PAGE}/green/stalls", "quote": "two pennies a stall"}
    )
    s.ask("bram", "1128-bram", "keep", "lamps", {"url": f"{PAGE}/bram/kept/oil-scale"})
    s.ask(
        "saskia", "1128-saskia", "audit", "dues", {"claim": "uri:1127-tomas", "check": f"{PAGE}/saskia/clerk"}
    )
    s.roll()
    s.move(GM, "consequence", "1128-pick-3", ask="uri:1128-saskia", pick="harm2", action="audit")
    s.towards(2798644)
    s.move("saskia", "between", "1128-resist-2", purpose="resist", ask="uri:1128-saskia")
    s.ask(
        "tomas",
        "1128-tomas",
        "bargain",
        "dues",
        {"offer": f"{PAGE}/tomas/8", "acceptance": f"{PAGE}/green/9"},
    )
    s.ask("wim", "1128-wim", "bargain", "dues", {"offer": f"{PAGE}/wim/9", "acceptance": f"{PAGE}/green/10"},
          push=True)  # fmt: skip
    s.roll()
    s.at("2023-11-28 21:00")
    s.move(GM, "rule", "1128-rule", subject="uri:1128-saskia", answer="upheld")
    s.move(GM, "consequence", "1128-pick-4", ask="uri:1128-bram", pick="harm+tick", action="keep")


def harbour_dues(s: Season) -> None:
    """29 November: who pays for the green."""
    s.towards(2832127)
    s.move("bram", "between", "1129-resist", purpose="resist", ask="uri:1128-bram")
    s.ask("marek", "1129-marek", "reckon", "dues", {"number": 26, "method": f"{PAGE}/marek/stalls"})
    s.ask("odile", "1129-odile", "convene", "dues", {"thread": f"{PAGE}/odile/meeting"})
    s.ask("saskia", "1129-saskia", "reckon", "dues", {"number": 31, "method": f"{PAGE}/saskia/stalls"})
    s.ask("bram", "1129-bram", "fetch", "dues", {"url": f"{PAGE}/green/book", "quote": "owed by nobody"})
    s.roll()


def the_last_of_november(s: Season) -> None:
    """30 November: the last day of the dues."""
    s.towards(2839279)
    s.ask("ilse", "1130-ilse", "keep", "dues", {"url": f"{PAGE}/row/kept/lamp-9"}, push=True)
    s.ask("tomas", "1130-tomas", "sway", "dues", {"post": f"{PAGE}/tomas/11", "reply": f"{PAGE}/harbour/12"})
    s.ask("wim", "1130-wim", "fetch", "dues", {"url": f"{PAGE}/green/well", "quote": "dry since Monday"})
    s.roll()
    s.at("2023-11-30 19:00")
    s.move(GM, "consequence", "1130-pick", ask="uri:1130-tomas", pick="tick")
    s.move(GM, "consequence", "1130-pick-2", ask="uri:1130-wim", pick="harm2", action="sway")
    s.move("marek", "claim", "1130-claim", xp="drive", post=f"{PAGE}/marek/20")
