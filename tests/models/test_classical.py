"""Independent arms: cheap bounds on likelihood ratios change no decision."""

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from ossb.families import family_named
from ossb.models import classical
from ossb.models.classical import pooled_at_least, pooled_ratio
from ossb.simulation import simulate
from ossb.structures import Classical

RANGES = {
    "gaussian": (-3.0, 3.0),
    "bernoulli": (0.0, 1.0),
    "bounded": (0.0, 1.0),
    "poisson": (0.0, 9.0),
    "exponential": (0.01, 9.0),
}


@hypothesis.given(
    name=st.sampled_from(sorted(RANGES)),
    sign=st.sampled_from([1.0, -1.0]),
    shares=st.tuples(*[st.floats(0.0, 1.0) for _ in range(3)]),
    n=st.integers(0, 1000),
    m=st.integers(0, 100_000),
)
def test_the_cheap_bound_is_one(name, sign, shares, n, m):
    low, high = RANGES[name]
    family = family_named(name, 1.0, sign)
    p, q, before = (sign * (low + share * (high - low)) for share in shares)
    p, q = min(p, q), max(p, q)
    apart = family.kl(p, before)
    exact = pooled_ratio(family, p, float(n), q, float(m))
    least = pooled_at_least(family, p, float(n), q, float(m), before, apart)
    if np.isfinite(apart):
        assert least <= exact * (1.0 + 1e-9) + 1e-9 * (1.0 + n)


def test_the_cheap_bound_is_nearly_exact_where_the_leader_is_known_well():
    family = family_named("bernoulli")
    exact = pooled_ratio(family, 0.3, 60.0, 0.6, 1e5)
    apart = family.kl(0.3, 0.601)
    assert pooled_at_least(family, 0.3, 60.0, 0.6, 1e5, 0.601, apart) >= 0.98 * exact


@pytest.mark.parametrize("observation", ["bernoulli", "exponential", "gaussian", "poisson"])
@pytest.mark.parametrize("goal", ["maximize", "minimize"])
def test_cheap_bounds_change_no_decision(observation, goal, monkeypatch):
    instance = Classical(observation=observation, theta=[0.9, 0.5, 0.45, 0.2], goal=goal)

    def trial():
        return simulate(instance, "ossb", 1500, 2, seed=5, compiled=False).policies[0]

    quick = trial()
    monkeypatch.setattr(classical, "pooled_at_least", lambda *_: 0.0)
    exact = trial()
    assert np.array_equal(quick.curves, exact.curves)
    assert np.array_equal(quick.plays, exact.plays)
