"""The m best arms, and arms above a level: evidence, shares and stops of tests for them."""

import math

import numpy as np
import pytest

from models.plain_tilts import evidence_beyond, evidence_of_tilts
from ossb.families import Bernoulli
from ossb.graves_lai.answers import Aim, Answer
from ossb.instances import from_dict
from ossb.models.rivals import CHARGE, RUNNER_UP, STATISTIC, rivals_for, rivals_of, showing_of
from ossb.models.rivals.linear import spread_prior
from ossb.models.rivals.shares import SHARES
from ossb.simulation import simulate
from ossb.structures import bound
from ossb.tally import empty_tally

ARMS = [[1.0, 0.1], [0.1, 0.9], [0.6, 0.7], [-0.5, 0.4], [0.8, -0.3]]
MEANS = [0.3, 0.52, 0.71, 0.6, 0.2]
CASES = {
    "bernoulli": {"structure": "classical", "observation": "bernoulli", "theta": MEANS},
    "costs": {
        "structure": "classical",
        "observation": "bernoulli",
        "theta": MEANS,
        "goal": "minimize",
    },
    "gaussian": {"structure": "classical", "sigma": 0.5, "theta": MEANS},
    "poisson": {"structure": "classical", "observation": "poisson", "theta": MEANS},
    "exponential": {"structure": "classical", "observation": "exponential", "theta": MEANS},
    "linear": {"structure": "linear", "sigma": 0.5, "arms": ARMS, "phi": [0.8, 0.31]},
}
ANSWERS = [Answer(2), Answer(3), Answer(0, 0.45)]


def tallied(instance, counts, seed=0):
    """A tally of so many observations of every arm."""
    rng, n = np.random.default_rng(seed), len(counts)
    tally, family = empty_tally(n, n), instance.observed_family
    for x, mean in enumerate(instance.components.tolist()):
        tally.counts[x] = tally.plays[x] = counts[x]
        tally.means[x] = np.mean([family.sample(mean, rng) for _ in range(counts[x])])
    tally.clock[0] = sum(counts)
    return tally


def judged(rivals, tally, epsilon=0.0, level=math.inf):
    memory = rivals.start()
    rivals.judge(epsilon, level, tally, memory)
    return memory


@pytest.mark.parametrize("epsilon", [0.0, 0.05])
@pytest.mark.parametrize("name", CASES)
def test_one_of_them_is_the_best_arm(name, epsilon):
    """Asked for the one best arm it is the same evidence, whatever is told."""
    instance = from_dict(CASES[name])
    own = rivals_of(instance.model(), instance.observed_family)
    same = rivals_of(instance.model(), instance.observed_family, Aim(1, math.nan))
    for seed in range(3):
        tally = tallied(instance, [9, 30, 5, 14, 60], seed)
        found, expected = judged(same, tally, epsilon).verdict, judged(own, tally, epsilon).verdict
        assert found.tolist() == pytest.approx(expected.tolist(), rel=1e-12)
        a, b = same.start(), own.start()
        assert same.rank(epsilon, tally, a) == own.rank(epsilon, tally, b)
        assert a.ratios.tolist() == pytest.approx(b.ratios.tolist(), rel=1e-12)


def sides_of(instance, answer, rewards):
    """The arms on the better side, and the others."""
    inside = answer.leading(rewards, instance.sign)
    return inside, [x for x in range(rewards.size) if x not in inside]


