"""Policies in contexts beside their rules written down anew."""

import math

import numpy as np
import pytest

from contextual_instances import CONTEXTS, EXAMPLE, random_instance
from ossb.errors import InputError
from ossb.models.base import SETTLED, WEAKEST
from ossb.policies import policy
from ossb.simulation.simulate import simulate
from ossb.structures.base import bound
from ossb.structures.contexts import Layout
from ossb.structures.generalized_linear import GeneralizedLinear
from ossb.structures.linear import Linear
from ossb.tally import decide, empty_tally, observe

LOGISTIC = GeneralizedLinear(
    arms=[[1.0, 0.2], [0.3, 0.9], [-0.4, 0.5]],
    interaction="product",
    contexts=[{"features": [1.0, 0.0]}, {"features": [0.4, 1.0]}, {"features": [1.0, -1.0]}],
    phi=[0.5, 0.2, -0.3, 0.4],
    link="logistic",
    observation="bernoulli",
    goal="minimize",
)


def told(instance, rounds, rng):
    """A tally of plays at random."""
    n = instance.n_arms
    tally, means = empty_tally(n, n), instance.sign * np.asarray(instance.components)
    for arm in [*range(n), *rng.integers(0, n, rounds).tolist()]:
        value = float(means[arm] + rng.normal())
        if instance.observation == "bernoulli":
            value = float(rng.random() < means[arm])
        tally.plays[arm] += 1
        tally.clock[0] += 1
        observe(tally, arm, instance.sign * value)
    return tally


@pytest.mark.parametrize("seed", range(6))
def test_rates_of_policies_are_those_of_the_bound(seed):
    instance = random_instance(200 + seed)
    proved = bound(instance)
    model = instance.model_of_leaders()
    look, rates = model.start(), np.zeros(instance.n_arms)
    look.leaders[:] = instance.leaders
    look.indices[:] = instance.sign * np.asarray(instance.arms) @ instance.phi
    for _ in range(2):  # solved from nothing, and held
        model.rates_of_all(1e-4, look, rates)
        assert rates @ instance.gaps == pytest.approx(proved.value, rel=1e-4, abs=1e-9)


def test_rates_of_policies_are_those_of_the_bound_under_a_link():
    model = LOGISTIC.model_of_leaders()
    look, rates = model.start(), np.zeros(LOGISTIC.n_arms)
    look.leaders[:] = LOGISTIC.leaders
    look.indices[:] = LOGISTIC.index
    model.rates_of_all(0.0, look, rates)
    assert rates @ LOGISTIC.gaps == pytest.approx(bound(LOGISTIC).value, rel=1e-4)
    assert (rates[LOGISTIC.bests] == 0.0).all()


@pytest.mark.parametrize("seed", range(4))
def test_the_test_of_ossb_is_that_of_every_arm_against_its_leader(seed):
    instance = random_instance(300 + seed)
    rows, sigma = np.asarray(instance.arms), instance.sigma
    tally = told(instance, 60, np.random.default_rng(seed))
    model = instance.model_of_leaders()
    look = model.start()
    model.lead_each(tally, look)
    model.test_all(math.inf, tally, look)
    gram = (rows * tally.counts[:, None]).T @ rows
    theta = np.linalg.solve(gram, rows.T @ (tally.counts * tally.means))
    blocks = [instance.layout.rows(z) for z in range(instance.layout.n_contexts)]
    leaders = [block[int(np.argmax(rows[block] @ theta))] for block in blocks]
    weakest, settled = math.inf, math.inf
    for block, leader in zip(blocks, leaders, strict=True):
        assert look.leaders[block.start] == leader
        for x in set(block) - {leader}:
            u, known = rows[x] - rows[leader], rows[leaders]
            square = u @ np.linalg.solve(gram, u)
            # within what leaders leave unknown: minimise δᵀGδ with known δ = 0
            _, sizes, right = np.linalg.svd(known)
            free = right[int((sizes > 1e-10).sum()) :]
            left = free @ u
            along = left @ np.linalg.solve(free @ gram @ free.T, left) if len(free) else 0.0
            gap = (rows[leader] - rows[x]) @ theta
            weakest = min(weakest, 0.5 * gap**2 / square / sigma**2)
            settled = min(settled, 0.5 * gap**2 / along / sigma**2 if along > 1e-12 else math.inf)
    assert look.numbers[WEAKEST] == pytest.approx(weakest, rel=1e-6)
    assert look.numbers[SETTLED] == pytest.approx(settled, rel=1e-6)


