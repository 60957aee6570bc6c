"""``hgl`` decides as its rule is written, on tallies of every kind and along runs."""

import numpy as np
import pytest

from ossb.errors import InputError
from ossb.models.base import NU, TOP_SHARE
from ossb.policies import policy
from ossb.structures.classical import Classical
from ossb.structures.combinatorial import Combinatorial
from ossb.structures.dueling import Dueling
from ossb.structures.linear import Linear
from ossb.tally import decide, empty_tally, observe
from policies.literal_hgl import ESTIMATE, EXPLOIT, EXPLORE, Literal, horizon

ARMS = [[1.0, 0.1], [-0.2, 0.95], [0.8, 0.9], [0.5, -0.3], [0.9, 0.35]]
CYCLE = [
    [0.5, 0.6, 0.7, 0.55, 0.8],
    [0.4, 0.5, 0.7, 0.3, 0.6],
    [0.3, 0.3, 0.5, 0.8, 0.5],
    [0.45, 0.7, 0.2, 0.5, 0.9],
    [0.2, 0.4, 0.5, 0.1, 0.5],
]
SETS = [[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]]
CASES = {
    "gaussian": Classical(theta=[0.0, 1.0, 0.4, 0.9], sigma=0.5),
    "bernoulli": Classical(theta=[0.5, 0.6, 0.8], observation="bernoulli"),
    "certain": Classical(theta=[1.0, 0.3, 0.0], observation="bernoulli"),
    "minimized": Classical(theta=[0.3, 0.6, 0.2], observation="bernoulli", goal="minimize"),
    "poisson": Classical(theta=[0.2, 1.5, 3.0], observation="poisson"),
    "exponential": Classical(theta=[0.02, 1.0, 3.0], observation="exponential"),
    "linear": Linear(arms=ARMS, phi=[0.8, -0.1], sigma=0.5),
    "twins": Linear(arms=[*ARMS, ARMS[0], ARMS[3]], phi=[0.4, 0.35], goal="minimize"),
    "duels": Dueling(preferences=np.array(CYCLE)[:4, :4]),
    "odd duels": Dueling(preferences=CYCLE),
    "minimized duels": Dueling(preferences=(1 - np.array(CYCLE)).tolist(), goal="minimize"),
    "items": Combinatorial(arms=SETS, phi=[0.5, 0.2, 0.9, 0.4], feedback="semi_bandit"),
    "bernoulli items": Combinatorial(
        arms=SETS, phi=[0.5, 0.2, 0.9, 0.4], feedback="semi_bandit", observation="bernoulli"
    ),
    "counted items": Combinatorial(
        arms=SETS, phi=[0.5, 0.2, 0.9, 0.4], feedback="semi_bandit", observation="poisson"
    ),
}
USUAL = {"classical": (1, 100), "linear": (1, 10), "dueling": (2, 0), "combinatorial": (2, 30)}
RNG = np.random.default_rng(0)  # the rule draws nothing
PLAIN = ["gaussian", "bernoulli", "linear", "duels", "items"]


def near(found, expected, slack=1e-9):
    """Equal up to rounding, of the largest entry for what cancels."""
    expected = np.asarray(expected)
    least = 1e-3 * slack * np.abs(expected).max(initial=0.0)
    return np.allclose(found, expected, slack, max(least, 1e-30))


class Both:
    """The policy and its transcription side by side."""

    def __init__(self, instance, **parameters):
        usual = dict(zip(("horizon_factor", "front"), USUAL[instance.kind], strict=True))
        values = {**usual, **parameters}
        self.ours = policy("hgl", instance, **parameters)
        self.memory = self.ours.start()
        self.literal = Literal(instance, values["horizon_factor"], values["front"])
        # the slope of a likelihood ratio is where a flat top is found, to half the digits
        poisson = instance.observation == "poisson"
        self.slack = 1e-4 if instance.kind == "combinatorial" and poisson else 1e-9

    def select(self, tally):
        """The decision of both, once everything behind it was found to be the same."""
        decision = self.ours.select(tally, self.memory, RNG)
        arm, phase = self.literal.select(tally)
        if self.literal.look is not None:
            self.compare_looks(tally.clock[0] + 1.0)
        if decision.arm != arm:  # level but for rounding
            assert near(self.literal.net[decision.arm], self.literal.net[arm], self.slack)
        if decision.arm == arm or self.slack == 1e-9:
            assert decision.phase == phase
            assert self.memory.held[0] == self.literal.until
        return decision

    def compare_looks(self, t):
        look, ours = self.literal.look, self.memory.model
        share = ours.numbers[TOP_SHARE]
        assert near(share, look.share, self.slack)
        power = share if self.literal.cautious else share * share
        assert near(self.ours.look_ahead(t, power), self.literal.horizon, self.slack)
        assert near(ours.numbers[NU], look.nu, self.slack)
        assert near(ours.rewards, look.rewards)
        assert near(ours.gain, look.gain, self.slack)


