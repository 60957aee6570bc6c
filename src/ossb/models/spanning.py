"""Small sets of arms that together show every direction."""

import numpy as np

ABSENT = 1e-9  # a direction shorter than this, relative to the longest arm, is none
BETTER = 1.0 + 1e-9  # growth of the volume for which two arms are swapped


def spanning_arms(arms: np.ndarray) -> list[int]:
    """Arms that span all others, longest first: Gram–Schmidt with pivoting.

    Parameters
    ----------
    arms
        K rows of d numbers.
    """
    rest = np.array(arms, dtype=np.float64)
    least = ABSENT * np.sqrt((rest * rest).sum(axis=1).max(initial=0.0))
    chosen: list[int] = []
    while len(chosen) < rest.shape[1]:
        lengths = np.sqrt((rest * rest).sum(axis=1))
        arm = int(np.argmax(lengths))
        if not lengths[arm] > least:
            break
        direction = rest[arm] / lengths[arm]
        for _ in range(2):  # once more, against rounding
            rest -= np.outer(rest @ direction, direction)
        chosen.append(arm)
    return chosen or [0]


def barycentric_spanner(arms: np.ndarray) -> list[int]:
    """Arms of which every arm is a combination with coefficients in [−1, 1].

    Awerbuch and Kleinberg (2004): swap arms as long as the volume they span grows.
    """
    arms = np.asarray(arms, dtype=np.float64)
    chosen = spanning_arms(arms)
    while True:
        coefficients = np.linalg.lstsq(arms[chosen].T, arms.T, rcond=None)[0]
        place, arm = np.unravel_index(np.argmax(np.abs(coefficients)), coefficients.shape)
        if not abs(coefficients[place, arm]) > BETTER:
            return chosen
        chosen[int(place)] = int(arm)
