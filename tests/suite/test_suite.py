"""The suite's instances and frozen rows, and what a policy is scored by."""

import json
import math

import numpy as np
import pytest

import ossb
from ossb.errors import InputError
from ossb.experiments.aggregates import geometric_mean, improvement, interquartile_mean
from ossb.experiments.run import run
from ossb.experiments.statistics import holm, paired
from ossb.structures import STRUCTURES
from ossb.suite import Frozen, Line, frozen, suite, versions
from ossb.suite.card import markdown, text
from ossb.suite.definition import HALVES, trials_of
from ossb.suite.frozen import read, written
from ossb.suite.lines import digests, played, refusals
from ossb.suite.score import score
from ossb.suite.standing import standing, standing_text

VERSION = suite()
ROWS = frozen()


def test_every_structure_of_its_day_is_there_in_both_halves():
    kinds = [{one.instance.kind for one in VERSION.instances if one.half == h} for h in HALVES]
    assert kinds[0] == kinds[1]
    assert len(kinds[0]) == 10
    assert kinds[0] <= set(STRUCTURES)
    names = [one.name for one in VERSION.instances]
    assert len(set(names)) == len(names)
    assert all(name.endswith("-2") == (VERSION.named(name).half == "held-out") for name in names)
    assert [one.half for one in VERSION.instances].count("open") * 2 == len(names)


def test_every_policy_that_fits_has_a_whole_row():
    rows = {(line.instance, line.policy): line for line in ROWS.lines}
    assert len(rows) == len(ROWS.lines)
    for one in VERSION.instances:
        fits = {policy for policy in one.policies if not refusals([one], policy)}
        assert {policy for name, policy in rows if name == one.name} == fits
        assert len(fits) >= 3
    for line in ROWS.lines:
        assert line.regret.size == VERSION.trials
        assert np.isfinite(line.regret).all()
        assert (line.regret >= 0.0).all()
        assert line.microseconds > 0.0


@pytest.mark.parametrize("name", ["bernoulli-rare", "duels-cyclic", "finite", "three-of-six"])
def test_bounds_are_those_of_the_instances(name):
    assert ROWS.bounds[name] == pytest.approx(ossb.bound(VERSION.named(name).instance).value, 1e-5)


@pytest.mark.parametrize(
    ("name", "policies"),
    [("finite", ("ucb1", "imed")), ("polytope-concave", ("ucb1", "kl-ucb", "thompson"))],
)
def test_rows_of_the_code_as_it_is_can_be_played_again(name, policies, tmp_path):
    """A row's digest names the code; where that is today's, so are its numbers."""
    one = VERSION.named(name)
    experiment = VERSION.experiment([one], policies, 10)
    now = digests(experiment)
    lines = played(VERSION, [(one, policies)], 10, tmp_path, interpreted)
    known = {line.policy: line for line in ROWS.of(name)}
    assert [line.policy for line in lines] == list(policies)
    for line in lines:
        assert line.digest == now[name, line.policy]
        if line.digest == known[line.policy].digest:
            assert line.regret.tolist() == known[line.policy].regret[:10].tolist()


def interpreted(experiment, folder):
    run(experiment, folder, compiled=False)


def test_rows_are_read_as_they_were_written():
    again = read(json.loads(written(ROWS)))
    assert (again.made, again.bounds) == (ROWS.made, ROWS.bounds)
    assert [line.to_dict() for line in again.lines] == [line.to_dict() for line in ROWS.lines]


MADE = np.random.default_rng(5)


def line(instance, policy, low):
    return Line(instance, policy, "", 1.0, np.round(low + MADE.standard_exponential(20), 3))


@pytest.fixture
def made():
    """Rows of three policies on one open and one held-out instance."""
    lines = [
        line(name, policy, low)
        for name in ("finite", "finite-2")
        for policy, low in (("hgl", 1.0), ("imed", 3.0), ("ucb1", 40.0))
    ]
    return Frozen({"on": "today"}, {"finite": 2.0, "finite-2": 0.0}, tuple(lines))


