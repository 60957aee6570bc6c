"""``ossb report``: tables, figures and a page from an experiment's folder."""

from pathlib import Path
from typing import Annotated

import typer


def report(
    folder: Annotated[str, typer.Argument(help="Folder that ossb run filled.")],
    html: Annotated[str | None, typer.Option(metavar="FILE", help="Where the page goes.")] = None,
    pdf: Annotated[str | None, typer.Option(metavar="FILE", help="Where the figure goes.")] = None,
    band: Annotated[
        str, typer.Option(help="Band: confidence, percentile or simultaneous.")
    ] = "confidence",
) -> None:
    """Write tables (text, CSV, LaTeX), figures (PDF, PNG) and a page to explore (HTML)."""
    write_report(folder, html, pdf, band)


def write_report(
    folder: str, html: str | None = None, pdf: str | None = None, band: str = "confidence"
) -> None:
    """Write everything, print the table and where the files are."""
    from ossb.experiments import tables
    from ossb.experiments.results import Results
    from ossb.figures.experiment import draw_experiment
    from ossb.report import write_page

    results = Results(folder)
    found = tables.rows(results)
    base = Path(folder)
    typer.echo(tables.as_text(found))
    for group in dict.fromkeys(row.group for row in found):
        said = tables.statement(tables.comparisons(results, group))
        if said:
            typer.echo(f"\n{group}: {said}")
    (base / "table.csv").write_text(tables.as_csv(found), encoding="utf-8")
    (base / "table.tex").write_text(tables.as_latex(found), encoding="utf-8")
    figure = Path(pdf) if pdf else base / "regret.pdf"
    drawn = draw_experiment(results, figure, band)
    page = Path(html) if html else base / "report.html"
    write_page(results, found, page, band)
    typer.echo("")
    for path in [*drawn, page, base / "table.csv", base / "table.tex"]:
        typer.echo(f"wrote {path}")
