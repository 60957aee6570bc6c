"""Where a leader and a rival that is better by ε meet: against bisection, at every scale."""

import math

import numpy as np
import pytest

from ossb.families import Bernoulli, Exponential, Gaussian, Poisson
from ossb.models.rivals.pairs import meeting_point

FAMILIES = [
    (Bernoulli(), 0.0, 1.0),
    (Bernoulli(-1.0), -1.0, 0.0),
    (Gaussian(1.0), -3.0, 3.0),
    (Poisson(), 0.0, 30.0),
    (Exponential(), 0.01, 30.0),
]


@pytest.mark.parametrize(("family", "low", "high"), FAMILIES, ids=lambda f: str(f)[:20])
def test_evidence_is_least_where_they_meet(family, low, high):
    rng = np.random.default_rng(0)
    for _ in range(150):
        p, q = rng.uniform(low, high, 2).tolist()
        if not isinstance(family, Exponential):
            p, q = (float(round(v)) if rng.random() < 0.2 else v for v in (p, q))
        n, m = (10.0 ** rng.uniform(0, 5, 2)).tolist()
        epsilon = float(10 ** rng.uniform(-4, 0) * rng.choice([1, -1]) * (high - low))
        a, b = max(q - epsilon, family.lowest()), min(p, family.highest() - epsilon)
        if q >= p + epsilon:
            continue
        found = meeting_point(family, p, n, q, m, epsilon)
        if not a <= b:
            assert math.isnan(found)
            continue
        assert a <= found <= b

        def evidence(v, p=p, q=q, n=n, m=m, epsilon=epsilon):
            return n * family.kl(p, v) + m * family.kl(q, v + epsilon)

        for _ in range(200):
            middle = 0.5 * (a + b)
            rises = n * family.slope(p, middle) + m * family.slope(q, middle + epsilon) > 0.0
            a, b = (a, middle) if rises else (middle, b)
        least = min(evidence(a), evidence(b))
        if math.isfinite(least):
            assert evidence(found) <= least * (1.0 + 1e-9) + 1e-300
