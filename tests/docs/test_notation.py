"""What the page on notation names is there, and is what it says."""

import re

import pytest

from docs_pages import ROOT, blocks
from ossb.structures import STRUCTURES

PAGE = "docs/notation.md"
ROW = re.compile(r"^\| (.+?) \| (`.+?) \| (.+) \|$", re.MULTILINE)
KEYS = {"phi"}  # of files, not of the example


def named():
    """Pairs of a symbol and an expression that stands for it."""
    text = (ROOT / PAGE).read_text("utf-8")
    return [
        (symbol, expression)
        for symbol, here, _ in ROW.findall(text)
        for expression in re.findall(r"`([^`]+)`", here)
    ]


@pytest.fixture(scope="module")
def names():
    (program,) = (block.text for block in blocks(PAGE) if block.language == "python")
    found = {}
    exec(compile(program, PAGE, "exec"), found)
    return found


def test_every_name_is_there(names):
    for symbol, expression in named():
        if expression in KEYS:
            keys = {key for kind in STRUCTURES.values() for key in kind.__dataclass_fields__}
            assert expression in keys
        else:
            assert eval(expression, names) is not None, symbol


def test_every_symbol_has_its_row():
    symbols = [symbol for symbol, _ in named()]
    for symbol in ("X", "θ", "λ", "η(x)", "μ*(θ)", "ν(θ(x))", "D(θ, λ, x)", "s(t)", "ψ(θ)", "R(T)"):
        assert symbol in symbols


def test_the_symbols_are_those_of_the_bound(names):
    at = {symbol: eval(expression, names) for symbol, expression in named() if symbol != "φ"}
    eta = dict(at["η(x)"])
    assert sum(rate * at["D(θ, λ, x)"][arm] for arm, rate in eta.items()) == pytest.approx(1.0)
    assert at["C(θ)"] == pytest.approx(sum(at["c(x, θ)"] * names["instance"].gaps))
    assert at["μ*(θ)"] == at["μ(x, θ)"][at["x*(θ)"]]