def test_a_score_is_what_its_parts_say(made):
    mine = [line("finite-2", "mine", 0.0), line("finite", "mine", 5.0)]
    found = score(VERSION, made, mine)
    assert [entry.instance for entry in found.entries] == ["finite", "finite-2"]
    first, second = found.entries
    best = min(row.regret.mean() for row in made.of("finite"))
    assert first.ratio == pytest.approx(mine[1].regret.mean() / best)
    assert first.to_bound == pytest.approx(mine[1].regret.mean() / (2.0 * math.log(1000)))
    assert (first.best, first.place, second.place) == ("hgl", 3, 1)
    assert second.to_bound == math.inf
    assert first.worst == mine[1].regret.max()
    open_half, held_out = found.halves
    ours = mine[1].regret[None, :]
    assert open_half.middle.value == pytest.approx(float(interquartile_mean(ours / best)))
    assert open_half.geometric.value == pytest.approx(float(geometric_mean(ours / best)))
    assert open_half.beside == improvement(ours, made.of("finite")[0].regret[None, :])
    assert (held_out.instances, held_out.of) == (1, 19)
    tests = [
        (row.policy, paired(row.regret - one.regret))
        for one in (mine[1], mine[0])
        for row in made.of(one.instance)
    ]
    clear = holm([test.p_value for _, test in tests])
    for contest in found.contests:
        part = [
            (test.mean > 0) if p < 0.05 else None
            for (policy, test), p in zip(tests, clear, strict=True)
            if policy == contest.policy
        ]
        expected = (part.count(True), part.count(False), part.count(None))
        assert (contest.won, contest.lost, contest.open) == expected
    assert {contest.policy for contest in found.contests} == {"hgl", "imed", "ucb1"}
    assert json.loads(json.dumps(found.to_dict()))["policy"] == "mine"


def test_a_share_is_compared_with_the_first_trials(made):
    whole = {row.policy: row for row in made.of("finite")}
    part = whole["hgl"]._replace(policy="mine", regret=whole["hgl"].regret[:10])
    found = score(VERSION, made, [part])
    assert found.halves[0].beside.value == pytest.approx(0.5)
    (contest,) = [contest for contest in found.contests if contest.policy == "hgl"]
    assert contest == ("hgl", 0, 0, 1)
    said = text(VERSION, found, {"paths-2": "it is too long"})
    assert "A share: 10 of 100 trials" in said
    assert "Not played: paths-2: it is too long" in said
    assert markdown(VERSION, made, found, {}).startswith("# `mine` on ossb-suite 1\n")


def test_the_standing_has_every_policy_of_a_half(made):
    scores = standing(VERSION, made)
    assert [one.policy for one in scores] == ["hgl", "imed", "ucb1"]
    assert scores[0].halves[0].beside is None
    assert standing_text(scores).count("ucb1") == len(HALVES)


def test_shares_are_whole_blocks():
    assert [trials_of(VERSION, share) for share in (1.0, 0.5, 0.14, 0.001)] == [100, 50, 10, 10]
    for wrong in (0.0, 1.5, -1.0, math.nan):
        with pytest.raises(InputError, match=r"`share` must lie in \(0, 1\]"):
            trials_of(VERSION, wrong)


def test_what_is_not_there_is_named():
    with pytest.raises(InputError, match="`version` must be one of 1, got 2"):
        suite(2)
    with pytest.raises(InputError, match="did you mean 'finite'"):
        VERSION.named("finit")
    with pytest.raises(InputError, match="`policy` must be one of ossb policies"):
        refusals(VERSION.instances, "hgll")
    assert versions() == [1]


def test_a_policy_that_does_not_fit_is_not_played():
    some = [VERSION.named(name) for name in ("finite", "three-of-six", "duels-cyclic")]
    assert list(refusals(some, "escb")) == ["finite", "duels-cyclic"]
    assert refusals(some, "own_policies:Counting") == {}
    refused = refusals(some, "own_policies:Adding")
    assert list(refused) == ["three-of-six", "duels-cyclic"]
    assert "`update` failed: TypeError" in refused["three-of-six"]
    assert "only for classical arms" in refusals(some, "own_policies:Picky")["finite"]
