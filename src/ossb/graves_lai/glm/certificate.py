"""Both sides of a bound recomputed from the instance and the proof, in plain numpy.

Lower: confusing parameters φ + δ_k with weights.  Upper: for rates η and an alternative x, any
p with Σ_y p_y y = τ x + ω x* gives, by weak duality,

    F_x(η) ≥ τ (u* − u_x) − Σ_y η_y d*(u_y, p_y / η_y),

where d*(u, r) is the divergence of the law of mean g(u) + r from that of mean g(u).  The
multipliers name a direction δ for every alternative (none are needed where the divergence is
quadratic, and F_x has a closed form); p_y = η_y (g(u_y + ⟨δ, y⟩) − g(u_y)) is
then moved onto the linear condition by weighted least squares.
"""

from typing import NamedTuple

import numpy as np

from ossb.errors import InputError
from ossb.graves_lai.information.index_frame import NEGLIGIBLE
from ossb.graves_lai.information.links import LOG, LOGISTIC
from ossb.graves_lai.linear.certificate import refuse_extremes

_RESIDUAL = 1e-9
_ROUNDING = 4e-15  # what rounding the features of a parallel arm may leave of it
_FLAT = 1e-8  # least weight of an arm whose law saturates, relative to where it stands
_INSIDE = 1.0 - 1e-13
_TERMS = 24


def excess(x: np.ndarray) -> np.ndarray:
    """x − ln(1 + x) for x > −1, without cancellation."""
    near = np.where(np.abs(x) <= 0.5, x, 0.0)
    ratio = near / (2.0 + near)
    square = ratio * ratio
    series = np.zeros_like(near)
    for k in range(_TERMS, 0, -1):
        series = series * square + 1.0 / (2.0 * k + 1.0)
    far = np.where(np.abs(x) <= 0.5, 1.0, x)
    return np.where(
        np.abs(x) <= 0.5, ratio * near - 2.0 * ratio * square * series, far - np.log1p(far)
    )


