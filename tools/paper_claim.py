"""Where a paper's claim is reproduced: its policies alone, as its figure has them."""

from typing import Any

from ossb.experiments.results import Results
from ossb.experiments.tables import Row, rows
from ossb.figures.canvas import paper_style as style
from ossb.words import rounded

__all__ = ["drawn", "said", "style"]


def said(results: Results, claim: dict[str, Any], picture: str) -> str:
    """The claim, where it holds and where it does not, with the numbers."""
    found = rows(results)
    times = sorted({row.t for row in found})
    names = claim["policies"]
    ours = names[claim["ours"]]
    parts = [
        f"**The paper's claim**, less regret than {_listed(list(names.values())[1:])} have, "
        f"{_where(results, found, claim, claim['ours'], claim['settings'], ours)}; "
        f"{_where(results, found, claim, claim['other'], claim['other_settings'], '')}. "
        f"The mean regrets, with `{claim['beside']}` beside them:"
    ]
    heads = ["layout", "T", *names.values(), f"`{claim['beside']}`"]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for group in results.groups:
        for t in times:
            at = {row.policy: row for row in found if (row.group, row.t) == (group, t)}
            cells = [
                f"{at[policy].mean:,.0f} ± {rounded(at[policy].sem, 2)}"
                for policy in [*names, claim["beside"]]
            ]
            lines.append(f"| {group} | {t:,} | {' | '.join(cells)} |")
    caption = f"![Regret of the paper's policies alone, in its form]({picture})"
    return "\n\n".join([*parts, "\n".join(lines), caption])


def _where(
    results: Results, found: list[Row], claim: dict[str, Any], ours: str, settings: str, name: str
) -> str:
    """The groups in which a policy has the least mean regret of the paper's, at every time."""
    others = [policy for policy in claim["policies"] if policy != claim["ours"]]
    holds = []
    for group in results.groups:
        part = [row for row in found if row.group == group]
        means = {(row.policy, row.t): row.mean for row in part}
        if all(means[ours, t] < means[other, t] for other in others for t in {r.t for r in part}):
            holds.append(group)
    subject = f"holds in the mean {settings}" if name else settings
    if not holds:
        return f"{subject} nowhere"
    rest = [group for group in results.groups if group not in holds]
    but = f", not on {_listed([f'*{group}*' for group in rest])}" if rest else ""
    return f"{subject} on {_listed([f'*{group}*' for group in holds])}{but}"


def _short(error: float) -> str:
    return f"{error:.0f}" if error >= 10 else f"{error:.2g}"


def _listed(words: list[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def drawn(results: Results, claim: dict[str, Any]) -> Any:
    """Mean regret over time with 95 % confidence, a panel for each group."""
    from ossb.figures.canvas import new_figure

    figure = new_figure(2.35 * len(results.groups), 2.4)
    panels = figure.subplots(1, len(results.groups), squeeze=False)[0]
    for axes, group in zip(panels, results.groups, strict=True):
        policies, labels = list(claim["policies"]), claim["policies"]
        results.plot(group, axes=axes, policies=policies, labels=labels, legend=False)
        axes.set_ylabel("mean regret" if axes is panels[0] else "")
        axes.set_ylim(bottom=0.0)
    handles, names = panels[0].get_legend_handles_labels()
    place = {"loc": "outside lower center", "ncols": len(names)}
    figure.legend(handles, names, frameon=False, **place)
    return figure
