"""The season's second half: the mill is sold, the ledger comes back, and the last ferry goes."""

from __future__ import annotations

from typing import Final

from weighbridge_services.demo.cast import GM
from weighbridge_services.demo.season import Season

PAGE: Final = "https://delve.example"


def december(s: Season) -> None:
    """Tell the days from 1 to 13 December."""
    for chapter in (the_mill, the_river, the_ledger, the_last_ferry):
        chapter(s)
    s.end("2023-12-12 21:00")


def the_mill(s: Season) -> None:
    """2 December: Odile has sold the mill to Ferry Lane."""
    s.at("2023-12-01 10:00")
    s.move("odile", "stance", "stance-mill", place="mill", how="sell", toward="uri:crew-lane")
    s.move(GM, "prompt", "flour", from_="2023-12-02", to="2023-12-04", target={"place": "mill"},
           clock={"name": "Flour for the winter", "size": 4, "kind": "faction"})  # fmt: skip
    s.towards(2903808)
    s.ask(
        "marek",
        "1202-marek",
        "audit",
        "flour",
        {"claim": f"{PAGE}/mill/sacks", "check": f"{PAGE}/marek/sacks"},
    )
    s.ask("odile", "1202-odile", "build", "river", {"made": f"{PAGE}/odile/model"})
    s.ask(
        "tomas",
        "1202-tomas",
        "bargain",
        "flour",
        {"offer": f"{PAGE}/tomas/14", "acceptance": f"{PAGE}/mill/15"},
    )
    s.ask("bram", "1202-bram", "mend", "flour", {"before": f"{PAGE}/mill/wheel-1", "after": f"{PAGE}/mill/wheel-2"},
          push=True)  # fmt: skip
    s.ask(
        "saskia",
        "1202-saskia",
        "fetch",
        "flour",
        {"url": f"{PAGE}/mill/book", "quote": "forty sacks, not fifty"},
    )
    s.roll()


def the_river(s: Season) -> None:
    """4 December: the last day of the mill and of the map."""
    s.at("2023-12-03 11:00")
    s.move(
        "ilse",
        "between",
        "1203-repair",
        purpose="repair",
        trace={"url": f"{PAGE}/ilse/17", "quote": "better"},
        harm="fetch",
    )
    s.move("marek", "claim", "1203-claim", xp="contradicted", post=f"{PAGE}/marek/21")
    s.towards(2968337)
    s.move("marek", "between", "1204-resist", purpose="resist", ask="uri:1202-marek")
    s.ask("ilse", "1204-ilse", "fetch", "flour", {"url": f"{PAGE}/mill/door", "quote": "closed at five"})
    s.ask("odile", "1204-odile", "draw", "river", {"image": f"{PAGE}/odile/bend-2.png"})
    s.ask("marek", "1204-marek", "trace", "flour", {"uris": ["uri:1202-saskia"]})
    s.ask("wim", "1204-wim", "sway", "flour", {"post": f"{PAGE}/wim/16", "reply": f"{PAGE}/mill/17"})
    s.ask("saskia", "1204-saskia", "reckon", "flour", {"number": 40, "method": f"{PAGE}/saskia/sacks"})
    s.roll()
    s.at("2023-12-04 20:00")
    s.move("saskia", "answer", "1204-answer", ask="uri:1204-ilse", how="bargain")
    s.move(GM, "consequence", "1204-pick", ask="uri:1204-saskia", pick="tick")
    s.move(
        "marek",
        "advance",
        "1204-advance",
        buys="ability",
        text="Can tell a copied number from a counted one.",
    )


def the_ledger(s: Season) -> None:
    """9 December: page nine of the tide ledger turns up."""
    s.at("2023-12-08 12:00")
    s.move(GM, "prompt", "page-nine", from_="2023-12-09", to="2023-12-11", target={"place": "ferry-lane"},
           clock={"name": "The tide ledger", "size": 6, "kind": "faction"})  # fmt: skip
    s.towards(3097395)
    s.ask("ilse", "1209-ilse", "mend", "page-nine", {"before": f"{PAGE}/odile/18", "after": f"{PAGE}/odile/19"},
          for_="did:@odile", harm="draw")  # fmt: skip
    s.ask(
        "marek",
        "1209-marek",
        "audit",
        "page-nine",
        {"claim": f"{PAGE}/lane/page-nine", "check": f"{PAGE}/marek/9"},
    )
    s.ask("bram", "1209-bram", "keep", "page-nine", {"url": f"{PAGE}/lane/kept/page-nine"})
    s.ask("saskia", "1209-saskia", "trace", "page-nine", {"uris": ["uri:1125-marek"]})
    s.ask("wim", "1209-wim", "draw", "page-nine", {"image": f"{PAGE}/wim/page-nine.png"})
    s.roll()
    s.at("2023-12-09 19:00")
    s.move("bram", "answer", "1209-answer", ask="uri:1209-marek", how="oppose")
    s.move("saskia", "answer", "1209-answer-2", ask="uri:1209-ilse", how="resist")
    s.move(GM, "consequence", "1209-pick", ask="uri:1209-saskia", pick="heat")
    s.at("2023-12-10 20:00")
    s.move("bram", "stance", "stance-refuse", place="ferry-lane", how="refuse", toward="uri:crew-row")


def the_last_ferry(s: Season) -> None:
    """11 December: everybody is at the wharf."""
    s.towards(3161924)
    s.move("bram", "between", "1211-resist", purpose="resist", ask="uri:1209-bram")
    s.ask("ilse", "1211-ilse", "fetch", "page-nine", {"url": f"{PAGE}/wharf/lamp", "quote": "lit"})
    s.ask("marek", "1211-marek", "reckon", "page-nine", {"number": 9, "method": f"{PAGE}/marek/tides"})
    s.ask("odile", "1211-odile", "draw", "page-nine", {"image": f"{PAGE}/odile/river.png"})
    s.ask("tomas", "1211-tomas", "vouch", "page-nine", {"vouchFor": f"{PAGE}/lane/bram"})
    s.ask("bram", "1211-bram", "build", "page-nine", {"made": f"{PAGE}/bram/the-bell"}, push=True)
    s.ask(
        "saskia",
        "1211-saskia",
        "audit",
        "page-nine",
        {"claim": f"{PAGE}/odile/river.png", "check": f"{PAGE}/saskia/7"},
    )
    s.ask(
        "wim", "1211-wim", "fetch", "page-nine", {"url": f"{PAGE}/wharf/bell", "quote": "it rang, I heard it"}
    )
    s.roll()
    s.at("2023-12-12 18:00")
    s.move(GM, "consequence", "1212-pick", ask="uri:1211-bram", pick="heat")
    s.move(GM, "consequence", "1212-pick-2", ask="uri:1211-wim", pick="heat")
    s.move(GM, "consequence", "1212-pick-3", ask="uri:1211-marek", pick="harm2", action="trace")
    s.move(GM, "scar", "1212-scar", sheet="did:@bram", text="whistles when nobody is coming")
