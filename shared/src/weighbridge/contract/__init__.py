"""The contract: everything a plugin author sees, and the only module a rule set imports from Weighbridge.

A rule set is a set of pure functions over values. It reads and writes the `Table` (cells under ASCII keys),
gets one `Docket` at a time (a record with everything the log says about it so far) and speaks through the
`Context`. It has no clock, no randomness, no I/O and no memory of its own: what it must remember is a cell.

The life of a record, in the order the kernel calls a rule set:

1. `shape(collection, value)`: does the record fit its type? If not: report `bad-shape`, and nothing more.
2. `needs(docket, rules)`: the most this record may await (services use it, without a table).
3. `judge(table, docket, ctx)`: at its listing. Reads the board, uses the ration, writes the pending cell,
   reports refusals, and returns what the record awaits in fact (part of `needs`, or nothing).
4. `apply(table, docket, ctx)`: at the entry that completes it, at once where nothing is awaited.

A struck record gets `voided` instead of 3 and 4. Time gets `day_end` and `at_due`.
"""

from __future__ import annotations

from weighbridge.cid import Cid
from weighbridge.contract.declared import (
    NOTHING,
    Change,
    Docket,
    Effect,
    Event,
    Needs,
    Problem,
    Ruling,
    Shape,
    Trace,
)
from weighbridge.contract.given import Context, Dice, Opened, Question, Table
from weighbridge.contract.others import Attachment, Audit, Finding
from weighbridge.contract.ruleset import Random, RuleSet, check_shape
from weighbridge.contract.shown import Block, Card, Clock, Grid, Heading, Text, View
from weighbridge.contract.values import CONTRACT_VERSION, Frozen, Value

__all__ = [
    "CONTRACT_VERSION",
    "NOTHING",
    "Attachment",
    "Audit",
    "Block",
    "Card",
    "Change",
    "Cid",
    "Clock",
    "Context",
    "Dice",
    "Docket",
    "Effect",
    "Event",
    "Finding",
    "Frozen",
    "Grid",
    "Heading",
    "Needs",
    "Opened",
    "Problem",
    "Question",
    "Random",
    "RuleSet",
    "Ruling",
    "Shape",
    "Table",
    "Text",
    "Trace",
    "Value",
    "View",
    "check_shape",
]
