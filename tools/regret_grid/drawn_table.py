"""How policies stand on families of drawn instances.

Every instance of a family counts alike: regrets on it are over the mean regret that all policies
have there, and only then averaged.
"""

import csv
import math
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ossb.experiments.results import Results
from ossb.experiments.statistics import standard_error
from ossb.structures.base import Instance
from regret_grid.drawn import FAMILIES, HALVES, OTHERS
from regret_grid.grid import DEFAULT

LOCKED = 1.0 - 1e-6


class Row(NamedTuple):
    """One policy on one half of a family, at one horizon."""

    family: str
    half: str
    horizon: int
    policy: str
    consistent: bool
    trials: int
    ratio: float  # its regret over that of the default, each instance alike
    error: float  # of the ratio, on the same noise
    p99: float  # of regrets over the mean of their instance
    worst: float
    locked: float  # share of runs that lose in all rounds of the second half


HEAD = Row._fields
MARK = "<!-- written by tools/drawn.py -->"


def read_rows(path: Path) -> list[Row]:
    """Rows of a file of comma-separated text."""
    with path.open(encoding="utf-8", newline="") as file:
        return [
            Row(
                one["family"],
                one["half"],
                int(one["horizon"]),
                one["policy"],
                one["consistent"] == "True",
                int(one["trials"]),
                *(float(one[name]) for name in HEAD[6:]),
            )
            for one in csv.DictReader(file)
        ]


def write_rows(rows: Iterable[Row], path: Path) -> None:
    """Rows as comma-separated text, numbers to four digits."""
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(HEAD)
        table.writerows([f"{v:.4g}" if isinstance(v, float) else v for v in row] for row in rows)


def merged(kept: Iterable[Row], played: Iterable[Row]) -> list[Row]:
    """Rows that were kept, but for the families played now, in the order of the grid."""
    now = list(played)
    anew = {(row.family, row.half) for row in now}
    rows = [row for row in kept if (row.family, row.half) not in anew] + now
    order = list(FAMILIES)
    return sorted(rows, key=lambda row: (HALVES.index(row.half), order.index(row.family)))


def rows_of(results: Results) -> list[Row]:
    """A row for each policy, family and horizon that was played in full."""
    experiment = results.experiment
    instances = [named.instance for named in experiment.instances]
    kept = results.trials.select("group", "policy", "instance", "trial", "checkpoints", "regret")
    found: list[Row] = []
    for (group,), part in kept.group_by(["group"], maintain_order=True):
        family, _, half = str(group).rpartition(", ")
        curves = _curves(part)
        times = np.array(part["checkpoints"][0].to_list())
        found += _rows(
            family, half.replace(" ", "-"), experiment.horizons, curves, times, instances
        )
    return found


def _curves(part: object) -> dict[str, dict[int, np.ndarray]]:
    """Regrets by policy and instance: a row for each trial, in their order."""
    found: dict[str, dict[int, np.ndarray]] = {}
    ordered = part.sort("trial", maintain_order=True).group_by(
        ["policy", "instance"], maintain_order=True
    )  # type: ignore[attr-defined]
    for (policy, number), rows in ordered:
        found.setdefault(policy, {})[number] = np.array(rows["regret"].to_list())
    return found


def _rows(
    family: str,
    half: str,
    horizons: Iterable[int],
    curves: dict[str, dict[int, np.ndarray]],
    times: np.ndarray,
    instances: list[Instance],
) -> list[Row]:
    rows = []
    unsound = {
        name if isinstance(name, str) else name["name"] for o in OTHERS.values() for name in o
    }
    numbers = sorted(set.intersection(*(set(of) for of in curves.values())))
    for horizon in horizons:
        at = int(np.searchsorted(times, horizon))
        late = np.flatnonzero((times >= horizon / 2) & (times <= horizon))
        shares: dict[str, np.ndarray] = {}
        for policy, of in curves.items():
            shares[policy] = np.concatenate([of[n][:, at] / _usual(curves, n, at) for n in numbers])
        own = shares[DEFAULT]
        for policy, of in curves.items():
            stuck = [_locked(of[n][:, late], times[late], instances[n]) for n in numbers]
            mine = shares[policy]
            ratio = float(mine.mean() / own.mean())
            error = float(standard_error(mine - ratio * own)) / own.mean()
            rows.append(
                Row(
                    family,
                    half,
                    horizon,
                    policy,
                    policy.partition(":")[0] not in unsound,
                    mine.size,
                    ratio,
                    float(error),
                    float(np.quantile(mine, 0.99)),
                    float(mine.max()),
                    float(np.concatenate(stuck).mean()),
                )
            )
    return rows


