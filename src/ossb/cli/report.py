"""``ossb report``: tables, figures and a page from an experiment's folder."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ossb.experiments.ledger import Ledger


OUTPUTS = ("report.html", "regret.pdf", "table.csv", "table.tex", "comparisons.csv")
SAID = "table.txt"  # the tables as they were printed
OF = ".report"  # what they were made from


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
    from ossb.experiments import ends, tables
    from ossb.experiments.overall import is_comparison, overall, overall_text
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
    stops, answers = ends.stop_rows(results), ends.answer_rows(results)
    for name, content in (
        ("table.csv", tables.as_csv(found)),
        ("table.tex", tables.as_latex(found)),
        ("comparisons.csv", tables.comparisons_csv(results)),
        *((("stops.csv", ends.as_csv(stops)),) if stops else ()),
        *((("answers.csv", ends.as_csv(answers)),) if answers else ()),
    ):
        with replacing(base / name) as aside:
            aside.write_text(content, encoding="utf-8")
        written.append(base / name)
    known = results.experiment.answer.until(results.experiment.epsilon)
    texts = [
        ends.stops_as_text(stops, results.experiment.until, known),
        ends.answers_as_text(answers),
    ]
    if not any(texts):
        texts = [tables.as_text(found)]
        for group in results.groups:
            compared = tables.statement(tables.comparisons(results, group))
            texts.append(f"{group}: {compared}" if compared else "")
        if is_comparison(results):
            texts.append(overall_text(overall(results), len(results.experiment.instances)))
    said = "\n\n".join(text for text in texts if text)
    for name, content in ((SAID, said), (OF, _digest(results.ledger))):
        with replacing(base / name) as aside:
            aside.write_text(content, encoding="utf-8")
    typer.echo(said)
    typer.echo("")
    for path in written:
        typer.echo(f"wrote {path}")


def standing_report(folder: str) -> str | None:
    """The tables as text, where nothing was played since they and the page were written."""
    from ossb.experiments.ledger import Ledger

    base = Path(folder)
    if not all((base / name).is_file() for name in (*OUTPUTS, SAID, OF)):
        return None
    if (base / OF).read_text(encoding="utf-8") != _digest(Ledger(folder)):
        return None
    return (base / SAID).read_text(encoding="utf-8")


def _digest(ledger: "Ledger") -> str:
    """Of all that a report is made from: the version, the definition and the cells."""
    from hashlib import sha256
    from importlib.metadata import version

    cells = sorted({cell["part"] for cell in ledger.index()} & ledger.finished())
    said = [version("ossb"), repr(ledger.experiment().to_dict()), *cells]
    return sha256("\n".join(said).encode()).hexdigest()
