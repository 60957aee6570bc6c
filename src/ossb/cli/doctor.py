"""``ossb doctor``: is everything here, and does it work?"""

import sys
from collections.abc import Callable
from typing import Annotated

import typer

PACKAGES = ("numpy", "numba", "highspy", "matplotlib", "polars", "cvxpy")


def doctor(
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Check versions, caches, the compiler and the solvers.

    Exits with 1 if something that is needed does not work.

    Example: ossb doctor
    """
    found = []
    for name, check in (
        ("python", _python),
        ("packages", _packages),
        ("added", _added),
        ("bound", _bound),
        ("compiler", _compiler),
        ("cache", _cache),
        ("linear programs", _linear_programs),
        ("conic programs", _conic_programs),
    ):
        try:
            healthy, text = True, check()
        except Exception as error:  # whatever is wrong is what the doctor is there to say
            healthy, text = False, f"{type(error).__name__}: {error}"
        found.append({"check": name, "ok": healthy, "found": text})
        if not json:
            typer.echo(f"{'ok   ' if healthy else 'FAIL '} {name}: {text}")
    if json:
        import json as encoder

        typer.echo(encoder.dumps(found, indent=2))
    if not all(line["ok"] for line in found):
        raise typer.Exit(1)


def _timed(work: Callable[[], object]) -> float:
    import time

    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _python() -> str:
    import platform

    return f"{platform.python_version()} on {platform.platform()}, {sys.executable}"


def _packages() -> str:
    from importlib.metadata import PackageNotFoundError, version

    found = [f"ossb {version('ossb')}"]
    for package in PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            if package != "cvxpy":
                raise
            found.append("cvxpy not installed (extra: convex)")
    return ", ".join(found)


def _added() -> str:
    """What other packages add; what cannot be loaded is a failure."""
    import warnings

    from ossb.policies import POLICIES
    from ossb.structures import STRUCTURES

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        names = [*list(POLICIES)[len(POLICIES.own) :], *list(STRUCTURES)[len(STRUCTURES.own) :]]
    if caught:
        raise RuntimeError("; ".join(str(warning.message) for warning in caught))
    return ", ".join(names) or "nothing, by other packages"


def _bound() -> str:
    from ossb.structures import bound
    from ossb.structures.classical import Classical

    answer = bound(Classical(observation="bernoulli", theta=[0.9, 0.5]))
    if not answer.verify().valid:
        raise RuntimeError(f"the certificate of {answer!r} does not verify")
    return f"C(0.9, 0.5) = {answer.value:.6f}, verified"


def _compiler() -> str:
    from ossb.families.excess import excess

    seconds = _timed(lambda: excess.compiled(0.25))
    if excess.compiled(0.25) != excess(0.25):
        raise RuntimeError("compiled and interpreted arithmetic differ")
    return f"compiled and interpreted agree, first call {seconds:.2f} s"


def _cache() -> str:
    from ossb.families.excess import excess

    excess.compiled(0.25)
    statistics = excess.compiled.stats  # type: ignore[attr-defined]
    return f"compiled code is kept in {statistics.cache_path}"


def _linear_programs() -> str:
    from ossb.structures import bound
    from ossb.structures.finite import Finite

    instance = Finite(theta=[1.0, 0.5], parameters=[[1.0, 0.5], [1.0, 2.0]])
    seconds = _timed(lambda: bound(instance))
    return f"HiGHS solved a finite instance in {seconds * 1e3:.1f} ms"


def _conic_programs() -> str:
    from ossb.structures import bound
    from ossb.structures.polytope import Polytope

    instance = Polytope(A=[[1.0, -2.0, 1.0]], b=[0.0], theta=[0.3, 0.8, 0.5])
    seconds = _timed(lambda: bound(instance))
    return f"a concave instance was certified in {seconds * 1e3:.1f} ms"
