"""E4: few batches, one solve."""

import math

import numpy as np
import pytest

from ossb.errors import InputError
from ossb.policies import policy
from ossb.policies.e4 import BATCH, HORIZON, LEADER
from ossb.policies.optimal_design import optimal_design
from ossb.simulation import simulate
from ossb.structures.base import bound
from ossb.structures.combinatorial import Combinatorial
from ossb.structures.linear import Linear
from ossb.structures.unimodal import Unimodal
from ossb.tally import ESTIMATE, EXPLOIT, EXPLORE
from policies.linear_transcription import EASY, HARD, OPTIMISM, Data, alternatives, played_by
from structured_instances import made_up


def design_of(arms, active):
    """Shares and the largest xᵀV⁻¹x, by Fedorov's steps."""
    shares = active / active.sum()
    while True:
        gram = (arms.T * shares) @ arms
        gram += 1e-9 * np.trace(gram) / arms.shape[1] * np.eye(arms.shape[1])
        widths = np.einsum("ki,ij,kj->k", arms, np.linalg.inv(gram), arms)
        span, worst = shares @ widths, int(np.argmax(np.where(active, widths, 0)))
        if widths[worst] <= 1.01 * span or widths[worst] <= 1:
            return shares, widths[worst]
        step = (widths[worst] / span - 1) / (widths[worst] - 1)
        shares = (1 - step) * shares
        shares[worst] += step


def literal(instance, horizon, seed, gamma):
    """The batches of the public code, each a list of plays settled before it."""
    world, sigma, rounds = Data(instance, seed, ridge=0.0), instance.sigma, []
    n, d = world.arms.shape
    log = math.log(horizon)

    def play(counts, phase):
        for x in range(n):
            for _ in range(int(counts[x])):
                if len(rounds) < horizon:
                    rounds.append((x, phase))
                    world.play(x)

    def explore(size, active):
        shares, worst = design_of(world.arms, active)
        play(np.ceil(np.minimum(2 * shares * worst * size / d, horizon)), ESTIMATE)

    active = np.ones(n, bool)
    explore(math.sqrt(horizon), active)
    leader = int(np.argmax(world.arms @ world.theta))
    estimated = Linear(arms=world.arms, phi=world.theta, sigma=sigma)
    wanted = np.zeros(n)
    for arm, rate in bound(estimated).support:
        wanted[arm] = rate
    alpha = (1 + 1 / math.log(log)) * (1 + d * math.log(log) / log)
    most = min(log ** (1 + gamma), horizon / (2 * n))
    wanted = np.minimum(wanted * alpha * log, most)
    wanted[leader] = most
    play(np.ceil(wanted), EXPLORE)
    leader, found = alternatives(world.arms, world.theta, world.gram)
    evidence = min(distance for _, distance in found.values()) / (2 * sigma**2)
    if evidence > 0.5 * math.log((len(rounds) + 1) ** (d / 2) * horizon):
        active[:] = False
        active[leader] = True
    size, later = log ** (1 + gamma), 0
    while active.sum() > 1 and len(rounds) < horizon:
        explore(size, active)
        means = world.arms @ world.theta
        active &= means > means[active].max() - 2 * sigma * math.sqrt(
            d * math.log(n * horizon**2) / size
        )
        later += 1
        size = horizon ** (1 - 2.0**-later)
    while len(rounds) < horizon:
        rounds.append((int(np.argmax(active)), EXPLOIT))
        world.play(rounds[-1][0])
    return rounds


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("instance", "horizon", "gamma"), [(EASY, 400, 10.0), (HARD, 400, 10.0), (HARD, 3000, 0.5)]
)
def test_rounds_are_those_of_the_published_batches(instance, horizon, gamma, seed):
    record = policy("e4", instance, horizon=horizon, gamma=gamma)
    rounds = played_by(record, instance, horizon, seed)
    assert rounds == literal(instance, horizon, seed, gamma)


