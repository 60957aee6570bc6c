"""Compile many small kernels without paying for each of them at every level of calls.

numba links, optimises and emits a function together with all it calls, and does so again for
each of its callers: a tree of seventy kernels is optimised seventy times over.  Here what is
called from compiled code only is lowered and left as it is; whoever is called from Python links
the whole tree once, and optimises and emits that.

A kernel that is compiled on its own is left out of its callers' code: they refer to it by name, as
one object file to another, and whoever loads a caller from disk has to load it first.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from llvmlite import binding
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler


class Separate(NamedTuple):
    """A version of a separate kernel that compiled code refers to."""

    module: str
    name: str
    signature: tuple[Any, ...]
    symbol: str


def set_apart(library: Any, version: Separate) -> None:
    """Leave the code of a library out of what its callers link."""
    library._shared_module = binding.parse_assembly("")
    library.separate = version


def separate_versions(library: Any) -> list[Separate]:
    """All versions of separate kernels that the code of a library refers to."""
    found, seen, open_ones = [], {library}, [library]
    while open_ones:
        for called in open_ones.pop()._linking_libraries:
            if called in seen:
                continue
            seen.add(called)
            if hasattr(called, "separate"):
                found.append(called.separate)
            else:
                open_ones.append(called)
    return found


class InnerLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of a function that only compiled code calls, not yet optimised."""

    def finalize(self) -> None:
        """Nothing but to say that nothing is added any more."""
        self._raise_if_finalized()
        for library in self._linking_libraries:
            self._reload_init.update(library._reload_init)
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """There is no machine code to point to."""
        return 0

    @property
    def codegen(self) -> Any:
        return _WithoutEnvironment(self._codegen)

    def _get_module_for_linking(self) -> Any:
        """The function and all it calls, for the one that links them."""
        self._ensure_finalized()
        whole = self._own_module().clone()
        for library in self._called({self}):
            whole.link_in(_module_of(library), preserve=True)
        return whole

    def _own_module(self) -> Any:
        return super()._get_module_for_linking()

    def _called(self, seen: set[Any]) -> Iterator[Any]:
        for library in self._linking_libraries:
            if library not in seen:
                seen.add(library)
                yield library
                if isinstance(library, InnerLibrary):
                    yield from library._called(seen)


def _module_of(library: Any) -> Any:
    if isinstance(library, InnerLibrary):
        return library._own_module()
    return library._get_module_for_linking()


class _WithoutEnvironment:
    """A code generator that sets no environments: the code it would set them in is not emitted."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def set_env(self, name: str, environment: Any) -> None:
        return None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)


class InnerCompiler(Compiler):  # type: ignore[misc]
    """numba's compiler with an inner library to lower into."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.state.library is None:
            self.state.library = InnerLibrary(self.state.targetctx.codegen(), "ossb")
