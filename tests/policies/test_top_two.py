"""Top two: a literal transcription, both ways to run, batches, costs and when it stops."""

import math

import numpy as np
import pytest

from ossb.errors import InputError
from ossb.instances import from_dict
from ossb.policies import policy
from ossb.simulation.simulate import simulate
from ossb.tally import decide, empty_tally, observe
from policies.contract import untold
from policies.symmetry_cases import contents

SHAPES = {name.rpartition(" ")[0]: content for name, content in contents()}
ARMS = from_dict({"structure": "classical", "observation": "bernoulli", "theta": [0.5, 0.6, 0.7]})
FEATURES = np.array([[1.0, 0.0], [0.0, 1.0], [0.8, 0.5]])
LINEAR = from_dict(
    {"structure": "linear", "sigma": 0.5, "arms": FEATURES.tolist(), "phi": [0.7, 0.4]}
)


def kl(p, q):
    total = 0.0
    if abs(p - q) < 1e-7:
        return (p - q) ** 2 / (2 * q * (1 - q)) if p != q else 0.0
    for a, b in ((p, q), (1 - p, 1 - q)):
        total += a * math.log(a / b) if a > 0 else 0.0
    return total


class Literal:
    """The rule of the docstring on independent Bernoulli arms, written without the package."""

    def __init__(self, n_arms, price=lambda gap, largest: 1.0):
        self.due, self.price = [1.0] * n_arms, price

    def arms(self, n, m):
        """Those that it may play: several where they tie but for rounding."""
        b = max(range(len(n)), key=lambda x: (m[x], -x))
        met, index = {}, {}
        for j in range(len(n)):
            if j != b:
                v = (n[b] * m[b] + n[j] * m[j]) / (n[b] + n[j])
                met[j] = v
                z = n[b] * kl(m[b], v) + n[j] * kl(m[j], v)
                index[j] = z + math.log(n[j])
        j = min(index, key=lambda x: (index[x], x))
        largest = m[b] - min(m)
        told = {x: kl(m[x], met[j]) * (n[x] + 1) for x in (b, j)}
        if m[b] == m[j]:
            told = {b: n[j] ** 2 * (n[b] + 1), j: n[b] ** 2 * (n[j] + 1)}
        paid = {x: told[x] / self.price(m[b] - m[x], largest) for x in (b, j)}
        if not sum(paid.values()) > 0.0:
            self.due[b] += 1.0
            return {b}
        for x in paid:
            self.due[x] += paid[x] / sum(paid.values())
        behind = {x: self.due[x] - n[x] for x in paid if paid[x] > 0}
        return {x for x in behind if behind[x] > max(behind.values()) - 1e-9}


@pytest.mark.parametrize(
    ("cost", "price"),
    [
        ("samples", lambda gap, largest: 1.0),
        ("regret", lambda gap, largest: gap / largest + 0.01 if largest > 0 else 1.0),
        (0.05, lambda gap, largest: gap + 0.05 if largest > 0 else 1.0),
    ],
)
def test_it_is_the_rule_of_its_page(cost, price):
    record, literal = policy("top-two", ARMS, cost=cost), Literal(3, price)
    tally, memory, rng = empty_tally(3, 3), record.start(), np.random.default_rng(4)
    for t in range(600):
        decision = record.select(tally, memory, rng)
        if t < 3:
            assert decision.arm == t
        else:
            assert decision.arm in literal.arms(tally.counts.tolist(), tally.means.tolist())
        decide(tally, decision)
        observe(tally, decision.arm, float(rng.random() < ARMS.theta[decision.arm]))
        tally.clock[0] += 1


def test_of_linear_arms_it_asks_what_tells_two_arms_apart():
    """The challenger and the shares, by a least-squares fit of numpy's."""
    record = policy("top-two", LINEAR)
    tally, memory, rng = empty_tally(3, 3), record.start(), np.random.default_rng(4)
    for t in range(200):
        n, m = tally.counts.astype(float), tally.means
        due = memory.targets.copy()
        decision = record.select(tally, memory, rng)
        if t > 10:
            W = np.linalg.inv(FEATURES.T @ (n[:, None] * FEATURES))
            theta = W @ (FEATURES.T @ (n * m))
            b = int(np.argmax(FEATURES @ theta))
            u = FEATURES - FEATURES[b]
            spread = np.einsum("ki,ij,kj->k", u, W, u)
            z = np.full(3, np.inf)
            others = np.arange(3) != b
            z[others] = (u @ theta)[others] ** 2 / (2 * 0.25 * spread[others])
            mass = 1.0 / np.einsum("ki,ij,kj->k", FEATURES, W, FEATURES)
            j = int(np.argmin(z + np.log(np.maximum(1.0, mass))))
            share = (tally.plays + 1.0) * (FEATURES @ W @ u[j]) ** 2
            behind = due + share / share.sum() - tally.plays
            assert decision.arm == int(np.argmax(np.where(share > 0, behind, -np.inf)))
        decide(tally, decision)
        mean = float(FEATURES[decision.arm] @ [0.7, 0.4])
        observe(tally, decision.arm, mean + 0.5 * rng.standard_normal())
        tally.clock[0] += 1


@pytest.mark.parametrize("name", ["classical", "linear", "dueling", "pairs"])
def test_asks_spread_out_while_nothing_is_told(name):
    arms = untold(from_dict(SHAPES[name]), "top-two", 12)
    assert len(set(arms)) > 1


def test_batches_cost_little():
    """Told a hundred at a time, and fifty late, it still ends within a third more rounds."""
    at_once = simulate(ARMS, "top-two", 50_000, 60, 3, until=0.05)["top-two"].stops
    late = simulate(ARMS, "top-two", 50_000, 60, 3, until=0.05, batch=100, delay=50)
    late = late["top-two"].stops
    assert late.rounds.mean() < 1.33 * at_once.rounds.mean()


def test_it_stops_as_soon_as_was_promised():
    found = simulate(ARMS, "top-two", 50_000, 300, 0, until=0.05)["top-two"].stops.to_dict()
    assert found["median"] <= 2_100
    assert (found["errors"], found["unfinished"]) == (0.0, 0.0)
    theta = np.linspace(0.3, 0.75, 10).tolist()
    ten = from_dict({"structure": "classical", "observation": "bernoulli", "theta": theta})
    found = simulate(ten, "top-two", 200_000, 300, 0, until=0.05)["top-two"].stops.to_dict()
    assert found["median"] <= 10_500


def test_cheaper_tests_take_longer():
    """Of regret and length, what one buys the other pays."""
    names = ["top-two:cost=regret", "top-two:cost=0.05", "top-two"]
    result = simulate(ARMS, names, 100_000, 60, 3, until=0.05)
    rounds = [one.stops.rounds.mean() for one in result.policies]
    regret = [one.regret.mean() for one in result.policies]
    assert rounds == sorted(rounds, reverse=True)
    assert regret == sorted(regret)


@pytest.mark.parametrize("cost", ["prices", 0, -1.0, math.inf, True])
def test_costs_are_checked(cost):
    with pytest.raises(InputError, match="cost"):
        policy("top-two", ARMS, cost=cost)


def test_epsilon_is_checked():
    with pytest.raises(InputError, match="epsilon"):
        policy("top-two", ARMS, epsilon=-0.1)
