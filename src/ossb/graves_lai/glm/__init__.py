"""Generalised linear bandits: arms whose means are a known function of an unknown index."""
