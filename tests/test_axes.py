"""Pictures that can be shaped: matplotlib axes with what is wanted on them."""

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")

import ossb
from experiment_cases import experiment
from ossb.errors import InputError
from ossb.experiments.results import Results
from ossb.experiments.run import run
from ossb.structures.classical import Classical

ARMS = Classical(theta=[0.0, 0.5, 1.0])


@pytest.fixture(scope="module")
def result():
    return ossb.simulate(ARMS, ["ucb1", "kl-ucb", "thompson"], horizon=300, trials=5, seed=1)


@pytest.fixture(autouse=True)
def closed():
    from matplotlib import pyplot

    yield
    pyplot.close("all")


def legend(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_all_policies_are_drawn_in_their_order(result):
    axes = result.plot()
    assert legend(axes) == ["ucb1", "kl-ucb", "thompson"]
    for line, policy in zip(axes.lines, result.policies, strict=True):
        assert np.allclose(line.get_ydata(), policy.curves.mean(axis=0))
    assert axes.get_xscale() == "linear"
    assert axes.figure.get_size_inches().tolist() == [5.0, 3.2]


def test_policies_labels_size_style_and_axes_are_chosen(result):
    names = {"thompson": "Thompson sampling"}
    axes = result.plot(
        policies=["thompson", "ucb1"], labels=names, size=(3, 2), title="Three arms",
        style={"lines.linewidth": 5.0},
    )  # fmt: skip
    assert legend(axes) == ["Thompson sampling", "ucb1"]
    assert axes.get_title() == "Three arms"
    assert axes.figure.get_size_inches().tolist() == [3, 2]
    assert {line.get_linewidth() for line in axes.lines} == {5.0}
    again = result.plot(axes=axes, policies=["kl-ucb"], legend=False)
    assert again is axes
    assert len(axes.lines) == 3


def test_on_a_logarithmic_axis_the_bound_is_a_slope_through_the_end_of_each_curve(result):
    axes = result.plot(logarithmic=True)
    assert axes.get_xscale() == "log"
    assert len(axes.lines) >= 6
    for line, policy in zip(axes.lines[3:6], result.policies, strict=True):
        t, y = line.get_data()
        assert (t[-1], y[-1]) == pytest.approx((300, policy.regret.mean()))
        rises = np.diff(y) / np.diff(np.log(t))
        assert rises == pytest.approx(np.full(rises.size, result.bound.value))
    assert any("slope C(θ)" in text for text in legend(axes))
    assert len(result.plot(logarithmic=True, bound=False).lines) == 3


def test_the_curve_of_the_bound_is_drawn_only_where_it_fits():
    high = ossb.simulate(ARMS, ["ucb1"], horizon=5000, trials=2).plot(logarithmic=True)
    low = ossb.simulate(
        Classical(theta=[0.0, 0.01]), ["ucb1"], horizon=10, trials=2
    ).plot(logarithmic=True)  # fmt: skip
    assert "C(θ) ln t" in legend(high)
    assert "C(θ) ln t" not in legend(low)


def test_a_name_that_was_not_played_is_refused_with_the_nearest(result):
    with pytest.raises(InputError, match=r"did you mean 'thompson'"):
        result.plot(policies=["thomson"])
    with pytest.raises(InputError, match="`labels` must be among"):
        result.plot(labels={"nope": "x"})


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"policies": []}, "`policies` must name one of ucb1"),
        ({"size": 3}, "`size` must"),
        ({"size": (4, 0)}, "`size` must be a width and a height"),
        ({"style": "nope"}, "`style` must be one of matplotlib's: 'nope'"),
    ],
)
def test_options_that_cannot_be_meant_are_named(result, options, said):
    with pytest.raises(InputError, match=said):
        result.plot(**options)


def test_results_of_an_experiment_are_drawn_by_group(tmp_path):
    run(experiment(policies=["ucb1", {"name": "kl-ucb", "label": "KL"}]), tmp_path)
    results = Results(tmp_path)
    axes = results.plot()
    assert axes.get_title() == results.groups[0]
    assert legend(axes) == ["ucb1", "KL"]
    with pytest.raises(InputError, match="`group`"):
        results.plot("nope")
