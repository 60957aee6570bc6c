"""A policy of one's own: a record, an object, a class or its name, with a label."""

from typing import ClassVar

import numpy as np
import pytest

import ossb
import own_policies
from ossb.errors import InputError, PolicyError
from ossb.policies import POLICIES
from ossb.structures.classical import Classical
from ossb.structures.combinatorial import Combinatorial
from ossb.structures.dueling import Dueling
from ossb.tally import EXPLOIT, Decision
from plain_policies import Turns

ARMS = Classical(theta=[0.2, 0.5, 0.9], observation="bernoulli")
PLAY = {"horizon": 200, "trials": 3, "seed": 1}


class Greedy:
    """As anybody writes it: no tally, no phases."""

    def __init__(self, n_arms=3, chance=0.1):
        self.sums, self.counts, self.chance = np.zeros(n_arms), np.zeros(n_arms), chance
        self.told = []

    def select(self, rng):
        if rng.random() < self.chance or not self.counts.all():
            return int(rng.integers(self.counts.size))
        return int(np.argmax(self.sums / self.counts))

    def update(self, arm, value):
        self.sums[arm] += value
        self.counts[arm] += 1
        self.told.append((arm, value))


class Watched(Turns):
    """Keeps what its copies were shown."""

    seen: ClassVar[list] = []

    def update(self, arm, value):
        super().update(arm, value)
        Watched.seen.append(self.shown[-1])


def test_a_plain_object_plays_beside_ours():
    result = ossb.simulate(ARMS, ["hgl", Greedy()], **PLAY)
    assert [one.label for one in result.policies] == ["hgl", "Greedy"]
    assert result["Greedy"].plays.sum() == pytest.approx(200)
    assert result["Greedy"].regret.mean() < 0.35 * 200
    assert (result["hgl"].curves == ossb.simulate(ARMS, "hgl", **PLAY)["hgl"].curves).all()


def test_each_trial_has_a_copy_and_runs_are_reproduced():
    mine = Greedy()
    one, two = (ossb.simulate(ARMS, mine, **PLAY)["Greedy"].curves for _ in range(2))
    assert (one == two).all()
    assert len({tuple(curve) for curve in one}) == 3, "trials have streams of their own"
    assert not mine.told
    workers = ossb.simulate(ARMS, mine, **PLAY, workers=2)["Greedy"].curves
    assert (one == workers).all()


def test_what_is_told_is_what_a_policy_with_a_tally_is_told():
    """In turn, both ways to write it: the same regret and the same noise."""
    tallied = ossb.simulate(ARMS, own_policies.RoundRobin(3, 1), **PLAY).policies[0]
    plain = ossb.simulate(ARMS, Turns((1, 2, 0)), **PLAY).policies[0]
    assert (tallied.curves == plain.curves).all()
    assert (tallied.plays == plain.plays).all()


def test_answers_come_late_in_batches():
    Watched.seen.clear()
    ossb.simulate(ARMS, Watched(), horizon=7, trials=1, batch=3, delay=1)
    assert [(played, arm) for played, arm, _ in Watched.seen] == [
        (3, 0), (3, 1), (6, 2), (6, 0), (6, 1)
    ]  # fmt: skip


def test_arms_may_be_written_as_their_structure_writes_them():
    table = [[0.5, 0.8, 0.7], [0.2, 0.5, 0.6], [0.3, 0.4, 0.5]]
    duels = Dueling(preferences=table)
    Watched.seen.clear()
    ossb.simulate(duels, Watched(((0, 1), [1, 2], (0, 0))), horizon=3, trials=1)
    assert [arm for _, arm, _ in Watched.seen] == [(0, 1), [1, 2]]
    assert {value for _, _, value in Watched.seen} <= {0.0, 1.0}
    sets = Combinatorial(feedback="semi_bandit", arms=[[1, 1, 0], [0, 0, 1]], phi=[0, 1, 2])
    Watched.seen.clear()
    ossb.simulate(sets, Watched((0, 1)), horizon=3, trials=1)
    assert [np.size(value) for _, _, value in Watched.seen] == [2, 1]


