"""When may one stop: the threshold, and its errors over many runs."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import brentq

from ossb.campaigns import Campaign
from ossb.campaigns.looking import Verdict, View, leader, plain, stopping
from ossb.campaigns.player import Player
from ossb.campaigns.stopping import calibration, left_out, share, threshold
from ossb.errors import InputError
from ossb.families import Bernoulli
from ossb.instances import from_dict
from ossb.models.rivals.mixture import mixture_of
from ossb.models.rivals.tilts import least_tilted, new_tilts
from ossb.simulation.environment import environment_of
from ossb.tally import empty_tally


def inverse_h(value):
    return brentq(lambda u: u - math.log(u) - value, 1.0, 2.0 * value + 5.0)


@pytest.mark.parametrize("x", [0.01, 0.5, 1.0, 3.0, 10.0, 100.0])
def test_the_calibration_is_the_papers(x):
    """𝒯 written out again, with a root finder in place of Newton's method."""
    y = (inverse_h(1.0 + x) + math.log(2.0 * math.pi**2 / 6.0)) / 2.0
    edge = 1.0 / math.log(1.5)
    if y >= edge - math.log(edge):
        expected = 2.0 * math.exp(1.0 / inverse_h(y)) * inverse_h(y)
    else:
        expected = 3.0 * (y - math.log(math.log(1.5)))
    assert calibration(x) == pytest.approx(expected, rel=1e-12)
    assert calibration(x) >= x


def test_the_threshold_grows_with_what_could_go_wrong():
    few, many = np.array([10, 10]), np.array([1000, 1000])
    assert threshold(few, 0.1) < threshold(many, 0.1) < threshold(many, 0.01)
    assert threshold(few, 0.1) < threshold(np.array([10, 10, 10]), 0.1)
    assert threshold(few, 0.1) < threshold(few, 0.1, components=3)
    assert threshold(np.array([10, 0]), 0.1) < threshold(few, 0.1)


def test_the_threshold_grows_down_to_the_smallest_delta():
    counts, deltas = np.array([10, 10]), [1e-307, 1e-308, 1e-309, 1e-320, 5e-324]
    levels = [threshold(counts, delta) for delta in deltas]
    assert levels == sorted(levels)
    assert levels[0] > 307 * math.log(10)
    assert levels[-1] < 1.1 * levels[0]
    assert threshold(counts, 0.1 * 5e-324) == levels[-1]  # a share that is no double


@pytest.mark.parametrize("delta", [0.5, 0.05, 1e-10, 1e-300])
def test_the_threshold_is_that_of_one_over_delta(delta):
    counts = np.array([1, 1])  # whose means have had no time to wander
    written = 2 * calibration(math.log(1 / delta) / 2)
    assert threshold(counts, delta) == pytest.approx(written, rel=1e-14)


@pytest.mark.parametrize("delta", [0, 1, -0.1, float("nan"), "0.1", True])
def test_delta_is_checked(clock, delta):
    instance = {"structure": "classical", "sigma": 1.0, "n_arms": 2}
    campaign = Campaign.open("memory://", "c", instance=instance, clock=clock)
    with pytest.raises(InputError, match="delta"):
        campaign.stop(delta)


def test_nothing_told_is_no_reason_to_stop(clock):
    instance = {"structure": "classical", "sigma": 1.0, "n_arms": 2}
    campaign = Campaign.open("memory://", "c", instance=instance, clock=clock)
    assert campaign.stop(0.1)["met"] is False
    assert campaign.stop(0.1)["statistic"] == 0.0


def test_a_clear_leader_is_found(clock):
    instance = {"structure": "classical", "observation": "bernoulli", "n_arms": 2}
    campaign = Campaign.open("memory://", "c", instance=instance, clock=clock)
    campaign.import_rows([(0, 1), (1, 0)] * 100)
    found = campaign.stop(0.05)
    assert found["met"] is True
    assert found["statistic"] > found["threshold"]
    assert campaign.best() == 0
    assert (found["arm"], found["runner_up"], found["epsilon"]) == (0, 1, 0.0)
    pair = (mixture_of(Bernoulli()), 1.0, 100.0, 0.0, 100.0, 0.0, -math.inf)
    paid = found["statistic"] - least_tilted(*pair, new_tilts())
    assert found["threshold"] == pytest.approx(paid - math.log(0.05 * 0.9), rel=1e-12)
    campaign.add_arm()
    campaign.import_rows([(2, 0)] * 100)
    later = paid - math.log(0.05 * share(1, True)) + math.log(2)
    assert campaign.stop(0.05)["threshold"] == pytest.approx(later, rel=1e-12)
    campaign.retire_arm(2)
    fewer = later - math.log(2) + math.log(3 * 2 / 0.05)
    assert campaign.stop(0.05)["threshold"] == pytest.approx(fewer, rel=1e-12)


