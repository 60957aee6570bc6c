"""Kernels: one source, two ways to run, and a cache that sees every edit."""

import functools
import importlib
import inspect
import os
import pkgutil
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from ossb import graves_lai, models
from ossb.families.bernoulli import bernoulli_kl
from ossb.kernels import Kernel, digest_of, kernel, own_source

SCALE = 3.0
TABLE = np.array([1.0, 2.0])


@kernel
def square(x):
    """x times itself."""
    return x * x


@kernel
def scaled(x):
    return SCALE * square(x) + TABLE[1]


@kernel
def summed(values):
    total = 0.0
    for value in values:
        total += scaled(value)
    return total


def test_called_it_is_the_plain_function():
    assert square(3) == 9
    assert square.__name__ == "square"
    assert square.__doc__ == "x times itself."
    assert "test_kernels.square" in repr(square)


def test_compiled_it_agrees_and_calls_compiled_kernels():
    values = np.linspace(0.1, 2.0, 13)
    assert summed.compiled(values) == summed(values)
    assert summed.compiled is summed.compiled
    assert bernoulli_kl.compiled(0.3, 0.4) == bernoulli_kl(0.3, 0.4)


def test_what_would_start_at_once_is_known_beforehand():
    assert not square.is_compiled(np.zeros((1, 1, 1, 1), dtype=np.complex64))
    square.compiled(3.0)
    assert square.is_compiled(4.0)
    fresh = kernel(square.function)
    assert fresh.is_compiled(4.0)  # from disk
    space = {"__name__": "__main__"}
    exec("def typed(x):\n    return x\n", space)
    assert not kernel(space["typed"]).is_compiled(1.0)  # nowhere to keep it


def test_the_digest_reaches_constants_arrays_and_called_kernels(monkeypatch):
    before = digest_of(summed.function)
    assert before == digest_of(summed.function)
    module = sys.modules[__name__]
    for name, value in (
        ("SCALE", 4.0),
        ("TABLE", np.array([1.0, 2.5])),
        ("square", kernel(lambda x: x)),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, value)
            assert digest_of(summed.function) != before, name
    assert digest_of(summed.function) == before


def test_the_digest_sees_a_generator_inside():
    @kernel
    def total(n):
        return sum(square(i) for i in range(n))

    assert len(digest_of(total.function)) == 64


def test_a_function_without_source_still_has_a_digest():
    space = {"__name__": "typed"}
    exec("def typed(x):\n    return x\n", space)
    assert len(digest_of(space["typed"])) == 64


INNER = """
from ossb.kernels import kernel

@kernel
def inner(x):
    return {inner} * x
"""
LAW = """
from typing import NamedTuple
from ossb.records import record

@record
class Law(NamedTuple):
    scale: float

    def grown(self, x):
        return {method} * self.scale * x
"""
OUTER = """
from ossb.kernels import kernel
from edited.inner import inner

@kernel
def outer(law, x):
    return inner(x) + law.grown(x)
"""
PROGRAM = """
from edited.law import Law
from edited.outer import outer

value = outer.compiled(Law(1.0), 1.0)
hits = sum(outer.compiled.stats.cache_hits.values())
print(value, outer(Law(1.0), 1.0), hits)
"""


def run_python(program, folder, **environment):
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": str(folder),
            "PYTHONDONTWRITEBYTECODE": "1",
            **environment,
        },
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.split()


def test_the_cache_sees_edits_in_called_files_and_record_methods(tmp_path):
    package = tmp_path / "edited"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "outer.py").write_text(OUTER)

    def answers(inner, method):
        (package / "inner.py").write_text(INNER.format(inner=inner))
        (package / "law.py").write_text(LAW.format(method=method))
        cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
        compiled, interpreted, hits = run_python(PROGRAM, tmp_path, **cache)
        assert compiled == interpreted
        return float(compiled), int(hits)

    assert answers(2.0, 10.0) == (12.0, 0)
    assert answers(2.0, 10.0) == (12.0, 1)  # loaded from disk
    assert answers(3.0, 10.0) == (13.0, 0)  # an edit in a called kernel's file
    assert answers(3.0, 20.0) == (23.0, 0)  # an edit in a record's method


