"""Means of components of which nothing was told yet, though they were asked for."""

import numpy as np

from ossb.kernels import kernel


@kernel
def fill_untold(counts: np.ndarray, means: np.ndarray) -> None:
    """Give them, in place of 0, the average of the others: where 0 lies tells nothing of them."""
    told, total = 0, 0.0
    for k in range(counts.shape[0]):
        if counts[k] > 0:
            told += 1
            total += means[k]
    if 0 < told < counts.shape[0]:
        for k in range(counts.shape[0]):
            if counts[k] == 0:
                means[k] = total / told
