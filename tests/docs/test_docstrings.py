"""The docstring of every public name has an example, which shows what it says."""

import doctest

import pytest

import ossb


@pytest.mark.parametrize("name", ossb.__all__)
def test_a_public_name_shows_how_it_is_used(name):
    value = getattr(ossb, name)
    finder = doctest.DocTestFinder(recurse=False)
    (example,) = finder.find(value, name, globs={})
    assert example.examples, f"{name} has no example"
    lines: list[str] = []
    outcome = doctest.DocTestRunner(verbose=False).run(example, out=lines.append)
    assert not outcome.failed, "".join(lines)
