"""Families of linear instances that a solver must get right, and an independent certificate."""

import numpy as np


def unit(rng, n_arms, dimension):
    arms = rng.normal(size=(n_arms, dimension))
    return arms / np.linalg.norm(arms, axis=1, keepdims=True), rng.normal(size=dimension)


def near_tie(nearest):
    """Unit arms whose second best is within ``nearest`` of the best."""

    def draw(rng, n_arms, dimension):
        arms, phi = unit(rng, n_arms, dimension)
        order = np.argsort(arms @ phi)
        first, second = order[-1], order[-2]
        difference = arms[first] - arms[second]
        excess = difference @ phi - nearest
        return arms, phi - excess * difference / (difference @ difference)

    return draw


def cube(rng, n_arms, dimension):
    arms = np.array(np.meshgrid(*[[0.0, 1.0]] * dimension)).reshape(dimension, -1).T[1:]
    return arms, rng.normal(size=dimension)


def small_subsets(rng, n_arms, dimension):
    arms, phi = cube(rng, n_arms, dimension)
    return arms[arms.sum(axis=1) <= dimension / 2 + 1], np.abs(phi)


def integer_cube(rng, n_arms, dimension):
    """Equal gaps: degenerate on purpose; drawn again until the best arm is unique."""
    while True:
        arms, _ = cube(rng, n_arms, dimension)
        phi = rng.integers(-3, 4, size=dimension).astype(float)
        means = np.sort(arms @ phi)
        if means[-1] > means[-2]:
            return arms, phi


def optimism(rng, n_arms, dimension):
    epsilon = float(np.exp(rng.uniform(np.log(1e-4), np.log(0.49))))
    return np.array([[1.0, 0.0], [0.0, 1.0], [1 - epsilon, 2 * epsilon]]), np.array([1.0, 0.0])


def collinear(width):
    def draw(rng, n_arms, dimension):
        return rng.normal(size=dimension) + width * rng.normal(
            size=(n_arms, dimension)
        ), rng.normal(size=dimension)

    return draw


