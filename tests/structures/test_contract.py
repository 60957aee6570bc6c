"""What every structure promises, tried on random instances of each."""

import copy
import json
import math

import numpy as np
import pytest
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st

from instance_generators import GENERATORS, RELABEL, mirrored
from ossb import certificates
from ossb.instances import from_dict
from ossb.structures import STRUCTURES, bound

KINDS = list(GENERATORS)
each_kind = pytest.mark.parametrize("kind", KINDS)
# instances come from a seed, and a smaller seed is no simpler instance: nothing to shrink
GENERATE = (Phase.explicit, Phase.generate)
few = settings(max_examples=15, phases=GENERATE)
many = settings(max_examples=30, phases=GENERATE)


def solved(content):
    return bound(from_dict(content))


def agree(a, b):
    """Two values of one quantity, each certified to a gap of 10⁻⁶."""
    assert a.value == pytest.approx(b.value, rel=2.1e-6, abs=1e-12)


def test_every_structure_has_a_generator():
    assert sorted(GENERATORS) == sorted(STRUCTURES)


@each_kind
@many
@given(data=st.data())
def test_bounds_are_certified_and_survive_files(kind, data):
    content = data.draw(GENERATORS[kind])
    answer = solved(content)
    assert math.isfinite(answer.lower)
    assert math.isfinite(answer.upper)
    assert answer.lower <= answer.upper
    assert answer.status == "certified"
    assert answer.gap <= 1e-6
    assert all(0.0 < rate < math.inf for _, rate in answer.support)
    assert answer.best_arm not in [arm for arm, _ in answer.support]
    cost = math.fsum(rate * answer.instance.gap_of(arm) for arm, rate in answer.support)
    assert answer.value == pytest.approx(cost, rel=1e-9, abs=1e-300)
    report = answer.verify()
    assert report.valid, report.problems
    if answer.instance.n_arms is not None:
        assert answer.rates.shape == (answer.instance.n_arms,)
    again = solved(json.loads(json.dumps(answer.instance.to_dict())))
    assert again.value == answer.value
    check_certificate(answer, data)


def check_certificate(answer, data):
    written = json.loads(json.dumps(certificates.to_certificate([answer]), allow_nan=False))
    ((claimed, outcome),) = read_back(written)
    assert outcome.valid, outcome.problems
    assert claimed.value == answer.value
    step = 1e-3 * answer.value if answer.value > 0 else 1e-3
    corrupted = copy.deepcopy(written)
    entry = corrupted["bounds"][0]
    corruption = data.draw(st.sampled_from(["lower", "upper", "rates", "weight", "witness"]))
    if corruption == "rates" and entry["rates"]:
        for rate in entry["rates"]:
            rate["rate"] *= 0.999
    elif corruption == "weight" and entry["alternatives"]:
        entry["alternatives"][0]["weight"] = -1.0
    elif corruption == "witness" and entry["alternatives"]:
        key = answer.instance.parameter
        truth = np.array(written["bounds"][0]["instance"][key])
        relative = entry["alternatives"][0].get("relative", False)
        entry["alternatives"][0]["witness"] = (0.0 * truth if relative else truth).tolist()
    elif corruption == "upper":
        entry["upper"] -= step
    else:
        entry["lower"] += step
    ((_, outcome),) = read_back(corrupted)
    assert not outcome.valid, corruption


def read_back(content):
    """What a certificate file with this content says, without the file."""
    bounds = [certificates._bound(entry, "bounds[0]") for entry in content["bounds"]]
    return [(claimed, claimed.verify()) for claimed in bounds]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "dueling"])
@few
@given(data=st.data())
def test_gaussian_bounds_scale_with_the_variance(kind, data):
    content = data.draw(GENERATORS[kind])
    assume("sigma" in content)
    wide = solved({**content, "sigma": 3.0 * content["sigma"]})
    assert wide.value == pytest.approx(9.0 * solved(content).value, rel=2.1e-6)


@each_kind
@few
@given(data=st.data())
def test_the_order_of_the_arms_does_not_matter(kind, data):
    content = data.draw(GENERATORS[kind])
    key, relabel = RELABEL[kind]
    assume(key in content)
    order = np.random.default_rng(data.draw(st.integers(0, 99))).permutation(len(content[key]))
    agree(solved(relabel(content, order.tolist())), solved(content))


@each_kind
@few
@given(data=st.data())
def test_the_least_of_the_mirror_image_is_the_greatest(kind, data):
    content = data.draw(GENERATORS[kind])
    image = mirrored(content)
    assume(image is not None)
    least, greatest = solved(image), solved(content)
    agree(least, greatest)
    assert least.best_arm == greatest.best_arm
    assert least.verify().valid


@pytest.mark.parametrize("kind", ["linear", "generalized_linear"])
@few
@given(data=st.data())
def test_turning_the_features_does_not_matter(kind, data):
    content = data.draw(GENERATORS[kind])
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    turn = np.linalg.qr(rng.standard_normal((len(content["phi"]),) * 2))[0]
    turned = {
        **content,
        "arms": (np.array(content["arms"]) @ turn).tolist(),
        "phi": (np.array(content["phi"]) @ turn).tolist(),
    }
    a, b = solved(turned), solved(content)
    assert a.value == pytest.approx(b.value, rel=1e-5)  # gaps of 10⁻⁶ lose digits in the turn


@pytest.mark.parametrize("kind", ["linear", "generalized_linear", "lipschitz"])
@few
@given(data=st.data())
def test_a_duplicated_arm_adds_nothing(kind, data):
    content = data.draw(GENERATORS[kind])
    key, relabel = RELABEL[kind]
    arms = range(len(content[key]))
    answer = solved(content)
    assume(len(arms) > 1)
    twin = data.draw(st.sampled_from([x for x in arms if x != answer.best_arm]))
    agree(solved(relabel(content, [*arms, twin])), answer)


@many
@given(data=st.data())
def test_knowing_less_never_costs_less(data):
    kind = data.draw(st.sampled_from(["unimodal", "finite", "lipschitz", "polytope"]))
    content = data.draw(GENERATORS[kind])
    if kind == "unimodal":
        larger = {key: value for key, value in content.items() if key != "edges"}
        larger["structure"] = "classical"
    elif kind == "finite":
        larger = dict(content)
        content = {**content, "parameters": content["parameters"][: 1 + len(larger["theta"]) // 2]}
    elif kind == "lipschitz":
        larger = dict(content)
        key = "distances" if "distances" in content else "lipschitz_constant"
        larger[key] = (1.5 * np.array(content[key])).tolist()
    else:
        larger = {**content, "A": content["A"][1:], "b": content["b"][1:]}
        assume(larger["A"])
    assert solved(larger).value >= solved(content).value * (1.0 - 1.1e-6)
