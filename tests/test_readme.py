"""The README keeps its word: its programs run, its commands work, its table is the truth."""

import re
import shlex
from pathlib import Path

import pytest

from cli_runner import Runner
from ossb.structures import STRUCTURES
from readme_picture import draw, played

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder with the files that the README shows."""
    monkeypatch.chdir(tmp_path)
    for block in blocks("toml"):
        name = block.splitlines()[0].removeprefix("# ")
        (tmp_path / name).write_text(block, encoding="utf-8")
    return tmp_path


def printed_by(program, capsys):
    exec(compile(program, "README.md", "exec"), {})
    return capsys.readouterr().out


def test_the_bound_is_what_it_says(capsys):
    printed = printed_by(blocks("python")[1], capsys).split()
    assert float(printed[0]) == pytest.approx(8.0, rel=1e-6)
    assert printed[-1] == "True"


def test_the_first_lines_print_what_is_shown(capsys):
    assert printed_by(blocks("python")[0], capsys) == blocks("text")[0]


def test_the_pictures_say_what_was_played():
    found = re.search(
        r"hgl, .+ loses (\d+), Thompson sampling (\d+), KL-UCB (\d+), UCB1 (\d+)", README
    )
    result = played()
    for number, name in zip(found.groups(), ("hgl", "thompson", "kl-ucb", "ucb1"), strict=True):
        assert int(number) == round(result[name].regret.mean()), name
    axes = draw(result).axes
    assert len(axes[0].lines) == 4
    assert len(axes[1].lines) == 2
    for name in ("readme.png", "page.png"):
        assert f"](docs/{name})" in README
        assert 20_000 < (ROOT / "docs" / name).stat().st_size < 100_000


def test_the_campaign_answers(folder, capsys):
    best, met = printed_by(blocks("python")[2], capsys).split()
    assert best in ("0", "1", "2")
    assert met == "False"
    assert (folder / "campaign.db").exists()


def test_commands_work(folder, monkeypatch, capsys):
    lines = [line for block in blocks("console") for line in block.splitlines()]
    commands = [shlex.split(line.removeprefix("$ "), comments=True) for line in lines]
    assert all(line.startswith("$ ") for line in lines)
    ossb = Runner(monkeypatch, capsys)
    ours = [command[1:] for command in commands if command[0] == "ossb"]
    assert len(ours) >= 5
    for arguments in ours:
        assert ossb(*arguments) == 0, ossb.err
    assert (folder / "rates.png").stat().st_size > 1000
    for command in commands:
        if command[0] == "make":
            assert re.search(rf"^{command[1]}:", MAKEFILE, re.MULTILINE)


def test_make_figure_runs_the_main_job(folder, monkeypatch, capsys):
    recipe = re.search(r"^figure: install\n((?:\t.*\n)+)", MAKEFILE, re.MULTILINE)[1]
    (words,) = [shlex.split(line) for line in recipe.splitlines()]
    assert words == ["$(BIN)/ossb", "run", "figure1"]
    ossb = Runner(monkeypatch, capsys)
    # the same with less to play
    assert ossb(*words[1:], "trials=1", "horizon=50", "--workers", 1) == 0, ossb.err
    results = folder / "results" / "figure1"
    assert (results / "regret.png").stat().st_size > 1000
    table = (results / "table.csv").read_text("utf-8").splitlines()
    assert len(table) == 1 + 3 * 8  # three layouts of the arms, eight policies
    assert "random on the sphere, t = 50, 10 trials, C(θ) = " in ossb.out


def test_the_table_lists_every_structure_and_its_observations():
    rows = re.findall(r"^\| `(\w+)` \| .+ \| (.+) \|$", README, re.MULTILINE)
    table = {name: observations.split(", ") for name, observations in rows}
    assert sorted(table) == sorted(STRUCTURES)
    for name, observations in table.items():
        assert sorted(observations) == sorted(STRUCTURES[name].observations), name


def test_the_instance_of_the_figure_is_the_papers():
    from ossb.instances import load

    (instance,), _ = load(ROOT / "experiments" / "paper.toml")
    assert instance.kind == "linear"
    assert instance.arms.shape == (81, 3)
    assert (instance.arms**2).sum(axis=1) == pytest.approx([1.0] * 81, abs=1e-8)
    assert all(0.2 <= entry <= 0.4 for entry in instance.phi)
    assert instance.sigma == 1.0
