"""The inner loop finds the tests that reach a change, the nearest first, and ends in time."""

import subprocess

import pytest

import quick
from docs_pages import ROOT

FILES = {
    "src/package/__init__.py": "",
    "src/package/low.py": "import math\n",
    "src/package/high.py": "def late():\n    from package.low import thing\n",
    "src/package/apart.py": "",
    "tests/helper.py": "import package.high\n",
    "tests/test_low.py": "from package import low\n",
    "tests/deep/test_high.py": "from package.high import late\n",
    "tests/test_through.py": "from helper import package\n",
    "tests/test_apart.py": "from package.apart import other\n",
    "tests/test_pages.py": 'PAGE = "page.md"\n',
    "docs/page.md": "words\n",
}


@pytest.fixture
def tree(tmp_path):
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    (tmp_path / "tools").mkdir()
    return tmp_path


def git(tree, *words):
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words]
    subprocess.run(command, cwd=tree, check=True, capture_output=True)


def test_tests_come_by_their_distance(tree):
    assert quick.nearest_tests(["src/package/low.py"], tree) == [
        "tests/test_low.py",
        "tests/deep/test_high.py",
        "tests/test_through.py",
    ]


def test_a_changed_test_comes_first_and_a_page_has_those_that_name_it(tree):
    changed = ["tests/test_through.py", "src/package/low.py", "docs/page.md"]
    assert quick.nearest_tests(changed, tree)[0] == "tests/test_through.py"
    assert quick.nearest_tests(["docs/page.md"], tree) == ["tests/test_pages.py"]
    assert quick.nearest_tests(["src/package/apart.py"], tree) == ["tests/test_apart.py"]
    assert quick.nearest_tests(["notes.txt"], tree) == []


def test_what_changed_is_what_left_main_else_the_last_commit(tree):
    git(tree, "init", "-q", "-b", "main")
    git(tree, "add", ".")
    git(tree, "commit", "-q", "-m", "one")
    (tree / "src/package/low.py").write_text("import sys\n", "utf-8")
    (tree / "new.py").write_text("", "utf-8")
    assert set(quick.changed(tree)) == {"src/package/low.py", "new.py"}
    git(tree, "add", ".")
    git(tree, "commit", "-q", "-m", "two")
    assert set(quick.changed(tree)) == {"src/package/low.py", "new.py"}
    git(tree, "checkout", "-q", "-b", "branch")
    (tree / "src/package/apart.py").write_text("import sys\n", "utf-8")
    git(tree, "commit", "-q", "-am", "three")
    assert quick.changed(tree) == ["src/package/apart.py"]


def test_of_this_repository_a_policy_has_its_own_tests_first():
    first, *others = quick.nearest_tests(["src/ossb/policies/mints.py"], ROOT)
    assert first == "tests/policies/test_mints.py"
    assert "tests/simulation/test_identity.py" in others


SUITE = """
import time

def test_quick():
    time.sleep(0.05)

def test_slow():
    time.sleep(0.3)

def test_after():
    time.sleep(0.05)
"""


def test_the_time_is_kept_and_slow_tests_are_known_the_next_time(tmp_path, monkeypatch, capsys):
    path = tmp_path / "test_suite.py"
    path.write_text(SUITE, "utf-8")
    monkeypatch.setattr(quick, "SLOW", 0.2)

    def played(seconds):
        within = quick.Within(seconds)
        command = ["-q", "-c", "/dev/null", "--rootdir", str(tmp_path), str(path)]
        assert pytest.main(command, plugins=[within]) == pytest.ExitCode.OK
        return within

    over = played(0.0)
    assert over.late == 3
    assert not over.took
    whole = played(100.0)
    assert (whole.late, whole.slow, len(whole.took)) == (0, 0, 3)
    again = played(100.0)
    assert (again.late, again.slow) == (0, 1)
    capsys.readouterr()
