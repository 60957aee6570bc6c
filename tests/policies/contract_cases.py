"""Every contract of ``ossb.testing``, for every policy, structure and family that it fits.

With its defaults and with each of its variants.  A seeded share of these tests runs at a time,
smaller where code that differs little is compiled again; all of them with ``--share all``.
"""

import pytest

from contextual_instances import CONTEXTS
from ossb.instances import from_dict
from ossb.policies import POLICIES
from ossb.structures.classical import Classical
from ossb.structures.dueling import Dueling
from ossb.structures.unimodal import Unimodal
from ossb.testing import examples, policy_checks
from policies.linear_transcription import EASY, HARD, OPTIMISM
from structured_instances import INSTANCES

CYCLE = {"structure": "unimodal", "theta": [0.2, 0.6, 0.9, 0.5]} | {
    "edges": [[0, 1], [1, 2], [2, 3], [3, 0]]
}
ROADS = {"arm_set": "paths", "edges": [[0, 1], [1, 3], [0, 2], [2, 3]], "source": 0, "target": 3}
SUMS = {"structure": "combinatorial", "feedback": "bandit", "phi": [0.1, 0.2, 0.3, 0.4], **ROADS}
ODD = {"unimodal on a cycle": from_dict(CYCLE), "sums of described arms": from_dict(SUMS)}
ORDERED = [[0.5, 0.7, 0.8], [0.3, 0.5, 0.6], [0.2, 0.4, 0.5]]
CASES = {
    **examples(),
    **ODD,
    "classical where the least is best": Classical(
        theta=[3.0, 2.0, 1.0], observation="poisson", goal="minimize"
    ),
    "shares where the least is best": Classical(
        theta=[0.2, 0.3, 0.6, 0.5], observation="bounded", goal="minimize"
    ),
    "classical with little noise": Classical(theta=[0.0, 1.0, 0.4], sigma=0.5),
    "dueling where the least is best": Dueling(preferences=ORDERED, goal="minimize"),
    "unimodal on a star": Unimodal(
        theta=[0.8, 0.2, 0.3, 0.5], edges=[[0, 1], [0, 2], [0, 3]], observation="bounded"
    ),
    "unimodal where the least is best": Unimodal(
        theta=[3.0, 1.0, 2.0], observation="exponential", goal="minimize"
    ),
    "linear, far apart": EASY,
    "linear, close": HARD,
    "linear, where optimism fails": OPTIMISM,
    **{f"contexts, {name}": instance for name, instance in CONTEXTS.items()},
    **{f"{name} of another size": instance for name, instance in INSTANCES.items()},
}
VARIANTS = [
    ("confidence-ball", {"ball": "l1"}),
    ("dmed", {"threshold": "time"}),
    ("cucb", {"version": "combucb1"}),
    ("escb", {"version": 2, "c": 4}),
    ("e4", {"horizon": 200}),
    ("e4", {"horizon": 100, "gamma": 0.5}),
    ("ids", {"optimism": "ucb"}),
    ("imed-ub", {"sweep": False}),
    ("linear-thompson", {"prior": "flat"}),
    ("ossb", {"estimate": "means", "test": "counts"}),
    ("ossb-paper", {"sweep": False}),
    ("osub", {"sweep": False}),
    ("solid", {"schedule": "theory"}),
    ("spl", {"learner": "alternatives"}),
]
LISTED = {name: instance for name, instance in CASES.items() if instance.n_arms is not None}
SOLVED = {name: one for name, one in LISTED.items() if one.kind in ("polytope", "union")}
QUICK = {name: one for name, one in LISTED.items() if name not in SOLVED}
FEWER = 30  # rounds where each may solve convex programs, interpreted
SOLVING = ("ossb", "ossb-paper", "graves-lai", "track-and-stop")  # programs, in most rounds
OWN = [name for name in POLICIES if ":" not in name]
NEVER_LISTED = {"aescb", "glpg"}  # for arm sets behind an oracle, which are interpreted
COMPILED = "compiled is interpreted"
KINDS, FAMILIES = (
    list(dict.fromkeys(getattr(one, key) for one in LISTED.values()))
    for key in ("kind", "observation")
)
CHECKS = [
    check
    for name, parameters in [*((name, {}) for name in OWN), *VARIANTS]
    for check in [
        *policy_checks(name, QUICK, 40 if name in SOLVING else 80, **parameters),
        *policy_checks(name, SOLVED, FEWER, **parameters),
    ]
    if check.name != "fits or refuses"
]


def sampled(check):
    """A fifth; less of what is compiled for the third time, late or for yet another case."""
    policy, _, case = check.case.partition(", ")
    mark = pytest.mark.sampled
    if check.name.startswith(COMPILED):
        again = ":" in policy or case not in examples() or check.name != COMPILED
        mark = mark(of=25 if again else 5, by=number_of(LISTED[case]))
    return pytest.param(check, marks=mark, id=str(check))


def number_of(instance):
    """Where policies compile one model, once for all of them, they are drawn together.

    A share has about one family of each structure, not the same one of all.
    """
    structure, family = KINDS.index(instance.kind), FAMILIES.index(instance.observation)
    return (structure + family) % 5 + 5 * (structure % 5)
