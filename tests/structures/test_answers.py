"""Bounds of tests that are asked for more than the best arm."""

import json
from fractions import Fraction

import numpy as np
import pytest

from cutting_planes import least_cost
from ossb import certificates
from ossb.errors import InputError
from ossb.families import family_named
from ossb.graves_lai.exact.balls import working
from ossb.structures import bound, bounds
from ossb.structures.classical import Classical
from ossb.structures.combinatorial import Combinatorial
from ossb.structures.linear import Linear
from ossb.structures.unimodal import Unimodal

FAMILIES = ("gaussian", "bernoulli", "bounded", "poisson", "exponential")


def classical(rng, family, goal):
    n = int(rng.integers(3, 8))
    theta = rng.uniform(0.1, 0.9, n)
    if family == "gaussian":
        theta = 100.0 * theta - 40.0
    if family in ("poisson", "exponential"):
        theta = 30.0 * theta
    noise = {"sigma": float(rng.uniform(0.5, 20.0))} if family == "gaussian" else {}
    return Classical(theta=theta.tolist(), observation=family, goal=goal, **noise)


def exchanged(instance, top):
    """Alternatives of the m best arms: any of them and any other at their common mean."""
    family, theta = instance.plain_family, np.asarray(instance.theta)
    order = np.argsort(-instance.sign * theta)

    def oracle(rates):
        rows = []
        for i in order[:top]:
            for j in order[top:]:
                level = (rates[i] * theta[i] + rates[j] * theta[j]) / (rates[i] + rates[j])
                row = np.zeros(theta.size)
                row[[i, j]] = family.kl(theta[i], level), family.kl(theta[j], level)
                rows.append(row)
        return np.array(rows)

    return oracle


def reversed_contrasts(instance, rows, margins):
    """Alternatives of linear arms: the nearest parameter at which a contrast is 0."""
    arms = np.asarray(instance.arms)

    def oracle(rates):
        inverse = np.linalg.inv((arms.T * rates) @ arms)
        found = []
        for row, margin in zip(rows, margins, strict=True):
            step = inverse @ row * (margin / (row @ inverse @ row))
            found.append(0.5 * (arms @ step) ** 2 / instance.sigma**2)
        return np.array(found)

    return oracle


def problems_of(path):
    """What is wrong with the one bound of a file, or with the file."""
    try:
        ((_, found),) = certificates.verify(path)
    except InputError as error:
        return [str(error)]
    return found.problems


def sandwiched(answer, prices, oracle, gap=1e-5):
    lower, upper = least_cost(prices, oracle, gap)
    assert answer.lower <= upper * (1.0 + 1e-9)
    assert answer.upper >= lower * (1.0 - 1e-9)
    assert answer.value == pytest.approx(upper, rel=3.0 * gap)
    assert answer.status == "certified"
    assert answer.verify().valid


@pytest.mark.parametrize("goal", ["maximize", "minimize"])
@pytest.mark.parametrize("family", FAMILIES)
def test_the_best_arms_agree_with_cutting_planes(family, goal):
    rng = np.random.default_rng([3, FAMILIES.index(family)])
    for _ in range(4):
        instance = classical(rng, family, goal)
        top = int(rng.integers(2, instance.n_arms))
        prices = rng.uniform(0.5, 2.0, instance.n_arms)
        asked = {"top": top}
        sandwiched(bound(instance, cost=prices, answer=asked), prices, exchanged(instance, top))


@pytest.mark.parametrize("goal", ["maximize", "minimize"])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_level_is_told_arm_by_arm(family, goal):
    rng = np.random.default_rng([5, FAMILIES.index(family)])
    kl = family_named(family, 1.0).kl
    for _ in range(6):
        instance = classical(rng, family, goal)
        theta = np.asarray(instance.theta)
        level = float(np.quantile(theta, rng.uniform(-0.0, 1.0)) * rng.uniform(0.97, 1.03))
        found = bound(instance, cost="samples", answer={"above": level})
        told = [kl(mean, level) / instance.sigma**2 for mean in theta]
        assert found.value == pytest.approx(sum(1.0 / one for one in told), rel=1e-9)
        assert found.rates == pytest.approx([1.0 / one for one in told], rel=1e-9)
        assert found.chosen == np.flatnonzero(theta > level).tolist()
        assert found.verify().valid


