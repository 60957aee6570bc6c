"""Rates that are held while certified within κ = 10⁻³ play like rates solved for every round."""

import math

import pytest

from ossb.simulation import simulate
from ossb.structures.linear import Linear
from ossb.structures.polytope import Polytope
from structured_instances import INSTANCES as STRUCTURED

INSTANCES = {
    "linear": Linear(arms=[[1, 0], [0, 1], [0.7, 0.8], [-0.3, 0.9]], phi=[1.0, 0.3]),
    **{name: STRUCTURED[name] for name in ("lipschitz", "semi_bandit", "logistic")},
    "polytope": Polytope(observation="gaussian", A=[[1, -1, 0]], b=[0.6], theta=[0.5, 0.0, 0.1]),
}


PLAYED = [
    *(("ossb-paper", name) for name in INSTANCES),
    *(("ossb", name) for name in INSTANCES if name != "polytope"),  # interpreted, and slow
]


@pytest.mark.parametrize(
    ("policy", "name"),
    [
        pytest.param(*case, marks=pytest.mark.sampled(of=3, by=number))
        for number, case in enumerate(PLAYED)
    ],
)
def test_a_small_kappa_agrees_with_none(name, policy):
    horizon, trials = (20, 3) if name == "polytope" else (1000, 60)
    held, solved = (
        simulate(INSTANCES[name], [f"{policy}:kappa={kappa}"], horizon, trials, seed=7)
        .policies[0]
        .regret
        for kappa in (1e-3, 0.0)
    )
    difference = held - solved
    error = difference.std(ddof=1) / math.sqrt(trials)
    assert abs(difference.mean()) <= 2 * error + 1e-9
    assert held.mean() > 0
