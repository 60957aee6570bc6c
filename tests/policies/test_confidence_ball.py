"""ConfidenceBall₂ and ConfidenceBall₁."""

import math

import numpy as np
import pytest

from ossb.errors import InputError
from ossb.models.least_squares import INVERSE, THETA, TOLD
from ossb.models.spanning import barycentric_spanner
from ossb.policies import policy
from ossb.policies.confidence_ball import square_root
from ossb.simulation import simulate
from ossb.structures.combinatorial import Combinatorial
from ossb.structures.linear import Linear
from ossb.structures.unimodal import Unimodal
from ossb.tally import empty_tally, observe
from policies.linear_transcription import ARMS, EASY, HARD, Data
from policies.rounds import played


def literal(instance, horizon, seed, ball, delta=0.01):
    """Algorithm 3.1, and its polytope, with every vertex tried."""
    spanner = np.asarray(instance.arms)[barycentric_spanner(instance.arms)]
    coordinates = np.linalg.solve(spanner.T, np.asarray(instance.arms).T).T
    world, d = Data(instance, seed), coordinates.shape[1]
    world.arms = coordinates  # in which the spanner is the standard basis, and A₁ the identity
    rounds = []
    for t in range(1, horizon + 1):
        doubt = math.log(t * t / delta)
        beta = max(128 * d * math.log(t) * doubt, (8 / 3 * doubt) ** 2) * instance.sigma**2
        if ball == "l2":
            values = coordinates @ world.theta + math.sqrt(beta) * world.widths
        else:
            eigen, vectors = np.linalg.eigh(world.gram)
            root = vectors @ np.diag(eigen**-0.5) @ vectors.T
            radius = math.sqrt(d * beta)
            vertices = [world.theta + s * radius * root[i] for i in range(d) for s in (1, -1)]
            values = np.max(coordinates @ np.array(vertices).T, axis=1)
        rounds.append(int(np.argmax(values)))
        world.play(rounds[-1])
    return rounds


@pytest.mark.parametrize("ball", ["l2", "l1"])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("instance", [EASY, HARD])
def test_arms_are_those_of_the_printed_algorithm(instance, seed, ball):
    rounds, _ = played("confidence-ball", instance, 150, seed, ball=ball)
    assert [arm for arm, _ in rounds] == literal(instance, 150, seed, ball)


def test_the_square_root_of_a_matrix():
    rng = np.random.default_rng(0)
    for d in (1, 2, 5, 8):
        factor = rng.normal(size=(d, d))
        matrix, root = factor @ factor.T + 0.1 * np.eye(d), np.zeros((d, d))
        square_root(matrix, np.zeros((d, d)), np.zeros((d, d)), root)
        assert root @ root == pytest.approx(matrix, abs=1e-12 * d * np.trace(matrix))
        assert root == pytest.approx(root.T, abs=1e-12)


def test_what_it_fits():
    bandit = Combinatorial(feedback="bandit", arms=[[1, 0, 0], [0, 1, 1]], phi=[0.2, 0.5, 0.4])
    assert policy("confidence-ball", bandit).features.shape == (2, 2)  # the arms span a plane
    shown = Combinatorial(feedback="semi_bandit", arms=[[1, 0], [0, 1]], phi=[0.2, 0.5])
    for refused in (shown, Unimodal(theta=[0.1, 0.5, 0.2])):
        with pytest.raises(InputError, match="confidence-ball"):
            policy("confidence-ball", refused)


@pytest.mark.parametrize(
    ("parameters", "field"),
    [
        ({"delta": 0.0}, "delta"),
        ({"delta": 1.0}, "delta"),
        ({"ball": "l3"}, "ball"),
        ({"scale": 0.0}, "scale"),
    ],
)
def test_parameters_out_of_range_are_refused(parameters, field):
    with pytest.raises(InputError, match=field):
        policy("confidence-ball", HARD, **parameters)


def test_coordinates_do_not_matter():
    """The ellipsoid is that of the spanner, whatever basis the arms are written in."""
    turn = np.array([[3.0, 1.0], [0.5, 2.0]])
    turned = Linear(arms=ARMS @ turn, phi=np.linalg.solve(turn, [4.0, -0.5]), sigma=0.5)
    one, _ = played("confidence-ball", EASY, 120, 4)
    two, _ = played("confidence-ball", turned, 120, 4)
    assert one == two


@pytest.mark.parametrize("ball", ["l2", "l1"])
def test_regret_grows_as_the_squared_radius(ball):
    """A round costs at most twice a width: regret is O(β_T ln T / Δ), and wrong plays O(β_T / Δ²).

    β_t grows as ln² t; a quarter is left for what is not yet asymptotic.
    """
    quiet = Linear(arms=ARMS, phi=[4.0, -0.5], sigma=0.05)
    name = f"confidence-ball:ball={ball},scale=0.05"
    found = simulate(quiet, [name], 20_000, 10, seed=2).policies[0]
    early = found.curves[:, np.searchsorted(found.checkpoints, 2000)]
    ratio = (math.log(20_000) / math.log(2000)) ** 2
    assert (early < found.regret).all()
    assert (found.regret < 1.25 * ratio * early).all()


def test_the_ellipsoid_holds_the_truth():
    """Not in a single round of 40 trials, each of which may fail with probability δ = 0.01."""
    failures = 0
    for seed in range(40):
        world = Data(HARD, seed)
        record = policy("confidence-ball", HARD)
        memory, tally = record.start(), empty_tally(5, 5)
        truth = np.linalg.lstsq(record.features.T, HARD.rewards, rcond=None)[0]
        for t in range(1, 101):
            decision = record.select(tally, memory, world.noise)
            squares = memory.regression.squares
            gram = np.linalg.inv(squares.square[TOLD, INVERSE])
            off = squares.line[TOLD, THETA] - truth
            doubt = math.log(t * t / 0.01)
            beta = max(256 * math.log(t) * doubt, (8 / 3 * doubt) ** 2)
            failures += off @ gram @ off > beta
            mean = float(HARD.rewards[decision.arm])
            observe(tally, decision.arm, HARD.family.sample(mean, world.noise))
            tally.clock[0] += 1
    assert failures == 0
