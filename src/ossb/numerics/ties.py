"""Which arms are as good as the best one, up to what rounding may have made of a tie."""

import numpy as np

TIE = 1e-13  # of the terms that rewards are sums of


def terms_of(rows: np.ndarray, parameter: np.ndarray) -> np.ndarray:
    """For each row the sum of the absolute terms that its product with a parameter is a sum of."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(np.abs(rows) @ np.abs(parameter))


def tied(rewards: np.ndarray, terms: np.ndarray | None = None) -> np.ndarray:
    """The arms that are best, however large in size the rewards of others are.

    ``terms`` are those of ``terms_of`` where rewards are sums, otherwise the rewards themselves.
    """
    best = int(np.argmax(rewards))
    sizes = np.abs(rewards)
    terms = sizes if terms is None else terms
    scale = np.minimum(np.maximum(terms, terms[best]), sizes.max())
    return np.flatnonzero(rewards >= rewards[best] - TIE * scale)
