"""Many small convex programs at once, by a primal–dual interior-point method.

For each program a of a batch: minimise f(y) = Σ_k w_k d(θ_k, θ_k + start_k + (slopes y)_k)
subject to rows y ≤ room.  y = 0 is strictly feasible, and stays so: a row's slack is never
left.  Mehrotra's predictor and corrector; a step is halved while it makes the dual residual
worse, since f is not quadratic.  Every array has the batch as its first axis.
"""

from dataclasses import dataclass, replace

import numpy as np

from ossb.graves_lai.generic.divergence import Divergence

_STEPS = 60
_CAREFUL = 25  # steps after which a program that is not done goes on with care
_CENTRAL = 0.3  # of the mean gap, that a careful step leaves at least
_SHORT = 0.7  # how far towards the nearest wall a careful step goes
_BACK = 0.995
_RIDGE = 1e-15
_RANK = 1e-11
_UNMOVED = 1e-9  # a row that changes by less, relatively, along a move does not change
_NULL = 1e-13
_END = 1e-100
_HIGH_END = 1e-16
_STATIONARY = 1e-11


@dataclass(frozen=True, eq=False)
class Batch:
    """Programs of one shape; smaller ones are padded with rows 0 · y ≤ 1 and unused columns."""

    divergence: Divergence
    theta: np.ndarray  # (C,)
    start: np.ndarray  # (a, C)
    slopes: np.ndarray  # (a, C, r)
    rows: np.ndarray  # (a, m, r)
    room: np.ndarray  # (a, m), positive
    anchor: np.ndarray  # (a, r, r), positive on the padding, so that it stays where it is

    def changes(self, point: np.ndarray) -> np.ndarray:
        """Changes of the means from θ."""
        return np.asarray(self.start + (self.slopes @ point[..., None])[..., 0])

    def recast(self, transform: np.ndarray, null: np.ndarray) -> "Batch":
        """The same programs in coordinates y = transform ŷ; ``null`` are those without weight."""
        anchor = transform.transpose(0, 2, 1) @ self.anchor @ transform
        slopes = _without_noise(self.slopes, self.slopes @ transform, null)
        rows = _without_noise(self.rows, self.rows @ transform, null)
        return Batch(self.divergence, self.theta, self.start, slopes, rows, self.room, anchor)

    def origin(self) -> np.ndarray:
        return np.zeros(self.anchor.shape[:2])

    def slacks(self, point: np.ndarray) -> np.ndarray:
        return np.asarray(self.room - (self.rows @ point[..., None])[..., 0])


@dataclass(frozen=True, eq=False)
class Outcome:
    """Where the programs ended, and lower bounds of their values from exact multipliers.

    What moves along directions without weight is kept apart: rows alone may let it go far,
    where rounding would drown the means.
    """

    point: np.ndarray  # (a, r)
    loose: np.ndarray  # (a, r), to be added to the point
    value: np.ndarray  # (a,) f at the point
    proved: np.ndarray  # (a,) ≤ the least value
    slopes: np.ndarray  # (a, C) p
    multipliers: np.ndarray  # (a, m) u ≥ 0


@dataclass(eq=False)
class _State:
    point: np.ndarray
    slack: np.ndarray
    dual: np.ndarray
    change: np.ndarray  # of the means
    slope: np.ndarray  # w φ′
    bend: np.ndarray  # w φ″
    residual: np.ndarray


def minimise(
    batch: Batch,
    weights: np.ndarray,
    tolerance: float,
) -> Outcome:
    """Solve every program of the batch to a relative gap.

    ``weights`` are w ≥ 0, one row for each program, best scaled so that the values are of
    order one.
    """
    transform, null = _whitening(batch, weights)
    recast = batch.recast(transform, null)
    outcome = _minimise(recast, weights, tolerance)
    # at the end of its space a mean may count without any curvature
    counts = ((recast.slopes != 0) & (weights > 0)[..., None]).any(axis=1)
    loose = np.where(null & ~counts, outcome.point, 0.0)
    held = (transform @ (outcome.point - loose)[..., None])[..., 0]
    return replace(outcome, point=held, loose=(transform @ loose[..., None])[..., 0])


def needed(rows: np.ndarray, short: np.ndarray, move: np.ndarray) -> np.ndarray:
    """As much of a loose move as brings inside the unit rows that are ``short`` by so much."""
    helps = -(rows @ move)
    moved = (short > 0) & (helps > _UNMOVED * np.abs(move).max(initial=0.0))
    share = float((short[moved] / helps[moved]).max(initial=0.0))
    return np.asarray(min(1.0, share) * move)


def _without_noise(rows: np.ndarray, moved: np.ndarray, null: np.ndarray) -> np.ndarray:
    """Rows in new coordinates, 0 where only rounding says that they depend on a null one.

    Nothing else may hold that coordinate, so that its rounding would be taken for its size.
    """
    lengths = np.sqrt((rows * rows).sum(axis=2, keepdims=True))
    return np.asarray(np.where(null[:, None, :] & (np.abs(moved) <= _NULL * lengths), 0.0, moved))