def test_a_design_is_optimal():
    """Kiefer and Wolfowitz: the largest xᵀV⁻¹x is that of no other shares, the dimension."""
    rng = np.random.default_rng(0)
    for d, n in [(1, 3), (2, 3), (3, 20), (5, 40)]:
        arms = rng.normal(size=(n, d))
        shares = np.zeros(n)
        worst = optimal_design(
            np.ascontiguousarray(arms.T),
            np.ones(n, np.int64),
            np.zeros((3, d, d)),
            np.zeros(n),
            shares,
        )
        assert shares.sum() == pytest.approx(1)
        widths = np.einsum("ki,ij,kj->k", arms, np.linalg.inv((arms.T * shares) @ arms), arms)
        assert d * (1 - 1e-6) <= worst <= 1.0101 * d
        assert widths.max() == pytest.approx(worst, rel=1e-6)


def test_a_design_within_a_subspace():
    arms = np.array([[1.0, 0.0, 2.0, 0.5], [0.0, 1.0, 0.0, 0.0]])
    shares = np.zeros(4)
    worst = optimal_design(arms, np.array([1, 0, 1, 1]), np.zeros((3, 2, 2)), np.zeros(4), shares)
    assert shares[1] == 0
    assert worst == pytest.approx(1, rel=0.011)
    assert shares[2] > 0.97  # the longest arm shows most of the one direction there is


def test_past_the_horizon_a_longer_one_is_planned():
    record = policy("e4", EASY, horizon=16)
    memory = record.start()
    tally = made_up(EASY, 3)
    tally.clock[0] = 16
    assert record.select(tally, memory, np.random.default_rng(0)).phase == ESTIMATE
    assert memory.plan[[BATCH, HORIZON, LEADER]].tolist() == [1, 256, -1]


def test_what_it_fits():
    shown = Combinatorial(feedback="semi_bandit", arms=[[1, 0], [0, 1]], phi=[0.2, 0.5])
    for refused in (shown, Unimodal(theta=[0.1, 0.5, 0.2])):
        with pytest.raises(InputError, match="e4"):
            policy("e4", refused)


@pytest.mark.parametrize(
    ("parameters", "field"),
    [
        ({"horizon": 15}, "horizon"),
        ({"gamma": 0.0}, "gamma"),
        ({"threshold": 0.0}, "threshold"),
        ({"first_batch": "log"}, "first_batch"),
    ],
)
def test_parameters_out_of_range_are_refused(parameters, field):
    with pytest.raises(InputError, match=field):
        policy("e4", HARD, **parameters)


def test_three_batches_suffice():
    """Every trial commits to the best arm after the second batch.

    It has cost a design, 2 g √T / d plays at most of each of two arms, and α C ln T, where C is
    known up to the error that √T plays leave.
    """
    horizon = 100_000
    found = simulate(OPTIMISM, [f"e4:horizon={horizon}"], horizon, 20, seed=1).policies[0]
    log = math.log(horizon)
    alpha = (1 + 1 / math.log(log)) * (1 + 2 * math.log(log) / log)
    assert found.phases[0] > 0.8 * horizon
    assert found.plays[0] > 0.99 * horizon
    assert found.regret.mean() < 1.1 * math.sqrt(horizon) + 1.3 * alpha * 8 * log


def test_a_first_batch_of_lower_order_leaves_logarithmic_regret():
    """From 10³ to 10⁶ by no more than twice α C ln 10³; √T plays of a design cost far more."""
    easy = Linear(arms=[[1, 0], [0, 1], [0.5, 0.8]], phi=[1.0, 0.0], sigma=0.3)
    growth = {}
    for size in ("root", "logarithm"):
        ends = [
            simulate(easy, [f"e4:horizon={end},first_batch={size}"], end, 40, seed=1).policies[0]
            for end in (10**3, 10**6)
        ]
        growth[size] = ends[1].regret.mean() - ends[0].regret.mean()
    log = math.log(10**6)
    alpha = (1 + 1 / math.log(log)) * (1 + 2 * math.log(log) / log)
    assert 0 < growth["logarithm"] < 2 * alpha * bound(easy).value * math.log(10**3)
    assert growth["root"] > 0.9 * (math.sqrt(10**6) - math.sqrt(10**3))
