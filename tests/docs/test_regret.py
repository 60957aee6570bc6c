"""The page of the regret grid is written from what was played."""

import importlib.util
import re
from dataclasses import replace
from io import BytesIO

import pytest

from docs_pages import ROOT
from ossb.errors import InputError
from regret_grid.standings import read_standings

DAY = r"\d{4}-\d\d-\d\d"


@pytest.fixture
def regret(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    spec = importlib.util.spec_from_file_location("regret", ROOT / "tools" / "regret.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def shortened(experiment, *horizons):
    """The experiment with three policies, and powers of ten for horizons."""
    kept = [p for p in experiment.policies if p[0] in ("hgl", "imed", "ucb1")]
    return replace(
        experiment,
        policies=tuple(kept),
        horizon=horizons[-1],
        horizons=horizons,
        checkpoints=horizons,
    )


def test_a_page_is_written_from_a_run(regret, monkeypatch, tmp_path, capsys):
    short, long = regret.part, regret.long_part
    monkeypatch.setattr(regret, "part", lambda *a: shortened(short(*a), 10, 100))
    monkeypatch.setattr(regret, "long_part", lambda *a: shortened(long(*a), 1000))
    variants = regret.variants_part
    monkeypatch.setattr(regret, "variants_part", lambda *a: shortened(variants(*a), 10, 100))
    docs = ["--docs", str(tmp_path / "docs"), "--kept", str(tmp_path / "docs" / "regret.csv")]
    places = ["--results", str(tmp_path / "results"), *docs]
    regret.main(
        [
            "unimodal-tree",
            "--share",
            "0.02",
            "--long-share",
            "0.05",
            "--variants-share",
            "0.01",
            *places,
        ]
    )
    progress = capsys.readouterr().err  # of the part, its longer run and the variants
    assert len(re.findall(r"(\d+)/\1 cells, [\d.]+ cells/s, 0 s left", progress)) == 3
    page = (tmp_path / "docs" / "regret.md").read_text("utf-8")
    assert "Over 3 cells the geometric mean of `hgl`'s ratio is" in page
    assert "Of 6 contests of `hgl`" in page
    assert re.search(r"^\| \[unimodal\]\(regret/unimodal.md\) \| 1 \| 3 \|", page, re.MULTILINE)
    own = (tmp_path / "docs" / "regret" / "unimodal.md").read_text("utf-8")
    entry = r"[\d.]+ ± [\d.]+ `(imed|ucb1)`"
    row = rf"^\| unimodal, tree of nine \| {entry} \| {entry} \| {entry} \|$"
    assert re.search(row, own, re.MULTILINE)
    mean = r"[\d.]+ ± [\d.e-]+ \([\d.]+\)"
    rest = rf"10, 5 \| [\d.]+ \| [\d.]+ \| [\d,.]+ \| {DAY}"
    row = rf"^\| `hgl` \| {mean} \| {mean} \| {mean} \| {rest} \|$"
    assert re.search(row, own, re.MULTILINE)
    row = r"^\| `hgl:front=0.0` \| ([\d.]+ \| ){3}.* \| 5 \|$"
    assert re.search(row, page, re.MULTILINE)
    assert 1_000 < (tmp_path / "docs" / "regret.png").stat().st_size < 100_000

    # from the rows alone, where the trials are no longer at hand
    none = ["--share", "0", "--long-share", "0", "--variants-share", "0"]
    elsewhere = ["--results", str(tmp_path / "elsewhere"), *docs]
    regret.main([*none, *elsewhere])
    assert (tmp_path / "docs" / "regret.md").read_text("utf-8") == page
    with pytest.raises(InputError, match="`results` must hold finished cells"):
        regret.main([*none, *elsewhere, "--afresh"])

    # another policy beside the rows that are there
    own = ["--docs", str(tmp_path / "own"), "--kept", docs[-1]]
    shares = ["--share", "0.02", "--long-share", "0"]
    monkeypatch.setattr(regret, "part", lambda *a: shortened(short(*a), 10, 100))
    told = ["unimodal-tree", "classical", "--policy", "osub", *shares]
    regret.main([*told, *elsewhere[:2], *own])
    page = (tmp_path / "own" / "regret.md").read_text("utf-8")
    assert "classical: no such policy fits" in capsys.readouterr().out
    assert "Of 8 contests of `hgl`" in page  # of osub in two cells more
    assert re.search(r"^\| `osub` \| 2 \| 10 \|", page, re.MULTILINE)
    assert sorted(path.name for path in (tmp_path / "elsewhere").iterdir()) == [
        "unimodal-tree-beside-osub"  # not one of the classical part
    ]
    with pytest.raises(InputError, match="did you mean 'osub'"):
        regret.main(["unimodal-tree", "--policy", "osup", *shares, *places])


def test_the_page_kept_here_is_of_the_rows_kept_here(regret, tmp_path):
    docs = ROOT / "docs"
    regret.write(read_standings(docs / "regret.csv"), tmp_path)
    written = ["regret.csv", "regret.md"]
    parts = sorted((docs / "regret").glob("*.md"))  # drawn.md is of another command
    ours = [path for path in parts if "<!-- written by tools/regret.py -->" in path.read_text()]
    written += [str(path.relative_to(docs)) for path in ours]
    for name in written:
        assert (tmp_path / name).read_text("utf-8") == (docs / name).read_text("utf-8")
    assert len(list((tmp_path / "regret").iterdir())) == len(written) - 2
    assert 1_000 < (docs / "regret.png").stat().st_size < 300_000


def test_rows_older_than_the_rule_are_marked(regret, tmp_path):
    """On the arms where it has changed, whatever the parameters; a new row is not."""
    rows = read_standings(ROOT / "docs" / "regret.csv")
    group, before, since = "linear, random on the sphere", "2026-11-16", "2026-11-18"
    days = {"ossb": before, "ossb-paper:estimate=projected": before, "glm-ucb": since}
    known = [row for row in rows if row.group == group and row.horizon == 1000]
    known += [row for row in rows if row.group == "duels, cyclic, four" and row.horizon == 1000]
    regret.write([replace(row, played=days.get(row.policy, before)) for row in known], tmp_path)
    page = (tmp_path / "regret" / "linear.md").read_text("utf-8")
    shown = dict(
        re.findall(rf"^\| `(\S+)` \|.* \| ({DAY}.*) \|$", page.partition(f"## {group}")[2], re.M)
    )
    assert shown["oful"] == before
    assert shown["ossb-paper:estimate=projected"] == f"{before} †"
    assert shown["glm-ucb"] == since
    duels = (tmp_path / "regret" / "dueling.md").read_text("utf-8")
    assert "`ossb`" in duels
    assert f"{before} †" not in duels


def test_tails_are_of_as_many_trials_on_both_sides(regret, tmp_path):
    """``hgl`` played anew with fewer trials: its worst run is not set beside another's of more."""
    rows = read_standings(ROOT / "docs" / "regret.csv")
    group = "Bernoulli, two arms"
    fewer = [
        replace(row, trials=7) if (row.group, row.policy) == (group, "hgl") else row for row in rows
    ]
    regret.write(fewer, tmp_path)
    own = "regret/classical.md"
    pages = [(folder / own).read_text("utf-8") for folder in (ROOT / "docs", tmp_path)]
    tails = [page.partition("## Tails")[2].partition("\n## ")[0] for page in pages]
    assert [f"| {group}, 10⁴ |" in shown for shown in tails] == [True, False]


def test_no_label_of_the_picture_is_cut_off():
    from ossb.figures.canvas import paper_style
    from regret_grid.heat_map import draw_ratios
    from regret_grid.ratios import grid_cells, scores

    rows = read_standings(ROOT / "docs" / "regret.csv")
    cells = grid_cells([row for row in rows if not row.policy.startswith("hgl:")], "hgl")
    order = [score.policy for score in scores(cells, "hgl")]
    with paper_style():
        figure = draw_ratios(cells, order)
        figure.savefig(BytesIO(), format="png")  # which lays it out
        left = min(label.get_window_extent().x0 for label in figure.axes[0].get_yticklabels())
    assert left >= 0.0
