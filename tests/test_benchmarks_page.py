"""The page of benchmarks is what its generator writes, with ratios that follow from its times."""

import importlib.util
import re
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "benchmarks.md"
NUMBER = r"\d+(?:\.\d+)?"


@pytest.fixture(scope="module")
def peers():
    spec = importlib.util.spec_from_file_location("peers_of_ossb", ROOT / "benchmarks" / "peers.py")
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", list(sys.path))  # it adds a folder of its own
        patch.setenv("OMP_NUM_THREADS", "1")
        patch.setenv("OPENBLAS_NUM_THREADS", "1")
        spec.loader.exec_module(module)
    return module


def half_a_unit(shown):
    """How far a number may be from what is shown of it."""
    return 0.5 * 10.0 ** -len(shown.partition(".")[2])


def test_its_ratios_follow_from_its_times():
    rows = [
        re.split(r"\s*\|\s*", line.strip("| "))
        for line in PAGE.read_text("utf-8").splitlines()
        if re.match(rf"\| [\w-]+ \| \w+ \| {NUMBER} \|", line)
    ]
    assert {row[1] for row in rows} == {"SMPyBandits", "river", "MABWiser"}
    for policy, package, *shown in rows:
        taken, plain, step, loop, by_plain, by_step, by_loop = shown
        for own, ratio in ((plain, by_plain), (step, by_step), (loop, by_loop)):
            low = (float(taken) - half_a_unit(taken)) / (float(own) + half_a_unit(own))
            high = (float(taken) + half_a_unit(taken)) / (float(own) - half_a_unit(own))
            error = half_a_unit(ratio)
            assert low - error <= float(ratio) <= high + error, (policy, package)


def test_its_text_is_the_generators(peers):
    text = PAGE.read_text("utf-8")
    means = {"n_arms": len(peers.MEANS), "low": min(peers.MEANS), "high": max(peers.MEANS)}
    assert text.startswith(peers.METHOD.format(**means, rounds=peers.FULL))
    used = re.search(r"CVXPY (\S+), Clarabel (\S+) and HiGHS (\S+)\.  They", text)
    assert peers.BOUNDS.format(cvxpy=used[1], clarabel=used[2], highspy=used[3]) in text
    for title, (script, *arguments) in {**peers.SOLVERS, **peers.FIRST}.items():
        command = " ".join([script, *arguments])
        for day in re.findall(rf"`python benchmarks/{re.escape(command)}`, (\S+)\n", text):
            lines = peers.sections({title: (command, "TABLE")}, day)
            assert "\n".join(lines[: lines.index("TABLE")]) in text
            assert re.fullmatch(r"\d{4}-\d\d-\d\d", day)
        assert f"### {title}\n\n`python benchmarks/{command}`, 20" in text


COLUMNS = {
    "bounds.py": "µs|cpu|a second|CVXPY|ossb.bound, first 200|made of arrays|ossb bound FILE|solve",
    "costs.py": "bound()|ratio",
    "first_use.py": "first|again|s|cpu|MB|load",
    "linear.py": "K, d|ours|Clarabel|CVXPY|difference",
    "semi_bandit.py": "m|d|uniform|tie1e-4|median|p99|CVXPY ms|differs",
    "generic.py": "value|gap|rounds|cold|kept|warm|CVXPY|ratio|largest|nan",
    "interior_point.py": "calls|ours µs|cold|warm|whole|missed|user|HiGHS",
    "lipschitz.py": "K|build|cold|verify|warm 1e+03|ratio|pivots|gap|difference",
}


def test_columns_and_units_are_explained(peers):
    for script, *arguments in {**peers.SOLVERS, **peers.FIRST}.values():
        said = peers.explained(script)
        for column in COLUMNS[script].split("|"):
            assert f"`{column}`" in said, (script, column)
        assert ("--quick" in arguments) == ("`--quick`" in said), script
        assert script == "linear.py" or re.search("(micro|milli)?seconds", said)
    assert "ours µs" in (ROOT / "benchmarks" / "linear.py").read_text("utf-8")


def test_a_page_of_made_up_times(peers):
    rows = [("ucb1", "river", 8.0, (4.0, 2.0, 0.5)), ("hgl", None, None, (4.0, 2.0, 0.5))]
    tables = {"T": ("lipschitz.py --quick", "printed")}
    first = {"F": ("first_use.py", "1 s")}
    text = peers.page(rows, ["MABWiser does not run here: no"], tables, first, 10)
    assert "| ucb1 | river | 8.0 | 4.0 | 2.0 | 0.50 | 2.0 | 4.0 | 16 |" in text
    assert "| hgl | none | | 4.0 | 2.0 | 0.50 | | | |" in text
    assert "MABWiser does not run here: no\n" in text
    command = r"`python benchmarks/lipschitz\.py --quick`, \d{4}-\d\d-\d\d"
    assert re.search(rf"### T\n\n{command}\n\n`K` Bernoulli arms on ", text)
    assert " in place of 40, 40, 8 and 2.\n\n```text\nprinted\n```" in text
    assert re.search(r"## First use\n\n### F\n\n(.*\n)+An environment", text)
    assert "```text\n1 s\n```" in text
    again = peers.replaced(text, "### T\n", ["## ", "### "], ["### T", "", "anew", ""])
    assert "printed" not in again
    assert "### T\n\nanew\n\n## First use\n" in again
    again = peers.replaced(text, "| policy |", ["## "], ["a table", ""])
    assert "`UCB(delta=1)`.\n\na table\n\n## Bounds" in again
    assert f"CVXPY {version('cvxpy')}, Clarabel {version('clarabel')} and HiGHS " in text


def test_peers_are_pinned(peers):
    for name in peers.PEERS:
        wanted = (ROOT / "benchmarks" / "peers" / f"{name}.txt").read_text("utf-8").splitlines()
        assert all(re.fullmatch(r"[\w-]+==[\d.]+|#.*", line) for line in wanted)
        assert (ROOT / "benchmarks" / "peers" / f"play_{name}.py").is_file()
