"""Small sets of arms that together show every direction."""

import numpy as np

from ossb.kernels import kernel
from ossb.models.geometry import TIED, geometry
from ossb.tally import Tally

BETTER = 1.0 + 1e-9  # growth of the volume for which two arms are swapped


@kernel
def first_look(spanning: np.ndarray, tally: Tally) -> int:
    """The first arm of a set that was neither played nor told of; −1 once there is none.

    Without these looks an arm could be ruled out by a prior alone.
    """
    for place in range(spanning.shape[0]):
        arm = spanning[place]
        if tally.plays[arm] == 0 and tally.counts[arm] == 0:
            return int(arm)
    return -1


def spanning_arms(arms: np.ndarray) -> list[int]:
    """Arms that span all others, whatever the units of their features.

    Parameters
    ----------
    arms
        K rows of d numbers.
    """
    return geometry(arms).spanning


def barycentric_spanner(arms: np.ndarray) -> list[int]:
    """Arms of which every arm is a combination with coefficients in [−1, 1].

    Awerbuch and Kleinberg (2004): swap arms as long as the volume they span grows.
    """
    shape = geometry(arms)
    rows, chosen = shape.rows, list(shape.spanning)
    while True:
        coefficients = np.abs(np.linalg.lstsq(rows[chosen].T, rows.T, rcond=None)[0])
        largest = coefficients.max()
        if not largest > BETTER:
            return chosen
        place, arm = np.argwhere(coefficients >= (1.0 - TIED) * largest)[0]
        chosen[int(place)] = int(arm)