@pytest.mark.parametrize("seed", range(6))
def test_linear_arms_agree_with_cutting_planes(seed):
    rng = np.random.default_rng([7, seed])
    n, d = int(rng.integers(4, 12)), int(rng.integers(2, 5))
    goal = "minimize" if seed % 2 else "maximize"
    keys = {"sigma": float(rng.uniform(0.2, 3.0)), "goal": goal}
    instance = Linear(arms=rng.normal(size=(n, d)).tolist(), phi=rng.normal(size=d), **keys)
    arms, rewards = np.asarray(instance.arms), instance.rewards
    top = int(rng.integers(2, n))
    order = np.argsort(-rewards)
    pairs = [(i, j) for i in order[:top] for j in order[top:]]
    rows = [arms[j] - arms[i] for i, j in pairs]
    margins = [rewards[i] - rewards[j] for i, j in pairs]
    answer = bound(instance, cost="samples", answer={"top": top})
    sandwiched(answer, np.ones(n), reversed_contrasts(instance, rows, margins), 1e-4)
    assert answer.chosen == sorted(order[:top].tolist())

    level = float(np.median(instance.sign * rewards)) + 0.1
    answer = bound(instance, cost=0.3, answer={"above": level})
    prices = rewards.max() - rewards + 0.3
    margins = abs(instance.sign * rewards - level)
    sandwiched(answer, prices, reversed_contrasts(instance, arms, margins), 1e-4)


def test_one_best_arm_is_the_plain_bound():
    instance = Classical(theta=[0.5, 0.45, 0.43, 0.4], observation="bernoulli")
    plain = bound(instance, cost="samples")
    assert bound(instance, cost="samples", answer={"top": 1}).to_dict().keys() == (
        plain.to_dict().keys()
    )
    mirrored = Classical(theta=[0.5, 0.55, 0.57, 0.6], observation="bernoulli")
    assert bound(mirrored, cost="samples", answer={"top": 3}).value == pytest.approx(
        plain.value, rel=1e-6
    )
    assert plain.value == pytest.approx(989.8, abs=0.1)


def test_linear_arms_that_tell_nothing_of_one_another_are_classical_ones():
    theta = [0.3, -0.2, 0.9, 0.5, 0.1]
    for asked in ({"top": 2}, {"above": 0.2}, {"above": -3.0}):
        alone = bound(Classical(theta=theta), cost="samples", answer=asked)
        basis = bound(Linear(arms=np.eye(5), phi=theta), cost="samples", answer=asked)
        assert basis.value == pytest.approx(alone.value, rel=1e-5)


def test_arms_that_span_less_than_the_space_are_proved():
    arms = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 1.0, 2.0], [0.0, 0.0, 0.0]])
    instance = Linear(arms=arms, phi=[0.6, 0.2, 0.1])
    flat = Linear(arms=arms[:, :2], phi=[0.7, 0.3])
    for asked in ({"top": 2}, {"above": 0.4}):
        found = bound(instance, cost="samples", answer=asked)
        assert found.value == pytest.approx(bound(flat, 1e-6, "samples", asked).value, rel=1e-5)
        assert found.verify().valid


def test_two_best_arms_among_the_two_best_are_no_tie():
    instance = Classical(theta=[0.5, 0.5, 0.3], observation="bernoulli")
    found = bound(instance, cost="samples", answer={"top": 2})
    assert found.rates[0] == pytest.approx(found.rates[1], rel=1e-3)
    arms = Linear(arms=[[1.0, 0.0], [0.0, 1.0], [0.5, 0.1]], phi=[1.0, 1.0])
    assert bound(arms, cost="samples", answer={"top": 2}).chosen == [0, 1]


