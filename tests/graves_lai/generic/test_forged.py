"""Certificates on polytopes and unions, written by someone who wants a false one to pass."""

import copy
import json
import math

import numpy as np
import pytest

from ossb.certificates import to_certificate, verify
from ossb.graves_lai.proof import Alternative, prove
from ossb.structures.base import bound
from ossb.structures.polytope import Polytope
from ossb.structures.union import Union

SUM_KNOWN = {
    "structure": "polytope",
    "observation": "gaussian",
    "theta": [1.0, 0.5, 0.2],
    "A": [[0, 1, -1], [0, -1, 1]],
    "b": [0.3, -0.3],
}


def polytope(**keys):
    return Polytope(**{key: value for key, value in keys.items() if key != "structure"})


def test_large_multipliers_of_opposed_rows_excuse_no_column(tmp_path):
    assert bound(polytope(**SUM_KNOWN)).value == pytest.approx(4.0, rel=1e-6)
    huge = {"piece": 0, "tau": 1, "bounds": [1e13, 1e13], "equal": [], "means": [-1, 0, 0]}
    forged = {
        "instance": SUM_KNOWN,
        "lower": 0.0,
        "upper": 0.0,
        "status": "certified",
        "best_arm": 0,
        "rates": [],
        "alternatives": [],
        "multipliers": [{"arm": arm, **huge} for arm in (1, 2)],
    }
    file = tmp_path / "forged.json"
    content = {"format": "ossb certificate", "version": 1, "bounds": [forged]}
    file.write_text(json.dumps(content))
    ((_, report),) = verify(file)
    assert not report.valid


@pytest.mark.parametrize("size", [1.0, 1e3, 1e8, 1e13, 1e300])
def test_no_size_of_multipliers_excuses_a_column(size):
    instance = polytope(**SUM_KNOWN)
    for means in ([-1, 0, 0], [-1, 1e-9, 0], [-1, 0, 1e-12]):
        given = {"piece": 0, "tau": 1.0, "bounds": [size, size], "equal": [], "means": means}
        forged = [{"arm": arm, **given} for arm in (1, 2)]
        assert not prove(instance, [], [], forged).upper < math.inf


def test_a_parameter_of_the_set_next_to_the_one_given_proves_no_more():
    # λ_1 − λ_2 = 0.3: (1, 0.7, 1) is no parameter, and the nearest one proves less
    instance = polytope(**SUM_KNOWN)
    outside = Alternative(2, np.array([1.0, 0.7, 1.0]), np.array([1.0, 1.5, 1.2]), 1.0)
    assert "outside the parameter set" in prove(instance, [], [outside], []).problems[0]
    witness = Alternative(1, np.array([1.0, 1.0, 0.7]), np.array([1.0, 1.0, 0.7]), 1.0)
    assert "not strictly better" in prove(instance, [], [witness], []).problems[0]


def test_a_tie_at_the_edge_of_the_set_has_no_witness():
    # arm 1 reaches 0.5 and not more: a witness above by rounding is moved back onto the row
    instance = Polytope(A=[[0, 1]], b=[0.5], theta=[0.5, 0.2])
    above = np.array([0.5, np.nextafter(0.5, 1)])
    tie = Alternative(1, np.array([0.5, 0.5]), above, 1.0)
    report = prove(instance, [(1, 1.0)], [tie], [])
    assert "not strictly better" in report.problems[0]
    assert report.lower == 0.0


