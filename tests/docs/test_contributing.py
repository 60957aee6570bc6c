"""The pages on contributing can be followed to the letter, in a copy of the source tree."""

import ast
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cli_runner import Runner
from docs_pages import ROOT, Walk, blocks
from ossb.structures import STRUCTURES
from ossb.structures.classical import Classical
from ossb.testing import policy_checks, structure_checks

PAGES = ["docs/contributing/structure.md", "docs/contributing/policy.md"]
BIN = Path(sys.executable).parent


def amended(text, diff):
    """A file's text with the lines that a diff adds; lines it leaves out may lie between."""
    lines, place, waiting = text.splitlines(), 0, []
    for line in diff.splitlines():
        if line.startswith("+"):
            waiting.append(line[1:])
            if place:
                lines[place:place] = [waiting.pop()]
                place += 1
        else:
            place = lines.index(line[1:], place) + 1
            lines[place - 1 : place - 1] = waiting
            place, waiting = place + len(waiting), []
    assert not waiting
    return "\n".join(lines) + "\n"


@pytest.fixture
def tree(tmp_path):
    """What a contributor changes, without what is cached."""
    hidden = shutil.ignore_patterns("__pycache__", ".*")
    for folder in ("src", "tests"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=hidden)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def run(tree, *command):
    environment = {**os.environ, "PYTHONPATH": str(tree / "src"), "COLUMNS": "200"}
    done = subprocess.run(
        [BIN / command[0], *command[1:]],
        cwd=tree,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.parametrize("page", PAGES)
def test_the_page_can_be_followed(page, tree):
    commands, touched = [], []
    for block in blocks(page):
        path = tree / block.title
        if block.language in ("python", "toml"):
            assert not path.exists()
            path.write_text(block.text, "utf-8")
            touched.append(path)
        elif block.language == "diff":
            path.write_text(amended(path.read_text("utf-8"), block.text), "utf-8")
            touched.append(path)
        elif block.language == "console":
            commands += [shlex.split(line.removeprefix("$ ")) for line in block.text.splitlines()]
    programs = [path for path in touched if path.suffix == ".py"]
    run(tree, "ruff", "check", *programs)
    run(tree, "ruff", "format", "--check", *programs)
    for command in commands:
        said = run(tree, *command)
        assert command[0] != "pytest" or "passed" in said
    kind = next(block.title for block in blocks(page) if block.title.startswith("src/"))
    name = Path(kind).stem
    assert name in run(tree, "ossb", "policies" if "policies" in kind else "structures")


@pytest.mark.parametrize(("page", "files"), list(zip(PAGES, [4, 3], strict=True)))
def test_the_count_of_files_is_kept(page, files):
    titles = [b.title for b in blocks(page) if b.language in ("python", "diff")]
    assert len(titles) == len(set(titles)) == files
    _, registry = [title for title in titles if title.startswith("src/")]
    assert registry.endswith("/__init__.py")
    added = [
        line
        for block in blocks(page)
        if block.title == registry
        for line in block.text.splitlines()
        if line.startswith("+")
    ]
    assert len(added) == 2, "an import and a line"
    text = (ROOT / "docs/contributing/index.md").read_text("utf-8").replace("\n", " ")
    assert {3: "three files in all", 4: "four in all"}[files] in text


def test_no_policy_asks_what_kind_an_instance_is_of():
    for path in sorted((ROOT / "src/ossb").rglob("*.py")):
        inside = path.relative_to(ROOT / "src/ossb").parts[0]
        if inside in ("structures", "testing"):
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Compare):
                sides = [node.left, *node.comparators]
                words = {n.value for s in sides for n in ast.walk(s) if isinstance(n, ast.Constant)}
                asked = any(isinstance(s, ast.Attribute) and s.attr == "kind" for s in sides)
                assert not (asked and words & set(STRUCTURES)), f"{path}, line {node.lineno}"


def test_the_page_on_contracts_can_be_followed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    page = "docs/contributing/contracts.md"
    with Walk(page, tmp_path, Runner(monkeypatch, capsys), capsys) as walk:
        walk.run()
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_mine.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_every_contract_is_on_the_page():
    text = (ROOT / "docs/contributing/contracts.md").read_text("utf-8")
    three = {"three": Classical(theta=[0.0, 1.0, 2.0])}
    for check in [*policy_checks("ucb1", three), *structure_checks(three)]:
        assert f"| {check.name} |" in text


def test_lines_are_added_where_the_diff_says():
    text = "import a\nimport c\n\nboth = (\n    a,\n    c,\n)\n"
    diff = "+import b\n import c\n     a,\n+    b,\n"
    wanted = "import a\nimport b\nimport c\n\nboth = (\n    a,\n    b,\n    c,\n)\n"
    assert amended(text, diff) == wanted
    with pytest.raises(ValueError, match="import d"):
        amended(text, " import d\n+import e\n")
