"""Of tests that are many of a kind every run has a share, drawn by the commit."""

import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).with_name("conftest.py")
SUITE = """
import pytest

@pytest.mark.sampled
@pytest.mark.parametrize("n", range(200))
def test_often(n):
    pass

@pytest.mark.sampled(of=25)
@pytest.mark.parametrize("n", range(200))
def test_rarely(n):
    pass

@pytest.mark.parametrize("n", [
    pytest.param((n, of), marks=pytest.mark.sampled(of=of, by=n), id=f"{n}-{of}")
    for n in range(200) for of in (5, 25)
])
def test_together(n):
    pass

def test_always():
    pass
"""


@pytest.fixture
def collected(tmp_path):
    (tmp_path / "conftest.py").write_text(CONFTEST.read_text("utf-8"), "utf-8")
    (tmp_path / "test_suite.py").write_text(SUITE, "utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = sampled\n", "utf-8")

    def run(*words):
        command = [sys.executable, "-m", "pytest", "--collect-only", "-q", *words]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        return [line for line in done.stdout.splitlines() if "::" in line], done

    return run


def test_shares_part_the_sampled_tests(collected):
    shares = [set(collected(f"--share={share}")[0]) for share in range(5)]
    often = [{test for test in share if "often" in test} for share in shares]
    assert len(set.union(*often)) == sum(map(len, often)) == 200
    assert all(20 < len(share) < 65 for share in often)
    assert all("test_suite.py::test_always" in share for share in shares)
    assert all(sum("rarely" in test for test in share) < 25 for share in shares)


def test_what_is_drawn_rarely_is_among_what_is_drawn_often_by_the_same(collected):
    named = [test.split("[")[1][:-1] for test in collected("--share=3")[0] if "together" in test]
    often, rarely = ({n.split("-")[0] for n in named if n.endswith(of)} for of in ("-5", "-25"))
    assert rarely < often
    assert 0 < len(rarely) < 20 < len(often)


def test_all_can_be_run_and_what_is_named_always_is(collected):
    assert len(collected("--share=all")[0]) == 801
    assert len(collected("test_suite.py::test_rarely")[0]) == 200


def test_a_run_without_a_share_is_reproduced(collected):
    first, second = collected()[0], collected()[0]
    assert first == second
    assert 1 < len(first) < 200


def test_another_share_than_a_number_is_refused(collected):
    assert "--share must be a number or all" in collected("--share=half")[1].stderr
