"""Baselines beside literal transcriptions, and beside what is proved of them."""

import math

import numpy as np
import pytest

from ossb.models.spanning import spanning_arms
from ossb.policies import policy
from ossb.policies.end_of_optimism import CENTRES, SUCCESS, TOLERANCE, WANTED
from ossb.policies.end_of_optimism import STAGE as EOO_STAGE
from ossb.simulation import simulate
from ossb.structures.base import bound
from ossb.structures.classical import Classical
from ossb.structures.linear import Linear
from ossb.tally import decide, empty_tally, observe
from policies.contract import World, decisions, upper_by_bisection
from policies.linear_transcription import ARMS, EASY, HARD, Data, played_by

BERNOULLI = Classical(theta=[0.5, 0.6, 0.7], observation="bernoulli")
GAUSSIAN = Classical(theta=[0.0, 1.0, 0.4], sigma=0.5)
WAITING = Classical(theta=[3.0, 2.0, 1.0], observation="exponential", goal="minimize")
SEEDS = range(3)


def literal(instance, horizon, seed, choose):
    """Each arm once, then what ``choose`` makes of t, means, counts and draws."""
    world, arms, rng = World(instance, seed), [], np.random.default_rng(seed + 1000)
    for t in range(1, horizon + 1):
        arm = t - 1 if t <= instance.n_arms else choose(t, world.means, world.n, rng)
        world.play(arm)
        arms.append(int(arm))
    return arms


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("instance", "proxy"), [(GAUSSIAN, 0.25), (BERNOULLI, 1.0)])
def test_ucb1_decides_as_written(instance, proxy, seed):
    def choose(t, means, n, rng):
        return np.argmax(means + np.sqrt(2 * proxy * math.log(t) / n))

    assert decisions(instance, "ucb1", 300, seed) == literal(instance, 300, seed, choose)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("c", [0.0, 3.0])
@pytest.mark.parametrize("instance", [GAUSSIAN, WAITING])
def test_kl_ucb_decides_as_written(instance, c, seed):
    """Counts and successes are left out: they tie, and roundings decide."""

    def choose(t, means, n, rng):
        level = math.log(t) + c * math.log(max(math.log(t), 1.0))
        pairs = zip(means, level / n, strict=True)
        return np.argmax([upper_by_bisection(instance.family, *pair) for pair in pairs])

    assert decisions(instance, "kl-ucb", 150, seed, c=c) == literal(instance, 150, seed, choose)


@pytest.mark.parametrize("seed", SEEDS)
def test_thompson_draws_from_the_posterior_of_gaussian_means(seed):
    def choose(t, means, n, rng):
        return np.argmax([rng.normal(m, 0.5 / math.sqrt(k)) for m, k in zip(means, n, strict=True)])

    assert decisions(GAUSSIAN, "thompson", 300, seed) == literal(GAUSSIAN, 300, seed, choose)


@pytest.mark.parametrize("seed", SEEDS)
def test_thompson_draws_from_the_beta_posterior(seed):
    world, arms, rng = World(BERNOULLI, seed), [], np.random.default_rng(seed + 1000)
    for _ in range(300):
        ones = np.round(world.n * world.means)
        drawn = [rng.beta(a + 1, n - a + 1) for a, n in zip(ones, world.n, strict=True)]
        arms.append(int(np.argmax(drawn)))
        world.play(arms[-1])
    assert decisions(BERNOULLI, "thompson", 300, seed) == arms


def radius_of_glm_ucb(t, sigma, gram):
    return sigma * math.sqrt(0.5 * math.log(t))


def radius_of_oful(t, sigma, gram):
    return sigma * math.sqrt(2 * math.log(1 / 0.01) + np.linalg.slogdet(gram)[1]) + 1.0


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("instance", [EASY, HARD])
@pytest.mark.parametrize(
    ("name", "radius", "ridge"),
    [("glm-ucb", radius_of_glm_ucb, 0.0), ("oful", radius_of_oful, 1.0)],
)
def test_optimistic_indices_of_linear_arms_are_as_written(name, radius, ridge, instance, seed):
    """Without a ridge after a spanning set (Filippi et al.), or with the ridge of the paper."""
    data, arms = Data(instance, seed, ridge), []
    first = spanning_arms(instance.arms) if ridge == 0.0 else []
    for t in range(1, 201):
        if t <= len(first):
            arms.append(first[t - 1])
        else:
            index = data.arms @ data.theta + radius(t, instance.sigma, data.gram) * data.widths
            arms.append(int(np.argmax(index)))
        data.play(arms[-1])
    ours = [arm for arm, _ in played_by(policy(name, instance), instance, 200, seed)]
    assert ours[1:] == arms[1:]  # at first nothing is known, and arms of one width are tied


