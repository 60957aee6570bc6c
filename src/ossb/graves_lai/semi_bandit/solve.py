"""One-off bounds for listed arms."""

from typing import Any

import numpy as np

from ossb.errors import InputError
from ossb.graves_lai.semi_bandit.gaussian_items import GaussianItems
from ossb.graves_lai.semi_bandit.listed import set_gaps, solve_cold
from ossb.graves_lai.semi_bandit.memory import start
from ossb.graves_lai.semi_bandit.solution import SemiBanditSolution, certify

INTERPRETED_SIZE = 100_000  # arms × items up to which nobody should wait for a compiler
INTERPRETED_ITEMS = 40
TIE = 1e-13


def solve(
    arms: np.ndarray,
    phi: np.ndarray,
    gap: float = 1e-6,
    compiled: bool | None = None,
    items: Any = None,
) -> SemiBanditSolution:
    """The Graves–Lai bound of listed arms at item means ``phi``.

    Parameters
    ----------
    arms
        0/1 matrix, one row per arm.
    phi
        Item means.
    gap
        Relative gap to certify.
    compiled
        Whether to run the compiled kernels; by default only for large problems.
    items
        How items are observed; Gaussian with unit variance by default.
    """
    arms = np.ascontiguousarray(arms, dtype=np.float64)
    phi = np.ascontiguousarray(phi, dtype=np.float64)
    check_arms(arms, phi)
    if items is None:
        items = GaussianItems(1.0)
    if compiled is None:
        compiled = arms.size > INTERPRETED_SIZE or arms.shape[1] > INTERPRETED_ITEMS
    memory = start(arms)
    find = set_gaps.compiled if compiled else set_gaps
    run = solve_cold.compiled if compiled else solve_cold
    leader = find(arms, phi, memory)
    run(items, arms, phi, memory, leader, 0.9 * gap)
    return certify(items, arms, phi, memory)


def check_arms(arms: np.ndarray, phi: np.ndarray) -> None:
    """Refuse what is not a list of 0/1 arms with one best arm."""
    if arms.ndim != 2 or arms.shape[0] == 0 or arms.shape[1] == 0:
        raise InputError("arms", "be a matrix with a row for each arm", arms.shape)
    if not np.isin(arms, (0.0, 1.0)).all():
        raise InputError("arms", "hold 0 and 1 only")
    if phi.shape != (arms.shape[1],) or not np.isfinite(phi).all():
        raise InputError("phi", f"hold {arms.shape[1]} finite numbers", phi)
    rewards = arms @ phi
    scale = np.abs(rewards).max()
    if np.count_nonzero(rewards >= rewards.max() - TIE * scale) > 1:
        raise InputError("phi", "have one best arm")
