"""The Graves–Lai program of Lipschitz bandits: a linear program with its own simplex."""

from ossb.graves_lai.lipschitz.memory import LipschitzMemory, start
from ossb.graves_lai.lipschitz.solution import LPSolution, certified, solve
from ossb.graves_lai.lipschitz.warm import rates

__all__ = ["LPSolution", "LipschitzMemory", "certified", "rates", "solve", "start"]
