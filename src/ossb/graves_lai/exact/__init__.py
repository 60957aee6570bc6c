"""Proofs checked in exact arithmetic: every number of a certificate as it stands in the file.

A double is a rational number; comparisons of doubles decide as they stand.  What rounds, sums,
quotients, logarithms, is a ball of Arb: a midpoint and a radius that holds the true value.
"""