@pytest.mark.parametrize(
    ("policy", "name"),
    [
        (own_policies.Sometimes(0.2), "Sometimes(chance=0.2)"),
        ({"name": own_policies.Sometimes, "chance": 0.2}, "Sometimes:chance=0.2"),
        ("own_policies:Sometimes:chance=0.2", "own_policies:Sometimes:chance=0.2"),
        ({"name": "own_policies:RoundRobin", "step": 2}, "own_policies:RoundRobin:step=2"),
        (POLICIES["ucb1"], "ucb1"),
        (Greedy, "Greedy"),
        ({"name": Greedy(), "label": "mine"}, "mine"),
        ({"name": "kl-ucb", "c": 3.0, "label": "cautious"}, "cautious"),
    ],
)
def test_every_way_to_give_one(policy, name):
    for policies in (policy, [policy, "ucb1"]) if policy is not POLICIES["ucb1"] else (policy,):
        result = ossb.simulate(ARMS, policies, horizon=50, trials=2)
        assert result.policies[0].label == name
        assert result[name].regret.shape == (2,)
        assert name in result.table()


def test_a_label_changes_no_number():
    plain, labelled = (
        ossb.simulate(ARMS, policy, **PLAY).policies[0]
        for policy in ("thompson", {"name": "thompson", "label": "theirs"})
    )
    assert (plain.curves == labelled.curves).all()


class Wrong(Turns):
    def __init__(self, answer):
        super().__init__()
        self.answer = answer

    def select(self):
        if super().select() == 2:
            return self.answer
        return 0


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (3, "`arm` must be 0, …, 2, got 3"),
        (-1, "`arm` must be 0, …, 2, got -1"),
        (0.0, "`select` must return the number of an arm, got 0.0"),
        (None, "`select` must return the number of an arm, got None"),
        (True, "`select` must return the number of an arm, got True"),
        ("0", "`select` must return the number of an arm, got '0'"),
        (np.timedelta64(1), "`select` must return the number of an arm, got np.timedelta64(1)"),
        ((0, 1), "`select` must return the number of an arm"),
        (Decision(0.5, EXPLOIT), "`arm` must be a whole number, got 0.5"),
        (Decision(0, 7), "`phase` must be"),
    ],
)
def test_a_wrong_answer_is_named_with_its_round(answer, fault):
    with pytest.raises(PolicyError) as caught:
        ossb.simulate(ARMS, {"name": Wrong(answer), "label": "mine"}, **PLAY)
    assert "policy 'mine' in round 3" in str(caught.value)
    assert fault in str(caught.value)


class Failing(Turns):
    def update(self, arm, value):
        raise KeyError(value)


def test_an_error_of_its_own_is_said():
    with pytest.raises(PolicyError, match=r"round 2: `update` failed: KeyError"):
        ossb.simulate(ARMS, Failing(), **PLAY)


@pytest.mark.parametrize("policies", [object(), [object()], 3, [None]])
def test_what_is_no_policy_is_told_what_one_is(policies):
    with pytest.raises(InputError, match=r"`policy` must have `start` and `select"):
        ossb.simulate(ARMS, policies, **PLAY)


def test_a_stop_is_for_policies_with_a_tally():
    with pytest.raises(InputError, match="`until` must be left out"):
        ossb.simulate(ARMS, Greedy(), **PLAY, until=0.1)
    stopped = ossb.simulate(ARMS, own_policies.Sometimes(0.5), **PLAY, until=0.1).policies[0]
    assert stopped.stops is not None


def test_two_that_would_be_called_the_same_need_labels():
    with pytest.raises(InputError, match=r"`policies\[1\]` must be told apart"):
        ossb.simulate(ARMS, [Greedy(), Greedy(3, 0.5)], **PLAY)
    both = [Greedy(), {"name": Greedy(3, 0.5), "label": "wilder"}]
    assert len(ossb.simulate(ARMS, both, **PLAY).policies) == 2
    with pytest.raises(InputError, match="`policies` must hold at least one"):
        ossb.simulate(ARMS, [], **PLAY)
    with pytest.raises(InputError, match="`chance` must be left out"):
        ossb.simulate(ARMS, {"name": Greedy(), "chance": 0.3}, **PLAY)
