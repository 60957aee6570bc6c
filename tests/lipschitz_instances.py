"""Random Lipschitz instances and their linear programs, written down entry by entry."""

import numpy as np

from ossb.families import Bernoulli, Exponential, Gaussian, Poisson

FAMILIES = {
    "bernoulli": Bernoulli(),
    "gaussian": Gaussian(0.7),
    "poisson": Poisson(),
    "exponential": Exponential(),
    "mirrored bernoulli": Bernoulli(-1.0),
    "mirrored poisson": Poisson(-1.0),
    "mirrored exponential": Exponential(-1.0),
}
METRICS = ("line", "plane", "random")


def distances_of(metric, n, rng):
    """A metric on n points."""
    if metric == "random":
        raw = rng.uniform(0.05, 1.0, (n, n))
        raw = np.minimum(raw, raw.T)
        np.fill_diagonal(raw, 0.0)
        for k in range(n):
            raw = np.minimum(raw, raw[:, k : k + 1] + raw[k])
        return raw
    points = rng.uniform(size=(n, 1 if metric == "line" else 2))
    return np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))


def lipschitz_means(distances, rng, low=0.1, high=0.9):
    """Means that respect the distances: the largest minorant of random values."""
    raw = rng.uniform(low, high, distances.shape[0])
    return (raw[:, None] + distances).min(axis=0)


def instance(family, metric, n, seed):
    """(theta, distances) with means inside the family's mean space."""
    rng = np.random.default_rng(seed)
    distances = distances_of(metric, n, rng)
    theta = lipschitz_means(distances, rng)
    return (theta if family.kl(0.2, 0.4) < np.inf else theta - 1.0), distances


def smooth_line(n, seed):
    """Arms on a line under a piecewise linear mean: (theta, distances)."""
    rng = np.random.default_rng(seed)
    points = np.linspace(0.0, 1.0, n)
    theta = np.interp(points, np.linspace(0.0, 1.0, 8), rng.uniform(0.15, 0.85, 8))
    constant = 1.1 * np.abs(np.diff(theta)).max() * (n - 1)
    return theta, constant * np.abs(points[:, None] - points[None])


def program(theta, distances, family):
    """The matrix and costs over the suboptimal arms, and these arms."""
    best = int(np.argmax(theta))
    arms = [arm for arm in range(len(theta)) if arm != best]
    top = float(theta[best])
    matrix = np.array(
        [
            [
                family.kl(float(theta[z]), max(float(theta[z]), top - float(distances[x, z])))
                for z in arms
            ]
            for x in arms
        ]
    )
    return matrix, top - theta[arms], arms
