"""The page of an experiment: text, tables and charts, with nothing loaded from elsewhere."""

import html
import json
import platform
from importlib import resources
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from ossb.certificates import to_certificate
from ossb.errors import InputError
from ossb.experiments.overall import is_comparison, overall
from ossb.experiments.results import Results
from ossb.experiments.statistics import LEGENDS, band
from ossb.experiments.tables import COLUMNS, Row, comparisons, statement
from ossb.figures.canvas import PALETTE
from ossb.files import replacing
from ossb.graves_lai.bound import Bound
from ossb.report_tests import tests_of
from ossb.words import counted, rounded, spread

PACKAGES = ("ossb", "numpy", "numba", "polars", "highspy")
DIGITS = 5  # of what is drawn


def write_page(results: Results, rows: list[Row], path: Path, kind: str) -> None:
    """Write the page of an experiment."""
    try:
        with replacing(path) as aside:
            aside.write_text(page(results, rows, kind), encoding="utf-8")
    except OSError as error:
        raise InputError("html", f"be a writable file: {error}") from None


def page(results: Results, rows: list[Row], kind: str) -> str:
    """The page, script and all."""
    experiment = results.experiment
    groups = results.groups
    charts = [_chart(results, group, kind) for group in groups]
    title = html.escape(experiment.title or experiment.name)
    parts = [
        "<!DOCTYPE html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{title}</title>',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<style>{_file('style.css')}</style></head><body>",
        f"<h1>{title}</h1>",
        f"<p>{html.escape(experiment.note)}</p>" if experiment.note else "",
        f"<p>{counted(experiment.trials, 'trial')} to round {experiment.horizon:,}, "
        f"seed {experiment.seed}; bands: {LEGENDS[kind]}. Click a policy to hide it; drag across a "
        "chart to zoom, double-click to zoom out.</p>",
        "<p>In the tables, C(θ) ln t is the least regret of a uniformly good policy for large t, "
        "and slope is the regret per unit of ln t over the last tenfold of rounds, to be "
        "compared with C(θ).</p>",
    ]
    parts += tests_of(results)
    for place, group in enumerate(groups):
        parts += [
            f"<h2>{html.escape(group)}</h2>",
            f'<p><button id="axis-{place}" type="button">switch between t and ln t</button></p>',
            f'<div class="plot" id="plot-{place}" role="img" '
            f'aria-label="regret over time, {html.escape(group)}"></div>',
            f"<p>{html.escape(statement(comparisons(results, group)))}</p>",
            _table([row for row in rows if row.group == group]),
        ]
    if is_comparison(results):
        parts += ["<h2>All instances</h2>", _overall(results)]
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
        f"<script>{_file('charts.js')}</script></body></html>",
    ]
    return "\n".join(part for part in parts if part)


def _chart(results: Results, group: str, kind: str) -> dict[str, Any]:
    """The curves of a group with their bands, and C(θ)."""
    series: list[dict[str, Any]] = []
    times: np.ndarray = np.ones(1)
    for place, policy in enumerate(results.policies):
        if (group, policy) not in results.curves:
            continue
        times, regret = results.curves[group, policy]
        low, high = band(regret, kind)
        ends = {"low": low, "high": high, "mean": regret.mean(axis=0)}
        series.append(
            {
                "name": policy,
                "colour": PALETTE[place % len(PALETTE)],
                **{key: [float(f"{y:.{DIGITS}g}") for y in ys] for key, ys in ends.items()},
            }
        )
    constant = results.constants[group]
    known = float(constant) if np.isfinite(constant) else None
    return {"times": times.tolist(), "series": series, "constant": known}


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


def _overall(results: Results) -> str:
    """Aggregates over instances, with what they mean."""
    found = overall(results)
    heads = ("policy", "interquartile mean", "geometric mean", f"less than {found[0].policy}")
    rows = [
        (one.policy, one.interquartile_mean, one.geometric_mean, one.improvement or "–")
        for one in found
    ]
    head = "".join(f'<th scope="col">{html.escape(text)}</th>' for text in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    return (
        "<p>Regret at the horizon over the least mean of its instance: the mean of the middle half "
        "of all trials, the geometric mean of the instances' means, and the chance that a trial "
        f"has less regret than one of {html.escape(found[0].policy)}, with 95 % of bootstrapped "
        "values (trials drawn anew within each instance).</p>"
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead>{body}</table></div>'
    )


def _cell(row: Row, column: str) -> str:
    value = getattr(row, column)
    if column in ("sem", "slope_sem"):
        return spread(value, row.trials, 4)
    return html.escape(value) if isinstance(value, str) else rounded(value)


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


def _file(name: str) -> str:
    return resources.files("ossb.report").joinpath(name).read_text(encoding="utf-8")
