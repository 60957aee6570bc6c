"""Pictures of the documentation: few colours are enough, and take a third of the bytes."""

from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image


def saved(figure: Any, path: Path, dpi: float, colours: int) -> None:
    """Write a figure as PNG."""
    drawn = BytesIO()
    figure.savefig(drawn, format="png", dpi=dpi)
    reduced(Image.open(drawn), path, colours)


def reduced(picture: Any, path: Path, colours: int) -> None:
    """Write a picture as PNG, each colour replaced by the nearest of those that cover most."""
    few = picture.convert("RGB").quantize(
        colours, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
    )
    few.save(path, optimize=True)
