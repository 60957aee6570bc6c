"""The Graves–Lai program of linear arms with Gaussian noise."""

from ossb.graves_lai.linear.memory import LinearMemory, start
from ossb.graves_lai.linear.rates import rates
from ossb.graves_lai.linear.solution import LinearSolution, solve

__all__ = ["LinearMemory", "LinearSolution", "rates", "solve", "start"]
