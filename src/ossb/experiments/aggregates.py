"""Aggregates over instances, with intervals from a stratified bootstrap.

Agarwal, Schwarzer, Castro, Courville and Bellemare (2021), "Deep reinforcement learning at the edge
of the statistical precipice": the interquartile mean of scores, their performance profile, and
the probability of improvement.  Scores here are regrets over a yardstick of their instance, so that
less is better.  The bootstrap draws trials within each instance, never the instances: what it says
is of these.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ossb.errors import InputError

DRAWS = 2_000
AT_A_TIME = 50  # draws that are held together
TRIMMED = 0.25  # share of scores left out at each end


class Interval(NamedTuple):
    """A value, and where 95 % of its bootstrapped ones lie."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3g} [{self.low:.3g}, {self.high:.3g}]"

    def to_dict(self) -> dict[str, float]:
        return self._asdict()


def interquartile_mean(scores: np.ndarray) -> np.ndarray:
    """Mean of the middle half of all scores: (…, instances, trials) → (…)."""
    pooled = np.sort(_pooled(scores), axis=-1)
    cut = int(TRIMMED * pooled.shape[-1])
    return np.asarray(pooled[..., cut : pooled.shape[-1] - cut].mean(axis=-1))


def geometric_mean(scores: np.ndarray) -> np.ndarray:
    """Geometric mean over instances of the mean scores: (…, instances, trials) → (…)."""
    with np.errstate(divide="ignore"):  # a mean of 0 makes 0
        return np.asarray(np.exp(np.log(scores.mean(axis=-1)).mean(axis=-1)))


def profile(scores: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Share of all scores that are at most each level: (…, instances, trials) → (…, levels)."""
    pooled = np.sort(_pooled(scores), axis=-1)
    flat = pooled.reshape(-1, pooled.shape[-1])
    found = np.array([np.searchsorted(row, levels, side="right") for row in flat])
    return found.reshape(*pooled.shape[:-1], len(levels)) / pooled.shape[-1]


def bootstrap(
    statistic: Callable[[np.ndarray], np.ndarray],
    scores: np.ndarray,
    draws: int = DRAWS,
    seed: int = 0,
) -> np.ndarray:
    """The statistic of scores whose trials are drawn anew within each instance: (draws, …)."""
    instances, trials = scores.shape
    rng = np.random.default_rng(seed)
    place = np.arange(instances)[:, None]
    found = []
    for first in range(0, draws, AT_A_TIME):
        count = min(AT_A_TIME, draws - first)
        drawn = rng.integers(trials, size=(count, instances, trials))
        found.append(statistic(scores[place, drawn]))
    return np.concatenate(found)


def with_interval(
    statistic: Callable[[np.ndarray], np.ndarray], scores: np.ndarray, draws: int = DRAWS
) -> Interval:
    """A statistic of (instances, trials) scores, and its interval."""
    return _between(float(statistic(scores)), bootstrap(statistic, scores, draws))


def improvement(ours: np.ndarray, others: np.ndarray, draws: int = DRAWS) -> Interval:
    """Probability that a trial of ours has less regret than one of others, ties counted half.

    The mean over instances of Mann and Whitney's U, over the number of pairs.  Trials of one number
    share their noise, so the bootstrap draws them together.
    """
    if ours.shape != others.shape:
        raise InputError("others", f"be as many scores as ours, {ours.shape}", others.shape)
    trials = ours.shape[1]
    rng = np.random.default_rng(0)
    value, drawn = 0.0, np.zeros(draws)
    for mine, theirs in zip(ours, others, strict=True):
        wins = np.where(mine[:, None] < theirs, 1.0, 0.5 * (mine[:, None] == theirs))
        often = rng.multinomial(trials, np.full(trials, 1.0 / trials), size=draws)
        value += float(wins.mean())
        drawn += np.einsum("dn,dn->d", often @ wins, often) / trials**2
    return _between(value / len(ours), drawn / len(ours))


def _between(value: float, drawn: np.ndarray) -> Interval:
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Interval(value, float(low), float(high))


def _pooled(scores: np.ndarray) -> np.ndarray:
    if scores.ndim < 2 or 0 in scores.shape:
        raise InputError("scores", "be a table of instances by trials", scores.shape)
    return scores.reshape(*scores.shape[:-2], -1)
