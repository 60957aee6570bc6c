import math

import numpy as np
import pytest

from ossb.errors import InputError
from ossb.models.base import SETTLED, WEAKEST
from ossb.policies import policy
from ossb.simulation import simulate
from ossb.structures.base import bound
from ossb.structures.finite import Finite
from ossb.tally import empty_tally

TWO = [[1.0, 0.5], [1.0, 2.0]]


def two(truth: int, **keys) -> Finite:
    return Finite(parameters=TWO, theta=TWO[truth], **keys)


def test_rates_are_those_of_the_bound():
    model = two(0).model()
    np.testing.assert_allclose(model.table[0], bound(two(0)).rates)
    np.testing.assert_allclose(model.table[1], bound(two(1)).rates)
    assert model.best.tolist() == [0, 1]


def test_the_likeliest_parameter_leads():
    model = two(0).model()
    memory, tally = model.start(), empty_tally(2, 2)
    tally.counts[:], tally.plays[:], tally.means[:] = [5, 4], [5, 4], [1.1, 1.0]
    assert model.project(tally, memory) == 0
    model.test(0, math.inf, tally, memory)
    # only the second arm tells the two apart: 4 (½(1 − 2)² − ½(1 − ½)²)
    assert memory.numbers[WEAKEST] == pytest.approx(4 * 0.5 * (1.0 - 0.25))
    assert memory.numbers[SETTLED] == memory.numbers[WEAKEST]


def test_bare_means_are_almost_surely_no_parameter():
    model = two(0).model()
    memory, tally, out = model.start(), empty_tally(2, 2), np.ones(2)
    tally.counts[:], tally.means[:] = [5, 4], [1.1, 0.4]
    model.rates(model.plug_in(tally, memory), 0.0, memory, out)
    np.testing.assert_array_equal(out, 0.0)
    tally.means[:] = TWO[0]
    model.rates(model.plug_in(tally, memory), 0.0, memory, out)
    assert out[1] > 0


@pytest.mark.parametrize("name", ["hgl", "ossb"])
@pytest.mark.parametrize("truth", [0, 1])
def test_two_hypotheses_are_told_apart_in_every_run(name, truth):
    """The printed rule has linear regret in about a tenth of all runs on bare means."""
    horizon, trials = 5_000, 3_000 if truth == 1 else 1_000
    result = simulate(two(truth), [name], horizon, trials, seed=7).policies[0]
    # by odds of 10⁵ to 1, and for the overshoot of a Gaussian walk, a run goes wrong with a
    # probability below 5e-6
    assert result.regret.max() <= 20 * bound(two(truth)).value * math.log(horizon) + 20


def test_without_the_opening_some_runs_stay_wrong():
    regret = simulate(two(1), ["ossb:opening=0"], 1_000, 1_000, seed=7).policies[0].regret
    assert (regret > 20).any()  # 67 of 4,000 do


def test_the_opening_weighs_only_what_the_leader_does_not_tell():
    apart = [[1.0, 0.5], [0.9, 2.0]]  # the first arm tells the two apart as well
    for parameters, grows in ((TWO, True), (apart, False)):
        model = Finite(parameters=parameters, theta=parameters[0]).model()
        gains = []
        for opening in (model.opening, 0.0):
            memory, tally = model.start(), empty_tally(2, 2)
            tally.clock[0] = 9
            tally.counts[:], tally.plays[:], tally.means[:] = [5, 4], [5, 4], [1.1, 0.6]
            assert model._replace(opening=opening).weigh(tally, memory) == 0
            gains.append(memory.gain[1])
        assert (gains[0] > gains[1]) == grows


def test_an_opening_is_a_number_of_rounds():
    with pytest.raises(InputError, match="`opening` must be a number of rounds, 0 or more"):
        policy("ossb", two(0), opening=-1)


def test_a_goal_to_minimise():
    down = Finite(parameters=[[-1.0, -0.5], [-1.0, -2.0]], theta=[-1.0, -0.5], goal="minimize")
    up = two(0)
    assert down.model().best.tolist() == up.model().best.tolist()
    np.testing.assert_allclose(down.model().table, up.model().table)


def test_policies_fit_finite_sets():
    for name in ("hgl", "ossb", "ossb-paper", "kl-ucb"):
        assert policy(name, two(0)) is not None


@pytest.mark.parametrize("name", ["hgl", "ossb", "graves-lai", "mints"])
@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_a_tie_contradicts_no_leader(name, order):
    """With (0.4, 0.5) true and (0.5, 0.5) possible nothing is confusing, in whichever order."""
    parameters = np.array([[0.4, 0.5], [0.5, 0.5]])[:, order]
    instance = Finite(parameters=parameters, theta=parameters[0])
    assert bound(instance).value == 0.0
    regret = simulate(instance, name, 2000, trials=20, seed=1).policies[0].curves[:, -1]
    assert regret.mean() < (6.0 if name == "mints" else 3.0)


def test_who_leads_in_a_tie():
    model = Finite(parameters=[[0.4, 0.5, 0.1], [0.5, 0.5, 0.1]]).model()
    assert [[model.is_best(k, x) for x in range(3)] for k in range(2)] == [
        [False, True, False],
        [True, True, False],
    ]


def test_parameters_are_told_apart_in_any_unit():
    """In units of 10⁻¹⁴ no arm is as good as another because both are nearly 0."""
    for unit in (1.0, 2.0**-47):
        table = unit * np.array([[0.5, 0.2], [0.3, 0.6]])
        model = Finite(parameters=table, theta=table[0], sigma=unit).model()
        assert [model.is_best(k, x) for k in range(2) for x in range(2)] == [1, 0, 0, 1]
        assert not model.agree(1, 0, 0)
        assert model.listed(table[1]) == 1
