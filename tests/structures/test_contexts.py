"""Arms in contexts: bounds, their proofs, files, and what is refused."""

import json

import numpy as np
import pytest

from cli_runner import Runner
from contextual_instances import (
    EXAMPLE,
    as_polytope,
    random_instance,
    random_keys,
    value_by_cvxpy,
)
from ossb import certificates
from ossb.errors import InputError
from ossb.instances import from_dict
from ossb.policies import policy
from ossb.simulation.planning import plan
from ossb.structures import bound, bounds
from ossb.structures.generalized_linear import GeneralizedLinear
from ossb.structures.linear import Linear

LOGISTIC = {"link": "logistic", "observation": "bernoulli"}


def test_contexts_that_need_exploring_alone_need_none_together():
    instance = Linear(**EXAMPLE)
    assert bound(instance.alone("a")).value == pytest.approx(8.0)
    assert bound(instance.alone(1)).value == pytest.approx(20.0 / 3.0)
    together = bound(instance)
    assert together.value == 0.0
    assert together.greedy_suffices
    assert together.verify().valid
    assert together.best_arm == ((0, 0), (1, 0))


@pytest.mark.parametrize("seed", range(8))
def test_values_agree_with_the_generic_engine_and_with_cvxpy(seed):
    check_agreement(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8, 108))
def test_a_hundred_values_agree_with_the_generic_engine_and_with_cvxpy(seed):
    check_agreement(seed)


def check_agreement(seed):
    instance = random_instance(seed)
    answer = bound(instance)
    assert answer.status == "certified"
    assert answer.verify().valid
    assert bound(as_polytope(instance)).value == pytest.approx(answer.value, rel=2.1e-6, abs=1e-12)
    assert value_by_cvxpy(instance) == pytest.approx(answer.value, rel=1e-4, abs=1e-9)


@pytest.mark.parametrize("cost", ["regret", "samples", 0.2])
@pytest.mark.parametrize("structure", [Linear, GeneralizedLinear])
def test_a_single_context_is_its_arms_alone_to_the_bit(structure, cost):
    rng = np.random.default_rng(5)
    arms, phi = rng.normal(size=(7, 3)).tolist(), rng.normal(size=3).tolist()
    keys = {"phi": phi, **(LOGISTIC if structure is GeneralizedLinear else {})}
    plain = bound(structure(arms=arms, **keys), cost=cost)
    answer = bound(structure(contexts=[{"arms": arms}], **keys), cost=cost)
    assert (answer.lower, answer.upper) == (plain.lower, plain.upper)
    assert [(arm[1], rate) for arm, rate in answer.support] == list(plain.support)
    assert answer.verify().valid


@pytest.mark.parametrize("cost", ["regret", "samples", 0.2])
@pytest.mark.parametrize("goal", ["maximize", "minimize"])
@pytest.mark.parametrize("observation", ["bernoulli", "gaussian"])
def test_generalised_linear_arms(observation, goal, cost):
    keys = random_keys(np.random.default_rng(11))
    keys["phi"] = [0.4 * entry for entry in keys["phi"]]
    link = LOGISTIC if observation == "bernoulli" else {"link": "log", "sigma": 2.0}
    answer = bound(GeneralizedLinear(**keys, **link, goal=goal), cost=cost)
    assert 0.0 < answer.lower <= answer.upper <= answer.lower * (1.0 + 1e-6)
    assert answer.verify().valid


@pytest.mark.parametrize(("link", "observation"), [("logistic", "bernoulli"), ("log", "poisson")])
def test_best_arms_that_are_free_show_part_of_what_tells_others_apart(link, observation):
    """Directions are across what all best arms show, or the rates prove nothing."""
    rng = np.random.default_rng(1)
    contexts = [{"name": name, "arms": rng.normal(size=(4, 4))} for name in "abc"]
    keys = {"contexts": contexts, "phi": rng.normal(size=4), "observes": "reward"}
    answer = bound(GeneralizedLinear(**keys, link=link, observation=observation))
    assert answer.lower > 1.0
    assert answer.verify().valid


def test_identity_links_are_linear_arms():
    keys = random_keys(np.random.default_rng(12))
    plain = bound(Linear(**keys, sigma=0.5))
    linked = bound(GeneralizedLinear(**keys, link="identity", sigma=0.5))
    assert linked.value == pytest.approx(plain.value, rel=2.1e-6)


def test_a_context_more_never_costs_more_than_its_own_arms():
    # what it shows helps the others: C of both is at most the sum, and may be less than either
    for seed in range(6):
        instance = random_instance(seed)
        alone = [bound(instance.alone(z)).value for z in range(instance.layout.n_contexts)]
        assert bound(instance).value <= sum(alone) * (1.0 + 1e-6)