RNG = np.random.default_rng(21)
ROWS = RNG.normal(size=(4, 4))
MIDDLE = np.array([0.3, 0.7, 0.5, 0.15])
INSTANCES = {
    "opposed rows": polytope(**SUM_KNOWN),
    "order": Polytope(A=[[-1, 1, 0], [0, -1, 1]], b=[0, 0], theta=[0.3, 0.2, 0.1]),
    "gaussian": Polytope(A=ROWS, b=ROWS @ MIDDLE + 0.1, theta=MIDDLE),
    "bernoulli": Polytope(A=ROWS, b=ROWS @ MIDDLE + 0.1, theta=MIDDLE, observation="bernoulli"),
    "poisson": Polytope(
        A=ROWS[:2], b=ROWS[:2] @ MIDDLE, theta=MIDDLE, observation="poisson", goal="minimize"
    ),
    "equalities": Polytope(
        A=-np.eye(4), b=np.zeros(4), A_eq=np.ones((1, 4)), b_eq=[1.0], theta=[0.4, 0.3, 0.2, 0.1]
    ),
    "linear": Polytope(A=[], b=[], means=ROWS, theta=MIDDLE),
    "ends": Polytope(A=[], b=[], theta=[0.6, 0.0, 0.3], observation="bernoulli"),
    "union": Union(
        pieces=[
            {"A": [[1, -1, 0], [0, 1, -1]], "b": [0, 0]},
            {"A": [[-1, 1, 0], [0, -1, 1]], "b": [0, 0]},
        ],
        theta=[0.7, 0.4, 0.1],
    ),
    "forced": Union(
        pieces=[
            {"A": [[-1, 1, 0], [0, -1, 1]], "b": [0, 0]},
            {"A": [[1, 0, 0]], "b": [1], "A_eq": [[0, 0, 1]], "b_eq": [0.0]},
        ],
        theta=[0.7, 0.4, 0.1],
        observation="bernoulli",
    ),
}


def numbers(content, path=()):
    """The places of all numbers of a certificate."""
    if isinstance(content, dict):
        items = content.items()
    elif isinstance(content, list):
        items = enumerate(content)
    else:
        return [path] if isinstance(content, float | int) else []
    return [place for key, value in items for place in numbers(value, (*path, key))]


def at(content, place):
    """What stands at a place."""
    for key in place:
        content = content[key]
    return content


def mutated(rng, content):
    """A proof with some numbers changed: slightly, to another of its numbers, or to anything."""
    content = copy.deepcopy(content)
    places = numbers(content)
    for _ in range(int(rng.integers(1, 4))):
        *way, last = places[rng.integers(len(places))]
        holder, change = at(content, way), rng.integers(6)
        little = rng.choice([-1, 1]) * 10.0 ** -rng.integers(0, 17)
        if last in ("arm", "piece"):
            holder[last] = int(rng.integers(0, 4))
        elif change == 0:
            holder[last] *= 1 + little
        elif change == 1:
            holder[last] += little
        elif change == 2:
            holder[last] = 0.0
        elif change == 3:
            holder[last] *= -1
        elif change == 4:
            holder[last] = 10.0 ** rng.integers(-300, 300)
        else:
            holder[last] = at(content, places[rng.integers(len(places))])
    if rng.random() < 0.2:
        for key in ("alternatives", "multipliers", "rates"):
            if content[key] and rng.random() < 0.5:
                place = int(rng.integers(len(content[key])))
                content[key][place] = copy.deepcopy(content[key][rng.integers(len(content[key]))])
    return content


def proof_of(content):
    rates = [(int(item["arm"]), float(item["rate"])) for item in content["rates"]]
    alternatives = [
        Alternative(
            int(item["arm"]),
            np.array(item["parameter"], dtype=float),
            np.array(item["witness"], dtype=float),
            float(item["weight"]),
            int(item["piece"]),
        )
        for item in content["alternatives"]
    ]
    return rates, alternatives, content["multipliers"]


@pytest.mark.parametrize("name", INSTANCES)
def test_what_a_changed_proof_still_proves_is_true(name):
    instance = INSTANCES[name]
    best = bound(instance, 1e-8)
    (entry,) = to_certificate([best])["bounds"]
    proof = {key: entry[key] for key in ("rates", "alternatives", "multipliers")}
    rng = np.random.default_rng(2100 + list(INSTANCES).index(name))
    proved = 0
    for _ in range(150):
        report = prove(instance, *proof_of(mutated(rng, proof)))
        assert report.lower <= best.upper
        assert report.upper >= best.lower
        proved += not report.problems
    assert proved > 5  # small changes are survived: the engine reaches what can pass
