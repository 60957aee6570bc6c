"""Packages that only some uses need: imported when they are, and named where they are missing."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from ossb.errors import InputError

EXTRAS = {
    "cvxpy": "convex",
    "distributed": "cluster",
    "gymnasium": "gymnasium",
    "loky": "experiments",
    "matplotlib": "figures",
    "pandas": "frames",
    "polars": "experiments",
    "psycopg": "service",
    "river": "river",
    "httptools": "service",
    "starlette": "service",
    "uvicorn": "service",
    "xarray": "frames",
}


def load(module: str, field: str) -> Any:
    """Import a module of a package that may be missing.

    Parameters
    ----------
    module
        Its full name.
    field
        What the package was asked for, to name in the error.

    Raises
    ------
    InputError
        Where the package is not installed, with the extra that brings it.
    """
    package = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != package:
            raise
        raise missing(package, field) from None


def need(package: str, field: str) -> None:
    """Refuse at once what would end at a package that is not installed, without importing it."""
    if find_spec(package) is None:
        raise missing(package, field)


def missing(package: str, field: str) -> InputError:
    """What to say where a package is not installed."""
    extra = EXTRAS[package]
    must = f'have {package} installed: pip install "ossb[{extra}]" (a checkout: ".[{extra}]")'
    return InputError(field, must)


def with_extra(error: ModuleNotFoundError) -> ModuleNotFoundError:
    """The error of an import, with the extra that brings the package where there is one."""
    extra = EXTRAS.get(error.name or "")
    if extra is None:
        return error
    return ModuleNotFoundError(f'{error}: pip install "ossb[{extra}]"', name=error.name)