def test_the_order_of_contexts_changes_nothing():
    instance = random_instance(4)
    content = instance.to_dict()
    content["contexts"] = content["contexts"][::-1]
    assert bound(from_dict(content)).value == pytest.approx(bound(instance).value, rel=2.1e-6)


def test_samples_count_plays_of_best_arms_too():
    answer = bound(Linear(**EXAMPLE), cost="samples")
    assert answer.value == pytest.approx(88.8888889)
    assert not answer.greedy_suffices
    assert answer.weights.sum() == pytest.approx(1.0)


def test_contexts_stand_in_certificates_and_forgeries_are_refused(tmp_path):
    instance = random_instance(2)
    answer = bound(instance)
    file = tmp_path / "proof.json"
    certificates.write([answer], file)
    ((_, report),) = certificates.verify(file)
    assert report.valid
    content = json.loads(file.read_text())
    entry = content["bounds"][0]
    assert {"context", "arm", "rate"} == set(entry["rates"][0])

    def refused(change):
        forged = json.loads(file.read_text())
        change(forged["bounds"][0])
        (tmp_path / "forged.json").write_text(json.dumps(forged))
        try:
            ((_, report),) = certificates.verify(tmp_path / "forged.json")
        except InputError:
            return True
        return not report.valid

    def lower_rates(entry):
        for item in entry["rates"]:
            item["rate"] *= 0.99
        entry["lower"] *= 0.99
        entry["upper"] *= 0.99

    def heavier(entry):
        entry["alternatives"][0]["weight"] *= 1.5
        entry["lower"] *= 1.01
        entry["upper"] *= 1.01

    def of_nothing(entry):
        entry.update(lower=0.0, upper=0.0, rates=[], alternatives=[])

    def less_exploring(entry):  # as if every context but one were settled
        entry["rates"] = entry["rates"][:1]

    def other_context(entry):
        entry["instance"]["contexts"][0]["arms"][0][0] += 0.5

    def other_best(entry):
        entry["best_arm"][0][1] += 1

    def other_label(entry):
        entry["rates"][0]["context"] += "x"

    changes = (
        lower_rates, heavier, of_nothing, less_exploring, other_context, other_best, other_label
    )  # fmt: skip
    for change in changes:
        assert refused(change), change.__name__


def test_a_claim_that_greedy_suffices_is_proved_or_refused(tmp_path):
    file = tmp_path / "proof.json"
    certificates.write([bound(Linear(**EXAMPLE))], file)
    ((_, report),) = certificates.verify(file)
    assert report.valid
    content = json.loads(file.read_text())
    # best arms that all but coincide show one direction less
    content["bounds"][0]["instance"]["contexts"][1]["arms"] = [[0.5, 0.0], [0.2, -1.0]]
    file.write_text(json.dumps(content))
    ((_, report),) = certificates.verify(file)
    assert not report.valid


def test_bounds_of_a_list_and_files(tmp_path):
    instances = [Linear(**EXAMPLE), random_instance(1), random_instance(1).alone(0)]
    values = [answer.value for answer in bounds(instances)]
    assert values == [bound(one).value for one in instances]
    for instance in instances:
        again = from_dict(json.loads(json.dumps(instance.to_dict())))
        assert again.to_dict() == instance.to_dict()
        assert bound(again).value == bound(instance).value


def test_the_command_line_says_that_greedy_suffices(tmp_path, monkeypatch, capsys):
    file = tmp_path / "two.toml"
    file.write_text(
        'structure = "linear"\nphi = [1, 0]\n'
        '[[contexts]]\nname = "phone"\narms = [[1, 0], [0, 1], [0.9, 0.2]]\n'
        '[[contexts]]\nname = "desk"\narms = [[0.5, 1], [0.2, -1]]\n'
    )
    run = Runner(monkeypatch, capsys)
    assert run("bound", file) == 0
    assert "greedy suffices" in run.out
    assert "phone: 0" in run.out
    assert run("bound", file, "--json") == 0
    found = json.loads(run.out)
    assert found["greedy_suffices"] is True
    assert found["best_arm"] == [[0, 0], [1, 0]]
    assert run("bound", file, "--context", "phone") == 0
    assert "C(θ) = 8," in run.out
    assert run("bound", file, "--context", "desk", "--cost", "samples", "--json") == 0
    alone = bound(Linear(**EXAMPLE).alone(1), cost="samples")
    assert json.loads(run.out)["value"] == pytest.approx(alone.value)
    assert run("bound", file, "--context", "tv") == 2
    assert "`context` must be one of phone, desk" in run.err
    file.write_text('structure = "linear"\nphi = [1, 0]\narms = [[1, 0], [0, 1]]\n')
    assert run("bound", file, "--context", "0") == 2
    assert "the instance has none" in run.err


