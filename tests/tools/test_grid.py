"""The parts of the regret grid, and how they are played."""

import pytest

from ossb.errors import InputError
from ossb.experiments.cells import cells
from ossb.experiments.definition import read
from regret_grid.grid import (
    LONG,
    PREFIX,
    beside_default,
    long_part,
    part,
    part_names,
    told_horizon,
    variants_part,
)

ENDS_EARLY = {
    "polytope",
    "polytope-slow",
    "oracle",
    "dimensions",
    "large",
    "large-others",
    "rare",
    "rare-lines",
    "apart",
    "counts",
    "scales-classical",
    "scales-linear",
    "scales-glm",
    "tails",
    "tails-linear",
    "linear-close",
    "unimodal-close",
}


def test_every_cell_of_the_grid_has_its_trials():
    trials, groups = {}, set()
    for name in part_names():
        experiment = part(name)
        assert experiment.name == PREFIX + name
        for named in experiment.instances:
            groups.add((named.instance.kind, named.group))
            trials[name, named.group] = trials.get((name, named.group), 0) + experiment.trials
    others = {name: count for (name, _), count in trials.items() if count != 500}
    assert others == {
        "tails": 10_000,
        "tails-linear": 2_000,
        "rare": 2_500,
        "apart": 2_500,
        "counts": 10_000,
    }
    kinds = [kind for kind, _ in groups]
    assert {kind: kinds.count(kind) for kind in kinds} == {
        "classical": 23,
        "linear": 22,
        "generalized_linear": 9,
        "dueling": 4,
        "lipschitz": 2,
        "unimodal": 8,
        "combinatorial": 4,
        "polytope": 1,
    }


def test_the_longer_run_has_a_fifth_of_the_trials_and_tells_its_horizon():
    assert {name for name in part_names() if long_part(name) is None} == ENDS_EARLY
    short, long = part("unimodal"), long_part("unimodal")
    assert (long.horizon, long.horizons, long.trials) == (LONG, (LONG,), 100)
    assert long.checkpoints[-1] == LONG
    told = [told_horizon(name, parameters) for name, parameters in short.policies]
    assert [t for t in told if t is not None] == [1_000, 10_000, 100_000]
    told = [told_horizon(name, parameters) for name, parameters in long.policies]
    assert [t for t in told if t is not None] == [LONG]
    assert len(list(cells(long))) == 10 * len(long.policies)


def test_trials_of_a_share_are_among_those_of_a_larger_one():
    few = {cell.key for cell in cells(part("end-of-optimism", 0.02))}
    more = {cell.key for cell in cells(part("end-of-optimism", 0.06))}
    assert few < more
    assert len(more) == 3 * len(few)
    with pytest.raises(InputError, match="`share` must lie in"):
        part("classical", 0.0)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("linear", "linear-slow"),
        ("logistic", "logistic-slow"),
        ("polytope", "polytope-slow"),
        ("linear", "linear-close"),
        ("unimodal", "unimodal-close"),
    ],
)
def test_other_parts_of_a_group_meet_its_noise(name, other):
    first, second = read(f"regret-{name}"), read(f"regret-{other}")
    assert first.seed == second.seed
    own = [named.instance.to_dict() for named in second.instances]
    assert [named.instance.to_dict() for named in first.instances][: len(own)] == own
    assert first.instances[0].group == second.instances[0].group


def test_variants_are_played_where_the_default_is():
    without = {name for name in part_names() if variants_part(name) is None}
    slow = {"linear-slow", "logistic-slow", "polytope-slow"}
    assert without == {*slow, "linear-close", "unimodal-close"}


def test_policies_are_set_beside_the_default_where_they_fit():
    found = beside_default(part("unimodal"), ["lse", "imed", "hgl"])
    names = [(name, told_horizon(name, parameters)) for name, parameters in found.policies]
    assert names == [
        ("hgl", None), ("lse", 1_000), ("lse", 10_000), ("lse", 100_000), ("imed", None)
    ]  # fmt: skip
    assert beside_default(part("classical"), ["osub"]) is None
    own = beside_default(part("classical"), ["mine:Mine:rate=2.0", "osub"])
    assert own.policies == (("hgl", {}), ("mine:Mine", {"rate": 2.0}))
    with pytest.raises(InputError, match="did you mean 'osub'"):
        beside_default(part("classical"), ["osup"])