def means(link: int, index: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and complement to the greatest mean, each accurate where it is small."""
    if link == LOGISTIC:
        decay = np.exp(-np.abs(index))
        large, small = 1.0 / (1.0 + decay), decay / (1.0 + decay)
        return np.where(index >= 0, large, small), np.where(index >= 0, small, large)
    mean = np.exp(index) if link == LOG else np.asarray(index)
    return mean, np.full_like(mean, np.inf)


def variances(link: int, index: np.ndarray) -> np.ndarray:
    """g′(u)."""
    high, low = means(link, index)
    if link == LOGISTIC:
        return high * low
    return high if link == LOG else np.ones_like(high)


def changes(link: int, index: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """g(u + h) − g(u)."""
    if link == LOGISTIC:
        turn = np.where(shift > 0, -1.0, 1.0)
        high, low = means(link, turn * index)
        down = -np.abs(shift)
        return turn * high * low * np.expm1(down) / (low + high * np.exp(down))
    if link == LOG:
        return np.exp(index) * np.expm1(shift)
    return np.asarray(shift)


def divergences(link: int, index: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """d(u, h) = b(u + h) − b(u) − g(u) h."""
    if link == LOGISTIC:
        turn = np.where(shift > 0, -1.0, 1.0)
        high, low = means(link, turn * index)
        down = -np.abs(shift)
        total = low + high * np.exp(down)
        loss = low * np.expm1(down) / total
        first = np.where(loss > -0.5, excess(np.maximum(loss, -0.5)), loss - down + np.log(total))
        return high * first + low * excess(-high * np.expm1(down) / total)
    if link == LOG:
        grown = np.expm1(shift)
        return np.exp(index) * np.where(
            grown > -0.5, excess(np.maximum(grown, -0.5)), grown - shift
        )
    return 0.5 * shift * shift


def conjugates(link: int, index: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """sup over h of slope · h − d(u, h); +∞ beyond the means there are."""
    if link not in (LOGISTIC, LOG):
        return 0.5 * slope * slope
    high, low = means(link, index)
    answer = high * _entropy(slope / high)
    if link == LOGISTIC:
        answer = answer + low * _entropy(-slope / low)
    return answer


def _entropy(x: np.ndarray) -> np.ndarray:
    inside = np.clip(x, -0.5, 1.0)
    small = (1.0 + inside) * excess(-inside / (1.0 + inside))
    kept = 1.0 + np.clip(x, -1.0, -0.5)
    edge = kept * np.log(np.where(kept > 0, kept, 1.0)) - np.clip(x, -1.0, -0.5)
    large = (1.0 + np.maximum(x, 1.0)) * np.log1p(np.maximum(x, 1.0)) - np.maximum(x, 1.0)
    answer = np.where(x < -0.5, edge, np.where(x > 1.0, large, small))
    return np.where(x < -1.0, np.inf, answer)


def heaviest(
    link: int, arms: np.ndarray, index: np.ndarray, costs: np.ndarray, others: np.ndarray,
    directions: np.ndarray, weights: np.ndarray,
    slips: np.ndarray | None = None,
) -> float:  # fmt: skip
    """Maximum over x ≠ x* of Σ_k weights[k] d(u_x, h) / Δ_x.

    h is ⟨δ_k, x⟩, further from 0 by ``slips[x, k]`` where these are given.
    """
    total = np.zeros(others.size)
    for k, (weight, direction) in enumerate(zip(weights, directions, strict=True)):
        shift = arms[others] @ direction
        if slips is not None:
            shift = shift + np.copysign(slips[others, k], shift)
        total += weight * divergences(link, index[others], shift)
    return float((total / costs[others]).max())


def across(arms: np.ndarray, best: int) -> np.ndarray:
    """Arms without their part along the best one; exact zeros where nothing is left."""
    refuse_extremes(arms)
    length = float(np.linalg.norm(arms[best]))
    rest = np.array(arms)
    scale = float(np.linalg.norm(arms, axis=1).max())
    if length > NEGLIGIBLE * scale:
        unit = arms[best] / length
        for _ in range(2):
            rest -= np.outer(rest @ unit, unit)
    rest[best] = 0.0
    left, own = np.linalg.norm(rest, axis=1), np.linalg.norm(arms, axis=1)
    for arm in np.flatnonzero((left > _ROUNDING * own) & (left <= NEGLIGIBLE * scale)):
        raise InputError(
            f"arms[{int(arm)}]",
            f"be parallel to the best arm, arms[{best}], or further from that: only "
            f"{left[arm]:.1e} of it is not, too little for double precision where arms are as "
            f"long as {scale:.1e}",
        )
    rest[left <= NEGLIGIBLE * scale] = 0.0
    return rest


def information(
    link: int, arms: np.ndarray, index: np.ndarray, best: int, rates: np.ndarray,
    directions: dict[int, np.ndarray], free: bool = True, margins: np.ndarray | None = None,
) -> float:  # fmt: skip
    """A lower bound of F(η) = min_x F_x(η), in doubles; +∞ where no arm can be told from the best.

    It is what solvers scale their rates by; the check proves its own.  ``margins`` are how far the
    best arm's index is from each arm's: near ties, differences of ``index`` have few digits.
    """
    margins = index[best] - index if margins is None else margins
    frame = _frame(link, arms, index, best, rates, free)
    if isinstance(frame, float):
        return frame
    if link in (LOGISTIC, LOG) and any(int(arm) not in directions for arm in frame.wanted):
        return 0.0
    if link not in (LOGISTIC, LOG):  # quadratic: F_x = m² / (2 zᵀ G⁻¹ z), and G is the identity
        need = margins[frame.wanted]
        squares = (frame.targets * frame.targets).sum(axis=1)
        return float((need * need / (2.0 * squares)).min())
    least = np.inf
    for place in range(frame.wanted.size):
        found = _dual(link, arms, index, margins, rates, frame, place, directions)
        least = min(least, 0.0 if found is None else found[0])
    return max(0.0, float(least))


def proposals(
    link: int, arms: np.ndarray, index: np.ndarray, best: int, rates: np.ndarray,
    directions: dict[int, np.ndarray], free: bool = True, margins: np.ndarray | None = None,
) -> dict[int, tuple[float, np.ndarray]]:  # fmt: skip
    """τ and p of every arm that has a direction, p by arm: what a proof starts from."""
    margins = index[best] - index if margins is None else margins
    frame = _frame(link, arms, index, best, rates, free)
    answer: dict[int, tuple[float, np.ndarray]] = {}
    if isinstance(frame, float):
        return answer
    for place, arm in enumerate(frame.wanted.tolist()):
        if arm in directions:
            found = _dual(link, arms, index, margins, rates, frame, place, directions)
            if found is not None:
                pulls = np.zeros(len(arms))
                pulls[frame.played] = found[2]
                answer[arm] = found[1], pulls
    return answer


class _Frame(NamedTuple):
    """The arms played and those to be told apart, in coordinates scaled by their information."""

    played: np.ndarray
    wanted: np.ndarray
    points: np.ndarray
    targets: np.ndarray


def _frame(
    link: int, arms: np.ndarray, index: np.ndarray, best: int, rates: np.ndarray, free: bool
) -> _Frame | float:
    """The frame, or the information where that is known at once.

    Arms are seen across the best one where its plays are free, else as they are, and told apart
    by what they are more than it.
    """
    rest = across(arms, best) if free else arms
    aims = rest if free else arms - arms[best]
    wanted = np.flatnonzero(np.abs(aims).any(axis=1))
    if not wanted.size:
        return float("inf")
    played = np.flatnonzero((rates > 0) & np.abs(rest).any(axis=1))
    if not played.size:
        return 0.0
    variance = variances(link, index[played])
    # columns of `basis` span what the rates tell; coordinates are scaled by their information
    _, sizes, right = np.linalg.svd(
        rest[played] * np.sqrt(rates[played] * variance)[:, None], full_matrices=False
    )
    rank = int((sizes > 1e-13 * sizes[0]).sum())
    basis = right[:rank].T / sizes[:rank]
    points, targets = rest[played] @ basis, aims[wanted] @ basis
    inside = targets @ (right[:rank] * sizes[:rank, None])
    lost = np.linalg.norm(inside - aims[wanted], axis=1)
    if (lost > _RESIDUAL * np.linalg.norm(aims[wanted], axis=1)).any():
        return 0.0
    return _Frame(played, wanted, points, targets)


def _dual(
    link: int, arms: np.ndarray, index: np.ndarray, margins: np.ndarray, rates: np.ndarray,
    frame: _Frame, place: int, directions: dict[int, np.ndarray],
) -> tuple[float, float, np.ndarray] | None:  # fmt: skip
    """What the direction of an arm proves, with τ and p; None where it proves nothing."""
    arm, target, points = int(frame.wanted[place]), frame.targets[place], frame.points
    u, eta, margin = index[frame.played], rates[frame.played], float(margins[arm])
    with np.errstate(over="ignore"):
        shift = arms[frame.played] @ directions[arm]
        pulls = eta * changes(link, u, shift)
    if not np.isfinite(pulls).all():
        return None
    weight = eta * np.maximum(variances(link, u + shift), _FLAT * variances(link, u))
    system = np.linalg.qr(points * np.sqrt(weight)[:, None])[1]
    if not (np.abs(np.diag(system)) > 0).all():
        return None
    aim = np.linalg.solve(system.T, target)
    multiplier = float(aim @ np.linalg.solve(system.T, pulls @ points) / (aim @ aim))
    for _ in range(3):
        residual = pulls @ points - multiplier * target
        move = np.linalg.solve(system, np.linalg.solve(system.T, residual))
        pulls = pulls - weight * (points @ move)
    residual = pulls @ points - multiplier * target
    if not np.abs(residual).max() <= _RESIDUAL * abs(multiplier) * np.abs(target).max():
        return None
    if multiplier * margin < 0:
        return None
    # any multiple of p and τ meets the condition too: one that stays within the means there are
    within = min(1.0, _room(link, u, pulls / eta))
    tau, pulls = within * multiplier, within * pulls
    return float(tau * margin - (eta * conjugates(link, u, pulls / eta)).sum()), tau, pulls


def _room(link: int, index: np.ndarray, slope: np.ndarray) -> float:
    if link not in (LOGISTIC, LOG):
        return 1.0
    high, low = means(link, index)
    room = np.where(slope < 0, high, low)
    tight = np.abs(slope) > _INSIDE * room
    return float((_INSIDE * room[tight] / np.abs(slope[tight])).min(initial=1.0))
