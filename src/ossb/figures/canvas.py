"""What all figures share: their look, and how they are saved, without dates."""

from pathlib import Path
from typing import Any

from ossb.errors import InputError
from ossb.extras import load, need
from ossb.files import replacing

FORMATS = (".png", ".pdf", ".svg")
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#999999", "#882255")
STYLES = ("-", "--", "-.", ":")
PAPER: Any = {
    "font.size": 8.0,
    "axes.titlesize": 9.0,
    "axes.labelsize": 8.0,
    "legend.fontsize": 7.0,
    "xtick.labelsize": 7.0,
    "ytick.labelsize": 7.0,
    "lines.linewidth": 1.2,
    "svg.hashsalt": "ossb",
    "pdf.fonttype": 42,
}


def check_format(path: str | Path, field: str = "plot") -> None:
    """Refuse a file whose name ends in no format we write, or that nothing here can draw."""
    if Path(path).suffix.lower() not in FORMATS:
        raise InputError(field, f"end in one of {', '.join(FORMATS)}", str(path))
    need("matplotlib", field)


def new_figure(width: float, height: float) -> Any:
    """A figure that is not pyplot's: the backend of a running session stays as it is."""
    return load("matplotlib.figure", "plot").Figure(figsize=(width, height), layout="constrained")


def paper_style() -> Any:
    """A context in which text has the sizes of a two-column paper."""
    return load("matplotlib", "plot").rc_context(PAPER)


def save(figure: Any, path: str | Path, field: str = "plot") -> None:
    """Write a figure; the same figure gives the same bytes."""
    rc_context = load("matplotlib", "plot").rc_context
    key = {".pdf": "CreationDate", ".svg": "Date"}.get(Path(path).suffix.lower())
    try:
        with rc_context({"svg.hashsalt": "ossb"}), replacing(path) as aside:
            figure.savefig(aside, dpi=200, metadata={key: None} if key else {})
    except OSError as error:
        raise InputError(field, f"be a writable file: {error}") from None


def colour(place: int) -> str:
    """Okabe and Ito's palette, their yellow, too pale for lines, replaced; repeated at its end."""
    return PALETTE[place % len(PALETTE)]


def line_style(place: int) -> str:
    """Lines that differ in grey too."""
    return STYLES[place % len(STYLES)]
