"""``ossb verify``: check a certificate with no solver."""

from typing import Annotated

import typer


def verify(
    certificate: Annotated[
        str,
        typer.Argument(help="File written by ossb bound --certificate; - reads standard input."),
    ],
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Check both sides of every bound in a certificate.

    It needs the file alone, and no solver. Exits with 0 if every side is proved and with 3 if any
    is not.

    Example: ossb verify proof.json
    """
    from ossb.certificates import verify as check

    outcomes = check(certificate)
    if json:
        import json as encoder

        content = [
            {
                "valid": report.valid,
                "claimed": {"lower": bound.lower, "upper": bound.upper},
                "proved": {"lower": _finite(report.lower), "upper": _finite(report.upper)},
                "residuals": {key: _finite(value) for key, value in report.residuals.items()},
                "problems": list(report.problems),
            }
            for bound, report in outcomes
        ]
        typer.echo(encoder.dumps(content, indent=2, allow_nan=False))
    else:
        for i, (bound, report) in enumerate(outcomes):
            verdict = "valid" if report.valid else "NOT PROVED"
            name = bound.instance.name or f"bounds[{i}]"
            typer.echo(f"{name}: {verdict}")
            typer.echo(f"  claimed  {bound.lower!r} <= C <= {bound.upper!r}")
            typer.echo(f"  proved   {report.lower!r} <= C <= {report.upper!r}")
            residuals = ", ".join(f"{key} {value:.1e}" for key, value in report.residuals.items())
            typer.echo(f"  residuals: {residuals}")
            for problem in report.problems:
                typer.echo(f"  problem: {problem}")
    if not all(report.valid for _, report in outcomes):
        raise typer.Exit(3)


def _finite(value: float) -> float | None:
    return value if abs(value) < float("inf") else None
