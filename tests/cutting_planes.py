"""min κ · η over η ≥ 0 with Σ η(x) D(θ, λ, x) ≥ 1 for every λ: by Kelley's cutting planes.

Another method than the package's, for its values: a linear program over the alternatives that an
oracle, a function from rates to the divergences at its least told alternatives, has named so far.
"""

import numpy as np
from scipy.optimize import linprog

ROUNDS = 400


def least_cost(prices, oracle, gap=1e-6):
    """The interval that holds the value, once it is as narrow as asked or no longer narrows."""
    prices = np.asarray(prices, dtype=float)
    rows = []
    best, outside = np.inf, np.full(prices.size, 1.0 / prices.max())
    lower, inner = 0.0, None
    for _ in range(ROUNDS):
        # near the best feasible point: the master alone jumps from corner to corner
        point = outside if inner is None else 0.5 * (outside + inner)
        for rates in {tuple(point), tuple(outside)}:
            rates = np.maximum(np.array(rates), 1e-12 * max(rates))
            found = np.atleast_2d(oracle(rates))
            rows.extend(found)
            least = float((found @ rates).min())
            if least > 0 and prices @ rates / least < best:
                best, inner = float(prices @ rates / least), rates / least
        table = np.array(rows)
        scale = (table / prices).max(axis=1)
        answer = linprog(
            np.ones(prices.size), -(table / prices) / scale[:, None], -scale.min() / scale
        )
        outside = answer.x / prices / scale.min()
        lower = answer.fun / scale.min()
        if best - lower <= gap * best:
            break
    return lower, best


def pair_oracle(kl, means, best):
    """Alternatives of independent arms: one arm and the best one at their common mean."""

    def oracle(rates):
        rows = []
        for arm in range(len(means)):
            if arm != best:
                both = [arm, best]
                level = float(rates[both] @ means[both] / rates[both].sum())
                row = np.zeros(len(means))
                row[both] = [kl(float(means[x]), level) for x in both]
                rows.append(row)
        return np.array(rows)

    return oracle