def test_the_shares_of_all_sets_of_arms_sum_to_less_than_one():
    """Each set of arms that there ever was, and each set left of it once some are retired."""
    most = 10_000
    shares = [share(added, True) for added in range(most + 1)]
    units = 8
    spent = math.fsum(
        math.comb(units, gone) * math.exp(-left_out(units, gone)) for gone in range(1, units)
    )
    assert spent < 0.05
    assert math.fsum(shares) * (1.0 + spent) < 1.0
    assert all(later <= former for former, later in itertools.pairwise(shares))


def test_epsilon_asks_for_less(clock):
    """Close arms end a campaign at once where either is good enough."""
    instance = {"structure": "classical", "observation": "bernoulli", "n_arms": 2}
    campaign = Campaign.open("memory://", "c", instance=instance, clock=clock)
    campaign.import_rows([(0, 1), (1, 1), (0, 0), (1, 0)] * 300)
    assert not campaign.stop(0.05)["met"]
    assert campaign.stop(0.05, 0.2)["met"]
    with pytest.raises(InputError, match="epsilon"):
        campaign.stop(0.05, -1.0)


@pytest.mark.parametrize("label", ["classical", "dueling", "finite", "sums", "paths"])
def test_all_of_delta_is_for_structures_that_never_grow(label):
    instance = from_dict(CLOSE[label])
    n_arms = 1 if instance.n_arms is None else len(instance.showing())
    tally = empty_tally(instance.component_count(), n_arms)
    tally.counts[:] = 10
    tally.means[:] = instance.components
    view = View(player_of(instance), tally, tally.counts.size, 0, n_arms)
    part = 0.9 if label in ("classical", "dueling") else 1.0
    levels = [stopping(view, delta)["threshold"] for delta in (0.1, 1.0 - 1e-12)]
    assert levels[0] - levels[1] == pytest.approx(-math.log(0.1), rel=1e-9)
    assert share(0, instance.can_grow) == part


def test_what_overflows_is_no_reason_to_stop():
    instance = from_dict({"structure": "classical", "sigma": 1.0, "n_arms": 2})
    tally = empty_tally(2, 2)
    tally.counts[:] = 3
    for means in ([1.7e308, -1.7e308], [math.inf, 0.0], [math.nan, 0.0]):
        tally.means[:] = means
        found = stopping(View(Player(instance, {"name": "hgl"}), tally, 2, 0, 2), 0.05)
        assert (found["statistic"], found["met"]) == (None, False)
        assert "beyond the range" in found["reason"]


def test_nothing_left_to_contradict_the_leader_is_one():
    """One success excludes the only other parameter, under which there are none."""
    keys = {"structure": "finite", "observation": "bernoulli", "parameters": [[0.5, 0], [0, 0.5]]}
    campaign = Campaign.open("memory://", "c", instance=keys)
    campaign.import_rows([(0, 1)])
    found = campaign.stop(0.05)
    assert (found["statistic"], found["met"]) == (None, True)
    assert found["reason"] == "every alternative is ruled out"