def test_features_of_another_width_are_named():
    contexts = [{"features": [1.0, 0.0]}, {"features": [1.0]}]
    with pytest.raises(InputError, match=r"`contexts\[1\].features` must hold 2 numbers, got 1"):
        Linear(arms=[[1.0], [2.0]], interaction="product", contexts=contexts)


def test_shared_arms_by_an_interaction():
    arms, phi = [[1.0, 0.0], [0.3, 0.8]], np.array([0.2, 0.5, -0.4, 1.0])
    product = Linear(
        arms=arms,
        interaction="product",
        contexts=[{"features": [1.0, 0.0]}, {"features": [0.5, 2.0]}],
        phi=phi,
    )
    assert product.arms.tolist() == [[*x, 0, 0] for x in arms] + [
        [0.5 * x[0], 0.5 * x[1], 2.0 * x[0], 2.0 * x[1]] for x in arms
    ]
    effects = Linear(arms=arms, interaction="effects", contexts=[{}, {}], phi=np.ones(6))
    assert effects.arms.tolist() == [[*x, *x, 0, 0] for x in arms] + [[*x, 0, 0, *x] for x in arms]
    some = Linear(
        arms=arms, contexts=[{"available": [1]}, {}], phi=[1.0, 0.5], arm_names=["x", "y"]
    )
    assert [some.arm_at(row) for row in range(3)] == [(0, 1), (1, 0), (1, 1)]
    assert some.arm_name((0, 1)) == "0: y"
    assert some.position(["1", 1]) == 2
    for instance in (product, effects, some):
        assert from_dict(instance.to_dict()).to_dict() == instance.to_dict()
        assert bound(instance).verify().valid


TWO = [{"name": "a", "arms": [[1.0, 0.0]]}, {"name": "b", "arms": [[0.0, 1.0]]}]
WRONG = [
    ({"contexts": []}, "contexts.*at least one"),
    ({"contexts": [3]}, r"contexts\[0\].*table"),
    ({"contexts": [{"arm": [[1.0]]}]}, "did you mean .arms"),
    ({"contexts": [{}]}, r"contexts\[0\]\.arms.*be given"),
    ({"contexts": [{"arms": [[]]}]}, r"contexts\[0\]\.arms"),
    ({"contexts": [{"arms": [[1.0, float("nan")]]}]}, r"contexts\[0\]\.arms\[0\]\[1\]"),
    ({"contexts": [TWO[0], {"arms": [[1.0]]}]}, r"contexts\[1\]\.arms.*as many features"),
    ({"contexts": [TWO[0], TWO[0]]}, r"contexts\[1\]\.name.*distinct"),
    ({"contexts": [{**TWO[0], "weight": 0.0}]}, r"contexts\[0\]\.weight.*positive"),
    ({"contexts": [{**TWO[0], "features": [1.0]}]}, r"contexts\[0\]\.features.*left out"),
    ({"contexts": [{}], "interaction": "product"}, "arms.*share"),
    ({"contexts": [{}], "arms": [[1.0]], "interaction": "sum"}, "interaction.*product, effects"),
    ({"contexts": [{}], "arms": [[1.0]], "interaction": "product"}, r"features.*given"),
    ({"contexts": [{"available": [2]}], "arms": [[1.0], [2.0]]}, r"available\[0\].*below 2"),
    ({"contexts": [{"available": [0, 0]}], "arms": [[1.0], [2.0]]}, r"available\[1\].*distinct"),
    ({"contexts": [{"available": []}], "arms": [[1.0], [2.0]]}, r"available.*at least one"),
    ({"arms": [[1.0]], "interaction": "product"}, "contexts.*be given"),
    ({"contexts": TWO, "phi": [1.0]}, "phi.*2 numbers"),
]


@pytest.mark.parametrize(("keys", "message"), WRONG)
def test_bad_contexts_are_named(keys, message):
    with pytest.raises(InputError, match=message):
        Linear(**keys)


def test_two_best_arms_of_a_context_are_refused_by_its_number():
    tied = Linear(contexts=[TWO[0], {"arms": [[0.0, 1.0], [0.0, 2.0]]}], phi=[1.0, 0.0])
    with pytest.raises(InputError, match=r"contexts\[1\].*one best arm"):
        bound(tied)


def test_arms_of_contexts_are_pairs():
    instance = Linear(**EXAMPLE)
    for arm, message in ((3, "pair"), ([2, 0], "below 2"), (["c", 0], "one of a, b"),
                         ([1, 2], "arm of context b")):  # fmt: skip
        with pytest.raises(InputError, match=message):
            instance.position(arm)


def test_what_knows_nothing_of_contexts_says_so():
    instance = Linear(**EXAMPLE)
    with pytest.raises(InputError, match="end-of-optimism is not for arms in contexts"):
        policy("end-of-optimism", instance)
    with pytest.raises(InputError, match="contexts"):
        plan(instance)
