"""Records: immutable parameter tuples whose methods run in Python and inside compiled code.

``@record`` turns a ``typing.NamedTuple`` class into such a record.  Python code calls its
methods as usual.  Compiled code calls the same methods: numba compiles each one on first
use, for the exact record types involved, so a loop over (policy, structure, family) is
specialised and inlined, and the result is cached on disk.

All records that have a method of some name give it the same parameters, so that what calls it
need not know which record it has.
"""

import inspect
from collections.abc import Callable
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

C = TypeVar("C", bound=type)

Floats = Annotated[np.ndarray, np.float64]
Ints = Annotated[np.ndarray, np.int64]
Flags = Annotated[np.ndarray, np.bool_]

_TAKEN = {"count", "index"}  # tuple methods, which numba already resolves its own way
_signatures: dict[str, inspect.Signature] = {}
_published: set[str] = set()


def record(cls: C) -> C:
    """Publish the methods of a NamedTuple class to compiled code and check its instances.

    Fields annotated ``float``, ``int``, ``bool``, ``Floats``, ``Ints`` or ``Flags`` are
    coerced, so that ``OSSB(epsilon=0)`` and ``OSSB(epsilon=0.0)`` share one compiled version.
    If the class has a ``_check`` method, it runs on every new instance and raises.
    """
    if not cls._fields:  # type: ignore[attr-defined]
        raise TypeError(f"{cls.__name__} needs at least one field: numba drops empty tuples")
    _coerce_fields(cls)
    for name, function in vars(cls).items():
        if inspect.isfunction(function) and not name.startswith("_"):
            _register(cls, name, function)
    return cls


def can_compile(value: Any) -> bool:
    """Whether a value is made of records, arrays and numbers all through."""
    if isinstance(value, tuple):
        return all(can_compile(part) for part in value)
    return isinstance(value, np.ndarray | float | int | bool)


def layout(value: Any) -> Any:
    """The types a value is made of, all through: what compiled code is specialised to."""
    kind = type(value)
    name = f"{kind.__module__}.{kind.__qualname__}"
    if isinstance(value, tuple):
        return (name, *(layout(part) for part in value))
    if isinstance(value, np.ndarray):
        return (name, str(value.dtype), value.ndim, value.flags.c_contiguous)
    return name


def publish() -> None:
    """Make every record method known to numba; called before anything is compiled."""
    from ossb._numba import publish_method

    for name, signature in _signatures.items():
        if name not in _published:
            _published.add(name)
            publish_method(name, signature)


def _coerce_fields(cls: type) -> None:
    hints = get_type_hints(cls, include_extras=True)
    fields: tuple[str, ...] = cls._fields  # type: ignore[attr-defined]
    coerce = [_coercion(cls, field, hints[field]) for field in fields]
    plain_new: Any = cls.__new__

    def __new__(cls: type, *args: Any, **kwargs: Any) -> Any:
        raw = plain_new(cls, *args, **kwargs)
        self: Any = tuple.__new__(cls, [f(v) for f, v in zip(coerce, raw, strict=True)])
        if hasattr(self, "_check"):
            self._check()
        return self

    __new__.__signature__ = inspect.signature(plain_new)  # type: ignore[attr-defined]
    cls.__new__ = __new__  # type: ignore[assignment]


def _coercion(cls: type, field: str, hint: Any) -> Callable[[Any], Any]:
    if hint in (float, int, bool):
        return lambda value: hint(value)
    if get_origin(hint) is Annotated and get_args(hint)[0] is np.ndarray:
        dtype = get_args(hint)[1]
        return lambda value: np.ascontiguousarray(value, dtype)
    parts = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    if all(_is_nested(part) for part in parts):
        return lambda value: value
    raise TypeError(
        f"{cls.__name__}.{field} must be annotated float, int, bool, Floats, Ints, Flags, a "
        f"record or a protocol, got {hint!r}"
    )


def _is_nested(hint: Any) -> bool:
    if not isinstance(hint, type):
        return False
    return issubclass(hint, tuple) or bool(getattr(hint, "_is_protocol", False))


def _register(cls: type, name: str, function: Callable[..., Any]) -> None:
    if name in _TAKEN:
        raise TypeError(f"{cls.__name__}.{name} hides a tuple method: choose another name")
    parameters = inspect.signature(function).parameters.values()
    signature = inspect.Signature([p.replace(annotation=p.empty) for p in parameters])
    known = _signatures.setdefault(name, signature)
    if known != signature:
        raise TypeError(
            f"{cls.__name__}.{name}{signature} must have the signature {known}, "
            f"which other records already use for {name!r}"
        )
