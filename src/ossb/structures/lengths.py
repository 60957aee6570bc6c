"""How long rows of features may be, where that is declared."""

from typing import Any

import numpy as np

from ossb import fields as read
from ossb.errors import InputError

ROUNDING = 1e-12


def check_lengths(rows: np.ndarray, longest: Any, field: str) -> None:
    """Refuse the first row that is longer than ``feature_norm`` says."""
    if longest is None:
        return
    most = read.number(longest, "feature_norm")
    if not most > 0.0:
        raise InputError("feature_norm", "be positive", longest)
    lengths = np.linalg.norm(rows, axis=1)
    for place in np.flatnonzero(lengths > most * (1.0 + ROUNDING))[:1].tolist():
        must = f"be no longer than feature_norm, {most:g}"
        raise InputError(f"{field}[{place}]", must, float(lengths[place]))