def _usual(curves: dict[str, dict[int, np.ndarray]], number: int, at: int) -> float:
    """The mean regret of all policies on an instance."""
    return float(np.mean([of[number][:, at].mean() for of in curves.values()])) or 1.0


def _locked(late: np.ndarray, times: np.ndarray, instance: Instance) -> np.ndarray:
    """Whether every stretch between the last checkpoints costs what only losing arms can."""
    if instance.n_arms is None:  # gaps of arms that are not listed are not known
        return np.zeros(late.shape[0], bool)
    gaps = np.asarray(instance.gaps)  # type: ignore[attr-defined]
    least = gaps[gaps > 0].min(initial=math.inf)
    if late.shape[1] < 2 or least == math.inf:
        return np.zeros(late.shape[0], bool)
    return np.asarray((np.diff(late, axis=1) >= LOCKED * least * np.diff(times)).all(axis=1))


def summary(rows: list[Row], half: str) -> str:
    """What a half says of the default, as a table of text."""
    lines = [
        "| family | horizon | best consistent other | ratio | best of all | ratio | "
        "worst | its | locked | theirs |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    ratios = []
    for family, horizon in dict.fromkeys((r.family, r.horizon) for r in rows if r.half == half):
        cell = [r for r in rows if (r.family, r.half, r.horizon) == (family, half, horizon)]
        own = next(r for r in cell if r.policy == DEFAULT)
        others = [r for r in cell if r.policy != DEFAULT]
        best = min(others, key=lambda r: r.ratio)
        sound = min((r for r in others if r.consistent), key=lambda r: r.ratio)
        beside = next((r for r in others if "thompson" in r.policy), sound)
        ratios.append(1.0 / sound.ratio)
        lines.append(
            f"| {family} | {horizon:,} | {sound.policy} | {1 / sound.ratio:.2f} ± "
            f"{sound.error / sound.ratio**2:.2f} | {best.policy} | {1 / best.ratio:.2f} | "
            f"{own.worst:.1f} | {beside.worst:.1f} | {own.locked:.4f} | {beside.locked:.4f} |"
        )
    if ratios:
        mean = math.exp(sum(math.log(r) for r in ratios) / len(ratios))
        near = sum(r <= 1.05 for r in ratios) / len(ratios)
        lines += [
            "",
            f"{len(ratios)} cells: geometric mean {mean:.3f}, at most 1.05 in {near:.0%}, "
            f"worst {max(ratios):.2f}",
        ]
    return "\n".join(lines)


def page(rows: list[Row]) -> str:
    """The page of both halves."""
    head = [
        "# The regret grid: drawn instances",
        MARK,
        "Families of instances drawn by seed, in two halves: one to look at while a rule is "
        "changed, and one, held out, that no change is chosen on. Every instance counts alike: a "
        "regret on it is over the mean regret that all policies have there. A ratio is that of "
        "`hgl` over another policy, on the same noise: below 1, `hgl` is better. Worst runs are "
        "in the same unit, beside those of Thompson sampling (of the best consistent other where "
        "there is none). A run is locked where it loses in every round of the second half: it "
        "need not have locked, where arms are too close to be told apart by then. "
        "`glm-ucb` counts as not consistent. `python tools/drawn.py` plays the parts and writes "
        "this page.",
    ]
    halves = [
        f"## {half.replace('-', ' ').capitalize()}\n\n{summary(rows, half)}" for half in HALVES
    ]
    return "\n\n".join([*head, *halves]) + "\n"
