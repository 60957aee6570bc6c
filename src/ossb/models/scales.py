"""How far linear arms may differ: a prior whose scale is learnt.

In coordinates of the arms (``geometry.py``), in units of the noise, rewards have a level, of which
nothing is known, and differ from it by τ on average, a τ that is not known either: normal priors
with the precision

    V₀(τ) = (d′ / τ²) Cov(x) + LEVEL x̄x̄ᵀ,   d′ the number of directions in which arms differ,

one for each of ``WIDE`` and as likely at first, and, less likely, one of arms that are nearly
alike, ``NARROW``: under it the best of few observations need not lie at the rim of the arms, where
it costs the most if all are nearly as good.  The widest is as good as flat once every direction
was seen.  What is told weighs them by Bayes' rule: with V = V₀ + Σ n x xᵀ and θ̂ = V⁻¹ Σ n m x, the
likelihood of a prior is |V₀|^½ |V|^−½ exp(−(Σ n (m − ⟨θ̂, x⟩)² + θ̂ᵀV₀θ̂) / 2σ²), up to what is common
to all.

Few arms say little of how alike they are: ``NARROW`` has odds of ``ODDS`` where K arms are twice as
many as d′ + 1 or more, less for fewer, none where they are no more; and at most ``CERTAINTY`` times
the volume that it leaves of that of τ = 1.
"""

import math

import numpy as np

from ossb.kernels import kernel
from ossb.models.geometry import CONSTANT, Geometry

WIDE = (2.0**17, 1024.0, 256.0, 64.0, 16.0, 4.0, 1.0)
NARROW = 1.0 / 16.0
ODDS = 0.1
CERTAINTY = 100.0
LEVEL = 1e-12
UNBELIEVED = 3e-4  # a prior believed less is left out
SAME = 0.05  # in ln det V: a prior so close to the widest is taken for it


def precisions(shape: Geometry) -> np.ndarray:
    """d′ / τ² of every scale, the widest first; of the arms that are alike last, if they can be."""
    scales = WIDE if narrow_odds(shape) <= 0.0 else (*WIDE, NARROW)
    return shape.n_directions / np.square(scales)


def narrow_odds(shape: Geometry) -> float:
    """Prior odds of arms that are alike, beside any one of the other scales."""
    redundancy = min((shape.n_distinct - 1) / shape.n_directions - 1.0, 1.0)
    return min(ODDS, CERTAINTY * NARROW**shape.n_directions) * redundancy


def prior_scores(shape: Geometry) -> np.ndarray:
    """ln of the odds of every scale and of |V₀|^½."""
    spread = precisions(shape)
    away = 1.0 if shape.has_level else float(shape.centre @ shape.centre)
    volumes = (shape.rows.shape[1] - 1) * np.log(spread)
    volumes += np.log(spread * (1.0 - away) + LEVEL * away)
    scores = 0.5 * volumes
    if len(spread) > len(WIDE):
        scores[-1] += math.log(narrow_odds(shape))
    return np.asarray(scores)


def flat_prior(shape: Geometry) -> np.ndarray:
    """V₀ of the widest scale."""
    rank = shape.rows.shape[1]
    prior = np.zeros((rank, rank))
    add_prior(precisions(shape)[0], shape.centre, prior)
    return prior


@kernel
def add_prior(precision: float, centre: np.ndarray, out: np.ndarray) -> None:
    """Add precision · Cov(x) + LEVEL x̄x̄ᵀ to a matrix."""
    for i in range(centre.shape[0]):
        for k in range(centre.shape[0]):
            out[i, k] += (LEVEL - precision) * centre[i] * centre[k]
        out[i, i] += precision


@kernel
def stray(precision: float, centre: np.ndarray, theta: np.ndarray) -> float:
    """θᵀV₀θ, without loss where the level is far larger than what arms differ by."""
    along, length = 0.0, 0.0
    for i in range(centre.shape[0]):
        along += theta[i] * centre[i]
        length += centre[i] * centre[i]
    apart = 0.0
    for i in range(centre.shape[0]):
        across = theta[i] - along * centre[i]
        apart += across * across
    if 1.0 - length > CONSTANT:
        apart += along * along * (1.0 - length)
    return precision * apart + LEVEL * along * along


@kernel
def misfit(counts: np.ndarray, means: np.ndarray, rewards: np.ndarray) -> float:
    """Σ n (m − r)²."""
    total = 0.0
    for x in range(counts.shape[0]):
        if counts[x] > 0:
            off = means[x] - rewards[x]
            total += counts[x] * off * off
    return total


@kernel
def slack(centre: np.ndarray, inverse: np.ndarray) -> float:
    """tr(W Cov(x)): ln det V grows by at most so much for each unit of precision."""
    total = 0.0
    for i in range(centre.shape[0]):
        total += inverse[i, i]
        for k in range(centre.shape[0]):
            total -= centre[i] * inverse[i, k] * centre[k]
    return max(total, 0.0)


@kernel
def share_out(scores: np.ndarray, shares: np.ndarray) -> None:
    """Write the probability of every prior of these scores, 0 where it is next to nothing."""
    top, total = -math.inf, 0.0
    for c in range(scores.shape[0]):
        top = max(top, scores[c])
    for c in range(scores.shape[0]):
        shares[c] = math.exp(scores[c] - top)
        total += shares[c]
    kept = 0.0
    for c in range(scores.shape[0]):
        shares[c] = shares[c] / total if shares[c] > UNBELIEVED * total else 0.0
        kept += shares[c]
    for c in range(scores.shape[0]):
        shares[c] /= kept
