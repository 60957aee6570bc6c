"""The one module that touches numba's internals; imported only to compile."""

import functools
import hashlib
import importlib
import re
from collections.abc import Callable, Iterator
from typing import Any

import numba
from numba.core import types as numba_types
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.errors import NumbaError
from numba.core.typing.templates import (
    _OverloadMethodTemplate,
    infer_getattr,
    make_overload_attribute_template,
)
from numba.extending import overload

from ossb import garbage
from ossb._linking import InnerCompiler, Separate, separate_versions, set_apart
from ossb.kernels import OPTIONS, digest_of
from ossb.records import publish

types: Any = numba_types
INNER = {**OPTIONS, "no_cpython_wrapper": True, "pipeline_class": InnerCompiler}
SOLVERS = "ossb.graves_lai."
# methods that each round calls: to pass them their dozens of arrays costs more than most of them do
INLINED = ("select", "project", "plug_in", "test", "rates")


class DigestCache(FunctionCache):  # type: ignore[misc]
    """numba's disk cache with a digest of all reachable sources added to the key.

    Each signature has an index of its own: an index names the record classes of the signatures
    in it, and a user's class that is not importable here must not hide everybody else's code.
    """

    def __init__(self, function: Callable[..., Any], digest: str, plain: bool) -> None:
        super().__init__(function)
        self._digest = digest
        self._plain = plain

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        records = [digest_of(cls) for cls in _record_classes(sig)]
        options = repr((OPTIONS, INLINED))
        return (*super()._index_key(sig, codegen), options, self._digest, *records)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        needs = self._file_of(sig, "needs").load(self._index_key(sig, target_context.codegen()))
        if needs is None or not all(_at_hand(version) for version in needs):
            return None
        self._cache_file = self._file_of(sig)
        if self._plain:  # numba would first import all it has, which takes longer than all else
            with self._guard_against_spurious_io_errors():
                return self._load_overload(sig, target_context)
        return super().load_overload(sig, target_context)

    def save_overload(self, sig: Any, data: Any) -> None:
        self._cache_file = self._file_of(sig)
        super().save_overload(sig, data)
        if self.holds(sig, data.codegen):
            needs = separate_versions(data.library)
            self._file_of(sig, "needs").save(self._index_key(sig, data.codegen), needs)

    def holds(self, sig: Any, codegen: Any) -> bool:
        """Whether there is code for a signature."""
        return self._index_key(sig, codegen) in self._file_of(sig)._load_index()

    def _file_of(self, sig: Any, part: str = "code") -> Any:
        classes = " ".join(f"{c.__module__}.{c.__qualname__}" for c in _record_classes(sig))
        name = hashlib.sha256(f"{sig} {classes}".encode()).hexdigest()[:16]
        return IndexDataCacheFile(
            cache_path=self._cache_path,
            filename_base=f"{self._impl.filename_base}-{name}-{part}",
            source_stamp=self._impl.locator.get_source_stamp(),
        )


def _at_hand(version: Separate) -> bool:
    """Whether the very version that some code refers to is loaded, after trying to."""
    called = getattr(importlib.import_module(version.module), version.name, None)
    if called is None:
        return False
    called.compiled.compile(version.signature)
    loaded = called.compiled.overloads[version.signature]
    return bool(loaded.fndesc.mangled_name == version.symbol)


def _record_classes(sig: Any) -> Iterator[type]:
    """The record classes among argument types: their methods are part of what is compiled."""
    for argument in sig:
        if isinstance(argument, types.BaseNamedTuple):
            yield argument.instance_class
        if isinstance(argument, types.BaseTuple):
            yield from _record_classes(argument)


def compile_function(
    function: Callable[..., Any],
    digest: str,
    inner: bool = False,
    separate: bool = False,
    allocates: bool = False,
    inlined: bool = False,
) -> Any:
    """A dispatcher for the function, cached on disk where it has a file to be cached beside.

    An ``inner`` one is called from compiled code alone, and becomes part of that; a ``separate``
    one never becomes part of what calls it.  Solvers that allocate nothing call nothing but each
    other and the mathematical functions that numba has at hand once it is imported.
    """
    publish()
    options = {**(INNER if inner else OPTIONS), "_nrt": allocates, "forceinline": inlined}
    dispatcher = numba.njit(**options)(function)
    dispatcher.get_call_template = _plain_types(dispatcher.get_call_template)
    if function.__module__ != "__main__" and not inner:
        plain = function.__module__.startswith(SOLVERS) and not allocates
        dispatcher._cache = DigestCache(function, digest, plain)
    if not inner:
        dispatcher.compile = functools.partial(_compile, dispatcher, separate)
    return dispatcher


