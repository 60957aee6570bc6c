"""Simulations of arms in contexts."""

import math

import numpy as np
import pytest

from contextual_instances import CONTEXTS, EXAMPLE, random_keys
from ossb.errors import InputError, PolicyError
from ossb.policies import POLICIES, policy
from ossb.policies.base import refusal
from ossb.simulation.simulate import simulate
from ossb.structures.linear import Linear
from ossb.tally import EXPLOIT, Decision, decide, empty_tally, observe

KEYS = random_keys(np.random.default_rng(3))
ARMS = KEYS["contexts"][0]["arms"]
IN_CONTEXTS = [name for name, kind in POLICIES.items() if refusal(kind, CONTEXTS["linear"]) is None]
LINEAR = CONTEXTS["linear"]


def played(instance, names, *, compiled=False, rounds=300, **more):
    return simulate(instance, names, rounds, 2, 7, compiled=compiled, **more)


def test_the_policies_in_contexts():
    expected = {"linear-thompson", "glm-ucb", "oful", "lin-ucb", "top-two", "greedy"}
    assert expected | {"hgl", "ossb", "solid"} <= set(IN_CONTEXTS)
    linked = [name for name, kind in POLICIES.items() if not refusal(kind, CONTEXTS["logistic"])]
    assert {"hgl", "ossb", "glm-ucb", "greedy"} <= set(linked)


@pytest.mark.parametrize("name", IN_CONTEXTS)
def test_one_context_is_played_as_its_arms_alone_to_the_bit(name):
    plain = played(Linear(arms=ARMS, phi=KEYS["phi"]), name)[name]
    alone = played(Linear(contexts=[{"arms": ARMS}], phi=KEYS["phi"]), name)[name]
    assert plain.curves.tobytes() == alone.curves.tobytes()
    assert plain.plays.tobytes() == alone.plays.tobytes()


@pytest.mark.parametrize("name", sorted({*IN_CONTEXTS} - {"top-two"}))
def test_every_policy_learns_which_arm_is_best_where(name):
    found = played(CONTEXTS["by products"], name, rounds=1500)[name]
    plays = np.split(found.plays, CONTEXTS["by products"].layout.starts[1:-1])
    assert sum(map(sum, plays)) == pytest.approx(1500)
    # playing at random costs the mean gap, and none may come near
    blind = np.mean([block.mean() for block in np.split(CONTEXTS["by products"].gaps, 3)]) * 1500
    assert found.regret.max() < 0.7 * blind


def test_top_two_plays_what_is_close_in_every_context():
    found = played(LINEAR, "top-two", rounds=1500)["top-two"]
    assert (found.plays > 0).all()
    assert found.plays.max() < 1500 * 0.8


@pytest.mark.parametrize("name", ["hgl", "greedy"])
def test_regret_is_flat_where_greedy_suffices(name):
    found = simulate(Linear(**EXAMPLE), name, 4000, 20, 3)[name]
    halfway = np.searchsorted(found.checkpoints, 1000)
    assert (found.curves[:, -1] - found.curves[:, halfway]).mean() < 0.1 * found.regret.mean()


def test_contexts_come_by_their_weights_or_as_recorded():
    content = LINEAR.to_dict()
    content["contexts"] = [{**content["contexts"][0], "weight": 3.0}, content["contexts"][1]]
    del content["structure"]
    instance = Linear(**content)
    often = played(instance, "greedy", rounds=2000)["greedy"].plays[:3].sum()
    assert often == pytest.approx(1500, abs=6 * math.sqrt(2000 * 0.75 * 0.25))
    recorded = played(instance, "greedy", rounds=300, contexts=["b", "b", 0])["greedy"].plays
    assert recorded[:3].sum() == 100
    assert recorded[3:].sum() == 200


