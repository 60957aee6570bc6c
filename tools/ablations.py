"""What each exception of ``hgl`` is worth: its regret without one, over its regret with all.

    python tools/ablations.py [NAME ...] [--trials 20] [--half drawn] [--page FILE]

Without names, all of them.  Each is played in a process of its own, which sets one number of one
module before anything is compiled, on the families of drawn instances that it is for and on the
noise of the rule as it is.
"""

import argparse
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from regret_grid.drawn import FAMILIES, HALVES, SEED, drawn_instances

MARK = "<!-- written by tools/ablations.py -->"


class Ablation(NamedTuple):
    """One exception: where it is switched off, what it is for, and the families that show it."""

    reason: str
    families: tuple[str, ...]
    module: str = ""
    number: str = ""
    off: float = 0.0
    parameters: dict[str, Any] = {}  # noqa: RUF012  read only


ABLATIONS = {
    "front": Ablation(
        "exploration brought forward: what is learnt early need not be learnt later",
        ("Bernoulli", "Gaussian", "line", "linear", "sets"),
        parameters={"front": 0.0},
    ),
    "level": Ablation(
        "the mean of a Bernoulli prior is learnt from the other arms",
        ("rare successes", "line, rare successes", "line, prices"),
        "ossb.models.level",
        "SHARED",
        1e-12,
    ),
    "wide gaps": Ablation(
        "a gap that is wide beside its deviation is not discounted",
        ("Gaussian, easy", "Gaussian", "line, Gaussian"),
        "ossb.models.improvement",
        "CLEAR",
        float("inf"),
    ),
    "spread": Ablation(
        "an arm that is ruled out through others may be barely sampled itself",
        ("line, Gaussian", "line", "exponential"),
        "ossb.models.improvement",
        "DENSITY_AT_ZERO",
    ),
    "alike": Ablation(
        "linear arms may be nearly alike, and the best then lies away from the rim",
        ("linear", "linear, apart"),
        "ossb.models.scales",
        "ODDS",
    ),
    "opening": Ablation(
        "a few plays may rule out parameters that exploiting never does",
        ("finite",),
        "ossb.models.finite",
        "FAR_AHEAD",
        1.0,
    ),
    "young items": Ablation(
        "items seen a few times are not known well, and have no prior",
        ("sets",),
        "ossb.models.item_gain",
        "PRIOR",
    ),
    "gap floor": Ablation(
        "a duel of two items that have hardly met the leader is not free",
        ("duels", "duels, cyclic"),
        "ossb.models.dueling",
        "FLOOR",
    ),
    "caution": Ablation(
        "the first counts and waiting times may be far off",
        ("Poisson", "exponential"),
        parameters={"cautious": False},
    ),
}


def play(name: str, half: str, families: list[str], trials: int, out: Path) -> None:
    """Regrets of the rule without one exception (all of them there, without a name)."""
    from ossb.simulation import simulate

    ablation = ABLATIONS.get(name, Ablation("", ()))
    if ablation.module:
        module = import_module(ablation.module)
        getattr(module, ablation.number)  # an ablation of nothing is a mistake
        setattr(module, ablation.number, ablation.off)
    found = {}
    for family in families:
        horizon = FAMILIES[family].horizon
        for number, instance in enumerate(drawn_instances(family, half)):
            policy = {"name": "hgl", **ablation.parameters}
            played = simulate(instance, [policy], horizon, trials, SEED + number).policies[0]
            tenth = int(np.searchsorted(played.checkpoints, horizon // 10))
            found[f"{family}|{number}"] = played.curves[:, [tenth, -1]]
    np.savez(out, **found)


class Row(NamedTuple):
    """One exception on one half of a family."""

    name: str
    family: str
    half: str
    trials: int
    early: float  # regret without it over that with all, at a tenth of the horizon
    early_error: float
    late: float
    late_error: float
    worst: float  # the largest regret, each over the mean of its instance, likewise


def row_of(
    name: str, family: str, half: str, own: list[np.ndarray], without: list[np.ndarray]
) -> Row:
    """Every instance counts alike; errors are of paired trials."""
    scale = [one.mean(axis=0) + 1e-300 for one in own]
    mine = np.concatenate([one / by for one, by in zip(own, scale, strict=True)])
    other = np.concatenate([one / by for one, by in zip(without, scale, strict=True)])
    ratio = other.mean(axis=0) / mine.mean(axis=0)
    spread = (other - ratio * mine).std(axis=0, ddof=1) / np.sqrt(len(mine)) / mine.mean(axis=0)
    worst = float(other[:, 1].max() / mine[:, 1].max())
    (early, late), (early_error, late_error) = ratio.tolist(), spread.tolist()
    return Row(name, family, half, len(mine), early, early_error, late, late_error, worst)


def table(rows: list[Row]) -> str:
    """A table of text; the reasons stand beside it."""
    lines = [
        "| without | family | half | runs | regret at a tenth | at the end | worst run |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        lines.append(
            f"| {row.name} | {row.family} | {row.half.replace('-', ' ')} | {row.trials:,} | "
            f"{row.early:.2f} ± {row.early_error:.2f} | {row.late:.2f} ± {row.late_error:.2f} | "
            f"{row.worst:.2f} |"
        )
    return "\n".join(lines)


def page(rows: list[Row]) -> str:
    """The page of all rows."""
    reasons = [f"- **{name}**: {one.reason}." for name, one in ABLATIONS.items()]
    head = [
        "# HGL: what each exception is worth",
        MARK,
        "Mean regret of `hgl` without one exception over that with all, on families of drawn "
        "instances, each instance alike, on the same noise, at a tenth of the horizon and at its "
        "end (10⁴ rounds but where told); and the worst run over the worst run. Above 1, the "
        "exception pays. The half that is held out was never looked at while the rule was "
        "changed. `python tools/ablations.py` plays them and writes this page.",
    ]
    return "\n\n".join([*head, "\n".join(reasons), table(rows)]) + "\n"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", help="exceptions; all")
    parser.add_argument("--trials", type=int, default=20, help="of each instance")
    parser.add_argument("--half", choices=HALVES, action="append", default=[])
    parser.add_argument("--page", type=Path, help="where to write")
    parser.add_argument("--play", nargs=4, help=argparse.SUPPRESS)
    said = parser.parse_args(arguments)
    if said.play:
        name, half, families, out = said.play
        play(name, half, families.split("|"), said.trials, Path(out))
        return
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in said.names or ABLATIONS:
            for half in said.half or HALVES:
                rows += _rows(name, half, said.trials, Path(folder))
                print(table(rows[-len(ABLATIONS[name].families) :]), flush=True)
    if said.page:
        said.page.write_text(page(rows), "utf-8")


def _rows(name: str, half: str, trials: int, folder: Path) -> list[Row]:
    families, found = ABLATIONS[name].families, []
    for one in ("", name):
        out = folder / f"{half}-{one}.npz"
        command = [sys.executable, __file__, "--trials", str(trials)]
        subprocess.run([*command, "--play", one, half, "|".join(families), str(out)], check=True)
        found.append(np.load(out))
    rows = []
    for family in families:
        keys = [key for key in found[0].files if key.rpartition("|")[0] == family]
        own, without = ([each[key] for key in keys] for each in found)
        rows.append(row_of(name, family, half, own, without))
    return rows


if __name__ == "__main__":
    main()
