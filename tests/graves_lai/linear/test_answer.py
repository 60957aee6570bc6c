"""Bounds that doubles prove: never more than exact arithmetic gives, whatever the instance."""

import numpy as np
import pytest

from exact_linear import (
    exact_cost,
    exact_gaps,
    exact_information,
    exact_lower,
    rational,
    reduced,
)
from ossb.graves_lai.linear.answer import (
    LEFT,
    NOTHING,
    PROVED,
    STATUS,
    answer_all,
    answers,
    desk,
)
from ossb.graves_lai.linear.enclosure import (
    GAP_HIGH,
    GAP_LOW,
    TRUTH,
    W_RADIUS,
    W,
    enclose_gaps,
    enclosure,
    proved_scale,
    reduce_arms,
)
from ossb.structures import bound
from ossb.structures.linear import Linear


def unit(rng, n_arms, dimension):
    arms = rng.normal(size=(n_arms, dimension))
    return arms / np.linalg.norm(arms, axis=1, keepdims=True), rng.normal(size=dimension)


def nearly_tied(rng, n_arms, dimension):
    """The second best arm is 1e-4 to 1e-13 worse."""
    arms, phi = unit(rng, n_arms, dimension)
    order = np.argsort(arms @ phi)
    apart = arms[order[-1]] - arms[order[-2]]
    excess = apart @ phi - 10.0 ** -rng.uniform(4, 13)
    return arms, phi - excess * apart / (apart @ apart)


def crowded(rng, n_arms, dimension):
    """All arms within 1e-1 to 1e-7 of one direction."""
    width = 10.0 ** -rng.uniform(1, 7)
    return rng.normal(size=dimension) + width * rng.normal(size=(n_arms, dimension)), rng.normal(
        size=dimension
    )


def flat(rng, n_arms, dimension):
    """One coordinate is 1e-2 to 1e-9 of the others."""
    arms, phi = unit(rng, n_arms, dimension)
    arms[:, -1] *= 10.0 ** -rng.uniform(2, 9)
    return arms, phi


def lengths(rng, n_arms, dimension):
    arms, phi = unit(rng, n_arms, dimension)
    return arms * 10.0 ** rng.uniform(-4, 4, size=(n_arms, 1)), phi


def integers(rng, n_arms, dimension):
    return rng.integers(-2, 3, size=(n_arms, dimension)), rng.integers(-3, 4, size=dimension)


def offset(rng, n_arms, dimension):
    """A constant feature whose share of every mean is 1e6."""
    arms, phi = unit(rng, n_arms, dimension)
    arms[:, 0], phi[0] = 1.0, 1e6
    return arms, phi


def units(rng, n_arms, dimension):
    arms, phi = unit(rng, n_arms, dimension)
    return arms * 10.0 ** rng.uniform(-25, 25), phi * 10.0 ** rng.uniform(-25, 25)


DRAWS = [unit, nearly_tied, crowded, flat, lengths, integers, offset, units]


def answered(arms, phi, sigma=1.0, gap=1e-6, run=answer_all):
    """One answer as a bound, or None."""
    out = answers(1, *arms.shape)
    memory, proof = desk(*arms.shape)
    run(arms[None], phi[None], np.array([sigma]), gap, memory, proof, out)
    return out


@pytest.mark.parametrize("draw", DRAWS, ids=lambda draw: draw.__name__)
def test_no_claim_goes_beyond_exact_arithmetic(draw):
    rng = np.random.default_rng(DRAWS.index(draw))
    claims = 0
    for trial in range(150):
        dimension = int(rng.integers(2, 6))
        n_arms = int(rng.integers(dimension, 4 * dimension))
        arms, phi = draw(rng, n_arms, dimension)
        sigma = 10.0 ** rng.uniform(-1, 1)
        goal = ("maximize", "minimize")[trial % 2]
        instance = Linear(arms=arms, phi=phi, sigma=sigma, goal=goal)
        (answer,) = Linear.solve_list([instance], 1e-6)
        if answer is None or not answer.support:
            continue
        claims += 1
        assert answer.proved
        assert answer.gap <= 1e-6
        proved = exact_lower(instance, answer.alternatives)
        assert proved is not None
        assert rational(answer.lower) <= proved
        assert exact_information(instance, answer.support) >= 1
        assert exact_cost(instance, answer.support) <= rational(answer.upper)
        assert answer.upper <= answer.lower * (1 + 1.01e-6)
    assert claims > 40


