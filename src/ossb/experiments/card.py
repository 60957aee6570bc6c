"""An experiment's results as a notebook shows them."""

from html import escape
from typing import TYPE_CHECKING

from ossb.experiments.statistics import standard_error
from ossb.notebook import curves, table
from ossb.words import counted, spread

if TYPE_CHECKING:
    from ossb.experiments.results import Results

PICTURES = 4  # groups that are drawn


def card(results: "Results") -> str:
    """The regrets at the last checkpoint by group and policy, and mean curves of a few groups."""
    rows = []
    for (group, policy), (_, regret) in results.curves.items():
        last = regret[:, -1]
        sem = spread(float(standard_error(last)), last.size)
        rows.append((group, policy, f"{last.mean():.4g}", sem, str(last.size)))
    cells, finished = results.ledger.index(), results.ledger.finished()
    done = sum(cell["part"] in finished for cell in cells)
    title = results.experiment.title or results.experiment.name
    caption = f"{title}: {done} of {counted(len(cells), 'cell')}"
    headings = ("group", "policy", "mean regret", "± sem", "trials")
    pictures = []
    for group in results.groups[:PICTURES]:
        lines = {
            policy: (times.tolist(), regret.mean(axis=0))
            for (where, policy), (times, regret) in results.curves.items()
            if where == group
        }
        drawn = curves(f"mean regret over rounds: {group}", lines)
        pictures.append(f"<div>{escape(group)}<br>{drawn}</div>")
    return table(caption, headings, rows) + "".join(pictures)
