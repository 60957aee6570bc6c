"""When may one stop? What is shared out of δ, and a threshold for structures of one's own.

Structures of this package have evidence of their own, see ``ossb.models.rivals``.  For others,
Kaufmann and Koolen (2021, "Mixture martingales revisited with applications to sequential tests
and confidence intervals", Theorem 7 and its Gaussian twin): for observations of a one-parameter
exponential family, with probability at least 1 − δ, for all times at once,

    Σ_k N_k d(m_k, θ_k) ≤ 3 Σ_k ln(1 + ln N_k) + n 𝒯(ln(1/δ) / n),

the sum over n components.  The generalised likelihood ratio against the truth is at most the
left side whatever the structure, because the truth lies in Θ; so if the ratio of the leader
against every alternative exceeds the right side, the leader is the best arm with that
confidence.
"""

import math

import numpy as np

FIRST = 0.9  # of δ, for the arms that a campaign begins with
LATER = 0.05  # of δ, for all sets with arms added later
RETIRED = 0.05  # of the share of a set of arms, on top of it, for what is left once some retire
LEAST = math.ulp(0.0)  # the smallest double above 0, for a share of δ that is below it


def threshold(counts: np.ndarray, delta: float, components: int | None = None) -> float:
    """What the smallest likelihood ratio has to exceed at confidence 1 − δ.

    Parameters
    ----------
    counts
        Observations of each component that the ratio is about.
    components
        How many there are in all, those of retired arms included: the theorem bounds the sum of
        the positive parts over a set that was fixed beforehand, and so over every part of it.
    """
    seen = counts[counts > 0]
    n = counts.size if components is None else components
    wandering = float(3.0 * np.log1p(np.log(seen)).sum())
    doubt = -math.log(max(delta, LEAST))  # 1/δ would overflow before δ does
    return wandering + n * calibration(doubt / n)


def share(added: int, may_grow: bool) -> float:
    """The part of δ that the arms there are after some were added have.

    Each set of arms that there ever was is a test of its own, and all of them may be wrong: the
    shares sum to less than 1.  Most campaigns add no arm, so the first set has ``FIRST`` of δ,
    which costs its threshold about ln(1 / ``FIRST``), and the later ones, k = 1, 2, …, have 1 / (k
    (k + 1)) of ``LATER``; what is left is for retired arms.  All of δ where no arm can ever be
    added.
    """
    if not may_grow:
        return 1.0
    return FIRST if added == 0 else LATER / (added * (added + 1))


def left_out(units: int, gone: int) -> float:
    """What is added to a threshold where ``gone`` of the arms (items) there ever were are retired.

    Which ones may follow from what was told, so that each choice of them is a test of its own: with
    ``RETIRED`` / (g (g + 1)) of the share, g how many there are, evenly over all choices of g.
    """
    if gone <= 0:
        return 0.0
    choices = math.lgamma(units + 1.0) - math.lgamma(gone + 1.0) - math.lgamma(units - gone + 1.0)
    return choices + math.log(gone * (gone + 1.0) / RETIRED)


def calibration(x: float) -> float:
    """𝒯(x) = 2 h̃((h⁻¹(1 + x) + ln(2 ζ(2))) / 2), with h(u) = u − ln u on u ≥ 1."""
    inner = (_inverse_h(1.0 + x) + math.log(2.0 * math.pi * math.pi / 6.0)) / 2.0
    return 2.0 * _h_tilde(inner)


def _inverse_h(value: float) -> float:
    """The u ≥ 1 with u − ln u = value."""
    u = value + math.log(value + math.sqrt(2.0 * max(value - 1.0, 0.0))) if value > 1.0 else 1.0
    for _ in range(60):
        slope = 1.0 - 1.0 / u
        if slope <= 0.0:
            break
        step = (u - math.log(u) - value) / slope
        u = max(1.0, u - step)
        if abs(step) <= 1e-14 * u:
            break
    return u


def _h_tilde(y: float) -> float:
    """h̃ with z = 3/2: e^{1/h⁻¹(y)} h⁻¹(y) where y ≥ h(1 / ln z), else z (y − ln ln z)."""
    z = 1.5
    edge = 1.0 / math.log(z)
    if y >= edge - math.log(edge):
        u = _inverse_h(y)
        return math.exp(1.0 / u) * u
    return z * (y - math.log(math.log(z)))
