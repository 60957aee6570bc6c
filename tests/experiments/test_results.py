"""Frames, tables and figures of an experiment."""

import csv
import io
import math

import numpy as np
import polars
import pytest

from experiment_cases import CLASSICAL, GAUSSIAN, experiment
from ossb.errors import CertificationError, InputError
from ossb.experiments import results as results_module
from ossb.experiments import tables
from ossb.experiments.results import Results
from ossb.experiments.run import run
from ossb.experiments.statistics import LEGENDS, Comparison
from ossb.figures.canvas import paper_style
from ossb.figures.experiment import (
    draw_contexts,
    draw_experiment,
    draw_regrets,
    draw_summary,
)
from ossb.report import page
from ossb.structures import bound

UNPROVED = {"structure": "classical", "observation": "bernoulli", "theta": [0.5, 0.2, 0.1]}
SETS = {
    "structure": "combinatorial",
    "feedback": "semi_bandit",
    "observation": "gaussian",
    "arm_set": "m_sets",
    "n_items": 4,
    "size": 2,
    "phi": [0.9, 0.5, 0.3, 0.1],
}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results") / "out"
    instances = [
        {"group": "50 % of $x_1$", **CLASSICAL},
        {"group": "50 % of $x_1$", **CLASSICAL, "theta": [0.1, 0.5]},
        {"group": "two", **GAUSSIAN},
        {"group": "unproved", **UNPROVED},
    ]
    run(experiment(instances=instances, horizons=[10, 60]), folder, compiled=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(results_module, "bound", bound_or_not)
        answer = Results(folder)
        assert len(answer.bounds) == 4
    return answer


def bound_or_not(instance):
    if instance.to_dict()["theta"] == UNPROVED["theta"]:
        raise CertificationError("no proof")
    return bound(instance)


def test_two_lines_give_a_frame(results):
    frame = Results(results.ledger.folder).frame()
    assert isinstance(frame, polars.DataFrame)
    points = len(results.experiment.checkpoints)
    assert frame.height == 4 * 3 * 4 * points
    assert set(frame.columns) == {
        "group", "instance", "policy", "trial", "t", "regret", "exploit", "estimate", "explore",
    }  # fmt: skip
    spent = frame["exploit"] + frame["estimate"] + frame["explore"]
    assert (spent == frame["t"]).all()


def test_pandas_where_it_is_installed(results, monkeypatch):
    frame = results.to_pandas()
    assert list(frame.columns) == results.frame().columns
    assert frame["regret"].tolist() == results.frame()["regret"].to_list()
    assert frame.dtypes["regret"] == "float64"
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(InputError, match="`to_pandas` must have pandas installed"):
        results.to_pandas()


def test_the_bounds_of_groups(results):
    first = results.experiment.instances[0].instance
    second = results.experiment.instances[1].instance
    wanted = (bound(first).value + bound(second).value) / 2
    assert results.constants["50 % of $x_1$"] == pytest.approx(wanted)
    assert math.isnan(results.constants["unproved"])


def test_rows_are_the_numbers_of_the_frame(results):
    found = tables.rows(results)
    assert len(found) == 3 * 3 * 2
    frame = results.frame()
    for row in found:
        part = frame.filter(
            (polars.col("group") == row.group)
            & (polars.col("policy") == row.policy)
            & (polars.col("t") == row.t)
        )
        assert part.height == row.trials
        assert row.mean == pytest.approx(part["regret"].mean())
        assert row.worst == part["regret"].max()
    read = list(csv.DictReader(io.StringIO(tables.as_csv(found))))
    assert [float(line["mean"]) for line in read] == [row.mean for row in found]


def test_tables_as_text_and_latex(results):
    found = tables.rows(results)
    text = tables.as_text(found)
    assert "50 % of $x_1$, t = 60, 8 trials, C(θ) = " in text
    assert "unproved, t = 60, 4 trials\n" in text
    latex = tables.as_latex(found)
    assert r"50 \% of \$x\_1\$" in latex
    assert latex.count(r"$C(\theta) \ln t$") == 2
    body = [line for line in latex.splitlines() if line.endswith(r"\\") and "multi" not in line]
    assert {line.count(" & ") for line in body} == {3}
    assert tables._escaped("a\\b^c~") == r"a\textbackslash{}b\textasciicircum{}c\textasciitilde{}"


def test_latex_heads_say_rounds_as_papers_do():
    wanted = {1_000: "10^{3}", 5_000: "5{,}000", 10: "10", 100_000: "10^{5}", 250_000: "250{,}000"}
    assert {t: tables._rounds(t) for t in wanted} == wanted


def test_tables_of_one_trial_show_no_standard_error(tmp_path):
    run(experiment(trials=1, block=1, policies=["ucb1"]), tmp_path / "out", compiled=False)
    once = Results(tmp_path / "out")
    found = tables.rows(once)
    (head, line) = tables.as_text(found).splitlines()[1:3]
    assert line.split()[head.replace("± sem", "±").split().index("±")] == "–"
    assert tables.as_latex(found).count(r" \pm$ --") == 2 * len(found)
    assert "\\pm 0" not in tables.as_latex(found)
    assert once._repr_html_().count("<td>–</td>") == len(found)
    assert page(once, found, "confidence").count("<td>–</td>") == 2 * len(found)


def test_comparisons_of_a_group(results):
    assert len(tables.comparisons(results, "two")) == 3
    text = tables.comparisons_csv(results)
    assert len(text.splitlines()) == 1 + 3 * 3


def test_what_is_said_of_pairs():
    def pair(better, worse, p):
        return Comparison(better, worse, 1.0, 0.1, p)

    all_clear = [pair("a", "b", 0.0), pair("a", "c", 0.0), pair("b", "c", 0.01)]
    said = tables.statement(all_clear)
    assert said.startswith("a has less regret than b, c beyond noise; of the others, all differ (")
    mixed = [pair("a", "c", 0.0), pair("a", "b", 0.3), pair("b", "c", 0.9)]
    said = tables.statement(mixed)
    assert "a cannot be told from b; the others cannot be told from one another (" in said
    more = [*mixed, pair("a", "d", 0.0), pair("b", "d", 0.0), pair("c", "d", 0.0)]
    assert "; of the others, all differ but b and c (" in tables.statement(more)
    assert tables.statement([pair("a", "b", 1.0)]).startswith("a cannot be told from b (")
    assert tables.statement([]) == ""


@pytest.mark.parametrize("kind", LEGENDS)
def test_the_band_is_named_in_the_legend(results, kind):
    with paper_style():
        figure = draw_regrets(results, kind)
        labels = [text.get_text() for text in figure.legends[0].get_texts()]
        assert f"band: {LEGENDS[kind]}" in labels
        assert "slope C(θ) per ln t" in labels
        assert set(results.policies) <= set(labels)


def test_the_summary_shows_instances_and_groups(results):
    with paper_style():
        figure = draw_summary(results, "confidence")
        axis = figure.axes[0]
        dots = next(line for line in axis.lines if line.get_marker() == ".")
        assert len(dots.get_xdata()) == 2
        said = [text.get_text() for axis in figure.axes for text in axis.texts]
        assert len(said) == 2  # not where there is no bound
        assert all("C(θ) ln T" in text for text in said)


def test_figures_have_the_same_bytes_every_time(results, tmp_path):
    first = draw_experiment(results, tmp_path / "a.png")
    again = Results(results.ledger.folder)
    again.__dict__["bounds"] = results.bounds
    second = draw_experiment(again, tmp_path / "b.png")
    assert [path.name for path in first[:2]] == ["a.png", "a-summary.png"]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_curves_beyond_the_frame_are_named(results, monkeypatch):
    curves = dict(results.curves)
    times, regret = curves["two", "thompson"]
    other = Results(results.ledger.folder)
    other.__dict__["curves"] = curves | {("two", "thompson"): (times, regret + 1e4)}
    with paper_style():
        figure = draw_regrets(other, "confidence")
        texts = [text.get_text() for axis in figure.axes for text in axis.texts]
    said = f"beyond the frame:\nthompson: {regret[:, -1].mean() + 1e4:,.0f} at T"
    assert any(said in text for text in texts)


def test_a_grid_that_is_not_finished(tmp_path):
    found = experiment(trials=4)
    run(found, tmp_path, compiled=False)
    results = Results(tmp_path)
    cells = results.ledger.index()
    for cell in cells:
        if cell["policy"] == "thompson" and (cell["group"] == "two" or cell["trials"][0] == 0):
            results.ledger.part(cell["part"]).unlink()
    results = Results(tmp_path)
    assert results.curves["one", "thompson"][1].shape[0] == 2
    assert [c.worse for c in tables.comparisons(results, "one")] != []
    assert all(c.worse != "thompson" for c in tables.comparisons(results, "one"))
    assert draw_experiment(results, tmp_path / "part.png")


def test_arms_behind_an_oracle(tmp_path):
    run(experiment(instances=[SETS], policies=["hgl"], trials=1), tmp_path, compiled=False)
    results = Results(tmp_path)
    assert draw_experiment(results, tmp_path / "sets.png")
    assert np.isfinite(results.constants["combinatorial"])


def test_regret_of_each_context_is_drawn(tmp_path):
    arms = [[1.0, 0.0], [0.0, 1.0], [0.9, 0.2]]
    contexts = [{"name": "phone", "arms": arms}, {"name": "desk", "arms": [[0.5, 1.0], [0.2, -1]]}]
    linear = {"structure": "linear", "phi": [1.0, 0.0]}
    both = [
        {"group": "two", **linear, "contexts": contexts},
        {"group": "one", **linear, "arms": arms},
    ]
    run(experiment(instances=both, policies=["greedy", "lin-ucb"]), tmp_path, compiled=False)
    results = Results(tmp_path)
    with paper_style():
        figure = draw_contexts(results)
        two, one = figure.axes
        rows = results.trials.filter(results.trials["instance"] == 0)
        for line, policy in zip(two.lines, results.policies, strict=True):
            found = rows.filter(rows["policy"] == policy)["regret"].to_list()
            assert sum(line.get_ydata()) == pytest.approx(np.array(found)[:, -1].mean())
        assert [text.get_text() for text in two.get_xticklabels()] == ["phone", "desk"]
        assert [text.get_text() for text in one.texts] == ["one context"]
    assert "e-contexts.png" in {path.name for path in draw_experiment(results, tmp_path / "e.png")}
