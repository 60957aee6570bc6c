"""The gallery is written from what was run."""

import importlib.util
import math
import re
import tomllib

import pytest

from docs_pages import ROOT
from ossb.experiments.definition import bundled, read
from ossb.experiments.results import Results
from ossb.experiments.run import run
from ossb.experiments.tables import Row


@pytest.fixture(scope="module")
def gallery():
    spec = importlib.util.spec_from_file_location("gallery", ROOT / "tools" / "gallery.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_bundled_experiment_has_an_introduction(gallery):
    written = tomllib.loads((ROOT / "tools" / "gallery.toml").read_text("utf-8"))
    assert set(written) <= set(bundled())
    assert all(len(gallery.introduction(name)) > 20 for name in bundled())


def test_a_page_is_written_from_a_run(gallery, tmp_path):
    places = ["--results", str(tmp_path / "results"), "--docs", str(tmp_path / "docs")]
    short = ["trials=2", "horizon=60", "block=2", "policies=['hgl', 'kl-ucb']"]
    gallery.main(["unimodal", *short, *places])
    page = (tmp_path / "docs" / "unimodal.md").read_text("utf-8")
    assert "This run is shorter than the bundled one: trials 2 in place of 200" in page
    assert re.search(r"^\| `hgl` \| [\d.]+ ± [\d.]+ \| [\d.]+ \| [\d.]+ \|$", page, re.MULTILINE)
    assert "## line of twelve" in page
    assert "## tree of nine" in page
    assert "kl-ucb" in page
    assert re.search(r"^`[\w-]+` has the least mean regret at T = 60, [\d.]+, ", page, re.MULTILINE)
    assert 1_000 < (tmp_path / "docs" / "unimodal.png").stat().st_size < 100_000
    index = (tmp_path / "docs" / "index.md").read_text("utf-8")
    assert "[`unimodal`](unimodal.md)" in index
    assert "| `dueling` |" in index


def test_a_papers_claim_is_held_against_the_run(gallery, tmp_path):
    folder = tmp_path / "unimodal"
    policies = "policies=['ucb1', 'kl-ucb', 'thompson']"
    run(read("unimodal", ["trials=2", "horizon=60", "block=2", policies]), folder)
    results = Results(folder)
    names = {"kl-ucb": "KL-UCB", "ucb1": "UCB1"}
    claim = {
        "ours": "kl-ucb", "settings": "with c = 0", "policies": names, "beside": "thompson",
        "other": "ucb1", "other_settings": "without divergences",
    }  # fmt: skip
    said = gallery.paper_claim.said(results, claim, "x-paper.png")
    ends = {key: regret[:, -1].mean() for key, (_, regret) in results.curves.items()}
    better = [g for g in results.groups if ends[g, "kl-ucb"] < ends[g, "ucb1"]]
    worse = [g for g in results.groups if g not in better]
    where, other = (" and ".join(f"*{group}*" for group in part) for part in (better, worse))
    rest = f", not on {other}" if worse else ""
    assert "less regret than UCB1 have" in said
    assert (f"holds in the mean with c = 0 on {where}{rest};" if better else "nowhere;") in said
    for group in results.groups:
        (line,) = [line for line in said.splitlines() if line.startswith(f"| {group} | 60 |")]
        cells = [cell.strip().split(" ")[0] for cell in line.split("|")[3:-1]]
        order = ("kl-ucb", "ucb1", "thompson")
        assert cells == [f"{ends[group, policy]:.0f}" for policy in order]
    figure = gallery.paper_claim.drawn(results, claim)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "KL-UCB", "UCB1",
    ]  # fmt: skip
    assert len(figure.axes) == len(results.groups)


def test_the_same_command_goes_on_with_what_was_interrupted(gallery, tmp_path):
    places = ["--results", str(tmp_path / "results"), "--docs", str(tmp_path / "docs")]
    short = ["trials=4", "horizon=60", "block=2", "policies=['hgl', 'kl-ucb']"]
    gallery.main(["unimodal", *short, *places])
    parts = tmp_path / "results" / "unimodal" / "parts"
    whole = {path.name: path.read_bytes() for path in parts.iterdir()}
    for name in sorted(whole)[:5]:
        (parts / name).unlink()
    gallery.main(["unimodal", *places])
    assert {path.name: path.read_bytes() for path in parts.iterdir()} == whole


def row(policy, mean, median, worst, bound=5.0, trials=200):
    return Row("g", policy, 100, trials, mean, 0.1, median, 0, 0, 0, worst, 0, 0, bound)


def test_a_finding_is_what_the_table_shows(gallery):
    found = [row("hgl", 30, 20, 50), row("ossb", 25, 24, 9000), row("ucb1", 40, 40, 50)]
    assert gallery.finding(found, "g") == (
        "`ossb` has the least mean regret at T = 100, 25, 1.1 times C(θ) ln T = 23.03. `hgl` is "
        "number 2 of 3, with 1.20 times that. The heaviest tail is that of `ossb`: its worst trial "
        "has 9,000, where its median is 24."
    )
    found = [row("hgl", 30, 20, 50, math.nan), row("ucb1", 60, 40, 50, math.nan)]
    assert gallery.finding(found, "g") == (
        "`hgl` has the least mean regret at T = 100, 30. `ucb1` is next, with 2.00 times that. "
        "No policy has a trial with more than 3 times its median."
    )
    assert gallery.finding([row("ucb1", 0, 0, 0, 0.0, 1)], "g") == (
        "`ucb1` has the least mean regret at T = 100, 0."
    )


def test_every_bundled_experiment_has_a_page(gallery):
    folder = ROOT / "docs" / "gallery"
    missing = [name for name in gallery.shown() if not (folder / f"{name}.md").exists()]
    assert not missing
    index = (folder / "index.md").read_text("utf-8")
    assert all(f"| [`{name}`]({name}.md) | " in index for name in gallery.shown())
    titles = [read(name).title for name in gallery.shown()]
    assert len(set(titles)) == len(titles)


def test_the_pages_kept_here_are_whole():
    folder = ROOT / "docs" / "gallery"
    for page in folder.glob("*.md"):
        text = page.read_text("utf-8")
        assert "written by tools/gallery.py" in text
        for picture in re.findall(r"\]\(([\w.-]+\.png)\)", text):
            assert 1_000 < (folder / picture).stat().st_size < 100_000
