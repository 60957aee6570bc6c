"""Gaps of arms whose mean is ⟨φ, x⟩, also where subtracting means would leave few digits."""

from fractions import Fraction

import numpy as np

NEAR = 1e-3  # gaps below this, relative to what they are the sum of, are summed exactly


def exact_gaps(arms: np.ndarray, phi: np.ndarray, best: int) -> np.ndarray:
    """⟨φ, x* − x⟩ of every arm, to the last digit where arms are nearly as good as the best."""
    terms = arms * phi
    gaps = terms[best].sum() - terms.sum(axis=1)
    size = np.abs(terms).sum(axis=1) + np.abs(terms[best]).sum()
    for x in np.flatnonzero(np.abs(gaps) < NEAR * size):
        gaps[x] = float(_difference(arms[best].tolist(), arms[x].tolist(), phi.tolist()))
    gaps[best] = 0.0
    return np.asarray(gaps)


def _difference(top: list[float], arm: list[float], phi: list[float]) -> Fraction:
    pairs = zip(top, arm, phi, strict=True)
    steps = ((Fraction(a) - Fraction(b)) * Fraction(p) for a, b, p in pairs if a != b)
    return sum(steps, Fraction(0))
