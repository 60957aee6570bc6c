"""What is missing says the extra that brings it; nothing else needs it."""

import subprocess
import sys
import tomllib
from importlib import import_module

import pytest

from cli_runner import Runner
from docs_pages import ROOT
from ossb.errors import InputError
from ossb.extras import EXTRAS, load

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
WITHOUT = """
import sys
sys.modules.update(dict.fromkeys({missing}))
import ossb
from ossb.experiments.definition import parse
from ossb.experiments.run import run
from ossb.experiments.workers import Processes
arms = ossb.Classical(observation="bernoulli", theta=[0.2, 0.5])
ossb.bound(arms)
keys = {{"name": "e", "horizon": 9, "trials": 1, "policies": ["ucb1"]}}
experiment = parse({{**keys, "instances": [arms.to_dict()]}})
streets = dict(arm_set="paths", edges=[[0, 1], [1, 3], [0, 2], [2, 3]], source=0, target=3)
ossb.bound(ossb.Combinatorial(feedback="semi_bandit", phi=[1, 2, 3, 4.5], **streets))
result = ossb.simulate(arms, ["hgl"], horizon=20, trials=2, seed=1, compiled=False)
campaign = ossb.Campaign.open("memory://", "c", instance=arms)
campaign.import_rows([(0, 1), (1, 0)])
campaign.ask()
for use in {uses}:
    try:
        eval(use)
    except ossb.InputError as error:
        print(error)
"""


def test_every_extra_is_one_of_the_package_and_has_the_packages_named():
    extras = PROJECT["optional-dependencies"]
    for package, extra in EXTRAS.items():
        assert any(entry.startswith(package) for entry in extras[extra]), package
        assert any(entry.startswith(package) for entry in extras["dev"]), package
        assert not any(entry.startswith(package) for entry in PROJECT["dependencies"])


def test_without_extras_all_else_works(tmp_path):
    played = str(tmp_path / "played")
    uses = [
        "result.plot()",
        f"ossb.read_rows({str(tmp_path / 'log.parquet')!r})",
        f"run(experiment, {played!r})",
        "Processes(2)",
    ]
    (tmp_path / "log.parquet").write_bytes(b"")
    program = WITHOUT.format(missing=[*sorted(EXTRAS), "scipy"], uses=uses)
    program = program.replace("ossb.read_rows", "__import__('ossb.campaigns').campaigns.read_rows")
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        '`plot` must have matplotlib installed: pip install "ossb[figures]" '
        '(a checkout: ".[figures]")',
        '`file` must have polars installed: pip install "ossb[experiments]" '
        '(a checkout: ".[experiments]")',
        '`experiment` must have polars installed: pip install "ossb[experiments]" '
        '(a checkout: ".[experiments]")',
        '`workers` must have loky installed: pip install "ossb[experiments]" '
        '(a checkout: ".[experiments]")',
    ]
    assert not (tmp_path / "played").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("bound", "arms.toml"),
        ("simulate", "arms.toml", "--policy", "ucb1", "--horizon", "10"),
        ("plan", "arms.toml"),
    ],
)
def test_a_picture_that_cannot_be_drawn_is_refused_before_anything_is_computed(
    words, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arms.toml").write_text('structure = "classical"\ntheta = [0.2, 0.5]\n')
    ossb = Runner(monkeypatch, capsys)
    assert ossb(*words, "--plot", "picture.doc") == 2
    assert "`plot` must end in one of .png" in ossb.err
    assert not ossb.out
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert ossb(*words, "--plot", "picture.png") == 2
    assert "`plot` must have matplotlib installed" in ossb.err
    assert not ossb.out


@pytest.mark.parametrize("name", ["gymnasium", "river"])
def test_an_adapter_without_its_package_names_the_extra(name, monkeypatch):
    monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, f"ossb.adapters.{name}", raising=False)
    with pytest.raises(ModuleNotFoundError, match=rf'pip install "ossb\[{name}\]"') as caught:
        import_module(f"ossb.adapters.{name}")
    assert caught.value.name == name


def test_a_fault_inside_a_package_is_shown_as_it_is(tmp_path, monkeypatch):
    (tmp_path / "polars.py").write_text("import not_there_at_all")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "polars", raising=False)
    with pytest.raises(ModuleNotFoundError, match="not_there_at_all"):
        load("polars", "file")
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(InputError, match="`file` must have polars installed"):
        load("polars", "file")