def test_who_comes_is_the_same_for_every_policy():
    both = played(LINEAR, ["lin-ucb", "greedy"])
    alone = played(LINEAR, ["greedy"])
    assert both["greedy"].curves.tobytes() == alone["greedy"].curves.tobytes()
    assert both["greedy"].plays[:3].sum() == both["lin-ucb"].plays[:3].sum()


def test_regret_is_told_apart_by_context():
    found = played(LINEAR, ["greedy", "lin-ucb"])
    for label, rows in found.by_context().items():
        assert [row.context for row in rows] == ["a", "b"]
        assert sum(row.regret for row in rows) == pytest.approx(found[label].regret.mean())
        assert sum(row.rounds for row in rows) == pytest.approx(300)
    assert found.to_dict()["policies"][0]["contexts"][1]["context"] == "b"
    assert [line.split()[0] for line in found.context_table().splitlines()] == ["context", "a", "b"]
    alone = played(LINEAR.alone(0), "greedy")
    assert alone.by_context() == {}
    assert alone.context_table() == ""
    assert "contexts" not in alone.to_dict()["policies"][0]


def test_observations_may_come_late():
    found = played(LINEAR, "lin-ucb", batch=5, delay=11)["lin-ucb"]
    assert found.plays.sum() == pytest.approx(300)
    assert found.regret.tolist() != played(LINEAR, "lin-ucb")["lin-ucb"].regret.tolist()


def test_lin_ucb_is_the_printed_rule():
    rows, alpha, sigma = np.asarray(LINEAR.arms), 0.8, LINEAR.sigma
    record, rng = policy("lin-ucb", LINEAR, alpha=alpha), np.random.default_rng(0)
    tally, memory = empty_tally(5, 5), record.start()
    design, told = np.eye(2), np.zeros(2)
    for t in range(200):
        low, high = ((0, 3), (3, 5))[t % 2]
        decision = record.choose(low, high, tally, memory, rng)
        inverse = np.linalg.inv(design)
        widths = np.sqrt(np.einsum("ij,jk,ik->i", rows, inverse, rows))
        index = rows @ (inverse @ told) + alpha * sigma * widths
        assert index[decision.arm] == pytest.approx(index[low:high].max(), rel=1e-9)
        decide(tally, decision)
        value = float(LINEAR.rewards[decision.arm] + sigma * rng.normal())
        observe(tally, decision.arm, value)
        tally.clock[0] += 1
        design += np.outer(rows[decision.arm], rows[decision.arm])
        told += value * rows[decision.arm]


class Elsewhere:
    """Plays the first row, whoever asks."""

    def start(self):
        return ()

    def select(self, tally, memory, rng):
        return Decision(0, EXPLOIT)

    def choose(self, low, high, tally, memory, rng):
        return Decision(0, EXPLOIT)


class Unaware:
    def start(self):
        return ()

    def select(self, tally, memory, rng):
        return Decision(0, EXPLOIT)


def test_an_arm_of_another_context_is_refused():
    with pytest.raises(PolicyError, match="of the present context"):
        played(LINEAR, Elsewhere, contexts=["a", "b"])


def test_what_does_not_fit_is_named():
    with pytest.raises(InputError, match="choose"):
        played(LINEAR, Unaware)
    with pytest.raises(InputError, match="is not for arms in contexts; these do: hgl"):
        played(LINEAR, "ids")
    with pytest.raises(InputError, match=r"contexts\[1\].*below 2"):
        played(LINEAR, "greedy", contexts=[0, 2])
    with pytest.raises(InputError, match=r"contexts.*at least one"):
        played(LINEAR, "greedy", contexts=[])
    with pytest.raises(InputError, match=r"contexts.*left out"):
        played(LINEAR.alone(0), "greedy", contexts=[0])
    with pytest.raises(InputError, match="until"):
        played(LINEAR, "top-two", until=0.05)
    with pytest.raises(InputError, match="top-two is for linear arms"):
        played(CONTEXTS["logistic"], "top-two")
    with pytest.raises(InputError, match="alpha"):
        policy("lin-ucb", LINEAR, alpha=-1.0)
