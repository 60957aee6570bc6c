"""Policies over all instances of an experiment, against the parts they are read from."""

import numpy as np
import polars
import pytest

from experiment_cases import CLASSICAL, GAUSSIAN, experiment
from ossb.errors import InputError
from ossb.experiments.aggregates import improvement, interquartile_mean
from ossb.experiments.overall import is_comparison, overall, overall_text, profiles, scores
from ossb.experiments.results import Results
from ossb.experiments.run import run
from ossb.figures.profile import draw_profile


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("overall") / "out"
    instances = [{"group": "one", **CLASSICAL}, {"group": "two", **GAUSSIAN}]
    run(experiment(instances=instances), folder, compiled=False)
    return Results(folder)


def test_scores_are_regrets_over_the_least_mean_of_their_instance(results):
    found = scores(results)
    assert list(found) == results.policies
    horizon = results.experiment.horizon
    frame = results.frame().filter(polars.col("t") == horizon)
    for place, group in enumerate(results.groups):
        part = frame.filter(polars.col("group") == group)
        ends = {
            policy: part.filter(polars.col("policy") == policy).sort("trial")["regret"].to_numpy()
            for policy in results.policies
        }
        least = min(values.mean() for values in ends.values())
        for policy, values in ends.items():
            assert found[policy][place] == pytest.approx(values / least)


def test_policies_are_ordered_and_compared_with_the_first(results):
    found, values = overall(results), scores(results)
    middles = [one.interquartile_mean.value for one in found]
    assert middles == sorted(middles)
    assert found[0].improvement is None
    for one in found:
        assert one.interquartile_mean.value == float(interquartile_mean(values[one.policy]))
        assert one.interquartile_mean.low <= one.interquartile_mean.high
    for one in found[1:]:
        assert one.improvement == improvement(values[one.policy], values[found[0].policy])
        assert one.policy in overall_text(found, 2)
        assert one.to_dict()["improvement"]["value"] == one.improvement.value


def test_a_policy_with_trials_missing_is_left_out(results, tmp_path):
    cell = results.ledger.index()[0]
    whole = Results(results.ledger.folder)
    whole.__dict__["trials"] = results.trials.filter(
        (polars.col("policy") != cell["policy"]) | (polars.col("trial") != 0)
    )
    assert cell["policy"] not in scores(whole)
    assert len(overall(whole)) == len(results.policies) - 1
    whole.__dict__["trials"] = results.trials.filter(polars.col("trial") != 0)
    assert not is_comparison(whole)
    with pytest.raises(InputError, match="all trials of some policy"):
        scores(whole)


def test_the_profile_that_is_drawn_is_the_share_of_trials(results):
    figure = draw_profile(results)
    (axes,) = figure.axes
    for line, policy in zip(axes.lines, results.policies, strict=True):
        levels, share = line.get_data()
        assert share == pytest.approx(profiles(results, np.asarray(levels))[policy])
        counted = [(scores(results)[policy] <= level).mean() for level in levels[::50]]
        assert share[::50] == pytest.approx(counted)
