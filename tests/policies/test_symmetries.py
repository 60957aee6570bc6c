"""What leaves the set of parameters unchanged leaves decisions unchanged.

Every policy × structure × family, in contexts too, discovered.  A policy that by its own definition
breaks a symmetry says so (``Kind.breaks``), and that it does is checked as well: the list cannot
rot.

In every run of the tests a fifth of the pairs, which the commit draws, meets all symmetries at
once, and changes of units one by one, to the last bit: 100 rounds, 30 where each solves convex
programs.  The slow tests have 500 rounds (100 there), other numbers, and symmetries one by one.
"""

import json
from functools import partial

import numpy as np
import pytest

from cli_runner import Runner
from docs_pages import ROOT
from ossb.instances import from_dict
from ossb.models.unimodal import UnimodalModel
from ossb.policies import POLICIES
from ossb.policies.base import broken, refusal
from ossb.structures import STRUCTURES
from policies.symmetries import GENERAL, SYMMETRIES, all_at_once, images
from policies.symmetry_cases import IN_CONTEXTS, contents, drawn, fitting
from policies.twins import Twins

CONTENTS = {**dict(contents()), **dict(contents(IN_CONTEXTS))}
PAIRS = [(kind, name) for name, content in CONTENTS.items() for kind in fitting(content)]
OWN = [kind for kind in POLICIES if ":" not in kind]
SOLVING = ("hgl", "ossb", "ossb-paper", "graves-lai")  # convex programs, on polytopes


def rounds_of(kind, content, rounds, fewer):
    """Fewer where every round solves programs."""
    solves = kind in SOLVING and content["structure"] in GENERAL
    return fewer if solves or kind in ("glpg", "track-and-stop") else rounds


def exempt(kind, symmetry, image, instance):
    """Why a policy need not keep a symmetry; an image that renumbers arms is a relabelling too."""
    reason = broken(POLICIES[kind], symmetry, instance)
    if reason is None and image.permutes:
        reason = broken(POLICIES[kind], "relabelling", instance)
    return reason


def fits(kind, image):
    """Whether the policy plays the image: on polytopes some do not where the goal is the least."""
    return refusal(POLICIES[kind], image.instance) is None


def is_kept(kind, instance, symmetry, image):
    """Whether a symmetry is one that the policy has to keep; units are looked at by themselves."""
    kept = symmetry != "units" and exempt(kind, symmetry, image, instance) is None
    return kept and fits(kind, image)


def course(kind, content, image, rounds, seed=5):
    return Twins(POLICIES[kind], from_dict(content), image, seed).run(rounds)


def test_every_policy_structure_and_family_is_there():
    assert {kind for kind, _ in PAIRS} == set(OWN)
    for name, structure in STRUCTURES.items():
        met = {c["observation"] for c in CONTENTS.values() if c["structure"] == name}
        assert met == set(structure.observations), name


def test_every_structure_has_symmetries_and_every_symmetry_a_structure():
    found = {}
    for content in CONTENTS.values():
        for symmetry, _ in images(content):
            found.setdefault(symmetry, set()).add(content["structure"])
    assert set(found) == set(SYMMETRIES)
    assert found["relabelling"] == set(STRUCTURES)


@pytest.mark.sampled
@pytest.mark.parametrize(("kind", "name"), PAIRS, ids=[f"{k} {n}" for k, n in PAIRS])
def test_symmetries_change_no_decision(kind, name):
    content = CONTENTS[name]
    image = all_at_once(content, partial(is_kept, kind, from_dict(content)))
    rounds = rounds_of(kind, content, 100, 30)
    assert course(kind, content, image, rounds).broken == "", image.title


@pytest.mark.parametrize("symmetry", ["level", "features", "useless features"])
@pytest.mark.parametrize("name", ["linear gaussian", "affine gaussian", "sums of pairs gaussian"])
def test_without_its_ridge_linear_thompson_keeps_them(name, symmetry):
    content, kind = CONTENTS[name], POLICIES["linear-thompson"]
    for image in SYMMETRIES[symmetry](content):
        found = Twins(kind, from_dict(content), image, 5, prior="flat").run(100)
        assert found.broken == "", image.title


