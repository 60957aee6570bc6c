"""Kernels: numerical functions with one source and two ways to run.

Called from Python, a kernel is the plain function it was written as, so that one number
needs no compiler.  ``kernel.compiled`` is the same function compiled by numba and cached on
disk; compiled code that calls a kernel gets the compiled version by itself.  numba is
imported only when something is compiled.

Kernels use scalar loops, ``math`` functions and ``x * x``, in strict IEEE arithmetic, so both
versions agree bit for bit.
"""

import functools
import hashlib
import inspect
import linecache
import os
import types as pytypes
from collections.abc import Callable, Iterator
from typing import Any, Generic, ParamSpec, TypeVar

import numpy as np

from ossb import deadlines
from ossb.quick import Quick

P = ParamSpec("P")
R = TypeVar("R")

OF_A_BLOCK = " \n)#"  # what the lines of a function begin with, but for its first ones
BOUNDS_CHECKED = os.environ.get("OSSB_BOUNDSCHECK", "0") not in ("", "0")  # slow: to find faults

OPTIONS = {
    "error_model": "numpy",
    "nogil": True,
    "boundscheck": BOUNDS_CHECKED,  # part of the cache's key, as all of these
    "_nrt": False,  # kernels allocate nothing, and to count references costs more than most do
    "no_cfunc_wrapper": True,  # kernels are never passed as C callbacks: less to compile
}


class Kernel(Generic[P, R]):
    """A function that runs interpreted when called, and compiled through ``compiled``."""

    def __init__(
        self,
        function: Callable[P, R],
        separate: bool = False,
        allocates: bool = False,
        inlined: bool = False,
    ) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.separate = separate
        self.allocates = allocates
        self.inlined = inlined

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        if deadlines.urgent:
            deadlines.check()
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<kernel {self.function.__module__}.{self.function.__qualname__}>"

    @functools.cached_property
    def compiled(self) -> Callable[P, R]:
        """The compiled twin; the first call with new argument types compiles or loads it."""
        from ossb._numba import compile_function

        digest = digest_of(self.function)
        twin: Callable[P, R] = compile_function(
            self.function, digest, separate=self.separate, allocates=self.allocates
        )
        return twin

    @functools.cached_property
    def quick(self) -> Quick:
        """Interpreted until compiled code pays and is at hand; see ``ossb.quick``."""
        return Quick(self)

    def run_as(self, compiled: bool | None) -> Callable[P, R]:
        """How to call it: compiled, interpreted, or (None) whichever is quicker by now."""
        if compiled is None or (compiled and deadlines.is_limited()):  # who waits does not compile
            quick: Any = self.quick
            return quick
        return self.compiled if compiled else self.function

    def is_compiled(self, *args: P.args, **kwargs: P.kwargs) -> bool:
        """Whether ``compiled`` with such arguments would start at once."""
        from ossb._numba import is_compiled

        return is_compiled(self.compiled, self.signature(*args))

    def signature(self, *args: Any) -> Any:
        """The types of such arguments, as the compiler has them."""
        from ossb._numba import signature

        return signature(self.compiled, args)

    def load(self, *args: Any) -> None:
        """Compile for such arguments, or take what is in the cache; run nothing."""
        self.compiled.compile(self.signature(*args))  # type: ignore[attr-defined]

    @functools.cached_property
    def _inner(self) -> Any:
        """The compiled twin for callers that are compiled themselves."""
        if self.separate:
            return self.compiled
        from ossb._numba import compile_function

        digest = digest_of(self.function)
        return compile_function(
            self.function, digest, inner=True, allocates=self.allocates, inlined=self.inlined
        )

    @property
    def _numba_type_(self) -> Any:
        """What numba sees when compiled code refers to this kernel."""
        from ossb._numba import dispatcher_type

        return dispatcher_type(self._inner)


def compiler_says(error: Exception) -> str | None:
    """What an error of the compiler's says, in one line; None where it is another's."""
    from ossb._numba import reason

    return reason(error)


def kernel(function: Callable[P, R]) -> Kernel[P, R]:
    """Make a function a kernel."""
    return Kernel(function)


def separate_kernel(function: Callable[P, R]) -> Kernel[P, R]:
    """Make a function a kernel that is compiled on its own, once for all who call it.

    For what is large and called seldom, a solver for one: its callers compile as if it were not
    there, and it is not inlined into them.
    """
    return Kernel(function, separate=True)


def inlined_kernel(function: Callable[P, R]) -> Kernel[P, R]:
    """Make a function a kernel that becomes part of whatever calls it, however large it is.

    For what each round calls with records of dozens of arrays: to pass these costs more.
    """
    return Kernel(function, inlined=True)


def allocating_kernel(function: Callable[P, R]) -> Kernel[P, R]:
    """Make a function a kernel that allocates arrays, or calls something of numba's that does."""
    return Kernel(function, allocates=True)


def digest_of(thing: Any) -> str:
    """Digest of the source of a function or record class and of all of ours that it reaches.

    numba's disk cache watches the file of the compiled function only; without this, editing
    a called function would silently go on running its old machine code.
    """
    digest = hashlib.sha256()
    for text in sorted(_reachable(thing, set())):
        digest.update(text.encode())
    return digest.hexdigest()


def _reachable(thing: Any, seen: set[Any]) -> Iterator[str]:
    if thing in seen:
        return
    seen.add(thing)
    yield f"{thing.__module__}.{thing.__qualname__}\n{_source(thing)}"
    if isinstance(thing, type):
        for member in vars(thing).values():
            if inspect.isfunction(member) and member.__module__ == thing.__module__:
                yield from _reachable(member, seen)
        return
    for name in sorted(_names(thing.__code__)):
        value = thing.__globals__.get(name)
        if isinstance(value, Kernel):
            yield from _reachable(value.function, seen)
        elif isinstance(value, type) and issubclass(value, tuple):
            yield from _reachable(value, seen)
        elif isinstance(value, np.ndarray):
            yield f"{name} = {value.dtype} {value.shape} {value.tobytes()!r}"
        elif isinstance(value, int | float | str | tuple):
            yield f"{name} = {value!r}"


def _names(code: pytypes.CodeType) -> set[str]:
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, pytypes.CodeType):
            names |= _names(constant)
    return names


@functools.cache
def _source(thing: Any) -> str:
    try:
        return own_source(thing) or inspect.getsource(thing)
    except (OSError, TypeError):  # typed into a shell: no file to read, so nothing to go stale
        return repr(thing)


def own_source(thing: Any) -> str | None:
    """The source of a function of this package, found by its indentation; None for others.

    ``inspect`` reads it token by token, which takes longer than all else that loading asks for.
    """
    code = getattr(thing, "__code__", None)
    if code is None or not thing.__module__.startswith("ossb."):
        return None
    lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :]
    if not lines or lines[0].startswith(" "):
        return None
    body = next((k for k, line in enumerate(lines) if line.startswith(" ")), len(lines))
    rest = enumerate(lines[body:], start=body)
    end = next((k for k, line in rest if line[0] not in OF_A_BLOCK), len(lines))
    while not lines[end - 1].strip():
        end -= 1
    return "".join(lines[:end])