def _whitening(batch: Batch, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates in which f bends by one in every direction at θ, and which have no weight.

    Weights span many decades: without this the light directions drown in the rounding of the
    heavy ones.  Directions without any weight keep their length.
    """
    middle = np.clip(batch.theta, batch.divergence.lowest + 1e-3, batch.divergence.highest - 1e-3)
    bend = weights * batch.divergence.curvature(batch.theta, middle)
    terms = np.concatenate([batch.slopes * np.sqrt(bend)[..., None], batch.anchor], axis=1)
    _, singular, right = np.linalg.svd(terms, full_matrices=False)
    null = singular <= _NULL * singular[:, :1]
    length = np.where(null, 1.0, singular)
    transform = right.transpose(0, 2, 1) / length[:, None, :]
    # of the directions without weight, those that no row holds are told from the others
    for a in np.flatnonzero(null.sum(axis=1) > 1):
        free = transform[a][:, null[a]]
        transform[a][:, null[a]] = free @ np.linalg.svd(batch.rows[a] @ free)[2].T
    return transform, null


def _minimise(batch: Batch, weights: np.ndarray, tolerance: float) -> Outcome:
    state = _started(batch, weights)
    active = np.ones(weights.shape[0], dtype=bool)
    for step in range(_STEPS):
        gap = (state.slack * state.dual).sum(axis=1)
        # half of slope times change is the value where f is quadratic, more near the ends
        value = 0.5 * (state.slope * state.change).sum(axis=1)
        if (active & _is_done(state, gap, value, tolerance)).any():
            value = np.minimum(value, value_at(batch, weights, state.point))
            active &= ~_is_done(state, gap, value, tolerance)
        if not active.any():
            break
        # further down the barrier's terms would drown the curvature of f
        floor = 0.1 * tolerance * value / batch.room.shape[1]
        _advance(batch, weights, state, active, floor, careful=step >= _CAREFUL)
    return _finished(batch, weights, state)


def _is_done(state: _State, gap: np.ndarray, value: np.ndarray, tolerance: float) -> np.ndarray:
    """Whether the gap is small, and so is what the residual can cost: half its square."""
    small = _norm(state.residual) <= 0.1 * np.sqrt(tolerance * np.maximum(value, 0.0))
    return np.asarray((gap <= tolerance * value) & small)


def _started(batch: Batch, weights: np.ndarray) -> _State:
    point = batch.origin()
    value = value_at(batch, weights, point)
    dual = (value / batch.room.shape[1])[:, None] / batch.room
    dual = np.maximum(dual, 1e-12)
    slack = batch.slacks(point)
    state = _State(point, slack, dual, slack, slack, slack, slack)
    _refresh(batch, weights, state)
    return state


def value_at(batch: Batch, weights: np.ndarray, point: np.ndarray) -> np.ndarray:
    means = batch.theta + batch.changes(point)
    each = batch.divergence.value(np.broadcast_to(batch.theta, means.shape), means)
    return np.asarray(np.where(weights > 0, weights * each, 0.0).sum(axis=1))


def _refresh(batch: Batch, weights: np.ndarray, state: _State) -> None:
    state.change = batch.changes(state.point)
    # a mean at the very end of its space would give 0 · ∞
    low, high = batch.divergence.lowest + _END, batch.divergence.highest - _HIGH_END
    means = np.clip(batch.theta + state.change, low, high)
    state.slope = weights * batch.divergence.slope(batch.theta, means)
    state.bend = weights * batch.divergence.curvature(batch.theta, means)
    state.residual = _across(batch.slopes, state.slope) + _across(batch.rows, state.dual)


def _across(rows: np.ndarray, values: np.ndarray) -> np.ndarray:
    return np.asarray((values[:, None, :] @ rows)[:, 0, :])


def _norm(values: np.ndarray) -> np.ndarray:
    return np.asarray(np.abs(values).max(axis=1, initial=0.0))


def _curvature(batch: Batch, state: _State) -> np.ndarray:
    tilted = batch.slopes * state.bend[..., None]
    bent = batch.rows * (state.dual / state.slack)[..., None]
    matrix = batch.slopes.transpose(0, 2, 1) @ tilted + batch.rows.transpose(0, 2, 1) @ bent
    matrix = matrix + batch.anchor
    diagonal = np.einsum("aii->ai", matrix)
    diagonal += _RIDGE * diagonal
    diagonal += np.where(diagonal > 0, 0.0, 1.0)  # directions that nothing depends on
    return np.asarray(matrix)


def _solve(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solutions with the diagonal brought to one: the barrier's terms span many decades."""
    scale = 1.0 / np.sqrt(np.einsum("aii->ai", matrix))
    scaled = matrix * scale[:, :, None] * scale[:, None, :]
    return np.asarray(np.linalg.solve(scaled, (right * scale)[..., None])[..., 0] * scale)


def _advance(
    batch: Batch,
    weights: np.ndarray,
    state: _State,
    active: np.ndarray,
    floor: np.ndarray,
    careful: bool,
) -> None:
    """One predictor–corrector step of the programs that are not done.

    The corrector can go round in circles: careful steps do without it, and keep off the walls.
    """
    matrix = _curvature(batch, state)
    gradient = _across(batch.slopes, state.slope)
    mean_gap = (state.slack * state.dual).mean(axis=1)
    predictor = _solve(matrix, -gradient)
    slack_step, dual_step = _steps(batch, state, predictor, np.zeros_like(state.slack))
    length = np.minimum(_length(state.slack, slack_step), _length(state.dual, dual_step))
    ahead = (
        (state.slack + length[:, None] * slack_step) * (state.dual + length[:, None] * dual_step)
    ).mean(axis=1)
    centring = np.clip(ahead / mean_gap, 1e-4, 1.0) ** 3
    if careful:
        centring = np.maximum(centring, _CENTRAL)
    # the corrector counts as far as the predictor could go: in full it may bounce between walls
    trust = np.zeros_like(length) if careful else np.minimum(length, 1.0) ** 2
    target = np.maximum(centring * mean_gap, floor)[:, None]
    target = target - trust[:, None] * slack_step * dual_step
    step = _solve(matrix, -gradient - _across(batch.rows, target / state.slack))
    slack_step, dual_step = _steps(batch, state, step, target)
    length = np.minimum(_length(state.slack, slack_step), _length(state.dual, dual_step))
    length = np.where(active, np.minimum(1.0, (_SHORT if careful else _BACK) * length), 0.0)
    _move(batch, weights, state, step, slack_step, dual_step, length)


def _steps(
    batch: Batch, state: _State, step: np.ndarray, target: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    slack_step = -(batch.rows @ step[..., None])[..., 0]
    dual_step = (target - state.dual * slack_step) / state.slack - state.dual
    return slack_step, dual_step


def _length(values: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """The longest step, up to 1 / _BACK, that keeps every value non-negative."""
    shrink = (-steps / values).max(axis=1, initial=0.0)
    return np.asarray(1.0 / np.maximum(shrink, _BACK))


def _move(
    batch: Batch,
    weights: np.ndarray,
    state: _State,
    step: np.ndarray,
    slack_step: np.ndarray,
    dual_step: np.ndarray,
    length: np.ndarray,
) -> None:
    before = _norm(state.residual)
    point, slack, dual = state.point, state.slack, state.dual
    allowed = 2.0 * before + 1e-3 * (slack * dual).sum(axis=1)
    for _ in range(6):
        state.point = point + length[:, None] * step
        state.slack = slack + length[:, None] * slack_step
        state.dual = dual + length[:, None] * dual_step
        _refresh(batch, weights, state)
        worse = ~(_norm(state.residual) <= allowed)
        if not worse.any():
            return
        length = np.where(worse, 0.5 * length, length)


def _finished(batch: Batch, weights: np.ndarray, state: _State) -> Outcome:
    """Multipliers made stationary to rounding, and the bound they prove.

    Twice: with all rows, and without the rows that do not bind, whose small multipliers may
    pull along directions in which nothing else holds.  The better proof of each is kept.
    """
    binding = np.where(state.dual > 1e-2 * state.slack, state.dual, 0.0)
    slope, dual, proved = _cancelled(batch, weights, state, state.dual)
    slope_2, dual_2, proved_2 = _cancelled(batch, weights, state, binding)
    second = proved_2 > proved
    return Outcome(
        state.point,
        np.zeros_like(state.point),
        value_at(batch, weights, state.point),
        np.where(second, proved_2, proved),
        np.where(second[:, None], slope_2, slope),
        np.where(second[:, None], dual_2, dual),
    )


def _cancelled(
    batch: Batch, weights: np.ndarray, state: _State, dual: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Slopes and multipliers changed a little so that they cancel, and what they prove.

    The change is the least one, measured by the curvatures of f and of the barrier.
    """
    slope = state.slope
    give = np.sqrt(dual / state.slack)
    bend = np.sqrt(state.bend)
    terms = np.concatenate(
        [batch.slopes * bend[..., None], batch.rows * give[..., None]], axis=1
    ).transpose(0, 2, 1)
    norms = np.sqrt((terms * terms).sum(axis=2, keepdims=True))
    norms = np.where(norms > 0, norms, 1.0)
    inverse = np.linalg.pinv(terms / norms, rcond=_RANK)
    count = bend.shape[1]
    for _ in range(4):
        residual = _across(batch.slopes, slope) + _across(batch.rows, dual)
        change = (inverse @ (-residual[..., None] / norms))[..., 0]
        slope = slope + bend * change[:, :count]
        dual = np.maximum(dual + give * change[:, count:], 0.0)
    each = batch.divergence.least(np.broadcast_to(batch.theta, slope.shape), weights, slope)
    proved = (each + slope * batch.start).sum(axis=1) - (dual * batch.room).sum(axis=1)
    residual = _across(batch.slopes, slope) + _across(batch.rows, dual)
    size = _across(np.abs(batch.slopes), np.abs(slope)) + _across(np.abs(batch.rows), dual)
    proved = np.where(_norm(residual) <= _STATIONARY * _norm(size), proved, -np.inf)
    return slope, dual, proved
