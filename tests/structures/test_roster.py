"""A structure answers for its arms itself: no module outside asks of what kind it is."""

import ast

import pytest

from docs_pages import ROOT
from ossb.arm_sets import ARM_SETS
from ossb.structures import STRUCTURES

SOURCES = ROOT / "src" / "ossb"
OWN = ("structures", "policies", "models", "graves_lai", "arm_sets", "testing")
OTHERS = sorted(
    path.relative_to(SOURCES).as_posix()
    for path in SOURCES.rglob("*.py")
    if path.relative_to(SOURCES).parts[0] not in OWN
)
KINDS = {*STRUCTURES.own, *ARM_SETS} - {"paths"}  # which OpenAPI has too


def asks(source):
    """Lines that compare with the name of a kind, look one up, or ask for a kind of feedback."""
    for node in ast.walk(ast.parse(source)):
        parts: list = []
        if isinstance(node, ast.Compare):
            parts = [part for side in (node.left, *node.comparators) for part in ast.walk(side)]
        elif isinstance(node, ast.Dict):  # by kind; a mapping to a kind is an instance's keys
            parts = [part for key in node.keys if key is not None for part in ast.walk(key)]
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("getattr", "hasattr"):
            parts = [part for part in node.args if getattr(part, "value", "") == "feedback"]
            yield from (part.lineno for part in parts)
        elif isinstance(node, ast.Attribute) and node.attr == "feedback":
            yield node.lineno
        for part in parts:
            if isinstance(part, ast.Constant) and part.value in KINDS:
                yield part.lineno


@pytest.mark.parametrize("path", OTHERS)
def test_no_module_asks_for_a_kind(path):
    found = list(asks((SOURCES / path).read_text("utf-8")))
    assert not found, f"{path}, lines {found}"


@pytest.mark.parametrize(
    "source",
    [
        'if instance.kind == "dueling":\n    pass',
        'found = kind in ("lipschitz", "unimodal")',
        'REDUCE = {"classical": len}',
        'LARGEST = {("m_sets", "n_items"): 3}',
        'always = getattr(instance, "feedback", "")',
        "always = instance.feedback",
    ],
)
def test_what_asks_is_found(source):
    assert list(asks(source))


def test_the_keys_of_an_instance_ask_nothing():
    assert not list(asks('keys = {"structure": "classical", "n_arms": 3}'))