def test_the_filter_is_tight():
    """What it gives away to rounding is far below the gap."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        arms, phi = unit(rng, 12, 3)
        instance = Linear(arms=arms, phi=phi)
        answer = bound(instance, gap=1e-9)
        lower = float(exact_lower(instance, answer.alternatives))
        cost = float(exact_cost(instance, answer.support))
        assert answer.proved
        assert answer.lower >= lower * (1 - 1e-10)
        assert answer.upper <= cost * (1 + 1e-10)
        assert float(exact_information(instance, answer.support)) <= 1 + 1e-10


def test_rates_that_do_not_span_are_never_proved():
    rng = np.random.default_rng(5)
    arms, phi = unit(rng, 10, 4)
    proof = enclosure(10, 4)
    best = int(np.argmax(arms @ phi))
    columns = np.ascontiguousarray(arms.T)
    proof.phi[TRUTH] = phi
    assert enclose_gaps(columns, proof.phi[TRUTH], best, 1.0, proof.arm)
    rank = reduce_arms(columns, best, proof.vector)
    assert rank == 3
    for played in ([], [0], [0, 1], [2, 3]):
        rates = np.zeros(10)
        rates[[x for x in played if x != best]] = 1.0
        scale = proved_scale(rates, rank, proof.arm, proof.vector, proof.matrix)
        assert not scale < 1e13


def test_enclosures_hold_what_they_enclose():
    rng = np.random.default_rng(7)
    for draw in (unit, crowded, lengths, offset):
        arms, phi = draw(rng, 9, 3)
        best = int(np.argmax(arms @ phi))
        proof, columns = enclosure(9, 3), np.ascontiguousarray(arms.T)
        if enclose_gaps(columns, phi, best, 0.0, proof.arm):
            for x, gap in enumerate(exact_gaps(arms, phi, best)):
                assert rational(proof.arm[GAP_LOW, x]) <= gap <= rational(proof.arm[GAP_HIGH, x])
        assert reduce_arms(columns, best, proof.vector) == 2
        w, _ = reduced(arms, best)
        for x in range(9):
            for i in range(2):
                error = abs(w[x][i] - rational(proof.vector[W, i, x]))
                assert error <= rational(proof.vector[W_RADIUS, i, x])


@pytest.mark.parametrize(
    ("arms", "phi"),
    [
        ([[1.0, 0.0], [0.0, 1.0]], [1.0, 1.0]),  # two best arms
        ([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]], [1.0, 0.5]),  # twins
        ([[1.0, 0.0], [0.5, 1e-12], [0.2, 1.0]], [1.0, 0.0]),  # nearly parallel
        ([[1.0, 0.0, 0.0], [0.5, 1.0, 0.0], [0.5, 2.0, 0.0]], [1.0, 0.0, 0.0]),  # a useless feature
        ([[1e200, 0.0], [0.0, 1e200]], [1.0, 0.5]),
        ([[1.0, 0.0], [0.0, 1.0]], [1e-200, 0.0]),
        ([[0.0, 0.0], [0.0, 0.0]], [1.0, 1.0]),
    ],
)
def test_what_needs_a_closer_look_is_left(arms, phi):
    assert answered(np.array(arms), np.array(phi)).size[0, STATUS] == LEFT


def test_nothing_to_tell_apart():
    for arms, phi in (([[1.0]], [2.0]), ([[1.0], [0.5]], [1.0])):
        assert answered(np.array(arms), np.array(phi)).size[0, STATUS] == NOTHING
    answer = bound(Linear(arms=[[2.0], [-1.0], [0.5]], phi=[1.0]))
    assert (answer.lower, answer.upper, answer.support) == (0.0, 0.0, [])
    assert answer.verify().valid


def test_the_best_arm_may_be_zero():
    arms, phi = np.array([[0.0, 0.0], [1.0, 0.2], [0.1, 1.0]]), np.array([-1.0, -1.0])
    assert answered(arms, phi).size[0, STATUS] == PROVED
    instance = Linear(arms=arms, phi=phi)
    answer = bound(instance)
    assert answer.proved
    assert exact_information(instance, answer.support) >= 1
    assert rational(answer.lower) <= exact_lower(instance, answer.alternatives)


def test_compiled_and_interpreted_answers_agree_whatever_came_before():
    rng = np.random.default_rng(11)
    count = 6
    for n_arms, dimension in ((81, 3), (12, 4)):
        drawn = [unit(rng, n_arms, dimension) for _ in range(count)]
        arms, phi = (np.array(part) for part in zip(*drawn, strict=True))
        sigma = np.ones(count)
        memory, proof = desk(n_arms, dimension)
        together = answers(count, n_arms, dimension)
        answer_all.compiled(arms, phi, sigma, 1e-6, memory, proof, together)
        assert (together.size[:, STATUS] == PROVED).all()
        for n in range(count):
            alone = answered(arms[n], phi[n])
            for one, all_of_them in zip(alone, together, strict=True):
                assert np.array_equal(one[0], all_of_them[n])
