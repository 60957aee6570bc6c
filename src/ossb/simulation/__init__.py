"""The simulator: policies in a compiled loop, thousands of trials, paired noise."""

from ossb.simulation.result import PolicyResult, SimulationResult
from ossb.simulation.simulate import simulate

__all__ = ["PolicyResult", "SimulationResult", "simulate"]