def random_means(instance, counts, rng):
    """Means of so many values, often all of one kind."""
    if instance.observation == "bernoulli":
        chances = rng.choice([0.0, 1.0, 0.5, rng.random()], counts.size)
        means = rng.binomial(counts, chances) / np.maximum(counts, 1)
    elif instance.observation == "poisson":
        means = rng.poisson(counts * rng.choice([0.0, 0.1, 2.0], counts.size))
        means = means / np.maximum(counts, 1)
    elif instance.observation == "exponential":
        means = rng.choice([1e-3, 1.0, 5.0], counts.size) * rng.uniform(0.5, 1.0, counts.size)
    else:
        means = rng.normal(size=counts.size) * rng.choice([0.01, 0.3, 2.0])
    if instance.kind == "dueling" and instance.sign < 0:
        return np.where(counts > 0, means - 1.0, 0.0)
    return np.where(counts > 0, instance.sign * means, 0.0)


def random_tally(instance, seed):
    """Few and many observations, unseen arms, arms that are level, and answers on their way."""
    rng, n = np.random.default_rng(seed), len(instance.components)
    tally = empty_tally(n, instance.n_arms)
    most = rng.choice([2, 6, 40, 3000])
    tally.counts[:] = rng.integers(seed % 5 != 0, most, n)
    tally.means[:] = random_means(instance, tally.counts, rng)
    for one, other in rng.integers(n, size=(seed % 3, 2)):
        tally.counts[one], tally.means[one] = tally.counts[other], tally.means[other]
    if seed % 4 == 0:
        tally.pending[:] = rng.integers(0, 4, n)
    if instance.kind == "dueling" and seed % 5 == 0:  # items that had no duel
        alone = rng.integers(instance.n_items, size=1 + seed % 2)
        for pair, components in zip(instance.pairs, instance.reveals(), strict=True):
            if np.isin(pair, alone).any():
                for part in (tally.counts, tally.means, tally.pending):
                    part[components] = 0
    for x, components in enumerate(instance.reveals()):
        shown = (tally.counts + tally.pending)[components]
        tally.plays[x] = shown.min() if len(components) else rng.integers(most)
    tally.clock[0] = max(tally.plays.sum() - tally.pending.sum(), tally.counts.max())
    return tally


@pytest.mark.parametrize("name", CASES)
def test_every_decision_on_random_tallies_is_that_of_the_rule(name):
    phases = set()
    for seed in range(200):
        parameters = {} if seed % 2 else {"horizon_factor": 0.7, "front": 30.0}
        both = Both(CASES[name], **parameters)
        phases.add(both.select(random_tally(CASES[name], seed)).phase)
    starts_at_once = name == "bernoulli items"
    assert phases == {EXPLOIT, EXPLORE} | (set() if starts_at_once else {ESTIMATE})


def run(instance, rounds, seed, delay=0):
    """(arm, phase, whether it was held) of every round; answers come so many rounds late."""
    both, noise, asked, found = Both(instance), np.random.default_rng(seed), [], []
    tally = empty_tally(len(instance.components), instance.n_arms)
    for _ in range(rounds):
        decision = both.select(tally)
        decide(tally, decision)
        held = both.literal.look is None and decision.phase == EXPLOIT
        found.append((int(decision.arm), decision.phase, held))
        components = instance.reveals()[decision.arm]
        tally.pending[components] += 1
        means = [float(instance.components[c]) for c in components]
        asked.append((components, [instance.observed_family.sample(m, noise) for m in means]))
        if len(asked) > delay:
            for component, value in zip(*asked.pop(0), strict=True):
                tally.pending[component] -= 1
                observe(tally, component, value)
            tally.clock[0] += 1
    return found


@pytest.mark.parametrize("name", CASES)
def test_every_decision_of_a_run_is_that_of_the_rule(name):
    found = run(CASES[name], 400, seed=3)
    assert {phase for _, phase, _ in found} >= {EXPLOIT, EXPLORE}
    assert sum(held for _, _, held in found) > 30


