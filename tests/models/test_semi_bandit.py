"""Semi-bandit feedback as policies see it, listed and behind an oracle."""

import math

import numpy as np
import pytest

from ossb.errors import InputError
from ossb.families import Exponential
from ossb.models.base import NU, SETTLED, WEAKEST
from ossb.models.item_gain import PRIOR
from ossb.models.semi_bandit import covering_arms, solver_items
from ossb.policies import policy
from ossb.simulation import simulate
from ossb.structures.combinatorial import Combinatorial
from ossb.tally import empty_tally
from structured_instances import INSTANCES, SETS, made_up

INSTANCE = INSTANCES["semi_bandit"]
ARMS = np.array(SETS)


def rivals(means, leader):
    """For each item the best arm with its membership changed, by definition."""
    found = set()
    for item in range(4):
        flipped = [x for x in range(5) if ARMS[x, item] != ARMS[leader, item]]
        if flipped:
            found.add(max(flipped, key=lambda x: (ARMS[x] @ means, -x)))
    return found


@pytest.mark.parametrize("seed", range(6))
def test_gain_and_likelihood_ratio_by_definition(seed):
    model = INSTANCE.model()
    memory, tally = model.start(), made_up(INSTANCE, seed)
    leader = model.weigh(tally, memory)
    assert leader == int(np.argmax(ARMS @ tally.means))
    doubt = 0.7**2 / tally.counts
    worth, chances = np.zeros(4), 0.0
    for x in rivals(tally.means, leader):
        apart = ARMS[x] != ARMS[leader]
        spread = math.sqrt(doubt[apart].sum())
        variances = 0.7**2 * apart.sum()
        young = variances / (variances + PRIOR * spread**2)  # what few observations discount
        z = (ARMS[leader] - ARMS[x]) @ tally.means / spread * math.sqrt(young)
        chances += 0.5 * math.erfc(z / math.sqrt(2))
        height = math.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)
        worth[apart] += 0.5 * height * 0.7**2 / (tally.counts[apart] ** 2 * spread * young)
    worth *= tally.counts / (1 + tally.counts)
    assert memory.gain == pytest.approx(ARMS @ worth, rel=1e-9)
    assert memory.numbers[NU] == pytest.approx(1 / (1 + chances))
    model.test(model.project(tally, memory), math.inf, tally, memory)
    gaps = ARMS[leader] @ tally.means - ARMS @ tally.means
    others = [x for x in range(5) if x != leader]
    told = [gaps[x] ** 2 / 2 / doubt[ARMS[x] != ARMS[leader]].sum() for x in others]
    known = [gaps[x] ** 2 / 2 / doubt[ARMS[x] > ARMS[leader]].sum() for x in others]
    assert memory.numbers[WEAKEST] == pytest.approx(min(told))
    assert memory.numbers[SETTLED] == pytest.approx(min(known))


def test_rates_at_the_truth_are_the_bounds_own():
    model = INSTANCE.model()
    memory, out = model.start(), np.zeros(5)
    tally = empty_tally(4, 5)
    tally.means[:] = INSTANCE.components
    leader = model.plug_in(tally, memory)
    assert model.rates(leader, 0.0, memory, out) < 1e-5
    result = simulate(INSTANCE, ["hgl"], 1, 1, compiled=False)
    assert out @ INSTANCE.gaps == pytest.approx(result.bound.value, rel=1e-5)


def test_unseen_items_are_covered_first():
    model = INSTANCE.model()
    tally = empty_tally(4, 5)
    assert model.unseen(tally) == 0
    tally.counts[:] = [1, 1, 0, 0]
    assert model.unseen(tally) == 3
    tally.pending[:] = [0, 0, 1, 1]
    assert model.unseen(tally) == -1
    assert covering_arms(ARMS) == [0, 3]
    assert covering_arms(np.zeros((2, 3))) == [0]
    assert [model.informative(place) for place in range(3)] == [0, 3, -1]


def test_exponential_items_are_refused():
    with pytest.raises(InputError, match="observation"):
        solver_items(Exponential())


