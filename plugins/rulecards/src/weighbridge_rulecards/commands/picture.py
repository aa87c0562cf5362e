"""The graph of cards as an SVG picture: one column a step, circles in red, what the limit stops dashed."""

from __future__ import annotations

from weighbridge_rulecards.names import LAST_STEP
from weighbridge_rulecards.rules import Rules

WIDE, HIGH, GAP, LANE = 220, 36, 120, 24
Box = tuple[int, int]


def picture(rules: Rules) -> str:
    """Return the picture as SVG text."""
    columns = _columns(rules)
    boxes = {
        card: (20 + at * (WIDE + GAP), 60 + row * (HIGH + LANE))
        for at, column in enumerate(columns)
        for row, card in enumerate(column)
    }
    round_about = {card: at for at, group in enumerate(rules.graph.cycles()) for card in group}
    width = 40 + len(columns) * (WIDE + GAP) - GAP
    height = 80 + max((len(column) for column in columns), default=0) * (HIGH + LANE)
    size, font = f'viewBox="0 0 {width} {height}"', 'font-family="sans-serif" font-size="13"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font}>']
    parts.append(_HEAD)
    parts += [_title(at, rules) for at in range(len(columns))]
    for source, target in dict.fromkeys((link.source, link.target) for link in rules.graph.links):
        circle = source in round_about and round_about[source] == round_about.get(target)
        parts.append(_arrow(boxes[source], boxes[target], "#c0392b" if circle else "#555"))
    for card in rules.cards:
        stops = boxes[card.id][0] >= 20 + LAST_STEP * (WIDE + GAP)
        parts.append(_box(boxes[card.id], card.name, red=card.id in round_about, dashed=stops))
    return "\n".join([*parts, "</svg>", ""])


_HEAD = (
    '<defs><marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
    '<path d="M0 0L8 4L0 8z" fill="#555"/></marker></defs>'
)


def _columns(rules: Rules) -> list[list[str]]:
    """Return the cards by the first step at which they could fire; the last column is what only a chain could reach."""
    steps = rules.graph.first_steps()
    columns = [[card for card, step in steps.items() if step == n] for n in range(1, LAST_STEP + 2)]
    while columns and not columns[-1]:
        columns.pop()
    return columns


def _title(at: int, rules: Rules) -> str:
    words = f"step {at + 1}" if at < LAST_STEP else "stopped"
    return f'<text x="{20 + at * (WIDE + GAP)}" y="36" fill="#555">{words}</text>'


def _box(box: Box, name: str, *, red: bool, dashed: bool) -> str:
    stroke, dash = "#c0392b" if red else "#333", ' stroke-dasharray="6 4"' if dashed else ""
    x, y = box
    shown = name if len(name) <= 28 else f"{name[:27]}…"
    rect = (
        f'<rect x="{x}" y="{y}" width="{WIDE}" height="{HIGH}" rx="6" fill="#fff" stroke="{stroke}"{dash}/>'
    )
    return f'{rect}<text x="{x + 10}" y="{y + 23}" fill="#111">{_escaped(shown)}</text>'


def _arrow(source: Box, target: Box, colour: str) -> str:
    x, y = source[0] + WIDE, source[1] + HIGH // 2
    to_x, to_y = target[0], target[1] + HIGH // 2
    bend = GAP // 2
    path = f"M{x} {y}C{x + bend} {y} {to_x - bend} {to_y} {to_x} {to_y}"
    return f'<path d="{path}" fill="none" stroke="{colour}" marker-end="url(#head)"/>'


def _escaped(text: str) -> str:
    for letter, code in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
        text = text.replace(letter, code)
    return text