@pytest.mark.parametrize("answer", ANSWERS, ids=str)
@pytest.mark.parametrize("name", ["bernoulli", "costs", "gaussian", "poisson"])
def test_evidence_of_independent_arms_is_the_least_over_what_may_be_wrong(name, answer):
    """By a fine grid of where two arms could meet, or by the level, arm by arm."""
    instance, epsilon = from_dict(CASES[name]), 0.03
    family, rivals = instance.observed_family, rivals_for(instance, answer)
    name, sign, unit = instance.observation, instance.sign, 0.5 if name == "gaussian" else 1.0
    tally = tallied(instance, [4000, 6200, 8000, 2800, 9000])
    counts, means = tally.counts.astype(float).tolist(), tally.means.tolist()
    inside, outside = sides_of(instance, answer, tally.means)
    least, n = math.inf, len(means)
    if answer.above is None:
        for i in inside:
            for j in outside:
                low, high = sorted((means[j] - epsilon, means[i]))
                for v in np.linspace(2.0 * low - high, 2.0 * high - low, 301):
                    if not family.lowest() < v < family.highest() - epsilon:
                        continue
                    pair = [(means[i], counts[i]), (means[j], counts[j])]
                    met = (v, v + epsilon)
                    if sign < 0.0:  # what is small is good: the rival's values are above
                        pair, met = [(-mean, n) for mean, n in pair[::-1]], (-met[1], -met[0])
                    least = min(least, evidence_of_tilts(name, *pair[0], *pair[1], *met, unit))
        union = math.log(len(inside) * len(outside))
    else:
        level, union = instance.sign * answer.above, math.log(n)
        for x in range(n):
            border = level - epsilon if x in inside else level + epsilon
            way = sign if x in inside else -sign
            own = (sign * means[x], counts[x], sign * border, way, unit)
            least = min(least, evidence_beyond(name, *own))
    verdict = judged(rivals, tally, epsilon).verdict
    found = verdict[STATISTIC] - verdict[CHARGE] + union
    assert least - 0.4 < found < least + 1e-3  # of scales some that say little are left out


@pytest.mark.parametrize("answer", ANSWERS, ids=str)
def test_evidence_of_linear_arms_is_the_least_over_what_may_be_wrong(answer):
    """The mixture itself, at the nearest parameter beyond each contrast (Lagrange)."""
    instance, epsilon = from_dict(CASES["linear"]), 0.02
    arms, sigma = np.array(ARMS), 0.5
    tally = tallied(instance, [8, 11, 5, 14, 7])
    gram = (arms.T * tally.counts) @ arms
    estimate = np.linalg.solve(gram, (arms.T * tally.counts) @ tally.means)
    prior = spread_prior(arms.T)
    curve = gram @ np.linalg.inv(gram + prior) @ gram  # of ln M(λ), in λ − θ̂
    price = 0.5 * (np.linalg.slogdet(gram + prior)[1] - np.linalg.slogdet(prior)[1])
    inside, outside = sides_of(instance, answer, arms @ estimate)
    if answer.above is None:
        contrasts = [(arms[i] - arms[j], -epsilon) for i in inside for j in outside]
    else:
        contrasts = [(arms[i], answer.above - epsilon) for i in inside]
        contrasts += [(-arms[j], -answer.above - epsilon) for j in outside]
    least = math.inf
    for u, most in contrasts:  # ⟨λ, u⟩ ≤ most
        step = np.linalg.solve(curve, u)
        step *= (most - estimate @ u) / (u @ step)
        least = min(least, 0.5 * step @ curve @ step / sigma**2 - price)
    verdict = judged(rivals_for(instance, answer), tally, epsilon).verdict
    assert verdict[STATISTIC] - verdict[CHARGE] == pytest.approx(least, rel=1e-8)


@pytest.mark.parametrize("answer", ANSWERS, ids=str)
@pytest.mark.parametrize("name", CASES)
def test_looks_that_may_end_early_agree_with_whole_ones(name, answer):
    instance = from_dict(CASES[name])
    rivals, rng = rivals_for(instance, answer), np.random.default_rng(7)
    early = rivals.start()
    for k in range(8):
        tally = tallied(instance, rng.integers(2, 8 * 2**k, 5).tolist(), k)
        for epsilon in (0.0, 0.05):
            rivals.judge(epsilon, 3.0, tally, early)
            found = early.verdict[STATISTIC] - early.verdict[CHARGE]
            whole = judged(rivals, tally, epsilon).verdict
            exact = whole[STATISTIC] - whole[CHARGE]
            assert (found >= 3.0) == (exact >= 3.0)
            if found >= 3.0:
                assert found == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("answer", ANSWERS, ids=str)
@pytest.mark.parametrize("name", CASES)
def test_the_best_shares_are_those_of_the_bound(name, answer):
    """What the rivals tell at the true means is T*: found by cutting planes, and by the program."""
    instance = from_dict(CASES[name])
    rivals, showing = rivals_for(instance, answer), showing_of(instance.showing())
    imagined = showing.start_imagined(rivals, True)
    imagined.tally.means[:] = instance.components
    found = showing.best_shares(rivals, 0.0, np.ones(5), imagined)
    time = bound(instance, cost="samples", answer=answer).value
    assert 1.0 / found == pytest.approx(time, rel=2e-3)
    assert imagined.line[SHARES].sum() == pytest.approx(1.0)


