"""A function has at most eighty lines and ten parameters, or a reason that stands here."""

import ast
from pathlib import Path

import ossb

SOURCES = Path(ossb.__file__).parent
LINES, PARAMETERS = 80, 10
OPTIONS = "a parameter for each option of the command, which the command line reads off it"
LOOP = (
    "numba compiles it for what it is handed one by one, and its source is part of what cells of "
    "experiments are known by: bundled otherwise, all that was played would be of other code"
)
REASONS = {
    "simulation/simulate.py simulate": "the public call: half of it is its docstring",
    "simulation/simulate.py run": LOOP,
    "simulation/simulate.py play": LOOP,
    "simulation/simulate.py _call": LOOP,
    "simulation/trial.py run_late_trial": LOOP,
    "simulation/stops.py run_until": LOOP,
    "simulation/contexts.py run_in_contexts": LOOP,
    "cli/simulate.py simulate": OPTIONS,
    "cli/plan.py plan": OPTIONS,
    "figures/axes.py plot": "a keyword for each option of the public ``plot`` of results",
    "policies/ossb.py build": "a keyword for each parameter of the policy",
}


def functions():
    """Every function of the package, as its file and name."""
    for path in sorted(SOURCES.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{path.relative_to(SOURCES).as_posix()} {node.name}", node


def is_large(node):
    arguments = node.args
    names = [a.arg for a in arguments.posonlyargs + arguments.args + arguments.kwonlyargs]
    taken = len(names) - (names[:1] in (["self"], ["cls"]))
    return node.end_lineno - node.lineno + 1 > LINES or taken > PARAMETERS


def test_a_function_is_small_or_says_why_not():
    large = {name for name, node in functions() if is_large(node)}
    assert not large - set(REASONS)


def test_reasons_are_of_functions_that_there_are():
    assert set(REASONS) <= {name for name, _ in functions()}
