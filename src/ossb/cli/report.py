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
    """Write tables, figures and a page of an experiment.

    Tables as text, CSV and LaTeX; figures as PDF and PNG; an HTML page to explore, off-line.

    Example: ossb report results/figure1 --band simultaneous
    """
    write_report(folder, html, pdf, band)


def write_report(
    folder: str, html: str | None = None, pdf: str | None = None, band: str = "confidence"
) -> None:
    """Write everything, print the table and where the files are."""
    from ossb.experiments import tables
    from ossb.experiments.results import Results
    from ossb.experiments.statistics import BANDS
    from ossb.fields import choice
    from ossb.figures.canvas import check_format
    from ossb.figures.experiment import draw_experiment
    from ossb.files import replacing
    from ossb.report import write_page

    if pdf is not None:
        check_format(pdf, "pdf")
    choice(band, "band", BANDS)
    results = Results(folder)
    found = tables.rows(results)
    base = Path(folder)
    page = Path(html) if html else base / "report.html"
    write_page(results, found, page, band)
    written = draw_experiment(results, Path(pdf) if pdf else base / "regret.pdf", band)
    written.append(page)
    for name, content in (
        ("table.csv", tables.as_csv(found)),
        ("table.tex", tables.as_latex(found)),
        ("comparisons.csv", tables.comparisons_csv(results)),
    ):
        with replacing(base / name) as aside:
            aside.write_text(content, encoding="utf-8")
        written.append(base / name)
    typer.echo(tables.as_text(found))
    for group in results.groups:
        said = tables.statement(tables.comparisons(results, group))
        if said:
            typer.echo(f"\n{group}: {said}")
    typer.echo("")
    for path in written:
        typer.echo(f"wrote {path}")
