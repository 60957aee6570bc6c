"""The Graves–Lai program of Lipschitz bandits: a linear program with its own simplex."""

from ossb.graves_lai.lipschitz.solution import LPSolution, certified, solve

__all__ = ["LPSolution", "certified", "solve"]
