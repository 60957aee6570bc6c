"""Numerical methods that know nothing of bandits, as kernels."""
