"""The Graves–Lai program of linear arms with Gaussian noise."""

from ossb.graves_lai.linear.rates import LinearMemory, rates, start
from ossb.graves_lai.linear.solution import LinearSolution, solve

__all__ = ["LinearMemory", "LinearSolution", "rates", "solve", "start"]
