"""The Lexicons of the game's collections. `lexicons/*.json` hold the same; a test keeps the two equal."""

from __future__ import annotations

from typing import Any

from weighbridge_delvetown.actions import XP_KINDS
from weighbridge_delvetown.names import CREW, MOVE, ROOT, SHEET

Json = dict[str, Any]


def _text(description: str, most: int = 3000, **more: Any) -> Json:
    return {"type": "string", "maxLength": most, "description": description, **more}


def _word(description: str, *options: str) -> Json:
    return {"type": "string", "enum": list(options), "description": description}


def _did(description: str) -> Json:
    return {"type": "string", "format": "did", "maxLength": 512, "description": description}


def _uri(description: str) -> Json:
    return {"type": "string", "format": "at-uri", "description": description}


def _day(description: str) -> Json:
    return {
        "type": "string",
        "minLength": 10,
        "maxLength": 10,
        "description": f"{description}, as YYYY-MM-DD.",
    }


def _map(description: str) -> Json:
    return {"type": "unknown", "description": description}


def _ref(name: str, description: str) -> Json:
    return {"type": "ref", "ref": f"#{name}", "description": description}


def _list(items: Json, description: str, most: int = 1000) -> Json:
    return {"type": "array", "items": items, "maxLength": most, "description": description}


def _object(description: str, required: list[str], properties: Json) -> Json:
    return {"type": "object", "description": description, "required": required, "properties": properties}


GAME = _uri("The game: the at-uri of its root.")
MADE = {"type": "string", "maxLength": 100, "description": "When the author says this was made. Ignored."}
ASK = _uri("The ask this is about.")
PROMPT = _uri("The prompt this belongs to.")
CREW_URI = _uri("The crew.")
ACTION = _text("An action of the game.", 64)
TARGET = _ref("target", "What the act is aimed at.")
TRACE = _map("What really happened, that anyone can open: a URL or at-uri, in the form the action asks for.")

WHAT = {"type": "integer", "minimum": 1, "description": "The number of a sheet's ability, from 1."}

KINDS: dict[str, tuple[str, list[str], Json]] = {
    "ask": (
        "An action: a roll for something that really happened.",
        ["action"],
        {
            "action": ACTION,
            "prompt": PROMPT,
            "target": TARGET,
            "trace": TRACE,
            "push": {"type": "boolean", "description": "One die more, for drift."},
            "for": _did("Of a mend: whose harm it mends."),
            "harm": _text("Of a mend: the harmed action.", 64),
        },
    ),
    "assist": (
        "Help for a crewmate's next ask of the day in a prompt.",
        ["prompt", "for"],
        {"prompt": PROMPT, "for": _did("The sheet that is helped.")},
    ),
    "between": (
        "A between move: rest, repair, or resisting a consequence.",
        ["purpose"],
        {
            "purpose": _word("What it is for.", "rest", "repair", "resist"),
            "trace": TRACE,
            "harm": _text("The harmed action to heal.", 64),
            "ask": ASK,
        },
    ),
    "claim": (
        "A claim of XP, citing the post that earned it.",
        ["xp", "post"],
        {
            "xp": _word("What earned it.", *XP_KINDS),
            "post": _text("The post: a URL or an at-uri."),
            "about": _uri("The ask it is about."),
        },
    ),
    "advance": (
        "An advance, bought with XP.",
        ["buys"],
        {
            "buys": _word("What is bought.", "dot", "ability"),
            "action": ACTION,
            "text": _text("The ability, in the player's own words.", 12_000),
        },
    ),
    "join": ("Joins a crew.", ["crew"], {"crew": CREW_URI}),
    "leave": ("Leaves a crew.", ["crew"], {"crew": CREW_URI}),
    "answer": (
        "Contests another crew's act.",
        ["ask", "how"],
        {"ask": ASK, "how": _word("How the act is answered.", "resist", "oppose", "bargain")},
    ),
    "stance": (
        "What a landlord says of a place.",
        ["place", "how"],
        {
            "place": _text("The place.", 32),
            "how": _word("The stance.", "play", "neutral", "sell", "refuse", "vouch"),
            "toward": _text("The crew (at-uri) or sheet (DID) it is toward.", 3000),
            "prompt": PROMPT,
        },
    ),
    "say": ("Talk. The fold ignores it.", [], {}),
    "retire": ("Retires the author's sheet.", [], {}),
    "prompt": (
        "Of the GM: opens a score.",
        ["from", "to"],
        {
            "from": _day("The window's first day"),
            "to": _day("The window's last day"),
            "target": TARGET,
            "invited": _list(_did("A sheet."), "Who is invited; without it, everybody."),
            "clock": _ref("clock", "The clock it fills."),
        },
    ),
    "close": ("Of the GM: ends a prompt's window with the current day.", ["prompt"], {"prompt": PROMPT}),
    "consequence": (
        "Of the GM: which consequence a roll has.",
        ["ask", "pick"],
        {"ask": ASK, "pick": _text("One of the position's list.", 64), "action": ACTION},
    ),
    "scar": (
        "Of the GM: a scar on a sheet.",
        ["sheet", "text"],
        {"sheet": _did("The sheet."), "text": _text("One line of text.")},
    ),
    "strike": (
        "Of the GM: strikes a move, a sheet, an ability or a claim.",
        ["subject", "why"],
        {
            "subject": _uri("What is struck."),
            "what": WHAT,
            "why": _text("Why."),
        },
    ),
    "rule": (
        "Of the GM: the answer to a question, or the release of what was struck.",
        ["subject", "answer"],
        {
            "subject": _uri("What is ruled on."),
            "answer": _text("One of the question's options.", 64),
            "what": WHAT,
            "why": _text("Why."),
        },
    ),
    "outage": (
        "Of the GM: days on which the town could not be reached.",
        ["from", "to"],
        {"from": _day("The first day"), "to": _day("The last day")},
    ),
}
"""Of each kind of move: what it is, the fields it must have, and all its fields."""

