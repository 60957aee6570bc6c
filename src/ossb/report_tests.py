"""What a report says of trials that end: tables, and pictures in the page itself."""

import html
import io
from collections.abc import Callable, Sequence
from typing import Any

from ossb.experiments.ends import AnswerRow, StopRow, answer_rows, floors, stop_rows
from ossb.experiments.results import Results
from ossb.figures.canvas import paper_style
from ossb.figures.experiment import draw_errors, draw_tests
from ossb.words import counted, rounded, spread

STOPS = ("policy", "mean", "± sem", "median", "90 %", "errors", "unfinished", "regret", "± sem")
ANSWERS = ("policy", "rounds", "errors", "± sem", "simple regret", "± sem")


def tests_of(results: Results) -> list[str]:
    """Sections about stopping times and about answers by budget; none where there are none."""
    experiment, parts = results.experiment, list[str]()
    stops, answers = stop_rows(results), answer_rows(results)
    if stops:
        good = "best" if not experiment.epsilon else f"within {experiment.epsilon:g} of the best"
        parts += [
            "<h2>When trials stopped</h2>",
            f"<p>Trials end once their leader is {good}, sure to {1.0 - experiment.until:.6g}, or "
            f"at round {experiment.horizon:,}. No such test takes fewer rounds on average than "
            "T* kl(δ, 1 − δ), nor costs less regret than C(θ) kl(δ, 1 − δ).</p>",
            picture(draw_tests, results, "share of trials stopped by t; share of plays beside w*"),
        ]
        for group in results.groups:
            rows = [row for row in stops if row.group == group]
            head = f"{group}, {counted(rows[0].trials, 'trial')}{floors(rows[0])}" if rows else ""
            parts += [f"<h3>{html.escape(head)}</h3>", _table(STOPS, map(_stop, rows))]
    if answers:
        parts += [
            "<h2>Answers after a number of rounds</h2>",
            picture(draw_errors, results, "share of wrong answers and simple regret against t"),
        ]
        for group in results.groups:
            own = (row for row in answers if row.group == group)
            parts += [f"<h3>{html.escape(group)}</h3>", _table(ANSWERS, map(_answer, own))]
    return parts


def picture(draw: Callable[[Results], Any], results: Results, told: str) -> str:
    """A figure as SVG, in the page itself."""
    buffer = io.StringIO()
    with paper_style():
        draw(results).savefig(buffer, format="svg", metadata={"Date": None})
    drawn = buffer.getvalue()
    return (
        f'<div class="scroll" role="img" aria-label="{html.escape(told)}" '
        f'style="background:white">{drawn[drawn.index("<svg") :]}</div>'
    )


def _stop(row: StopRow) -> Sequence[str]:
    return (
        row.policy,
        f"{row.mean:,.0f}",
        spread(row.sem, row.trials),
        f"{row.median:,.0f}",
        f"{row.p90:,.0f}",
        f"{row.errors:.2%}",
        f"{row.unfinished:.2%}",
        rounded(row.regret),
        spread(row.regret_sem, row.trials),
    )


def _answer(row: AnswerRow) -> Sequence[str]:
    return (
        row.policy,
        f"{row.t:,}",
        f"{row.errors:.2%}",
        f"{row.errors_sem:.2%}",
        f"{row.simple_regret:.4g}",
        spread(row.simple_regret_sem, row.trials),
    )


def _table(heads: Sequence[str], rows: Any) -> str:
    head = "".join(f'<th scope="col">{text}</th>' for text in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(text)}</td>" for text in row) + "</tr>" for row in rows
    )
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead>{body}</table></div>'