def clusters(rng, n_arms, dimension):
    centres, phi = unit(rng, max(dimension + 1, n_arms // 8), dimension)
    arms = centres[rng.integers(len(centres), size=n_arms)]
    return arms + 1e-4 * rng.normal(size=arms.shape), phi


def lengths(rng, n_arms, dimension):
    arms, phi = unit(rng, n_arms, dimension)
    return arms * np.exp(rng.uniform(np.log(1e-2), np.log(1e2), size=(n_arms, 1))), phi


def duplicates(rng, n_arms, dimension):
    arms, phi = unit(rng, n_arms // 4, dimension)
    best = int(np.argmax(arms @ phi))
    return np.vstack([arms, *[np.delete(arms, best, axis=0)] * 3]), phi


def subspace(rng, n_arms, dimension):
    arms, _ = unit(rng, n_arms, 3)
    basis = np.linalg.qr(rng.normal(size=(dimension, dimension)))[0][:3]
    return arms @ basis, rng.normal(size=dimension)


def crowd(rng, n_arms, dimension):
    """A quarter of the arms within 0.02 of the best."""
    arms, phi = unit(rng, n_arms, dimension)
    phi /= np.linalg.norm(phi)
    best = arms[np.argmax(arms @ phi)]
    near = n_arms // 4
    arms[:near] = best + 0.02 * rng.normal(size=(near, dimension)) / np.sqrt(dimension)
    return arms, phi


FAMILIES = {
    "unit arms 20x2": (unit, 20, 2),
    "unit arms 81x3": (unit, 81, 3),
    "unit arms 100x5": (unit, 100, 5),
    "unit arms 1000x5": (unit, 1000, 5),
    "unit arms 300x10": (unit, 300, 10),
    "unit arms 1000x10": (unit, 1000, 10),
    "gap 1e-4 20x2": (near_tie(1e-4), 20, 2),
    "gap 1e-4 81x3": (near_tie(1e-4), 81, 3),
    "gap 1e-4 100x5": (near_tie(1e-4), 100, 5),
    "gap 1e-4 1000x5": (near_tie(1e-4), 1000, 5),
    "gap 1e-4 300x10": (near_tie(1e-4), 300, 10),
    "gap 1e-4 1000x10": (near_tie(1e-4), 1000, 10),
    "gap 1e-6 81x3": (near_tie(1e-6), 81, 3),
    "gap 1e-6 300x10": (near_tie(1e-6), 300, 10),
    "{0,1}^3": (cube, 0, 3),
    "{0,1}^5": (cube, 0, 5),
    "{0,1}^8": (cube, 0, 8),
    "{0,1}^10": (cube, 0, 10),
    "small subsets of 6": (small_subsets, 0, 6),
    "small subsets of 10": (small_subsets, 0, 10),
    "end of optimism": (optimism, 3, 2),
    "collinear 1e-2 81x3": (collinear(1e-2), 81, 3),
    "collinear 1e-4 81x3": (collinear(1e-4), 81, 3),
    "collinear 1e-3 300x10": (collinear(1e-3), 300, 10),
    "clusters 81x3": (clusters, 81, 3),
    "clusters 300x5": (clusters, 300, 5),
    "lengths 1e-2..1e2 81x3": (lengths, 81, 3),
    "lengths 1e-2..1e2 300x10": (lengths, 300, 10),
    "duplicates 80x3": (duplicates, 80, 3),
    "duplicates 300x5": (duplicates, 300, 5),
    "3-dim subspace 100x6": (subspace, 100, 6),
    "integer {0,1}^3": (integer_cube, 0, 3),
    "integer {0,1}^5": (integer_cube, 0, 5),
    "integer {0,1}^8": (integer_cube, 0, 8),
    "crowd 81x3": (crowd, 81, 3),
    "crowd 300x5": (crowd, 300, 5),
    "crowd 1000x10": (crowd, 1000, 10),
}


def draw(family, rng):
    """Arms, best arm and gaps of a random instance."""
    make, n_arms, dimension = FAMILIES[family]
    arms, phi = make(rng, n_arms, dimension)
    means = arms @ phi
    best = int(np.argmax(means))
    return arms, best, means[best] - means


def recertified_gap(arms, best, gaps, solution):
    """Relative gap of a solution, from the arms alone, in long double."""
    wide = np.longdouble
    arms, gaps = arms.astype(wide), gaps.astype(wide)
    leader, dimension = arms[best], arms.shape[1]
    rates = solution.rates.astype(wide)
    others = np.arange(len(arms)) != best
    square = leader @ leader
    z = arms - np.outer(arms @ leader / square, leader)
    z -= np.outer(z @ leader / square, leader)
    parallel = np.sqrt((z * z).sum(1)) <= 1e-12 * np.sqrt((arms * arms).sum(1))
    z[parallel] = 0
    design = (z * rates[:, None]).T @ z
    size = np.trace(design) / dimension
    design += size * np.outer(leader, leader) / square
    _, values, basis = np.linalg.svd(arms.astype(float), full_matrices=True)
    rank = int((values > 1e-12 * values[0]).sum())
    for missing in basis[rank:].astype(wide):
        design += size * np.outer(missing, missing)
    scale = 1 / np.sqrt(np.diag(design))
    factor = design * np.outer(scale, scale)
    for k in range(dimension):
        factor[k, k] = np.sqrt(factor[k, k])
        factor[k + 1 :, k] /= factor[k, k]
        for j in range(k + 1, dimension):
            factor[j:, j] -= factor[j:, k] * factor[j, k]
    images = (z * scale).T
    for k in range(dimension):
        images[k] = (images[k] - factor[k, :k] @ images[:k]) / factor[k, k]
    ratio = 2 * (images * images).sum(0)[others] / gaps[others] ** 2
    upper = (rates @ gaps) * ratio.max()
    directions = solution.directions.astype(wide)
    weights = solution.weights[solution.alternatives].astype(wide)
    if square > 0:
        directions = directions - np.outer(directions @ leader / square, leader)
    reach = (directions * arms[solution.alternatives]).sum(1)
    directions = directions * (gaps[solution.alternatives] / reach)[:, None]
    information = ((arms[others] @ directions.T) ** 2 / 2) @ weights
    lower = weights.sum() / (information / gaps[others]).max()
    return float(1 - lower / upper)
