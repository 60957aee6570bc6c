"""Pictures: rates of bounds, regret of policies, whole experiments."""

from ossb.figures.rates import draw_rates
from ossb.figures.regret import draw_regret

__all__ = ["draw_rates", "draw_regret"]
