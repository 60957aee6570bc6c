"""What is missing says the extra that brings it; nothing else needs it."""

import subprocess
import sys
import tomllib

import pytest

from docs_pages import ROOT
from ossb.errors import InputError
from ossb.extras import EXTRAS, load

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
WITHOUT = """
import sys
sys.modules.update(dict.fromkeys({missing}))
import ossb
arms = ossb.Classical(observation="bernoulli", theta=[0.2, 0.5])
ossb.bound(arms)
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
    uses = ["result.plot()", f"ossb.read_rows({str(tmp_path / 'log.parquet')!r})"]
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
    ]


def test_a_fault_inside_a_package_is_shown_as_it_is(tmp_path, monkeypatch):
    (tmp_path / "polars.py").write_text("import not_there_at_all")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "polars", raising=False)
    with pytest.raises(ModuleNotFoundError, match="not_there_at_all"):
        load("polars", "file")
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(InputError, match="`file` must have polars installed"):
        load("polars", "file")
