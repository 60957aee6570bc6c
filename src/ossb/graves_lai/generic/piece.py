"""One polytope of a union."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Piece:
    """A polytope of parameters, and what the arms bring there.

    Parameters
    ----------
    matrix, bounds
        matrix λ ≤ bounds.
    equal_matrix, equal_bounds
        equal_matrix λ = equal_bounds.
    rewards
        Rewards are rewards λ, signed so that more is better.
    """

    matrix: np.ndarray  # (m, n)
    bounds: np.ndarray  # (m,)
    equal_matrix: np.ndarray  # (q, n)
    equal_bounds: np.ndarray  # (q,)
    rewards: np.ndarray  # (K, n)