GM_KINDS = ("prompt", "close", "consequence", "scar", "strike", "rule", "outage")


def _record(nsid: str, description: str, required: list[str], properties: Json, **defs: Json) -> Json:
    record = {"type": "object", "required": required, "properties": properties}
    main = {"type": "record", "key": "any", "description": description, "record": record}
    return {"lexicon": 1, "id": nsid, "defs": {"main": main, **defs}}


def _move() -> Json:
    every: Json = {"kind": _word("The kind of the move.", *KINDS), "game": GAME, "createdAt": MADE}
    defs: dict[str, Json] = {}
    for kind, (says, required, properties) in KINDS.items():
        for name, schema in properties.items():
            every.setdefault(name, schema)
        own = {"kind": {"type": "string", "const": kind}, "game": GAME, "createdAt": MADE, **properties}
        defs[kind] = _object(says, ["kind", "game", *required], own)
    defs["target"] = _object(
        "A place, a crew or oneself: one of the three.",
        [],
        {
            "place": _text("The place's name.", 32),
            "crew": _text("The crew's at-uri, or the DID of a sheet in no crew.", 3000),
            "self": {"type": "boolean", "const": True, "description": "One's own project."},
        },
    )
    defs["clock"] = _object(
        "A clock, which the fold fills.",
        ["name", "size", "kind"],
        {
            "name": _text("Its name."),
            "size": {"type": "integer", "description": "Its segments: a size that the root allows."},
            "kind": _word("Whom it counts for.", "faction", "project"),
        },
    )
    return _record(
        MOVE,
        "A move: anything that happens in the game. Its kind says which.",
        ["kind", "game"],
        every,
        **defs,
    )


ROOT_DOCUMENT = _record(
    ROOT,
    "The root of a game of Gangs of Delvetown. Its at-uri is the game's name.",
    ["gm"],
    {
        "gm": _did("The GM."),
        "house": _list(
            _did("A seat."), "Seats of the house: they play, do not count for the gate, and cannot be GM."
        ),
        "rules": _map("The game's options; each has a default."),
        "beacon": _map("Of the kernel: the chain of beacons and the margin in seconds."),
        "lister": _did("Of the kernel: the operator who writes the log."),
        "policy": _map("Of the kernel: who cosigns."),
        "witnesses": _map("Of the kernel: whose trace reports settle."),
        "fold": _map("Of the kernel: the rule set's name, pin and attachments."),
        "voidDays": {
            "type": "integer",
            "description": "Of the kernel: game days within which a record can be voided.",
        },
        "floods": _map("Of the kernel: records a day of one author, and of authors without standing."),
        "succeeds": _uri("Of the kernel: the root this one follows."),
        "createdAt": MADE,
    },
)
SHEET_DOCUMENT = _record(
    SHEET,
    "A player's sheet, one an account. The first well-formed version is pinned.",
    ["game", "name", "look", "drive", "dots", "abilities"],
    {
        "game": GAME,
        "name": _text("The character's name."),
        "look": _text("How they look."),
        "drive": _text("What drives them."),
        "dots": _map("Dots by action, each a whole number."),
        "abilities": _list(_text("An ability, in the player's own words.", 12_000), "What they can do.", 16),
        "operator": _did("Who runs the account; by default the account itself."),
        "createdAt": MADE,
    },
)
CREW_DOCUMENT = _record(
    CREW,
    "A crew: a name and the sheets it lists. Each signs by a move to join.",
    ["game", "name", "sheets"],
    {
        "game": GAME,
        "name": _text("The crew's name."),
        "sheets": _list(_did("A sheet."), "The sheets of the crew."),
        "createdAt": MADE,
    },
)
MOVE_DOCUMENT = _move()
COLLECTIONS: dict[str, Json] = {
    ROOT: ROOT_DOCUMENT, SHEET: SHEET_DOCUMENT, CREW: CREW_DOCUMENT, MOVE: MOVE_DOCUMENT,
}  # fmt: skip
