"""Independent segments played: regrets that add up, who comes, and every policy of a structure."""

import json

import numpy as np
import pytest

from ossb.errors import InputError
from ossb.experiments.cells import cells
from ossb.experiments.definition import parse
from ossb.simulation import simulate
from ossb.structures.classical import Classical
from ossb.structures.combinatorial import Combinatorial
from ossb.structures.unimodal import Unimodal

PAIR = [{"theta": [0.3, 0.5]}, {"name": "b", "theta": [0.6, 0.2, 0.1], "weight": 3.0}]
TWO = Classical(observation="bernoulli", segments=PAIR)


@pytest.mark.parametrize("policy", ["hgl", "ucb1", "thompson"])
def test_one_segment_is_its_arms_alone_to_the_bit(policy):
    segments = simulate(Classical(segments=PAIR[1:]), policy, 300, 3, 5).policies[0]
    alone = simulate(Classical(theta=PAIR[1]["theta"]), policy, 300, 3, 5).policies[0]
    assert (segments.curves == alone.curves).all()
    assert (segments.plays == alone.plays).all()
    assert (segments.phases == alone.phases).all()


def test_every_round_is_one_of_a_segment():
    found = simulate(TWO, ["ucb1", "hgl"], 2000, 20, 3)
    for result in found.policies:
        assert result.plays.sum() == pytest.approx(2000)
        assert result.phases.sum() == pytest.approx(2000)
        assert (np.diff(result.curves, axis=1) >= 0.0).all()
        paid = float(result.plays @ TWO.gaps)
        assert result.regret.mean() == pytest.approx(paid)
        share = result.plays[:2].sum() / 2000  # a quarter: 40,000 draws
        assert share == pytest.approx(0.25, abs=4 * np.sqrt(0.25 * 0.75 / 40_000))
    visits = [found[name].plays[:2].sum() for name in ("ucb1", "hgl")]
    assert visits[0] == pytest.approx(visits[1], rel=1e-12)


def test_a_record_says_who_comes():
    record = ["b", "b", "0"]
    found = simulate(TWO, "ucb1", 3000, 4, 3, contexts=record).policies[0]
    assert found.plays[:2].sum() == 1000
    only = simulate(TWO, "ucb1", 100, 4, 3, contexts=["b"]).policies[0]
    assert only.plays[:2].sum() == 0
    assert only.plays.sum() == 100


def test_what_a_segment_is_paid_is_what_it_pays_alone():
    """A segment that comes in every second round is at round 2n where alone it is at n."""
    first = simulate(TWO, "hgl", 400, 6, 3, contexts=["0", "b"]).policies[0]
    later = simulate(TWO, "hgl", 400, 6, 3, contexts=["b", "0"]).policies[0]
    assert (first.regret == later.regret).all()
    assert (first.plays == later.plays).all()


def test_segments_that_are_alike_see_other_noise():
    instance = Classical(observation="bernoulli", segments=[{"theta": [0.4, 0.5]}] * 2)
    found = simulate(instance, "ucb1", 400, 1, 3, contexts=[0, 1]).policies[0]
    assert found.plays[0] != found.plays[2]


def test_names_change_no_number():
    other = Classical(observation="bernoulli", segments=[{**PAIR[0], "name": "x"}, PAIR[1]])
    curves = [simulate(one, "ucb1", 300, 3, 5).policies[0].curves for one in (TWO, other)]
    assert (curves[0] == curves[1]).all()


@pytest.mark.parametrize("options", [{"workers": 2}, {"compiled": False}])
def test_numbers_are_those_of_one_compiled_worker(options):
    plain = simulate(TWO, "hgl", 200, 4, 3, batch=5, delay=2).policies[0]
    other = simulate(TWO, "hgl", 200, 4, 3, batch=5, delay=2, **options).policies[0]
    assert (plain.curves == other.curves).all()


def test_other_structures_and_arms_that_are_not_listed():
    unimodal = Unimodal(
        observation="bernoulli",
        segments=[{"theta": [0.1, 0.5, 0.3]}, {"theta": [0.6, 0.4]}],
    )
    assert simulate(unimodal, "osub", 200, 2, 1).policies[0].plays.sum() == 200
    sets = Combinatorial(
        observation="bernoulli",
        feedback="semi_bandit",
        arm_set="m_sets",
        size=2,
        n_items=3,
        segments=[{"phi": [0.1, 0.5, 0.3]}, {"phi": [0.7, 0.5, 0.3]}],
    )
    content = json.loads(json.dumps(simulate(sets, "cucb", 60, 2, 1).to_dict()))
    plays = content["policies"][0]["plays"]
    assert sum(entry["plays"] for entry in plays) == 60
    assert {entry["arm"][0] for entry in plays} == {0, 1}
    assert all(len(entry["arm"][1]) == 2 for entry in plays)


class Mine:
    def __init__(self, n_arms):
        self.n_arms, self.told = n_arms, 0

    def select(self):
        return self.told % self.n_arms

    def update(self, arm, value):
        self.told += 1


def test_a_policy_of_ones_own_has_a_memory_for_each():
    found = simulate(TWO, Mine, 600, 2, 1, contexts=["0", "b"]).policies[0]
    assert found.plays.tolist() == [150, 150, 100, 100, 100]


def test_what_is_refused():
    unknown = Classical(segments=[{"theta": [0.1, 0.2]}, {"n_arms": 2}])
    with pytest.raises(InputError, match=r"`segments\[1\].theta` must be given: a simulation"):
        simulate(unknown, "ucb1", 10)
    with pytest.raises(InputError, match=r"`contexts\[1\]` must be one of 0, b, got c"):
        simulate(TWO, "ucb1", 10, contexts=["b", "c"])
    with pytest.raises(InputError, match="no one stop"):
        simulate(TWO, "ucb1", 10, until=0.1)
    with pytest.raises(InputError, match="osub is not for classical structures"):
        simulate(TWO, "osub", 10)


def test_an_experiment_asks_for_one_of_them():
    keys = {"name": "e", "horizon": 10, "trials": 1, "seed": 1, "policies": ["ucb1"]}
    with pytest.raises(InputError, match="one by one"):
        list(cells(parse({**keys, "instances": [TWO.to_dict()]})))
