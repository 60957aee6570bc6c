"""Docstrings stand alone; that of every public name has an example, which shows what it says."""

import ast
import doctest
from pathlib import Path

import pytest

import ossb

SOURCES = Path(ossb.__file__).parent
LEANING = ("The same", "Do so ", "After the", "As users", "As it stands")


@pytest.mark.parametrize("name", ossb.__all__)
def test_a_public_name_shows_how_it_is_used(name):
    value = getattr(ossb, name)
    finder = doctest.DocTestFinder(recurse=False)
    (example,) = finder.find(value, name, globs={})
    assert example.examples, f"{name} has no example"
    lines: list[str] = []
    outcome = doctest.DocTestRunner(verbose=False).run(example, out=lines.append)
    assert not outcome.failed, "".join(lines)


def test_a_docstring_stands_alone():
    """What is read in ``help()`` does not begin with what stands above it."""
    for path in sorted(SOURCES.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                said = ast.get_docstring(node) or ""
                assert not said.startswith(LEANING), f"{path}, line {node.lineno}: {said}"
