"""`weighbridge foldtest`: fold a scenario file and compare the outcome with what it expects."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from weighbridge.scenario import Difference, Result, Scenario, differences, load, run, trace_lines
from weighbridge.scenario.expecting import ABSENT
from weighbridge.scenario.steps import Update

from weighbridge_services.commands import Subparsers, parser_of
from weighbridge_services.installed import attachments_for, ruleset_named
from weighbridge_services.output import clean, say_json

TEXT = """No broker, no network, no clock. Exit code 0: what the file expects holds; 1: it does not, and every
difference is printed, path by path; 2: the file itself is wrong, and the message has its path."""


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = parser_of(subparsers, "foldtest", "fold a scenario file and check what it expects", TEXT)
    parser.add_argument("scenario", metavar="SCENARIO.json", type=Path)
    parser.add_argument(
        "--json", action="store_true", help="print the result object: names, cells, reports, questions"
    )
    parser.add_argument("--trace", metavar="FILE", type=Path, help="write one line of JSON for each step")
    parser.set_defaults(run=foldtest)


def foldtest(args: argparse.Namespace) -> int:
    """Run the command; see `TEXT` for its exit codes."""
    scenario = load(args.scenario.read_bytes())
    # Cards are named by CID, so they are listed first and a later version of the root attaches them.
    later = [step.value for step in scenario.steps if isinstance(step, Update) and step.name == "root"]
    attached = {
        name: each for root in (scenario.root, *later) for name, each in attachments_for(root).items()
    }
    result = run(scenario, ruleset_named(scenario.ruleset), attachments=attached)
    found = differences(result, scenario.expect)
    if args.trace is not None:
        args.trace.write_text("".join(f"{line}\n" for line in trace_lines(result)), encoding="utf-8")
    if args.json:
        say_json({"holds": not found, "differences": [_plain(each) for each in found], **result.to_json()})
    else:
        _say(scenario, result, found)
    return 1 if found else 0


def _plain(difference: Difference) -> dict[str, Any]:
    """Return a difference as JSON; a side where nothing stands is absent."""
    sides = {"expected": difference.expected, "found": difference.found}
    return {"path": difference.path} | {name: value for name, value in sides.items() if value is not ABSENT}


def _say(scenario: Scenario, result: Result, found: list[Difference]) -> None:
    for each in found:
        print(clean(str(each)))
    if found:
        print(f"does not hold: {len(found)} difference{'s' if len(found) > 1 else ''}")
    else:
        print(f"holds: {len(scenario.steps)} steps, {len(result.cells)} cells, state {result.state_root}")
