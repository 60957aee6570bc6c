"""Packages that only some uses need: imported when they are, and named where they are missing."""

from importlib import import_module
from typing import Any

from ossb.errors import InputError

EXTRAS = {
    "cvxpy": "convex",
    "distributed": "cluster",
    "loky": "experiments",
    "matplotlib": "figures",
    "polars": "experiments",
    "psycopg": "service",
    "httptools": "service",
    "starlette": "service",
    "uvicorn": "service",
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


def missing(package: str, field: str) -> InputError:
    """What to say where a package is not installed."""
    extra = EXTRAS[package]
    must = f'have {package} installed: pip install "ossb[{extra}]" (a checkout: ".[{extra}]")'
    return InputError(field, must)