@pytest.mark.parametrize("asked", [{"top": 2}, {"above": 0.42}])
@pytest.mark.parametrize(
    "instance",
    [
        Classical(theta=[0.5, 0.45, 0.43, 0.4], observation="bernoulli", goal="minimize"),
        Linear(arms=[[1.0, 0.0], [0.0, 1.0], [0.5, 0.1], [0.7, 0.7]], phi=[0.5, 0.4]),
    ],
)
def test_certificates_hold_what_was_asked_for(instance, asked, tmp_path):
    path = tmp_path / "proof.json"
    answer = bound(instance, cost="samples", answer=asked)
    certificates.write([answer], path)
    ((claimed, report),) = certificates.verify(path)
    assert report.valid, report.problems
    assert claimed.answer == answer.answer
    assert claimed.chosen == answer.chosen
    content = json.loads(path.read_text())
    entry = content["bounds"][0]
    assert entry["answer"] == asked
    assert "best_arm" not in entry

    def refused(field, change):
        broken = json.loads(json.dumps(content))
        change(broken["bounds"][0])
        path.write_text(json.dumps(broken))
        assert any(field in problem for problem in problems_of(path))

    refused("chosen", lambda entry: entry.update(chosen=[0]))
    refused("answer", lambda entry: entry.update(answer={"top": 9}))
    refused("upper", lambda entry: entry.update(upper=0.9 * entry["upper"]))
    refused("lower", lambda entry: entry.update(lower=entry["upper"], upper=entry["upper"]))
    refused("rates", lambda entry: entry["rates"].pop())
    swapped = {"top": 1} if "top" in asked else {"above": 0.41}
    refused("", lambda entry: entry.update(answer=swapped))

    def moved(entry):
        one = entry["alternatives"][0]
        one["parameter"] = [0.5 * number for number in one["parameter"]]

    if instance.kind == "classical":
        refused("alternatives[0]", moved)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"answer": {"top": 4}}, "`answer.top` must be below the number of arms, 4"),
        ({"answer": {"top": 0}}, "`answer.top` must be at least 1"),
        ({"answer": {"above": "x"}}, "`answer.above` must be a number"),
        ({"answer": {"above": 0.45}}, "`answer.above` must not be the mean of an arm"),
        ({"answer": {"above": 1.0}}, "`answer.above` must lie between"),
        ({"answer": {"below": 1.0}}, '`answer` must be "best"'),
        ({"answer": {"top": 2}, "cost": "regret"}, "`cost` must be samples"),
        ({"answer": {"top": 2}, "cost": [1, 1, 0, 1]}, "`cost[2]` must be positive"),
    ],
)
def test_what_no_test_can_answer_is_refused(keys, said):
    instance = Classical(theta=[0.5, 0.45, 0.43, 0.4], observation="bernoulli")
    with pytest.raises(InputError) as caught:
        bound(instance, **{"cost": "samples", **keys})
    assert said in str(caught.value)


def test_ties_across_the_border_are_refused():
    instance = Classical(theta=[0.5, 0.45, 0.45, 0.4], observation="bernoulli")
    with pytest.raises(InputError, match="arms 1 and 2 are level"):
        bound(instance, cost="samples", answer={"top": 2})
    assert bound(instance, cost="samples", answer={"top": 3}).value > 0.0


def test_other_structures_say_that_they_have_one_answer():
    sets = Combinatorial(
        arm_set="m_sets", n_items=4, size=2, feedback="semi_bandit", phi=[1, 2, 3, 4]
    )
    with pytest.raises(InputError, match="answer"):
        bound(sets, cost="samples", answer={"top": 2})
    with pytest.raises(InputError, match="`answer` must be best for unimodal"):
        bound(Unimodal(theta=[0.1, 0.3, 0.2]), cost="samples", answer={"top": 2})


def test_many_bounds_take_the_same_answer():
    some = [Classical(theta=[0.1, 0.5, 0.3]), Linear(arms=np.eye(3), phi=[0.1, 0.5, 0.3])]
    values = [one.value for one in bounds(some, cost="samples", answer={"top": 2})]
    assert values[0] == pytest.approx(values[1], rel=1e-5)


def test_rates_do_not_depend_on_units():
    theta = np.array([0.5, 0.46, 0.43, 0.4, 0.31])
    unit = bound(Classical(theta=theta), cost="samples", answer={"top": 2})
    for scale, shift in ((1e6, 0.0), (1e-6, 0.0), (1.0, 1e3)):
        other = Classical(theta=(scale * theta + shift).tolist(), sigma=scale)
        found = bound(other, cost="samples", answer={"top": 2})
        assert found.value == pytest.approx(unit.value, rel=1e-5)


def test_many_arms_are_solved_for():
    rng = np.random.default_rng(1)
    theta = np.concatenate([rng.uniform(0.55, 0.8, 20), rng.uniform(0.2, 0.5, 20)])
    instance = Classical(theta=theta.tolist(), observation="bernoulli")
    found = bound(instance, cost="samples", answer={"top": 20})
    assert found.gap <= 1e-6
    assert found.verify().valid


def test_regret_is_counted_from_the_arm_that_is_best_exactly():
    """Two arms among the best whose rewards, rounded, stand the other way round."""
    rng = np.random.default_rng(0)
    for _ in range(1000):
        one, phi = rng.normal(size=3), rng.normal(size=3)
        arms = [one, one + 1e-15 * rng.normal(size=3), -one, rng.normal(size=3) - 5.0 * phi]
        exact = [
            sum(Fraction(a) * Fraction(b) for a, b in zip(row.tolist(), phi.tolist(), strict=True))
            for row in arms
        ]
        instance = Linear(arms=arms, phi=phi)
        first = int(np.argmax(instance.rewards))
        if sorted(exact)[-2:] == sorted(exact[:2]) and exact[1 - first] > exact[first]:
            break
    price = 0.5 * float(exact[1 - first] - exact[first])
    program = bound(instance, cost=price, answer={"top": 2}).problem
    with working():
        assert all(program.exact_cost(arm) >= price for arm in range(4))
