"""Rule cards against npm's json-rules-engine on the same 100 cards and 10 thousand events, in one run; and how
the time grows with cards that do not match.

The cards are of four kinds, each with a condition on a number; every event matches a quarter of them by kind.
The other engine has no triggers, so what a card watches for is one more condition of its rule. Both are warmed,
and both count the cards that fired, which must be the same number.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from weighbridge_rulecards.commands.desk import Desk, Memory, docket_of
from weighbridge_rulecards.events import Happened
from weighbridge_rulecards.moments import Moment
from weighbridge_rulecards.records import Record
from weighbridge_rulecards.rules import Rules, read_rules
from weighbridge_rulecards.sheets import character

Row = tuple[str, float, str, str]

SMOKE = bool(os.environ.get("WEIGHBRIDGE_BENCH_SMOKE"))
CARDS, EVENTS = 100, 500 if SMOKE else 10_000
ANN = "did:plc:ann"
KINDS: tuple[tuple[dict[str, Any], Happened], ...] = (
    ({"on": "rest"}, Happened(ANN, 1, (("rest",),))),
    ({"on": "turn"}, Happened(ANN, 1, (("turn",),))),
    ({"on": "fight", "is": "start"}, Happened(ANN, 1, (("fight", "start"),))),
    ({"on": "quest", "is": "step"}, Happened(ANN, 1, (("quest", "step"),))),
)


def cards(count: int) -> list[dict[str, Any]]:
    """Cards by turns of the four kinds; each compares Nerve, which is 3, with 0 to 6."""
    return [
        {
            "id": f"card_{n}",
            "name": f"Card {n}",
            "when": KINDS[n % 4][0],
            "if": f"@nerve >= {n // 4 % 7}",
            "then": [{"kind": "tell", "text": "Something stirs"}],
        }
        for n in range(count)
    ]


def loaded(made: list[dict[str, Any]]) -> Rules:
    """Return the rules of these cards."""
    rules, problems = read_rules({"rules": {"system": "classic-d20", "cards": made}})
    assert rules is not None, problems
    return rules


class Table(Memory):
    """A table that does not keep what is written, so that only the engine's own work is measured."""

    fired = 0

    def __setitem__(self, key: str, value: Any) -> None:
        self.fired += key.startswith("cue/")


def run(rules: Rules, events: int, kinds: int = 4) -> tuple[float, int]:
    """Return the seconds that so many events take, each a moment of its own, and how many cards fired."""
    table, desk = Table(), Desk()
    table.cells[f"char/{ANN}"] = character({"name": "Ann"}, rules.system, "")
    dockets = [docket_of(n, {"kind": "turn", "for": ANN}, rules) for n in range(4)]
    begun = time.perf_counter()
    for n in range(events):
        record = Record(table, dockets[n % 4], desk, rules, {})
        moment = Moment(record)
        moment.happen(KINDS[n % kinds][1])
        moment.run()
    return time.perf_counter() - begun, table.fired


def best(rules: Rules, events: int, kinds: int = 4) -> tuple[float, int]:
    """Return the best of three runs."""
    return min((run(rules, events, kinds) for _ in range(3)), key=lambda each: each[0])


# --- the other engine --------------------------------------------------------------------------------------

SCRIPT = """
const { Engine } = require('json-rules-engine');
const { cards, events } = JSON.parse(require('fs').readFileSync(0, 'utf8'));
const kinds = ['rest', 'turn', 'fight', 'quest'];
const engine = new Engine(cards.map((card, n) => ({
  name: card.id,
  conditions: { all: [
    { fact: 'on', operator: 'equal', value: kinds[n % 4] },
    { fact: 'nerve', operator: 'greaterThanInclusive', value: Math.floor(n / 4) % 7 },
  ] },
  event: { type: 'tell', params: { text: card.then[0].text } },
})));
async function run(count) {
  let fired = 0;
  const begun = process.hrtime.bigint();
  for (let n = 0; n < count; n++) {
    const { events } = await engine.run({ on: kinds[n % 4], nerve: 3 });
    fired += events.length;
  }
  return [Number(process.hrtime.bigint() - begun) / 1e9, fired];
}
(async () => {
  await run(events / 10);
  const found = await run(events);
  const version = require('json-rules-engine/package.json').version;
  console.log(JSON.stringify({ seconds: found[0], fired: found[1], version }));
})();
"""


def other(made: list[dict[str, Any]], events: int) -> dict[str, Any] | str:
    """Return what json-rules-engine takes and fires, or why it cannot be asked."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        return "node and npm are not here"
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "package.json").write_text('{"private": true}', "utf-8")
        install = ["npm", "install", "--silent", "--no-audit", "--no-fund", "json-rules-engine"]
        got = subprocess.run(install, cwd=folder, capture_output=True, text=True, check=False)
        if got.returncode:
            return "npm could not install json-rules-engine"
        (Path(folder) / "run.js").write_text(SCRIPT, "utf-8")
        given = json.dumps({"cards": made, "events": events})
        ran = subprocess.run(
            ["node", "run.js"], cwd=folder, input=given, capture_output=True, text=True, check=True
        )
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def rows() -> list[Row]:
    """Return the measurements."""
    made = cards(CARDS)
    rules = loaded(made)
    seconds, fired = best(rules, EVENTS)
    found: list[Row] = [
        ("rulecards: events", EVENTS / seconds, "events/s", f"{CARDS} cards, {EVENTS} events, {fired} fired")
    ]
    theirs = other(made, EVENTS)
    if isinstance(theirs, str):
        found.append(("json-rules-engine: events", 0, "skipped", theirs))
    else:
        assert theirs["fired"] == fired, f"they fired {theirs['fired']} cards and we {fired}"
        rate = EVENTS / theirs["seconds"]
        version = theirs["version"]
        found.append(("json-rules-engine: events", rate, "events/s", f"{version}, the same cards and events"))
        found.append(("rulecards: times json-rules-engine", EVENTS / seconds / rate, "x", "aim: at least 5"))
    return [*found, *growth(), load_row()]


def growth() -> list[Row]:
    """Return how an event's time grows with cards that do not match it: ten rest cards, and more of other kinds."""
    few = [each for each in cards(40) if each["when"] == {"on": "rest"}]
    others = [each for each in cards(640) if each["when"] != {"on": "rest"}]
    found: list[Row] = []
    base = 0.0
    for more in (0, 90, 480):
        seconds, _ = best(loaded([*few, *others[:more]]), EVENTS, kinds=1)
        base = base or seconds
        name = f"rulecards: an event, {more} cards not matching"
        found.append((name, 1e6 * seconds / EVENTS, "µs", f"{seconds / base:.2f} of that with none"))
    return found


def load_row() -> Row:
    """Return what it costs to read 500 cards."""
    made = cards(500)
    begun = time.perf_counter()
    loaded(made)
    return ("rulecards: load 500 cards", 1e3 * (time.perf_counter() - begun), "ms", "checked and read back")


if __name__ == "__main__":
    for name, value, unit, note in rows():
        print(f"{name:50} {value:12.1f} {unit:10} {note}")