def expected_by_hgl(instance, layout: Layout, asked, tally, kept):
    """What ``hgl`` has of each row asked for, net, from the estimate of ``ossb``'s model."""
    model = policy("hgl", instance).model.model
    look = model.start()
    model.project(tally, look)
    rows, sign = model.rows, instance.sign
    weights = tally.counts * look.bends
    inverse = np.linalg.inv((rows * weights[:, None]).T @ rows + model.prior)
    here = layout.rows(asked)
    leader = max(here, key=lambda x: (sign * look.indices[x], -x))
    matrix, doubts = np.zeros_like(inverse), 0.0
    for x in here:
        u = rows[x] - rows[leader]
        if x == leader:
            continue
        spread = math.sqrt(u @ inverse @ u)
        gap = sign * (look.indices[leader] - look.indices[x])
        z = gap / spread
        worth = sign * (look.rewards[leader] - look.rewards[x]) / (sign * gap)
        height = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
        image = inverse @ u
        matrix += 0.5 * worth * height / spread * np.outer(image, image)
        doubts += 0.5 * math.erfc(z / math.sqrt(2.0))
    kept[asked] = tally.plays[here].sum() + 1, matrix / (1.0 + doubts)
    total = sum(count * wanted for count, wanted in kept.values())
    t = tally.clock[0] + 1.0
    ahead = max(1.0, math.log(t) / 8.0) * t / (tally.phases.sum() + 1.0)
    net = {}
    for x in here:
        bought = ahead * look.bends[x] * (rows[x] @ total @ rows[x])
        bought /= 1.0 + look.bends[x] * (rows[x] @ inverse @ rows[x])
        net[x] = bought - (look.rewards[leader] - look.rewards[x])
    return net


def test_hgl_under_a_link_is_its_rule_written_down_anew():
    instance, layout = LOGISTIC, LOGISTIC.layout
    record, rng = policy("hgl", instance), np.random.default_rng(5)
    tally, memory, kept = empty_tally(instance.n_arms, instance.n_arms), record.start(), {}
    looked = 0
    for t in range(240):
        z = int(rng.integers(0, 3))
        low, high = layout.rows(z).start, layout.rows(z).stop
        visit = 1 + tally.plays[low:high].sum()
        held = visit < memory.held[z, 0]
        decision = record.choose(low, high, tally, memory, rng)
        if not held and tally.plays[record.model.model.spanning].all():
            net = expected_by_hgl(instance, layout, z, tally, kept)
            assert net[decision.arm] == pytest.approx(max(net.values()), abs=1e-6), t
            looked += 1
        decide(tally, decision)
        mean = instance.sign * instance.rewards[decision.arm]
        tally.clock[0] += 1
        observe(tally, decision.arm, instance.sign * float(rng.random() < mean))
    assert looked > 60


def test_what_ossb_explores_grows_slowly():
    instance = CONTEXTS["by products"]
    found = simulate(instance, "ossb", 1500, 4, 3, compiled=False)["ossb"]
    first = found.curves[:, np.searchsorted(found.checkpoints, 375)].mean()
    blind = np.mean([block.mean() for block in np.split(instance.gaps, 3)])
    assert found.regret.mean() < 0.1 * blind * 1500
    assert found.regret.mean() < 2.5 * first


