"""Divergences to a hundred digits, from the exact values of the doubles passed in."""

from decimal import Decimal, localcontext

DIGITS = 100


def _log_term(a, b):
    """a ln(a/b), with 0 ln 0 = 0."""
    return Decimal(0) if a == 0 else a * (a / b).ln()


def gaussian(p, q, sigma=1.0):
    return (Decimal(p) - Decimal(q)) ** 2 / (2 * Decimal(sigma) ** 2)


def bernoulli(p, q):
    p, q = Decimal(p), Decimal(q)
    return _log_term(p, q) + _log_term(1 - p, 1 - q)


def poisson(p, q):
    p, q = Decimal(p), Decimal(q)
    return _log_term(p, q) - p + q


def exponential(p, q):
    p, q = Decimal(p), Decimal(q)
    return p / q - 1 - (p / q).ln()


def value(function, *arguments):
    """The double nearest to the exact divergence."""
    with localcontext() as context:
        context.prec = DIGITS
        return float(function(*arguments))