def test_an_answer_lacks_what_the_worst_arm_does():
    rewards = np.array([0.1, 0.7, 0.4, 0.6])
    best = Aim(2, math.nan)
    assert best.lack(np.array([0, 1, 0, 1], bool), rewards) == 0.0
    assert best.lack(np.array([0, 1, 1, 0], bool), rewards) == pytest.approx(0.2)
    level = Aim(0, 0.5)
    assert level.lack(np.array([0, 1, 0, 1], bool), rewards) == 0.0
    assert level.lack(np.array([0, 0, 1, 1], bool), rewards) == pytest.approx(0.2)
    assert level.lack(np.zeros(4, bool), np.full(4, 0.4)) == 0.0


@pytest.mark.parametrize("name", ["bernoulli", "costs", "linear"])
@pytest.mark.parametrize("policy", ["top-two", "track-and-stop", "frank-wolfe", "game"])
def test_tests_end_with_what_was_asked_for(name, policy):
    """Policies are told the question; the costs' arms above a level are the worse ones."""
    instance = from_dict(CASES[name])
    for answer in ({"top": 2}, {"above": 0.4}):
        found = simulate(
            instance, policy, 20_000, 2, 3, until=0.1, epsilon=0.15, answer=answer, compiled=False
        )
        (only,) = found.policies
        assert only.parameters == {"epsilon": 0.15, **answer}
        assert not only.stops.unfinished.any()
        assert not only.stops.wrong.any()
        assert found.limit.to_dict()["answer"] == answer


def test_the_time_that_no_test_stays_below_is_of_the_question():
    instance = from_dict(CASES["bernoulli"])
    found = simulate(instance, "uniform", 10, 1, until=0.1, answer={"top": 2}, compiled=False)
    time = bound(instance, cost="samples", answer={"top": 2}).value
    assert found.limit.characteristic_time == time
    assert found.limit.constant is None
    assert "the 2 best arms are known" in found.table()


def test_twins_and_silent_arms_hold_nothing_up():
    """An arm of features zero has a mean of zero; of twins either may be taken."""
    rows = [[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [0.0, 0.0]]
    instance = from_dict({"structure": "linear", "arms": rows, "phi": [1.0, 0.5]})
    tally = tallied(instance, [5000, 2500, 2500, 3])
    for answer in (Answer(2), Answer(0, 0.25), Answer(0, 0.0)):
        verdict = judged(rivals_for(instance, answer), tally).verdict
        assert verdict[STATISTIC] - verdict[CHARGE] > 20.0


def test_what_no_mean_can_be_is_ruled_out():
    """Within ε of the ends of the family an arm cannot be wrong."""
    instance = from_dict(
        {"structure": "classical", "observation": "bernoulli", "theta": [0.2, 0.3]}
    )
    rivals = rivals_of(instance.model(), Bernoulli(), Aim(0, 0.9))
    memory = judged(rivals, tallied(instance, [3, 3]), epsilon=0.2)
    assert memory.verdict[STATISTIC] == math.inf
    assert memory.verdict[RUNNER_UP] == -1.0


@pytest.mark.parametrize(
    ("structure", "answer", "said"),
    [
        ("classical", {"top": 5}, "`answer.top` must be below the number of arms, 5"),
        ("classical", {"top": 0}, "`answer.top`"),
        ("classical", {"most": 2}, "`answer` must be"),
        ("unimodal", {"top": 2}, "`answer` must be best for unimodal"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(structure, answer, said):
    instance = from_dict({**CASES["bernoulli"], "theta": sorted(MEANS), "structure": structure})
    with pytest.raises(ValueError, match=said):
        simulate(instance, "uniform", 10, 1, until=0.1, answer=answer)


def test_a_question_needs_a_test():
    with pytest.raises(ValueError, match="`until` must be given beside epsilon or answer"):
        simulate(from_dict(CASES["gaussian"]), "uniform", 10, 1, answer={"top": 2})


@pytest.mark.slow
@pytest.mark.parametrize("answer", [{"top": 2}, {"above": 0.5}], ids=str)
def test_answers_are_wrong_less_often_than_promised(answer):
    theta = [0.5 + 1e-9, 0.5 - 1e-9, 0.2, 0.9]
    instance = from_dict({"structure": "classical", "observation": "bernoulli", "theta": theta})
    found = simulate(instance, "top-two", 3000, 4000, 1, until=0.1, answer=answer)["top-two"]
    assert (~found.stops.unfinished).mean() <= 0.1
