"""False vouches (§6): an audit of a vouch, the GM's ruling on it, and what it costs."""

from __future__ import annotations

from typing import Any

from weighbridge.contract import Context, Docket, Table

from weighbridge_delvetown.drift import add_drift, operator_of
from weighbridge_delvetown.names import move_id
from weighbridge_delvetown.options import Options
from weighbridge_delvetown.position import note_audit
from weighbridge_delvetown.stakes import was_permitted
from weighbridge_delvetown.traces import uri_of
from weighbridge_delvetown.waiting import keep_waiting, take_waiting
from weighbridge_delvetown.xp import add_xp

ANSWERS = ("upheld", "not-upheld")


def note_success(table: Table, docket: Docket, ctx: Context, act: dict[str, Any]) -> None:
    """Remember a successful audit, and ask the GM about it if it is of another operator's vouch."""
    claim = uri_of(docket.value["trace"]["claim"])
    note_audit(table, claim, docket.id, act["crew"])
    vouch = move_id(claim)
    found: dict[str, Any] | None = table.get(f"act/{vouch}") if vouch else None
    if not _is_vouch(table, vouch, found) or found is None:
        return
    if operator_of(table, found["by"]) == operator_of(table, docket.author):
        return
    ctx.ask("vouch", docket.uri, "Does this audit show that the vouch was wrong?", ANSWERS)
    table[f"act/{docket.id}"] = {**table[f"act/{docket.id}"], "vouch": vouch, "claim": claim}
    waiting = take_waiting(table, docket.id, "rule")
    if waiting is not None:
        _rule(table, ctx, docket.rules, docket.id, waiting)


def _is_vouch(table: Table, vouch: str, act: dict[str, Any] | None) -> bool:
    if act is None or act["action"] != "vouch":
        return False
    return bool(table[f"ask/{vouch}"]["status"] in ("pending", "rolled"))


def rule_vouch(table: Table, docket: Docket, ctx: Context, ask: str) -> bool:
    """Take up the GM's answer about an audit (id); whether it is about one that a question is open on."""
    answer = docket.value["answer"]
    act: dict[str, Any] | None = table.get(f"act/{ask}")
    if act is None or act["action"] != "audit" or answer not in ANSWERS:
        return False
    ruling = {"uri": docket.uri, "answer": answer}
    if table[f"ask/{ask}"]["status"] == "pending":
        keep_waiting(table, ask, "rule", ruling)
        return True
    if ctx.question("vouch", act["uri"]) is None:
        if not was_permitted(table, ask, docket):
            return False
        ctx.report(
            "overtaken",
            docket.uri,
            "A void changed the past: there is no such audit of a vouch any more (§6).",
        )
        return True
    _rule(table, ctx, docket.rules, ask, ruling)
    return True


def _rule(table: Table, ctx: Context, rules: Options, ask: str, ruling: dict[str, Any]) -> None:
    act: dict[str, Any] = table[f"act/{ask}"]
    ctx.close("vouch", act["uri"])
    table[f"act/{ask}"] = {**act, "ruled": ruling["uri"]}
    if ruling["answer"] != "upheld":
        return
    note_audit(table, act["claim"], ask, act["crew"], upheld=True)
    vouch: dict[str, Any] = table[f"act/{act['vouch']}"]
    if vouch.get("upheld"):
        return
    table[f"act/{act['vouch']}"] = {**vouch, "upheld": True}
    add_drift(table, ctx, vouch["by"], rules.vouch, rules.drift)
    add_xp(table, act["by"], rules)