def test_where_leaders_show_everything_ossb_explores_nothing():
    instance = Linear(**EXAMPLE)
    found = simulate(instance, "ossb", 500, 5, 1, compiled=False)["ossb"]
    assert found.phases[2] == 0.0


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"estimate": "means"}, "`estimate` must be projected where there are contexts"),
        ({"test": "counts"}, "`test` must be likelihood where"),
        ({"forced": "all"}, "`forced` must be informative where"),
        ({"sweep": False}, "`sweep` must be left"),
        ({"opening": 5.0}, "`opening` must be left"),
        ({"epsilon": 0.5}, "`epsilon` must lie in"),
    ],
)
def test_what_ossb_does_not_do_in_contexts_is_named(keys, message):
    with pytest.raises(InputError, match=message):
        policy("ossb", CONTEXTS["linear"], **keys)
    with pytest.raises(InputError, match="ossb-paper is not for arms in contexts"):
        policy("ossb-paper", CONTEXTS["linear"])


def test_a_step_of_solid_weighs_contexts_by_how_often_they_came():
    instance = CONTEXTS["by products"]
    rows, layout, sigma = np.asarray(instance.arms), instance.layout, instance.sigma
    record, rng = policy("solid", instance, norm=0.7), np.random.default_rng(3)
    tally, memory = told(instance, 30, rng), record.start()
    memory.scores[:] = rng.normal(size=len(rows))
    blocks = [layout.rows(z) for z in range(3)]
    for block in blocks:
        weights = np.exp(memory.scores[block])
        memory.shares[block] = weights / weights.sum()
    memory.plan[0] = 0.4
    record.choose(blocks[1].start, blocks[1].stop, tally, memory, np.random.default_rng(0))
    ridge = np.eye(rows.shape[1]) + (rows * tally.counts[:, None]).T @ rows
    theta = np.linalg.solve(ridge, rows.T @ (tally.counts * tally.means))
    # the same step, written down anew from the shares before it
    again = record.start()
    state = np.random.default_rng(3)
    told(instance, 30, state)
    scores = state.normal(size=len(rows))
    often = np.array([tally.plays[block].sum() + 1.0 for block in blocks])
    often /= often.sum()
    mass = np.zeros(len(rows))
    for share, block in zip(often, blocks, strict=True):
        weights = np.exp(scores[block])
        mass[block] = share * weights / weights.sum()
    design = (rows * mass[:, None]).T @ rows
    design += 1e-9 * np.trace(design) / len(theta) * np.eye(len(theta))
    nearest, moved = math.inf, None
    for block in blocks:
        leader = block[int(np.argmax(rows[block] @ theta))]
        for x in set(block) - {leader}:
            u, gap = rows[x] - rows[leader], (rows[leader] - rows[x]) @ theta
            image = np.linalg.solve(design, u)
            if gap**2 / (u @ image) < nearest:
                nearest, moved = gap**2 / (u @ image), gap / (u @ image) * image
    t, d = tally.clock[0] + 1.0, len(theta)
    explored = math.log(tally.phases[2] + 1.0)
    level = 2.0 * (1.0 + 1.0 / math.log(t)) * 2.0 * explored + d * math.log(d * math.log(t))
    bonus = (
        sigma
        * math.sqrt(level)
        * np.sqrt(np.einsum("ij,ji->i", rows, np.linalg.solve(ridge, rows.T)))
    )
    evidence = 0.5 * (rows @ moved) ** 2 / sigma**2
    evidence += 2.0 * 0.7 * record.length / sigma**2 * bonus
    slope = rows @ theta + bonus + 0.4 * evidence
    spare = mass @ evidence - 1.0 / again.plan[1]
    for share, block in zip(often, blocks, strict=True):
        weights = np.exp(scores[block] + 0.5 * share * slope[block])
        assert memory.shares[block] == pytest.approx(weights / weights.sum(), rel=1e-6)
    assert memory.plan[0] == pytest.approx(min(max(0.4 - 0.1 * spare, 0.0), 10.0), rel=1e-6)