SEPARATE = """
from ossb.kernels import separate_kernel

@separate_kernel
def solver(x):
    return {factor} * x

def other(x):
    return x
"""
CALLERS = """
from ossb.kernels import kernel
from apart.solver import solver

@kernel
def middle(x):
    return solver(x) + 1.0

@kernel
def first(x):
    return middle(x)

@kernel
def second(x):
    return 2.0 * solver(x)
"""
COUNTED = """
import sys
from apart.callers import first, second
from apart.solver import solver

values = first.compiled(1.0), second.compiled(1.0)
assert values == (first(1.0), second(1.0)) and solver.compiled(1.0) == solver(1.0)
kernels = (first, second, solver)
print(*values, *(sum(k.compiled.stats.cache_hits.values()) for k in kernels))
"""


def test_separate_kernels_are_compiled_once_for_all_callers_and_loaded_before_them(tmp_path):
    package = tmp_path / "apart"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "callers.py").write_text(CALLERS)
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def answers(factor):
        (package / "solver.py").write_text(SEPARATE.format(factor=factor))
        return [float(x) for x in run_python(COUNTED, tmp_path, **cache)]

    assert answers(3.0) == [4.0, 6.0, 0, 0, 0]
    assert answers(3.0) == [4.0, 6.0, 1, 1, 1]
    assert answers(5.0) == [6.0, 10.0, 0, 0, 0]
    # callers whose solver is gone from disk, and was compiled again under another name
    for file in (tmp_path / "cache").rglob("*solver.solver-*"):
        file.unlink()
    program = "from apart.solver import *; from ossb.kernels import kernel\n"
    program += "kernel(other).compiled(1.0)\n" + COUNTED
    renamed = [float(x) for x in run_python(program, tmp_path, **cache)]
    assert renamed == [6.0, 10.0, 0, 0, 0]
    assert answers(5.0) == [6.0, 10.0, 1, 1, 1]


LOADED = (
    "import sys; print(*[name for name in ('numba', 'matplotlib', 'cvxpy') if name in sys.modules])"
)


@pytest.mark.parametrize(
    "program",
    [
        "import ossb",
        "import ossb; ossb.bound(ossb.Classical(theta=[0.9, 0.5])).verify()",
        "import ossb; ossb.bound(ossb.Unimodal(theta=[0.1, 0.9, 0.5])).verify()",
        "import ossb; ossb.bound(ossb.Dueling(preferences=[[0.5, 0.7], [0.3, 0.5]])).verify()",
        "import ossb; ossb.bound(ossb.Finite(parameters=[[1, 0], [1, 2]], theta=[1, 0])).verify()",
    ],
)
def test_no_compiler_is_loaded_for_one_number(program, tmp_path):
    assert run_python(f"{program}\n{LOADED}", tmp_path) == []


def test_kernels_typed_into_a_shell_compile_uncached(tmp_path):
    program = """
    from ossb.kernels import kernel
    space = {"__name__": "__main__"}
    exec("def twice(x):\\n    return 2.0 * x\\n", space)
    print(kernel(space["twice"]).compiled(4.0))
    """
    assert run_python(program, tmp_path) == ["8.0"]


def test_own_sources_are_those_that_inspect_finds():
    """The digests of cached code rest on them."""
    found = 0
    for part in (graves_lai, models):
        for info in pkgutil.walk_packages(part.__path__, f"{part.__name__}."):
            for item in vars(importlib.import_module(info.name)).values():
                if isinstance(item, Kernel):
                    assert own_source(item.function) == inspect.getsource(item.function)
                    found += 1
    assert found > 500
    assert own_source(summed.function) is None  # not of the package
    assert own_source(Kernel.load) is None  # a method


def test_solvers_are_loaded_without_all_that_numba_has(tmp_path):
    """What numba imports to compile takes longer than to load what was compiled."""
    code = (
        "import sys\n"
        "from ossb.graves_lai.linear.answer import exponent\n"
        "import numpy as np\n"
        "assert exponent.compiled(np.array([3.0])) == 2\n"
        "print('scipy.linalg' in sys.modules, 'numba.np.arraymath' in sys.modules)\n"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", code]
    run = functools.partial(
        subprocess.run, command, env=environment, capture_output=True, text=True, check=True
    )
    assert "True" in run().stdout  # compiles
    assert run().stdout.split() == ["False", "False"]  # loads
