"""Policies and structures of other packages: a real one, built and installed beside this one."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

PROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "more-bandits"
version = "1.0"

[project.entry-points."ossb.policies"]
round-robin = "more_bandits:ROUND_ROBIN"
broken = "more_bandits.broken:POLICY"
misnamed = "more_bandits:ROUND_ROBIN"
nothing = "more_bandits:NUMBER"
ucb1 = "more_bandits:ROUND_ROBIN"

[project.entry-points."ossb.structures"]
ads = "more_bandits.ads:Ads"
absent = "more_bandits.ads:Absent"
number = "more_bandits:NUMBER"
"""

POLICY = """
from typing import NamedTuple

import numpy as np

from ossb.policies import Kind
from ossb.records import record
from ossb.tally import EXPLORE, Decision

NUMBER = 5


class Nothing(NamedTuple):
    unused: np.ndarray


@record
class RoundRobin(NamedTuple):
    n_arms: int
    step: int

    def start(self):
        return Nothing(np.zeros(1))

    def select(self, tally, memory, rng):
        return Decision(tally.clock[0] * self.step % self.n_arms, EXPLORE)


def build(instance, step):
    return RoundRobin(instance.n_arms, int(step))


ROUND_ROBIN = Kind(
    name="round-robin",
    build=build,
    parameters={"step": 1},
    structures=("classical", "linear"),
    reference="everybody",
)
"""

STRUCTURE = """
from dataclasses import dataclass
from typing import ClassVar

from ossb.structures.linear import Linear


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Ads(Linear):
    kind: ClassVar[str] = "ads"
    reference: ClassVar[str] = "the advertisers"

    market: str = ""
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """What a process needs to find the other package, built by its backend and installed."""
    folder = tmp_path_factory.mktemp("plugin")
    package = folder / "source" / "more_bandits"
    package.mkdir(parents=True)
    (folder / "source" / "pyproject.toml").write_text(PROJECT)
    (package / "__init__.py").write_text(POLICY)
    (package / "ads.py").write_text(STRUCTURE)
    (package / "broken.py").write_text("import a_package_that_is_not_there\n")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    command += ["--no-build-isolation", "--target", str(folder / "site"), str(folder / "source")]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    return {**os.environ, "PYTHONPATH": str(folder / "site"), "COLUMNS": "200"}


def run(environment, *arguments, stdin=""):
    return subprocess.run(
        [Path(sys.executable).with_name("ossb"), *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
    )


def python(environment, program):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
    )


def test_they_are_listed_and_those_that_fail_are_named(environment):
    listed = run(environment, "policies", "--json")
    assert listed.returncode == 0, listed.stderr
    names = [row["name"] for row in json.loads(listed.stdout)]
    assert names[0] == "hgl"
    assert names[-1] == "round-robin"
    assert names.count("ucb1") == 1
    told = listed.stderr.splitlines()
    lines = [line for line in told if line.startswith("ossb: ossb.policies ")]
    others = [line for line in told if line not in lines]  # a policy lists the structures it fits
    assert all(line.startswith("ossb: ossb.structures ") for line in others)
    assert all("of more-bandits is left out: " in line for line in lines)
    reasons = {line.split("'")[1]: line for line in lines}
    assert sorted(reasons) == ["broken", "misnamed", "nothing", "ucb1"]
    assert "No module named 'a_package_that_is_not_there'" in reasons["broken"]
    assert "its name is 'round-robin'" in reasons["misnamed"]
    assert "it is no ossb.policies.Kind" in reasons["nothing"]
    assert "taken by this package" in reasons["ucb1"]
    listed = run(environment, "structures", "--json")
    assert json.loads(listed.stdout)[-1]["name"] == "ads"
    assert sorted(line.split("'")[1] for line in listed.stderr.splitlines()) == ["absent", "number"]


def test_they_are_used_as_ours_are(environment):
    instance = {"structure": "ads", "arms": [[1.0, 0.0], [0.0, 1.0], [0.6, 0.6]], "phi": [1.0, 0.2]}
    content = json.dumps({**instance, "market": "north"})
    found = run(environment, "bound", "-", "--json", stdin=content)
    assert found.returncode == 0, found.stderr
    plain = json.dumps({**instance, "structure": "linear"})
    expected = run(environment, "bound", "-", "--json", stdin=plain)
    assert json.loads(found.stdout)["value"] == json.loads(expected.stdout)["value"]
    options = ("--horizon", "60", "--trials", "2", "--json", "--interpreted")
    policies = ("--policy", "round-robin:step=2", "--policy", "ossb")
    played = run(environment, "simulate", "-", *policies, *options, stdin=content)
    assert played.returncode == 0, played.stderr
    robin, ours = json.loads(played.stdout)["policies"]
    assert [entry["plays"] for entry in robin["plays"]] == [20.0, 20.0, 20.0]
    assert robin["parameters"] == {"step": 2}
    assert ours["regret"]["mean"] > 0


def test_one_that_fails_is_an_error_where_it_is_asked_for(environment):
    content = json.dumps({"structure": "classical", "theta": [1.0, 0.0]})
    broken = run(
        environment, "simulate", "-", "--policy", "broken", "--horizon", "9", stdin=content
    )
    assert broken.returncode == 2
    assert broken.stderr.startswith("ossb: `broken` must be usable: more_bandits.broken:POLICY")
    assert broken.stderr.count("\n") == 1
    absent = run(environment, "bound", "-", stdin=json.dumps({"structure": "absent"}))
    assert absent.returncode == 2
    assert "has no attribute 'Absent'" in absent.stderr


def test_the_doctor_names_them(environment):
    found = run(environment, "doctor")
    assert found.returncode == 1
    (line,) = (line for line in found.stdout.splitlines() if " added: " in line)
    assert line.startswith("FAIL  added: RuntimeError: ossb.policies 'broken' of more-bandits")
    assert "ossb.structures 'absent' of more-bandits is left out" in line


def test_nothing_is_loaded_before_it_is_asked_for(environment):
    program = """
        import sys
        from ossb.instances import from_dict
        from ossb.policies import POLICIES, policy
        instance = from_dict({"structure": "classical", "theta": [1.0, 0.0]})
        policy("ucb1", instance)
        assert "round-robin" in POLICIES
        assert not any(name.startswith("more_bandits") for name in sys.modules)
        policy("round-robin", instance)
        assert "more_bandits" in sys.modules
        assert "more_bandits.broken" not in sys.modules
        assert POLICIES["round-robin"] is POLICIES["round-robin"]
    """
    result = python(environment, program)
    assert result.returncode == 0, result.stderr


def test_the_list_warns_once(environment):
    program = """
        import warnings
        from ossb.plugins import PluginWarning
        from ossb.policies import POLICIES
        for expected in (4, 0):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                names = list(POLICIES)
                assert len(POLICIES) == len(names) == len(POLICIES.own) + 1
            found = [w for w in caught if issubclass(w.category, PluginWarning)]
            assert len(found) == expected, found
    """
    result = python(environment, program)
    assert result.returncode == 0, result.stderr
