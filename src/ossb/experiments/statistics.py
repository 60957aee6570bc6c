"""Statistics of regret: bands, paired comparisons, slopes.

Trials of all instances of a group are pooled, so that errors include the spread between
instances.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ossb.errors import InputError
from ossb.fields import choice
from ossb.numerics.student import quantile, two_sided

BANDS = ("confidence", "percentile", "simultaneous")
LEGENDS = {
    "confidence": "95 % confidence of the mean",
    "percentile": "5th to 95th percentile",
    "simultaneous": "95 % simultaneous confidence of the mean curve",
}
BOOTSTRAP = 400


class Summary(NamedTuple):
    """Regret at one time."""

    trials: int
    mean: float
    sem: float
    median: float
    p5: float
    p95: float
    p99: float
    worst: float


def summary(regret: np.ndarray) -> Summary:
    """Summary of one number per trial."""
    p5, median, p95, p99 = (float(q) for q in np.quantile(regret, [0.05, 0.5, 0.95, 0.99]))
    sem = float(standard_error(regret))
    mean, worst = float(regret.mean()), float(regret.max())
    return Summary(regret.size, mean, sem, median, p5, p95, p99, worst)


def standard_error(values: np.ndarray) -> np.ndarray:
    """Standard error of the mean over the first axis; zero for one trial, which shows none."""
    count = values.shape[0]
    spread = values.std(axis=0, ddof=1) if count > 1 else np.zeros(values.shape[1:])
    return np.asarray(spread / math.sqrt(count))


def band(curves: np.ndarray, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper edge of a band around curves, one row per trial."""
    choice(kind, "band", BANDS)
    if kind == "percentile":
        low, high = np.quantile(curves, [0.05, 0.95], axis=0)
        return np.asarray(low), np.asarray(high)
    mean, sem = curves.mean(axis=0), standard_error(curves)
    if kind == "simultaneous":
        width = _largest_deviation(curves, mean, sem)
    else:
        width = quantile(0.975, max(curves.shape[0] - 1, 1))
    return mean - width * sem, mean + width * sem


def _largest_deviation(curves: np.ndarray, mean: np.ndarray, sem: np.ndarray) -> float:
    """95 % quantile of the largest studentised deviation of a bootstrapped mean curve."""
    rng = np.random.default_rng(0)  # the picture of the same results is the same
    moving = sem > 0
    if not moving.any():
        return 0.0
    count = curves.shape[0]
    largest = np.empty(BOOTSTRAP)
    for i in range(BOOTSTRAP):
        drawn = curves[rng.integers(count, size=count)].mean(axis=0)
        largest[i] = (np.abs(drawn - mean)[moving] / sem[moving]).max()
    return float(np.quantile(largest, 0.95))


@dataclass(frozen=True)
class Comparison:
    """One policy against another on the same noise."""

    better: str
    worse: str
    difference: float  # mean of worse − better
    sem: float
    p_value: float  # two-sided, corrected for the number of comparisons (Holm)

    @property
    def clear(self) -> bool:
        return self.p_value < 0.05


def compare(regrets: dict[str, np.ndarray]) -> list[Comparison]:
    """All pairs of policies by the mean of their paired differences, clearest first."""
    names = sorted(regrets, key=lambda name: float(regrets[name].mean()))
    sizes = {regrets[name].size for name in names}
    if len(sizes) > 1:
        raise InputError("regrets", "have as many trials for every policy", sorted(sizes))
    pairs = []
    for i, better in enumerate(names):
        for worse in names[i + 1 :]:
            pairs.append((paired(regrets[worse] - regrets[better]), better, worse))
    pairs.sort(key=lambda item: item[0].p_value)
    corrected = holm([found.p_value for found, _, _ in pairs])
    return [
        Comparison(better, worse, found.mean, found.sem, p)
        for (found, better, worse), p in zip(pairs, corrected, strict=True)
    ]


class Paired(NamedTuple):
    """The mean of differences, and Student's two-sided test that it is zero."""

    mean: float
    sem: float
    p_value: float


def paired(differences: np.ndarray) -> Paired:
    """Test of one difference per trial; one trial, or none that differs, tells nothing."""
    mean, sem = float(differences.mean()), float(standard_error(differences))
    return Paired(mean, sem, student(mean, sem, differences.size))


def student(mean: float, sem: float, count: int) -> float:
    """The two-sided test that the mean of so many differences, with its error, is zero."""
    if count < 2 or mean == 0:
        return 1.0
    return two_sided(abs(mean) / sem, count - 1) if sem > 0 else 0.0


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's correction for the number of tests, in the order given."""
    answer, least = [0.0] * len(p_values), 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        least = max(least, min(1.0, p_values[place] * (len(p_values) - rank)))
        answer[place] = least
    return answer


def slope(times: np.ndarray, regret: np.ndarray) -> tuple[float, float]:
    """Slope of regret against ln t over the last decade, and its standard error over trials."""
    last = times >= max(times[-1] / 10, 1)
    if last.sum() < 2:
        return math.nan, math.nan
    logarithm = np.log(times[last])
    centred = logarithm - logarithm.mean()
    slopes = regret[:, last] @ centred / (centred @ centred)
    return float(slopes.mean()), float(standard_error(slopes))
