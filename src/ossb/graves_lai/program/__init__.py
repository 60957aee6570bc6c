"""One solver for programs of rates: a barrier over an information record, with generation.

minimise Σ κ_x η_x subject to F_j(η) ≥ 1 for every alternative j, η ≥ 0, where
F_j(η) = min over its parameters λ of Σ η_x D(θ, λ, x) is concave and homogeneous, and its
gradient is the divergences at the minimiser.  What differs between structures is an information
record (``ossb.graves_lai.information``); costs, and whether the best arm's own plays are among
those that cost and tell something, are arguments.
"""

from ossb.graves_lai.program.solution import RatesSolution, look, solve
from ossb.graves_lai.program.warm import Held, follow, held
from ossb.graves_lai.program.work import symmetric, work_arrays

__all__ = ["Held", "RatesSolution", "follow", "held", "look", "solve", "symmetric", "work_arrays"]