def test_the_end_of_optimism_plans_what_the_bound_asks_for():
    """T̂ = ½ σ² f(1/n) c(x, μ̂) and 2ε = 2 max_x |x| √f(1/ln n), by the certified solver."""
    horizon, sigma, c, d = 2000, 0.5, 1.0, 2
    record = policy("end-of-optimism", EASY, horizon=horizon, c=c)
    memory, data, noise = record.start(), Data(EASY, 3, ridge=0.0), np.random.default_rng(3)
    tally, rng = empty_tally(5, 5), np.random.default_rng(0)
    for _ in range(30):
        if np.linalg.matrix_rank(data.gram) == d:
            before = data.theta, data.widths.max()
        decision = record.select(tally, memory, rng)
        if memory.plan[EOO_STAGE] == SUCCESS:
            break
        decide(tally, decision)
        mean = float(EASY.rewards[decision.arm])
        observe(tally, decision.arm, EASY.family.sample(mean, noise))
        data.play(decision.arm)
        tally.clock[0] += 1
    theta, widest = before
    log = math.log(horizon)
    assert tally.clock[0] == d * math.ceil(math.sqrt(log))

    def f(logarithm):
        return 2 * (1 + 1 / log) * logarithm + c * d * math.log(d * log)

    assert memory.frozen[CENTRES] == pytest.approx(ARMS @ theta)
    wanted = 0.5 * f(log) * bound(Linear(arms=ARMS, phi=theta, sigma=sigma)).rates
    assert memory.frozen[WANTED] == pytest.approx(wanted, rel=0.05, abs=0.02 * wanted.max())
    assert memory.plan[TOLERANCE] == pytest.approx(2 * sigma * widest * math.sqrt(f(math.log(log))))


def test_ucb1_plays_no_arm_more_often_than_proved():
    """Auer, Cesa-Bianchi and Fischer: E N(x) ≤ 8 ln n / Δ² + 1 + π²/3, for rewards in [0, 1]."""
    found = simulate(BERNOULLI, ["ucb1"], 5000, 100, seed=2).policies[0]
    for arm, gap in ((0, 0.2), (1, 0.1)):
        most = 8 * math.log(5000) / gap**2 + 1 + math.pi**2 / 3
        assert 2 * math.log(5000) / (4 * gap**2) < found.plays[arm] < most


@pytest.mark.parametrize(("name", "most"), [("kl-ucb", 2.0), ("thompson", 1.4)])
def test_plays_follow_lai_and_robbins(name, most):
    """The slope of mean regret in ln t over the last decade is near C, optimists' above."""
    constant = bound(BERNOULLI).value
    found = simulate(BERNOULLI, [name], 20_000, 150, seed=4).policies[0]
    mean = found.curves.mean(axis=0)
    decade = int(np.searchsorted(found.checkpoints, 2000))
    slope = (mean[-1] - mean[decade]) / math.log(20_000 / found.checkpoints[decade])
    assert 0.6 * constant < slope < most * constant


def oful_bound(horizon, d, sigma, delta, norm):
    """√(8 n β² ln det V), β the radius at the end (Abbasi-Yadkori et al., Theorem 3)."""
    volume = d * math.log(1 + horizon / d)  # arms of length 1 at most
    radius = sigma * math.sqrt(2 * math.log(1 / delta) + volume) + norm
    return math.sqrt(8 * horizon * radius**2 * volume)


UNIT = ARMS / np.linalg.norm(ARMS, axis=1)[:, None]


def test_oful_keeps_its_bound_in_every_trial():
    """With probability 1 − δ; 1 − 40 δ = 0.96 for all trials together."""
    instance = Linear(arms=UNIT, phi=[0.6, 0.5])
    found = simulate(instance, ["oful:delta=0.001"], 3000, 40, seed=5).policies[0]
    assert found.regret.max() < oful_bound(3000, 2, 1.0, 0.001, 1.0)
    assert found.regret.mean() > 10  # optimism of this width explores for long


def test_linear_thompson_as_published_keeps_its_bound():
    """Agrawal and Goyal: of the order d^{3/2} √n (ln n + √(ln n ln 1/δ)); here times 1."""
    instance = Linear(arms=UNIT, phi=[0.6, 0.5])
    found = simulate(instance, ["linear-thompson"], 3000, 40, seed=5).policies[0]
    log, d = math.log(3000), 2
    assert found.regret.max() < d**1.5 * math.sqrt(3000) * (log + math.sqrt(log * math.log(10)))
    assert found.plays[np.argmax(instance.rewards)] > 1500


def test_the_end_of_optimism_is_logarithmic_where_optimism_is_not():
    """C ln n = 8 ln n on its own example; with f in the place of ln n and the warm-up, twice that.

    Success is followed by exploiting alone: what is paid does not grow with n.
    """
    instance = Linear(arms=[[1, 0], [0, 1], [0.9, 0.2]], phi=[1, 0], sigma=0.1)
    found = simulate(instance, ["end-of-optimism:horizon=20000,c=0"], 20_000, 60, seed=3)
    log, regret = math.log(20_000), found.policies[0].regret
    assert np.median(regret) < 2 * 8 * 0.01 * (1 + 1 / log) * log + 2 * math.ceil(math.sqrt(log))
    assert regret.mean() < 0.02 * 0.1 * 20_000