@pytest.mark.parametrize("name", CASES)
def test_every_decision_with_late_answers_is_that_of_the_rule(name):
    found = run(CASES[name], 120, seed=4, delay=5)
    assert {phase for _, phase, _ in found} >= {EXPLOIT, EXPLORE}
    if CASES[name].kind != "dueling":  # where no play is silent, answers are always on their way
        assert not any(held for _, _, held in found)


def led(means, counts, t, **parameters):
    """Gaussian arms with one far ahead: a policy that has just looked, and its tally."""
    record = policy("hgl", Classical(n_arms=len(means)), **parameters)
    tally = empty_tally(len(means), len(means))
    tally.means[:], tally.counts[:], tally.plays[:], tally.clock[0] = means, counts, counts, t - 1
    memory = record.start()
    assert record.select(tally, memory, RNG).phase == EXPLOIT
    return record, memory, tally


@pytest.mark.parametrize(("plays", "rounds"), [(99, 0), (100, 1), (250, 2), (5_000, 50)])
def test_a_leader_is_held_for_a_hundredth_of_its_plays(plays, rounds):
    record, memory, tally = led([9.0, 0.0], [plays, 50], plays + 51)
    tally.means[:] = [0.0, 9.0]  # a look would tell
    for _ in range(rounds):
        tally.clock[0] += 1
        assert record.select(tally, memory, RNG) == (0, EXPLOIT)
    tally.clock[0] += 1
    assert record.select(tally, memory, RNG).arm == 1


def test_a_leader_is_not_held_while_answers_are_on_their_way():
    record, memory, tally = led([9.0, 0.0], [5_000, 50], 5_051)
    tally.means[:] = [0.0, 9.0]
    tally.clock[0] += 1
    tally.pending[1] += 1
    assert record.select(tally, memory, RNG).arm == 1


def test_a_leader_is_held_no_longer_once_answers_were_on_their_way():
    record, memory, tally = led([9.0, 0.0], [5_000, 50], 5_051)
    tally.pending[1] += 1
    tally.clock[0] += 1
    assert record.select(tally, memory, RNG) == (0, EXPLOIT)
    tally.pending[1] -= 1
    tally.means[:] = [0.0, 9.0]
    tally.clock[0] += 1
    assert record.select(tally, memory, RNG).arm == 1


def test_a_silent_leader_is_held_until_the_first_round_that_buys_another():
    instance = CASES["duels"]
    tally = empty_tally(6, 10)
    tally.counts[:], tally.means[:] = 20, [0.75, 0.75, 0.75, 0.6, 0.6, 0.6]
    tally.plays[:], tally.clock[0] = 20, 400
    both = Both(instance)
    assert both.select(tally) == (0, EXPLOIT)
    until = int(both.memory.held[0])
    assert 402 < until < 2 * 401 + 1000
    for t, phase in ((until - 1, EXPLOIT), (until, EXPLORE)):
        tally.clock[0] = t - 1
        assert Both(instance).select(tally).phase == phase


def test_a_silent_leader_is_held_no_longer_than_twice_the_time_and_a_thousand():
    tally = empty_tally(6, 10)
    tally.counts[:], tally.means[:] = 4000, [0.9, 0.9, 0.9, 0.6, 0.6, 0.6]
    tally.plays[:], tally.clock[0] = 4000, 24_000
    both = Both(CASES["duels"])
    assert both.select(tally) == (0, EXPLOIT)
    assert both.memory.held[0] == 2 * 24_001 + 1000


def test_a_silent_leader_is_held_no_longer_than_nothing_is_told():
    tally = empty_tally(6, 10)
    tally.counts[:], tally.means[:] = 4000, [0.9, 0.9, 0.9, 0.6, 0.6, 0.6]
    tally.plays[:], tally.clock[0] = 4000, 24_000
    record = policy("hgl", CASES["duels"])
    memory = record.start()
    assert record.select(tally, memory, RNG) == (0, EXPLOIT)
    tally.clock[0] += 1
    tally.plays[0] += 1
    assert record.select(tally, memory, RNG) == (0, EXPLOIT)
    tally.counts[:3], tally.means[:3] = 12_000, 0.3  # as by an import
    tally.clock[0] += 24_000
    found = record.select(tally, memory, RNG)
    assert found.arm != 0
    assert found == record.select(tally, record.start(), RNG)


