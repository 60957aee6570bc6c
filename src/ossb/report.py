"""One self-contained HTML page of an experiment, to explore offline."""

import html
import json
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from ossb.certificates import to_certificate
from ossb.errors import InputError
from ossb.experiments.results import Results
from ossb.experiments.statistics import LEGENDS, band
from ossb.experiments.tables import COLUMNS, Row, comparisons, statement
from ossb.figures.canvas import PALETTE
from ossb.files import replacing
from ossb.graves_lai.bound import Bound
from ossb.words import counted, spread

PACKAGES = ("ossb", "numpy", "numba", "polars", "highspy")

STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 72rem; padding: 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.25rem; margin-top: 2rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.9rem; }
th, td { padding: 0.2rem 0.6rem; text-align: right; border-bottom: 1px solid #8884; }
th:first-child, td:first-child, th:nth-child(2), td:nth-child(2) { text-align: left; }
.plot { width: 100%; height: 26rem; }
button { font: inherit; margin-right: 0.5rem; }
pre { overflow-x: auto; font-size: 0.8rem; }
"""

SCRIPT = """
const charts = JSON.parse(document.getElementById("charts").textContent);
charts.forEach((chart, place) => {
  const node = document.getElementById("plot-" + place);
  const layout = {
    margin: {t: 30, r: 10, b: 45, l: 60}, hovermode: "x unified",
    xaxis: {title: {text: "rounds t"}, type: "linear"}, yaxis: {title: {text: "regret"}},
    legend: {orientation: "h", y: -0.2},
    paper_bgcolor: "white", plot_bgcolor: "white",
  };
  Plotly.newPlot(node, chart, layout, {
    responsive: true, displaylogo: false, showTips: false,
    modeBarButtonsToRemove: ["sendChartToCloud", "sendDataToCloud"],
  });
  document.getElementById("axis-" + place).addEventListener("click", () => {
    const now = node.layout.xaxis.type === "log" ? "linear" : "log";
    Plotly.relayout(node, {"xaxis.type": now, "xaxis.autorange": true});
  });
});
"""


def write_page(results: Results, rows: list[Row], path: Path, kind: str) -> None:
    """Write the page of an experiment."""
    try:
        with replacing(path) as aside:
            aside.write_text(page(results, rows, kind), encoding="utf-8")
    except OSError as error:
        raise InputError("html", f"be a writable file: {error}") from None


def page(results: Results, rows: list[Row], kind: str) -> str:
    """The page, script and all."""
    from plotly.offline import get_plotlyjs

    experiment = results.experiment
    groups = results.groups
    charts = [_chart(results, group, kind) for group in groups]
    title = html.escape(experiment.title or experiment.name)
    parts = [
        "<!DOCTYPE html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{title}</title>',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<style>{STYLE}</style></head><body>",
        f"<h1>{title}</h1>",
        f"<p>{html.escape(experiment.note)}</p>" if experiment.note else "",
        f"<p>{counted(experiment.trials, 'trial')} to round {experiment.horizon:,}, "
        f"seed {experiment.seed}; bands: {LEGENDS[kind]}. Click a policy in a legend to hide it."
        "</p>",
        "<p>In the tables, C(θ) ln t is the least regret of a uniformly good policy for large t, "
        "and slope is the regret per unit of ln t over the last tenfold of rounds, to be "
        "compared with C(θ).</p>",
    ]
    for place, group in enumerate(groups):
        parts += [
            f"<h2>{html.escape(group)}</h2>",
            f'<p><button id="axis-{place}" type="button">switch between t and ln t</button></p>',
            f'<div class="plot" id="plot-{place}" role="img" '
            f'aria-label="regret over time, {html.escape(group)}"></div>',
            f"<p>{html.escape(statement(comparisons(results, group)))}</p>",
            _table([row for row in rows if row.group == group]),
        ]
    parts += [
        "<h2>Instances and their bounds</h2>",
        _instances(results),
        "<h2>Made with</h2>",
        f"<p>Python {platform.python_version()}, "
        + ", ".join(f"{name} {version(name)}" for name in PACKAGES)
        + f"; seed {experiment.seed}.</p>",
        f"<details><summary>Definition</summary><pre>"
        f"{html.escape(json.dumps(_short(experiment.to_dict()), indent=1, ensure_ascii=False))}"
        f"</pre></details>",
        f'<script type="application/json" id="charts">{_safe(charts)}</script>',
        f"<script>{get_plotlyjs()}</script><script>{SCRIPT}</script></body></html>",
    ]
    return "\n".join(part for part in parts if part)


def _chart(results: Results, group: str, kind: str) -> list[dict[str, Any]]:
    traces: list[dict[str, Any]] = []
    curves = results.curves
    times: np.ndarray = np.ones(1)
    for place, policy in enumerate(results.policies):
        if (group, policy) not in curves:
            continue
        times, regret = curves[group, policy]
        low, high = band(regret, kind)
        ink = PALETTE[place % len(PALETTE)]
        common = {"x": times.tolist(), "legendgroup": policy, "mode": "lines"}
        traces += [
            {
                **common,
                "y": np.round(high, 6).tolist(),
                "line": {"width": 0},
                "hoverinfo": "skip",
                "showlegend": False,
            },
            {
                **common,
                "y": np.round(low, 6).tolist(),
                "line": {"width": 0},
                "fill": "tonexty",
                "fillcolor": ink + "26",
                "hoverinfo": "skip",
                "showlegend": False,
            },
            {
                **common,
                "y": np.round(regret.mean(axis=0), 6).tolist(),
                "name": policy,
                "line": {"color": ink, "width": 2},
            },
        ]
    constant = results.constants[group]
    if np.isfinite(constant):
        traces.append(
            {
                "x": times.tolist(),
                "y": np.round(constant * np.log(times), 6).tolist(),
                "mode": "lines",
                "name": "C(θ) ln t",
                "line": {"color": "black", "dash": "dot"},
            }
        )
    return traces


def _table(rows: list[Row]) -> str:
    shown = [column for column in COLUMNS if column != "group"]
    names = {
        "bound_per_ln_t": "C(θ)",
        "bound_at_t": "C(θ) ln t",
        "slope_sem": "± sem",
        "sem": "± sem",
    }
    head = "".join(f'<th scope="col">{names.get(column, column)}</th>' for column in shown)
    body = "".join(
        "<tr>" + "".join(f"<td>{_cell(row, column)}</td>" for column in shown) + "</tr>"
        for row in rows
    )
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead>{body}</table></div>'


def _cell(row: Row, column: str) -> str:
    value = getattr(row, column)
    if column in ("sem", "slope_sem"):
        return spread(value, row.trials, ",.4g")
    return html.escape(value) if isinstance(value, str) else f"{value:,.4g}"


def _instances(results: Results) -> str:
    parts = []
    pairs = zip(results.experiment.instances, results.bounds, strict=True)
    for i, (named, found) in enumerate(pairs):
        instance, proof = named.instance, ""
        if isinstance(found, Bound):
            said = f"C(θ) = {found.value:.6g}, {found.status}, gap {found.gap:.1e}"
            text = html.escape(json.dumps(to_certificate([found])))
            proof = f"<details><summary>certificate</summary><pre>{text}</pre></details>"
        else:
            said = str(found)
        parts.append(
            f"<p><b>{html.escape(named.group)}</b>, instance {i}: {instance.kind}, "
            f"{instance.observation}. {html.escape(said)}</p>{proof}"
        )
    return "\n".join(parts)


def _safe(content: Any) -> str:
    """JSON that cannot end the script element it stands in."""
    return json.dumps(content).replace("<", "\\u003c")


def _short(content: dict[str, Any]) -> dict[str, Any]:
    """The definition without the long lists of its instances."""
    return {**content, "instances": f"{counted(len(content['instances']), 'instance')}, above"}