def _compile(dispatcher: Any, separate: bool, signature: tuple[Any, ...]) -> Any:
    """Compile or load a version of a kernel."""
    publish()  # records that were defined since the kernel was made
    with garbage.kept():  # a compiler makes millions of objects
        entry = type(dispatcher).compile(dispatcher, signature)
    version = dispatcher.overloads[signature]
    if separate and not hasattr(version.library, "separate"):
        function = dispatcher.py_func
        names = (function.__module__, function.__name__)
        set_apart(version.library, Separate(*names, signature, version.fndesc.mangled_name))
    return entry


def _plain_types(template: Callable[..., Any]) -> Callable[..., Any]:
    """Compile one version for ``f(0)``, ``f(1)`` and ``f(n)``: numba makes one per constant."""

    def plain(args: Any, keywords: Any) -> Any:
        unnamed = tuple(types.unliteral(kind) for kind in args)
        return template(unnamed, {key: types.unliteral(kind) for key, kind in keywords.items()})

    return plain


def reason(error: Exception) -> str | None:
    """What numba does not take, and where it stands; None of an error that is not numba's."""
    if not isinstance(error, NumbaError):
        return None
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    innermost = text.rpartition("Failed in nopython mode pipeline")[2]
    lines = [line.strip() for line in innermost.splitlines() if line.strip()]
    said = next((line for line in lines if not line.startswith("(step:")), type(error).__name__)
    place = re.search(r'File "([^"]+)", line (\d+)', innermost)
    return f"{said} ({place[1]}, line {place[2]})" if place else said


def dispatcher_type(dispatcher: Any) -> Any:
    return types.Dispatcher(dispatcher)


class _MethodOfRecords(_OverloadMethodTemplate):  # type: ignore[misc]
    """A method that all named tuples have in compiled code, but where a field has its name.

    numba asks for methods by the name alone and before fields: a method of one record would hide
    the field of that name of every other.
    """

    def _resolve(self, typ: Any, attr: str) -> Any:
        fields = typ.fields if isinstance(typ, types.BaseNamedTuple) else ()
        return None if attr in fields else super()._resolve(typ, attr)


def publish_method(name: str, signature: Any) -> None:
    """Let compiled code call the method ``name`` of every record.

    Methods of records that are not ours may allocate arrays.
    """

    def resolve(self: Any, *args: Any) -> Any:
        return _method(self.instance_class, name, ours=True)

    def resolve_others(self: Any, *args: Any) -> Any:
        return _method(self.instance_class, name, ours=False)

    for function in (resolve, resolve_others):
        function.__signature__ = signature  # type: ignore[attr-defined]
        function.__name__ = name
    options: dict[str, Any] = {
        "jit_options": {**INNER, "forceinline": name in INLINED},
        "strict": False,
    }
    # what `overload_method` does, with a template that knows of fields
    template = make_overload_attribute_template(
        types.BaseNamedTuple, name, resolve, base=_MethodOfRecords, **options
    )
    infer_getattr(template)
    overload(resolve, **options)(resolve)
    overload(resolve, strict=False, jit_options={**INNER, "_nrt": True})(resolve_others)


def _method(cls: type, name: str, ours: bool) -> Any:
    return getattr(cls, name, None) if ours == cls.__module__.startswith("ossb.") else None


def signature(dispatcher: Any, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """The types that compiled code for these arguments is of."""
    return tuple(dispatcher.typeof_pyval(argument) for argument in arguments)


def is_compiled(dispatcher: Any, signature: tuple[Any, ...]) -> bool:
    """Whether a call would find compiled code, in memory or on disk."""
    if signature in dispatcher.overloads:
        return True
    cache = dispatcher._cache
    if not isinstance(cache, DigestCache):
        return False
    return cache.holds(signature, dispatcher.targetctx.codegen())
