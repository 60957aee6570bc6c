"""Statistics of regret: bands, paired comparisons, slopes."""

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from ossb.errors import InputError
from ossb.fields import choice

BANDS = ("confidence", "percentile", "simultaneous")
LEGENDS = {
    "confidence": "95 % confidence of the mean",
    "percentile": "5th to 95th percentile",
    "simultaneous": "95 % simultaneous confidence of the mean curve",
}
BOOTSTRAP = 400


@dataclass(frozen=True)
class Summary:
    """Regret at one time."""

    mean: float
    sem: float
    median: float
    low: float  # 5th percentile
    high: float  # 95th percentile
    p99: float
    worst: float
    trials: int


def summary(regret: np.ndarray) -> Summary:
    """Summary of one number per trial."""
    sem = float(regret.std(ddof=1) / math.sqrt(regret.size)) if regret.size > 1 else 0.0
    low, median, high, p99 = np.quantile(regret, [0.05, 0.5, 0.95, 0.99])
    return Summary(
        float(regret.mean()),
        sem,
        float(median),
        float(low),
        float(high),
        float(p99),
        float(regret.max()),
        int(regret.size),
    )


def band(curves: np.ndarray, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper edge of a band around curves, one row per trial."""
    choice(kind, "band", BANDS)
    if kind == "percentile":
        low, high = np.quantile(curves, [0.05, 0.95], axis=0)
        return np.asarray(low), np.asarray(high)
    mean = curves.mean(axis=0)
    count = curves.shape[0]
    sem = curves.std(axis=0, ddof=1) / math.sqrt(count) if count > 1 else np.zeros_like(mean)
    width = NormalDist().inv_cdf(0.975)
    if kind == "simultaneous" and count > 1:
        width = _largest_deviation(curves, mean, sem)
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
    raw = []
    for i, better in enumerate(names):
        for worse in names[i + 1 :]:
            difference = regrets[worse] - regrets[better]
            spread = float(difference.std(ddof=1)) if difference.size > 1 else 0.0
            sem = spread / math.sqrt(difference.size)
            mean = float(difference.mean())
            z = abs(mean) / sem if sem > 0 else (math.inf if mean else 0.0)
            raw.append((math.erfc(z / math.sqrt(2.0)), better, worse, mean, sem))
    raw.sort(key=lambda item: item[0])
    answer, least = [], 0.0
    for rank, (p, better, worse, mean, sem) in enumerate(raw):
        least = max(least, min(1.0, p * (len(raw) - rank)))
        answer.append(Comparison(better, worse, mean, sem, least))
    return answer


def slope(times: np.ndarray, regret: np.ndarray) -> tuple[float, float]:
    """Slope of regret against ln t over the last decade, and its standard error over trials."""
    last = times >= max(times[-1] / 10, 1)
    if last.sum() < 2:
        return math.nan, math.nan
    logarithm = np.log(times[last])
    centred = logarithm - logarithm.mean()
    slopes = regret[:, last] @ centred / (centred @ centred)
    sem = float(slopes.std(ddof=1) / math.sqrt(slopes.size)) if slopes.size > 1 else 0.0
    return float(slopes.mean()), sem