CLOSE = {  # instances on which the best arm is hard to tell, so that errors would show
    "classical": {"structure": "classical", "theta": [0.0, 0.1], "sigma": 1.0},
    "bernoulli": {"structure": "classical", "observation": "bernoulli", "theta": [0.5, 0.55]},
    "minimise": {"structure": "classical", "sigma": 1.0, "theta": [0.1, 0.0], "goal": "minimize"},
    "linear": {
        "structure": "linear",
        "sigma": 1.0,
        "arms": [[1, 0], [0, 1], [0.7, 0.7]],
        "phi": [0.0, 0.1],
    },
    "glm": {
        "structure": "generalized_linear",
        "arms": [[1, 0], [0, 1]],
        "phi": [0.0, 0.2],
        "link": "logistic",
        "observation": "bernoulli",
    },
    "lipschitz": {
        "structure": "lipschitz",
        "sigma": 1.0,
        "points": [0.0, 1.0],
        "lipschitz_constant": 0.2,
        "theta": [0.0, 0.1],
    },
    "unimodal": {"structure": "unimodal", "sigma": 1.0, "theta": [0.0, 0.05, 0.1]},
    "dueling": {
        "structure": "dueling",
        "preferences": [[0.5, 0.45, 0.6], [0.55, 0.5, 0.6], [0.4, 0.4, 0.5]],
    },
    "cycle": {
        "structure": "unimodal",
        "sigma": 1.0,
        "theta": [0.0, 0.05, 0.1, 0.05],
        "edges": [[0, 1], [1, 2], [2, 3], [3, 0]],
    },
    "poisson": {"structure": "classical", "observation": "poisson", "theta": [1.0, 1.1]},
    "semi-bandit": {
        "structure": "combinatorial",
        "sigma": 1.0,
        "feedback": "semi_bandit",
        "arms": [[1, 1, 0], [0, 1, 1], [1, 0, 1]],
        "phi": [0.0, 0.1, 0.2],
    },
    "paths": {
        "structure": "combinatorial",
        "sigma": 1.0,
        "feedback": "semi_bandit",
        "arm_set": "paths",
        "edges": [[0, 1], [1, 3], [0, 2], [2, 3], [1, 2]],
        "source": 0,
        "target": 3,
        "phi": [0.1, 0.1, 0.0, 0.1, -0.1],
    },
    "spanning trees": {
        "structure": "combinatorial",
        "feedback": "semi_bandit",
        "observation": "bernoulli",
        "goal": "minimize",
        "arm_set": "spanning_trees",
        "n_nodes": 3,
        "edges": [[0, 1], [1, 2], [2, 0]],
        "phi": [0.4, 0.5, 0.6],
    },
    "sums": {
        "structure": "combinatorial",
        "sigma": 1.0,
        "feedback": "bandit",
        "arms": [[1, 1, 0], [0, 1, 1], [1, 0, 1]],
        "phi": [0.0, 0.1, 0.2],
    },
    "finite": {
        "structure": "finite",
        "sigma": 1.0,
        "parameters": [[0.0, 0.1], [0.1, 0.0], [0.05, 0.2]],
        "theta": [0.0, 0.1],
    },
    "polytope": {
        "structure": "polytope",
        "sigma": 1.0,
        "A": [[1.0, 1.0]],
        "b": [1.0],
        "theta": [0.0, 0.1],
    },
}
DELTA = 0.3
RUNS = 60
LOOKS = [1, 3, 10, 30, 100, 1000, 10_000, 100_000, 1_000_000]


def more(instance, mean, count, rng):
    """The sum of some observations of a signed mean, drawn at once."""
    if instance.observation == "gaussian":
        return rng.normal(count * mean, math.sqrt(count) * instance.sigma)
    if instance.observation == "poisson":
        return rng.poisson(count * mean)
    return instance.sign * rng.binomial(count, instance.sign * mean)


def player_of(instance):
    """Of the default policy, where it fits."""
    return Player(instance, {"name": "hgl" if instance.unprojected() is None else "osub"})


def first_stop(instance, rng, level):
    """Whether the leader at the first look that says stop is the best arm."""
    player, means = player_of(instance), instance.components
    n_arms = 1 if instance.n_arms is None else len(instance.showing())
    tally = empty_tally(means.size, n_arms)
    for look in LOOKS:
        for c, mean in enumerate(means):
            new = look - int(tally.counts[c])
            total = tally.counts[c] * tally.means[c] + more(instance, float(mean), new, rng)
            tally.counts[c], tally.means[c] = look, total / look
        tally.clock[0] = look * means.size
        view = View(player, tally, means.size, 0, n_arms)
        if stopping(view, level)["met"]:
            return leader(view) == plain(instance.best_arm())
    return None


@pytest.mark.parametrize("label", CLOSE)
def test_stopping_is_wrong_less_often_than_promised(label):
    """Every run stops, looked at many times, and the first look that says so is right."""
    instance, rng = from_dict(CLOSE[label]), np.random.default_rng(5)
    answers = [first_stop(instance, rng, DELTA) for _ in range(RUNS)]
    assert None not in answers
    assert answers.count(False) <= DELTA * RUNS


def test_a_threshold_that_is_too_low_would_be_found_out(monkeypatch):
    """The runs above are hard enough to tell."""
    none = Verdict(0.05, 0.0, None, None)

    def eager(view, delta, epsilon, asked):
        return none

    monkeypatch.setattr("ossb.campaigns.looking._verdict", eager)
    instance, rng = from_dict(CLOSE["classical"]), np.random.default_rng(5)
    answers = [first_stop(instance, rng, DELTA) for _ in range(RUNS)]
    assert answers.count(False) > DELTA * RUNS


@pytest.mark.parametrize("label", ["classical", "linear", "lipschitz", "unimodal", "dueling"])
def test_stopping_happens(label):
    """With the true means and enough plays the leader is established."""
    instance = from_dict(CLOSE[label])
    player, environment = Player(instance, {"name": "hgl"}), environment_of(instance)
    tally = empty_tally(environment.means.size, len(instance.showing()))
    tally.counts[:] = 100_000
    tally.means[:] = environment.means
    view = View(player, tally, environment.means.size, 0, len(instance.showing()))
    assert stopping(view, 0.05)["met"]
