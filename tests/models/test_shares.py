"""The best shares of plays: covers against linear programs, shares against certified bounds."""

import numpy as np
import pytest
from scipy.optimize import linprog

from ossb import bound
from ossb.instances import from_dict
from ossb.models.rivals import rivals_of, showing_of
from ossb.models.rivals.cover import begin_cover, cheapest_cover, forget_rows, new_cover
from ossb.models.rivals.shares import SHARES
from ossb.policies.telling import read_cost
from ossb.testing import examples


def covered(rows, compiled=False, at_once=3):
    """The cheapest cover, rows entered a few at a time and forgotten in between."""
    cover = new_cover(rows.shape[1], 4 * rows.shape[1] + at_once)
    solve = cheapest_cover.compiled if compiled else cheapest_cover
    begin_cover(cover)
    for first in range(0, len(rows), at_once):
        forget_rows(cover)
        for row in rows[first : first + at_once]:
            cover.rows[cover.sizes[0]] = row
            cover.sizes[0] += 1
        cost = solve(cover)
    return cost, cover.point


@pytest.mark.parametrize("seed", range(20))
def test_covers_are_cheapest(seed):
    """Rows that stay: of those that were forgotten a later one need not be covered."""
    rng = np.random.default_rng(seed)
    rows = rng.uniform(size=(rng.integers(1, 12), rng.integers(1, 9)))
    rows *= rng.random(rows.shape) < 0.7
    rows[:, 0] += 0.01
    cost, point = covered(rows, at_once=len(rows))
    exact = linprog(np.ones(rows.shape[1]), -rows, -np.ones(len(rows)), method="highs")
    assert cost == pytest.approx(exact.fun, rel=1e-7)
    assert (rows @ point).min() > 1.0 - 1e-7
    assert point.min() > -1e-7
    part, _ = covered(rows)
    assert part <= exact.fun * (1.0 + 1e-7)


def test_covers_are_the_same_compiled():
    rows = np.random.default_rng(4).uniform(size=(9, 6))
    one, other = covered(rows, compiled=True), covered(rows, compiled=False)
    assert one[0] == other[0]
    assert one[1].tolist() == other[1].tolist()


def test_of_alike_rows_and_columns_one_is_enough():
    assert covered(np.ones((6, 4)), at_once=6)[0] == pytest.approx(1.0)


def value_of_shares(instance, cost):
    """V(κ) by the rivals, and the rates."""
    rivals = rivals_of(instance.model(), instance.observed_family)
    showing, pricing = showing_of(instance.showing()), read_cost(cost)
    imagined = showing.start_imagined(rivals, True)
    imagined.tally.means[:] = instance.components
    gaps = np.asarray(instance.gaps)
    prices = np.empty(gaps.size)
    pricing.price_arms(-gaps, int(gaps.argmin()), 0, gaps.size, prices)
    unit = gaps.max() if cost != "samples" else 1.0
    value = 1.0 / showing.best_shares(rivals, 0.0, prices, imagined) * unit
    return value, imagined.line[SHARES] / prices


EXACT = {name: i for name, i in examples().items() if i.n_arms is not None}
# what rivals are ranked by is quadratic, or by variances, at the estimate
NEARLY = ("generalized_linear reward bernoulli", "generalized_linear reward bounded",
          "generalized_linear reward poisson", "combinatorial semi_bandit bernoulli",
          "combinatorial semi_bandit bounded", "combinatorial semi_bandit poisson")  # fmt: skip


@pytest.mark.parametrize("cost", ["samples", 0.1])
@pytest.mark.parametrize("name", EXACT)
def test_shares_are_those_of_the_certified_bound(name, cost):
    if name == "lipschitz exponential":
        pytest.skip("there is no such bound")
    exact = bound(EXACT[name], cost=cost).value
    found, _ = value_of_shares(EXACT[name], cost)
    assert found == pytest.approx(exact, rel=0.08 if name in NEARLY else 2e-3)


