"""The code that a cell's numbers come from, as a digest: a key names that too.

Comments, docstrings and layout do not count: what runs the same is not run again.
"""

import ast
import functools
import hashlib
import inspect
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import numpy as np

import ossb
from ossb.kernels import Kernel
from ossb.records import can_compile, layout
from ossb.simulation.contexts import run_in_contexts
from ossb.simulation.seeds import context_stream, noise_stream, policy_stream
from ossb.simulation.simulate import run
from ossb.simulation.trial import run_late_trial, run_trial

# What an interpreted trial may reach: anything of these.
INTERPRETED = ("arm_sets", "families", "graves_lai", "models", "policies", "simulation")
INTERPRETED_TOO = ("structures", "kernels", "records", "tally")
LOOP = (
    *(run_trial.function, run_late_trial.function, run_in_contexts.function),
    *(run, noise_stream, policy_stream, context_stream),
)


def code_of(record: Any, environment: Any, rivals: Any = None) -> str:
    """Digest of the code that plays a policy's record in an environment, if there is one.

    ``rivals`` are those that trials with an end are judged by.
    """
    if environment is None or not can_compile(record):
        return _package()
    values = (record, environment) if rivals is None else (record, environment, rivals)
    names = repr(layout(values))
    if names not in _known:
        reached = _reached(*values)
        _known[names] = _digest([f"{name} {text}" for name, text in sorted(reached.items())])
    return _known[names]


_known: dict[str, str] = {}


def policy_code_of(record: Any) -> str:
    """Digest of the code of a policy's record alone, without the loop that plays it."""
    if not can_compile(record):
        return _package()
    reached = _reached(record, roots=(type(record).start, type(record).select))
    return _digest([f"{name} {text}" for name, text in sorted(reached.items())])


def contents_of(value: Any) -> str:
    """Digest of the numbers in a record: they show how it was built, and with what defaults."""
    digest = hashlib.sha256()
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, tuple):
            waiting.extend(part)
            digest.update(f"({len(part)})".encode())
        elif isinstance(part, np.ndarray):
            digest.update(f"{part.dtype}{part.shape}".encode())
            digest.update(np.ascontiguousarray(part).tobytes())
        elif isinstance(part, int | float | str | bool | None):
            digest.update(f"{part!r};".encode())
        else:  # a plain object: the code that makes it is in the key
            digest.update(f"{type(part).__qualname__};".encode())
    return digest.hexdigest()


def solvers_of(record: Any, environment: Any) -> frozenset[str]:
    """The kernels compiled on their own that the code calls; none where nothing is compiled."""
    if environment is None or not can_compile(record):
        return frozenset()
    reached = _reached(record, environment)
    return frozenset(name for name, text in reached.items() if text.startswith("@separate_kernel"))


def _reached(*values: Any, roots: Iterable[Any] = LOOP) -> dict[str, str]:
    """Names and sources of all that the roots may call, the methods of these records too.

    Of a record class those methods count whose names are used by something that counts: it is
    how compiled code finds them.
    """
    classes = set(_classes(values))
    functions: set[Any] = set(roots)
    used, found, waiting = set[str](), dict[str, str](), list(functions)
    while waiting:
        for function in waiting:
            found[_name(function)] = _bare(_source(function))
            for name in _names(function.__code__):
                used.add(name)
                value = function.__globals__.get(name)
                if isinstance(value, Kernel):
                    functions.add(value.function)
                elif isinstance(value, FunctionType) and not _foreign(value):
                    functions.add(value)
                elif isinstance(value, type) and issubclass(value, tuple):
                    classes.add(value)
                elif isinstance(value, np.ndarray):
                    found[f"{function.__module__}.{name}"] = f"{value.dtype} {value.tolist()}"
                elif isinstance(value, int | float | str | tuple):
                    found[f"{function.__module__}.{name}"] = repr(value)
        for cls in classes:
            found[_name(cls)] = repr(getattr(cls, "_fields", ()))
            functions |= {
                member
                for name, member in vars(cls).items()
                if name in used and inspect.isfunction(member) and not _foreign(member)
            }
        waiting = [function for function in functions if _name(function) not in found]
    return found


def _classes(values: tuple[Any, ...]) -> Iterator[type]:
    for value in values:
        if isinstance(value, tuple):
            yield type(value)
            yield from _classes(value)


def _foreign(function: Any) -> bool:
    """Whether a function belongs to a library, or was made by one."""
    return _name(function).split(".")[0] in ("builtins", "numpy", "math", "typing", "collections")


def _name(thing: Any) -> str:
    return f"{thing.__module__}.{thing.__qualname__}"


def _names(code: CodeType) -> set[str]:
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= _names(constant)
    return names


@functools.cache
def _source(function: Any) -> str:
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):  # typed into a shell
        return repr(function)


@functools.cache
def _package() -> str:
    root = Path(ossb.__file__).parent
    files = [*root.glob("*.py"), *root.glob("*/**/*.py")]
    wanted = (*INTERPRETED, *INTERPRETED_TOO)
    kept = sorted(f for f in files if f.relative_to(root).parts[0].removesuffix(".py") in wanted)
    return _digest([_bare(path.read_text(encoding="utf-8")) for path in kept])


@functools.cache
def _bare(text: str) -> str:
    """A source without what does not run; as it is where it is not Python."""
    try:
        tree = ast.parse(textwrap.dedent(text))
    except SyntaxError:
        return text
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef | ast.Module):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


def _digest(texts: list[str]) -> str:
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode())
        digest.update(b"\0")
    return digest.hexdigest()
