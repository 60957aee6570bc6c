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
                "status": bound.status,
                "gap": bound.promised,
                "proved": {
                    "lower": _finite(report.lower),
                    "upper": _finite(report.upper),
                    "information": _finite(report.information),
                    "cost": _finite(report.cost),
                },
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
            status = bound.status + f" to {bound.promised:.1e}" * (bound.status == "certified")
            typer.echo(f"  claimed  {bound.lower!r} <= C <= {bound.upper!r}, {status}")
            typer.echo(f"  proved   {report.lower!r} <= C <= {report.upper!r}")
            typer.echo(f"  rates    cost {report.cost!r}, least information {report.information!r}")
            for problem in report.problems:
                typer.echo(f"  problem: {problem}")
    if not all(report.valid for _, report in outcomes):
        raise typer.Exit(3)


def _finite(value: float) -> float | None:
    return value if abs(value) < float("inf") else None
