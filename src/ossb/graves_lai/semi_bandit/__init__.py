"""Semi-bandit feedback: every item of the arm played is observed.

With w_i = Σ_{x∋i} η_x, the program is to minimise Σ η_x Δ_x subject to F_x(w) ≥ 1 for every
arm x not inside x*, where F_x(w) is the least information Σ_{i∈x∖x*} w_i d(φ_i, λ_i) over item
means under which x is as good as x*.  For Gaussian items that is
Σ_{i∈x∖x*} 1/w_i ≤ Δ_x²/2σ² (Combes, Talebi, Proutiere and Lelarge 2015).
"""

from ossb.graves_lai.semi_bandit.bernoulli_items import BernoulliItems
from ossb.graves_lai.semi_bandit.gaussian_items import GaussianItems
from ossb.graves_lai.semi_bandit.memory import SemiBanditMemory, start
from ossb.graves_lai.semi_bandit.poisson_items import PoissonItems
from ossb.graves_lai.semi_bandit.rates import rates
from ossb.graves_lai.semi_bandit.solution import SemiBanditSolution
from ossb.graves_lai.semi_bandit.solve import solve

__all__ = [
    "BernoulliItems",
    "GaussianItems",
    "PoissonItems",
    "SemiBanditMemory",
    "SemiBanditSolution",
    "rates",
    "solve",
    "start",
]