@pytest.mark.parametrize("seed", range(12))
def test_shares_of_many_linear_arms(seed):
    rng = np.random.default_rng(seed)
    arms = rng.normal(size=(40, 3))
    keys = {"structure": "linear", "arms": arms.tolist(), "phi": rng.normal(size=3).tolist()}
    instance = from_dict(keys)
    found, rates = value_of_shares(instance, "samples")
    assert found == pytest.approx(bound(instance, cost="samples").value, rel=2e-3)
    assert np.count_nonzero(rates > 0.01 * rates.sum()) <= 8


def test_a_tie_is_shared_by_the_two():
    instance = from_dict({"structure": "classical", "n_arms": 3})
    rivals = rivals_of(instance.model(), instance.observed_family)
    showing = showing_of(instance.showing())
    imagined = showing.start_imagined(rivals, True)
    imagined.tally.means[:] = [0.5, 0.5, 0.1]
    assert showing.best_shares(rivals, 0.0, np.ones(3), imagined) == 0.0
    assert imagined.line[SHARES].tolist() == pytest.approx([0.5, 0.5, 0.0])


def random_instance(structure, rng):
    """One of a structure, with a best arm well apart from most others."""
    n = int(rng.integers(3, 7))
    theta = rng.permutation(np.r_[0.85, rng.uniform(0.15, 0.75, n - 1)])
    keys = {"structure": structure, "observation": "bernoulli"}
    match structure:
        case "classical":
            return {**keys, "theta": theta.tolist()}
        case "unimodal":
            cut = int(rng.integers(n))
            line = [*np.sort(theta)[:cut], *np.sort(theta)[cut:][::-1]]
            return {**keys, "theta": [float(v) for v in line]}
        case "lipschitz":
            points = np.sort(rng.uniform(0.0, 1.0, n))
            top = float(rng.uniform(0.0, 1.0))
            means = 0.8 - rng.uniform(0.2, 0.6) * np.abs(points - top)
            more = {"points": points.tolist(), "lipschitz_constant": 0.7}
            return {**keys, "theta": means.tolist(), **more}
        case "linear":
            arms, phi = rng.normal(size=(3 * n, 3)), rng.normal(size=3)
            return {"structure": structure, "arms": arms.tolist(), "phi": phi.tolist()}
        case "dueling":
            above = np.triu(rng.uniform(0.2, 0.8, (n, n)), 1)
            above[0] = np.r_[0.0, rng.uniform(0.55, 0.9, n - 1)]
            table = above + np.tril(1.0 - above.T, -1) + 0.5 * np.eye(n)
            return {"structure": structure, "preferences": table.tolist()}
        case "finite":
            rows = rng.uniform(0.1, 0.9, (n + 2, 4))
            return {**keys, "parameters": rows.tolist(), "theta": rows[0].tolist()}
    sets = np.unique(rng.random((2 * n, 5)) < 0.5, axis=0).astype(int)
    keys = {"structure": "combinatorial", "feedback": "semi_bandit", "arms": sets.tolist()}
    return {**keys, "phi": rng.uniform(0.1, 0.9, 5).tolist()}


@pytest.mark.parametrize(
    "count", [4, pytest.param(100, marks=pytest.mark.slow)], ids=["few", "hundred"]
)
@pytest.mark.parametrize(
    "structure",
    ["classical", "unimodal", "lipschitz", "linear", "dueling", "finite", "combinatorial"],
)
def test_bounds_of_random_instances_agree_with_planes_over_rivals(structure, count):
    """Cutting planes over the rivals share nothing with what certified bounds are found by."""
    rng, looked_at = np.random.default_rng(11), 0
    while looked_at < count:
        instance = from_dict(random_instance(structure, rng))
        gaps = np.sort(np.asarray(instance.gaps))
        if gaps[1] < 0.02 * max(gaps[-1], 1.0):
            continue
        looked_at += 1
        exact, (found, _) = bound(instance, cost="samples"), value_of_shares(instance, "samples")
        assert found == pytest.approx(exact.value, rel=2e-3)