@pytest.mark.parametrize("shift", [-10.0, 0.0, 10.0])
def test_what_was_asked_for_and_not_told_does_not_draw_the_next_asks(shift):
    record = policy("hgl", Classical(n_arms=3, observation="gaussian"))
    tally, memory, asked = empty_tally(3, 3), record.start(), []
    tally.counts[:], tally.means[:] = [20, 20, 0], [shift + 1.0, shift, 0.0]
    tally.pending[2], tally.plays[:], tally.clock[0] = 1, [20, 20, 1], 40
    for _ in range(60):
        asked.append(int(record.select(tally, memory, RNG).arm))
        tally.pending[asked[-1]] += 1
        tally.plays[asked[-1]] += 1
    assert asked.count(2) == 14  # for any shift; then it is the leader's turn
    assert asked[-30:] == [0] * 30


@pytest.mark.parametrize("name", PLAIN)
def test_cautious_brings_exploration_forward(name):
    instance = CASES[name]
    usual, cautious = policy("hgl", instance), policy("hgl", instance, cautious=True)
    assert cautious.front == 3 * max(usual.front, 100.0)
    assert cautious.look_ahead(100.0, 0.5) > usual.look_ahead(100.0, 0.5 * 0.5)
    assert policy("hgl", instance, cautious=True, front=7.0).front == 21.0
    assert not usual.cautious


@pytest.mark.parametrize("name", ["poisson", "exponential"])
def test_counts_and_waiting_times_are_met_with_caution_unless_told_otherwise(name):
    usual = policy("hgl", CASES[name])
    assert (usual.cautious, usual.front) == (True, 300.0)
    bold = policy("hgl", CASES[name], cautious=False)
    assert (bold.cautious, bold.front) == (False, 100.0)


def plays_of_the_unlucky(rounds, **parameters):
    """How often an arm is played that shows 0.03 for ever, beside one that shows 0.5."""
    record = policy("hgl", Classical(n_arms=2, observation="exponential"), **parameters)
    memory, tally = record.start(), empty_tally(2, 2)
    for _ in range(rounds):
        decision = record.select(tally, memory, RNG)
        decide(tally, decision)
        observe(tally, decision.arm, (0.03, 0.5)[decision.arm])
        tally.clock[0] += 1
    return int(tally.plays[0])


def test_three_short_waits_are_looked_at_again_soon():
    assert plays_of_the_unlucky(200, cautious=False) == 3
    assert plays_of_the_unlucky(200) == 4


@pytest.mark.parametrize("given", [1, 0.0, "true"])
def test_caution_is_true_or_false(given):
    with pytest.raises(InputError, match="`cautious` must be true or false"):
        policy("hgl", CASES["gaussian"], cautious=given)


@pytest.mark.parametrize("name", PLAIN)
def test_the_usual_parameters_are_those_of_the_structure(name):
    record = policy("hgl", CASES[name])
    assert (record.horizon_factor, record.front) == USUAL[CASES[name].kind]


@pytest.mark.parametrize("t", [1.0, 50.0, 2_900.0, 3_000.0, 1e6])
@pytest.mark.parametrize("share", [1.0, 0.3])
def test_parameters_enter_the_horizon_as_written(t, share):
    for k, front in ((1.0, 0.0), (0.5, 0.0), (2.0, 100.0)):
        record = policy("hgl", CASES["gaussian"], horizon_factor=k, front=front)
        assert near(record.look_ahead(t, share * share), horizon(t, share, k, front))
    assert horizon(t, share, 2.0, 0.0) == 2.0 * horizon(t, share, 1.0, 0.0)
    added = horizon(t, share, 1.0, 100.0) - horizon(t, share, 1.0, 0.0)
    assert added == pytest.approx(100.0 * share**2 * t**0.5)
    assert (horizon(t, share, 1.0, 0.0) > t) == (t > np.exp(8))


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("parameter", ["horizon_factor", "front"])
def test_a_longer_horizon_explores_wherever_a_shorter_one_does(name, parameter):
    instance, counts = CASES[name], []
    tallies = [random_tally(instance, seed) for seed in range(100)]
    before = np.zeros(len(tallies), bool)
    for value in (0.1, 3.0, 1000.0):
        record = policy("hgl", instance, **{parameter: value})
        decisions = [record.select(tally, record.start(), RNG) for tally in tallies]
        explored = np.array([decision.phase == EXPLORE for decision in decisions])
        assert (explored >= before).all()
        counts.append(int(explored.sum()))
        before = explored
    assert counts[0] < counts[-1]