@pytest.mark.slow
@pytest.mark.parametrize("seed", [11, 12, 13])
@pytest.mark.parametrize(("kind", "name"), PAIRS, ids=[f"{k} {n}" for k, n in PAIRS])
def test_other_numbers_and_more_rounds(kind, name, seed):
    content = drawn(CONTENTS[name], seed)
    image = all_at_once(content, partial(is_kept, kind, from_dict(content)))
    found = course(kind, content, image, rounds_of(kind, content, 500, 100), seed)
    assert found.broken == "", image.title


@pytest.mark.parametrize(
    ("kind", "name", "seed"),
    [
        ("imed", "log reward poisson", 13),  # two indices that are one double
        ("frank-wolfe", "logistic reward bounded", 13),  # a share of 1e-15 of an arm never played
        ("frank-wolfe", "logistic reward bernoulli", 11),
    ],
)
def test_rounding_decides_nothing(kind, name, seed):
    content = drawn(CONTENTS[name], seed)
    image = all_at_once(content, partial(is_kept, kind, from_dict(content)))
    assert course(kind, content, image, 60, seed).broken == ""


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "name"), PAIRS, ids=[f"{k} {n}" for k, n in PAIRS])
def test_each_symmetry_by_itself_changes_no_decision(kind, name):
    content = CONTENTS[name]
    for symmetry, image in images(content):
        if exempt(kind, symmetry, image, from_dict(content)) is None and fits(kind, image):
            found = course(kind, content, image, rounds_of(kind, content, 500, 100), 11)
            assert found.broken == "", (symmetry, image.title)


@pytest.mark.parametrize("symmetry", ["relabelling", "reflection"])
def test_a_small_favour_is_noticed(symmetry, monkeypatch):
    """Plays of later arms thought to be worth one in a hundred more for each number."""
    weigh = UnimodalModel.weigh

    def biased(self, tally, memory):
        leader = weigh(self, tally, memory)
        memory.gain[:] *= 1.0 + 0.01 * np.arange(memory.gain.size)
        return leader

    content = CONTENTS["unimodal gaussian"]
    (image,) = SYMMETRIES[symmetry](content)
    assert course("hgl", content, image, 120, 11).broken == ""
    monkeypatch.setattr(UnimodalModel, "weigh", biased)
    assert course("hgl", content, image, 120, 11).broken


UNITS = [
    pytest.param(kind, name, image, id=f"{kind} {name} {image.title}")
    for kind, name in PAIRS
    for image in SYMMETRIES["units"](CONTENTS[name])
    if exempt(kind, "units", image, from_dict(CONTENTS[name])) is None
]


@pytest.mark.sampled
@pytest.mark.parametrize(("kind", "name", "image"), UNITS)
def test_units_change_not_a_bit(kind, name, image):
    content = CONTENTS[name]
    assert course(kind, content, image, rounds_of(kind, content, 100, 30)).broken == ""


DECLARED = [(kind, key) for kind in OWN for key in POLICIES[kind].breaks]


@pytest.mark.sampled
@pytest.mark.parametrize(("kind", "key"), DECLARED, ids=[f"{k}: {b}" for k, b in DECLARED])
def test_a_declared_break_is_real(kind, key):
    symmetry = key.partition(" (")[0]
    assert symmetry in SYMMETRIES
    for name, content in CONTENTS.items():
        instance = from_dict(content)
        if (kind, name) in PAIRS and broken(POLICIES[kind], symmetry, instance) is not None:
            for image in SYMMETRIES[symmetry](content):
                if fits(kind, image) and course(kind, content, image, 100).broken:
                    return
    pytest.fail(f"{kind} keeps {symmetry} on all instances")


def test_breaks_are_listed_by_the_command_and_on_the_page(monkeypatch, capsys):
    run = Runner(monkeypatch, capsys)
    run("policies", "--json")
    listed = {row["name"]: row["breaks"] for row in json.loads(run.out)}
    assert listed == {kind: dict(POLICIES[kind].breaks) for kind in POLICIES}
    run("policies")
    assert listed["lse"]["units"] in run.out
    page = (ROOT / "docs" / "policies.md").read_text()
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    table = [
        f"| `{kind}` | {key} | {why} |"
        for kind in OWN
        for key, why in POLICIES[kind].breaks.items()
    ]
    assert [row for row in rows if row.count("|") == 4] == table
