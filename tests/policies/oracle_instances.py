"""Small arm sets behind an oracle, all of whose arms can be listed."""

import itertools

import numpy as np

from ossb.structures.combinatorial import Combinatorial
from ossb.tally import decide, empty_tally, observe

GRID = [[3 * i + j, 3 * i + j + 3] for i in range(2) for j in range(3)] + [
    [3 * i + j, 3 * i + j + 1] for i in range(3) for j in range(2)
]
SHAPES = {
    "m_sets": {"n_items": 6, "size": 3},
    "paths": {"edges": GRID, "source": 0, "target": 8},
    "matchings": {
        "n_left": 3, "n_right": 3, "edges": [[i, j] for i in range(3) for j in range(3)],
    },
    "spanning_trees": {
        "n_nodes": 4, "edges": [list(pair) for pair in itertools.combinations(range(4), 2)],
    },
}  # fmt: skip
ITEMS = {"m_sets": 6, "paths": 12, "matchings": 9, "spanning_trees": 6}


def instance(shape, seed, **keys):
    """An instance with random item means."""
    phi = np.random.default_rng(seed).uniform(0.0, 1.0, ITEMS[shape])
    return Combinatorial(
        feedback="semi_bandit", arm_set=shape, phi=phi.tolist(), **SHAPES[shape], **keys
    )


def rounds(record, problem, horizon, seed):
    """(items, phase) of every round, and the tally."""
    tally, memory = empty_tally(problem.components.size, 1000), record.start()
    noise, rng, decisions = np.random.default_rng(seed), np.random.default_rng(seed + 1), []
    for _ in range(horizon):
        decision = record.select(tally, memory, rng)
        decide(tally, decision)
        items = memory.table.arms[decision.arm]
        decisions.append((items, decision.phase))
        for item in items:
            mean = float(problem.components[item])
            observe(tally, item, problem.family.sample(mean, noise))
        tally.clock[0] += 1
    return decisions, tally


def told(problem, seed, most=15):
    """A tally in which each item was seen a few times."""
    rng = np.random.default_rng(seed)
    tally = empty_tally(problem.components.size, 4)
    for item, mean in enumerate(problem.components):
        for _ in range(int(rng.integers(1, most))):
            observe(tally, item, problem.family.sample(float(mean), rng))
    tally.clock[0] = 40
    return tally
