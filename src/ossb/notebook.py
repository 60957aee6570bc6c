"""What a notebook shows of a result: a small table, and a small picture beside it.

Pictures are drawn as SVG, in the page itself: they need no script, no file and no plotting
package, and take their ink from the page.  Every text is escaped.
"""

import math
from collections.abc import Mapping, Sequence
from html import escape

WIDTH, HEIGHT, MARGIN = 360, 160, 8
LETTER = 6.2  # width of a letter, about
LONGEST = 24  # letters of a label
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999933", "#882255")

Line = tuple[Sequence[float], Sequence[float]]


def table(caption: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of texts."""
    body = "".join(_row("td", row) for row in rows)
    return (
        f"<table><caption>{escape(caption)}</caption><thead>{_row('th', headings)}</thead>"
        f"<tbody>{body}</tbody></table>"
    )


def bars(title: str, values: Mapping[str, float]) -> str:
    """A bar for each label, the longest as wide as the picture allows."""
    if not values:
        return ""
    largest = max([*values.values(), 0.0]) or 1.0
    named = {_short(label): value for label, value in values.items()}
    left = MARGIN + LETTER * max(len(label) for label in named) + 4
    room = WIDTH - left - MARGIN - 9 * LETTER
    parts = []
    for place, (label, value) in enumerate(named.items()):
        top = MARGIN + 16 * place
        width = room * max(value, 0.0) / largest
        parts.append(
            f'<rect x="{left:.1f}" y="{top}" width="{width:.1f}" height="12" '
            f'fill="{COLOURS[0]}"/>'
            f"{_text(left - 4, top + 10, label, 'end')}"
            f"{_text(left + width + 4, top + 10, f'{value:.4g}')}"
        )
    return _svg(title, 2 * MARGIN + 16 * len(named), parts)


def curves(title: str, lines: Mapping[str, Line], dashed: Line | None = None) -> str:
    """Curves over a logarithmic axis, named beside it; a last one dashed."""
    drawn = [*lines.values(), *([dashed] if dashed is not None else [])]
    points = [(t, y) for line in drawn for t, y in zip(*line, strict=True) if math.isfinite(y)]
    if not points:
        return ""
    last = max(math.log(max(t, 1.0)) for t, _ in points) or 1.0
    highest = max(y for _, y in points)
    lowest = min(0.0, *(y for _, y in points))
    span = (highest - lowest) or 1.0
    bottom = HEIGHT - 2 * MARGIN - 10
    right = 0.62 * WIDTH

    def path(line: Line, colour: str, extra: str = "") -> str:
        places = " ".join(
            f"{MARGIN + (right - MARGIN) * math.log(max(t, 1.0)) / last:.1f},"
            f"{bottom - (bottom - MARGIN) * (y - lowest) / span:.1f}"
            for t, y in zip(*line, strict=True)
            if math.isfinite(y)
        )
        style = f'fill="none" stroke="{colour}" stroke-width="1.5"{extra}'
        return f'<polyline points="{places}" {style}/>'

    parts = [
        f'<path d="M{MARGIN},{MARGIN} V{bottom} H{right:.1f}" fill="none" stroke="currentColor" '
        'stroke-width="0.5"/>',
        _text(MARGIN + 3, MARGIN + 9, f"{highest:.4g}"),
        _text(right, bottom + 13, f"t = {max(t for t, _ in points):.4g}", "end"),
    ]
    for place, (label, line) in enumerate(lines.items()):
        colour = COLOURS[place % len(COLOURS)]
        parts.append(path(line, colour))
        parts.append(_text(right + 8, MARGIN + 10 + 14 * place, _short(label), colour=colour))
    if dashed is not None:
        parts.append(path(dashed, "currentColor", ' stroke-dasharray="4 3"'))
    return _svg(title, max(HEIGHT, 2 * MARGIN + 14 * (len(lines) + 1)), parts)


def _svg(title: str, height: float, parts: Sequence[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height:g}" '
        f'viewBox="0 0 {WIDTH} {height:g}" role="img" font-family="sans-serif" font-size="11">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )


def _text(x: float, y: float, text: str, anchor: str = "start", colour: str = "") -> str:
    ink = colour or "currentColor"
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{ink}">{escape(text)}</text>'
    )


def _row(cell: str, texts: Sequence[str]) -> str:
    return "<tr>" + "".join(f"<{cell}>{escape(text)}</{cell}>" for text in texts) + "</tr>"


def _short(label: str) -> str:
    """A label that fits; control characters, which XML forbids, are left out."""
    plain = "".join(character for character in label if character.isprintable())
    return plain if len(plain) <= LONGEST else plain[: LONGEST - 1] + "…"