@pytest.mark.filterwarnings("ignore:overflow")  # in steps far beyond a mean at the end of its range
@pytest.mark.parametrize("observation", ["gaussian", "bernoulli", "bounded", "poisson"])
@pytest.mark.parametrize("goal", ["maximize", "minimize"])
def test_policies_run_with_every_family(observation, goal):
    instance = Combinatorial(
        feedback="semi_bandit", arms=SETS, phi=[0.5, 0.2, 0.9, 0.4], observation=observation,
        goal=goal,
    )  # fmt: skip
    result = simulate(instance, ["hgl", "ossb", "ossb-paper"], 25, 1, compiled=False)
    for answer in result.policies:
        assert answer.plays.sum() == 25
        assert np.isfinite(answer.curves).all()


def test_bandit_feedback_is_linear():
    instance = Combinatorial(feedback="bandit", arms=SETS, phi=[0.5, 0.2, 0.9, 0.4])
    assert instance.reveals() == [[0], [1], [2], [3], [4]]
    assert instance.components == pytest.approx(ARMS @ [0.5, 0.2, 0.9, 0.4])
    result = simulate(instance, ["hgl"], 300, 2, compiled=False)
    assert result["hgl"].plays.sum() == 300


SHAPES = {
    "m_sets": {"n_items": 5, "size": 2},
    "paths": {"edges": [[0, 1], [0, 2], [1, 3], [2, 3], [1, 2]], "source": 0, "target": 3},
    "spanning_trees": {"n_nodes": 4, "edges": [[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]]},
    "matchings": {"n_left": 2, "n_right": 3, "edges": [[0, 0], [0, 1], [1, 1], [1, 2], [1, 0]]},
}
PHI = [0.9, 0.2, 0.5, 0.35, 0.1]


@pytest.mark.parametrize("arm_set", SHAPES)
def test_an_oracle_plays_as_the_list_would(arm_set):
    implicit = Combinatorial(feedback="semi_bandit", arm_set=arm_set, phi=PHI, **SHAPES[arm_set])
    sets = sorted(implicit.implicit_set.arms())
    table = [[float(i in arm) for i in range(5)] for arm in sets]
    listed = Combinatorial(feedback="semi_bandit", arms=table, phi=PHI)
    maker, model = policy("hgl", implicit), listed.model()
    memory = model.start()
    for seed in range(6):
        tally = made_up(listed, seed, pending=seed % 2 == 0)
        look = maker.weigh(tally)
        leader = model.weigh(tally, memory)
        assert sorted(look.leader) == list(sets[leader])
        assert look.worth == pytest.approx(memory.worth, rel=1e-9)
        assert look.nu == pytest.approx(memory.numbers[NU])


def test_oracles_in_the_simulator():
    instance = Combinatorial(
        feedback="semi_bandit", arm_set="m_sets", n_items=5, size=2, phi=PHI, sigma=0.3
    )
    rounds = []
    result = simulate(
        instance, ["hgl", "hgl:cautious=true"], 1500, 2,
        progress=lambda label, played: rounds.append(played),
    )  # fmt: skip
    assert sum(rounds) == 2 * 2 * 1500
    content = result.to_dict()["policies"][0]
    assert content["plays"][0]["arm"] == [0, 2]
    assert sum(entry["plays"] for entry in content["plays"]) == pytest.approx(1500)
    assert result["hgl"].phases.sum() == 1500
    again = simulate(instance, ["hgl"], 1500, 2)
    assert again["hgl"].curves.tobytes() == result.policies[0].curves.tobytes()
    late = simulate(instance, ["hgl"], 200, 1, batch=10, delay=5)
    assert late["hgl"].plays.sum() == 200


def test_oracles_with_counts_for_items():
    instance = Combinatorial(
        feedback="semi_bandit", arm_set="m_sets", n_items=5, size=2, phi=PHI,
        observation="bernoulli", goal="minimize",
    )  # fmt: skip
    result = simulate(instance, ["hgl"], 400, 1)
    assert result["hgl"].arms[0] == (1, 4)


def test_what_an_oracle_cannot_do_is_refused():
    instance = Combinatorial(feedback="semi_bandit", arm_set="m_sets", n_items=4, size=2)
    with pytest.raises(InputError, match="needs its arms listed"):
        policy("ossb", instance)
    with pytest.raises(InputError, match="arms"):
        instance.model()
    with pytest.raises(InputError, match="true parameter"):
        simulate(instance, ["hgl"], 10, 1)
