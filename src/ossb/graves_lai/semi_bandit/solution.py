"""What a semi-bandit solver answers, and both of its bounds recomputed from the arms."""

import math
from dataclasses import dataclass

import numpy as np

from ossb.graves_lai.semi_bandit.gaussian_items import NO_CONSTRAINT
from ossb.graves_lai.semi_bandit.item_family import ItemFamily
from ossb.graves_lai.semi_bandit.memory import COLUMN_OF, ITEMS, LEADER, M, SemiBanditMemory
from ossb.graves_lai.semi_bandit.tilting import EDGE
from ossb.graves_lai.semi_bandit.workspace import BOUND_W


@dataclass(frozen=True, eq=False)
class SemiBanditSolution:
    """lower ≤ C(φ) ≤ upper, with feasible rates that cost ``upper``.

    Parameters
    ----------
    leader
        The best arm x*.
    rates
        c(x, φ) of every arm.
    alternatives
        Arms x whose confusing parameters prove the lower bound.
    confusing
        One item-mean vector λ for each, equal to φ on the items of x*.
    weights
        Their weights y: C ≥ Σ y / max_x (Σ_k y_k Σ_{i∈x} d(φ_i, λ_ki) / Δ_x).
    """

    leader: int
    rates: np.ndarray  # (K,)
    upper: float
    lower: float
    alternatives: np.ndarray  # int64 (n_alternatives,)
    confusing: np.ndarray  # (n_alternatives, d)
    weights: np.ndarray  # (n_alternatives,)

    @property
    def gap(self) -> float:
        """Certified relative gap."""
        return 0.0 if self.upper <= 0.0 else (self.upper - self.lower) / self.upper


def item_weights(arms: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """w_i = Σ_{x∋i} η_x."""
    return rates @ arms


NEAR = 1e-3  # gaps below this, relative to the means that differ, are summed exactly


def gaps_to(arms: np.ndarray, phi: np.ndarray, leader: int) -> np.ndarray:
    """Δ(x) of every arm, accurate also where arms are nearly as good as the leader."""
    apart = arms[leader] - arms
    gaps = apart @ phi
    for x in np.flatnonzero(gaps < NEAR * (np.abs(apart) @ np.abs(phi))):
        gaps[x] = math.fsum((apart[x] * phi).tolist())
    return np.ascontiguousarray(gaps)


def movable(items: ItemFamily, phi: np.ndarray) -> np.ndarray:
    """Which items can have a larger mean."""
    return np.array([items.room(float(mean)) > EDGE for mean in phi])


def informations(
    items: ItemFamily, arms: np.ndarray, phi: np.ndarray, leader: int, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """log F_x of every arm at the item weights, and the multipliers that attain it.

    An alternative with an item of weight 0 is never told apart: −∞, unless it can never be
    one, however large its items' means.  Items at the end of the mean space need no weight.
    """
    need = gaps_to(arms, phi, leader)
    moved = (arms[leader] == 0) & movable(items, phi)
    member = np.ascontiguousarray(arms.T * moved[:, None])
    logs, tau = np.empty(arms.shape[0]), np.empty(arms.shape[0])
    seen = np.flatnonzero((weights > 0) & (member.max(axis=1) > 0))
    items.log_information(
        np.ascontiguousarray(weights[seen]), np.ascontiguousarray(member[seen]), need,
        np.ascontiguousarray(phi[seen]), seen.size, arms.shape[0], logs, tau,
    )  # fmt: skip
    unseen = (weights <= 0) & (member.max(axis=1) > 0)
    blind = member[unseen].max(axis=0, initial=0.0) > 0
    if blind.any():
        logs[blind] = -np.inf
        full = np.empty(arms.shape[0])
        items.log_information(
            np.ones(phi.size), member, need, phi, phi.size, arms.shape[0], full, np.empty_like(full)
        )
        logs[blind & (full >= NO_CONSTRAINT)] = NO_CONSTRAINT
    return logs, tau


def certify(
    arms: np.ndarray, phi: np.ndarray, memory: SemiBanditMemory, gap: float = 1e-6
) -> SemiBanditSolution:
    """Read the held solution out of the memory and prove it again over all arms."""
    items = memory.items
    leader = int(memory.state[LEADER])
    gaps = gaps_to(arms, phi, leader)
    rates = np.zeros(arms.shape[0])
    played = np.flatnonzero(memory.position_of[COLUMN_OF] >= 0)
    rates[played] = memory.held_v[memory.position_of[COLUMN_OF, played]] / gaps[played]
    chosen = memory.row_arm[: memory.state[M]]
    if chosen.size == 0:
        empty = np.zeros((0, phi.size))
        return SemiBanditSolution(leader, rates, 0.0, 0.0, chosen, empty, np.zeros(0))
    n_outside = int(memory.state[ITEMS])
    outside = memory.outside[:n_outside]
    held = np.zeros(phi.size)
    held[outside] = memory.work.by_item[BOUND_W, :n_outside]
    _, tau = informations(items, arms, phi, leader, held)
    weights = memory.held_y[: chosen.size].copy()
    confusing = np.tile(phi, (chosen.size, 1))
    moved = outside[movable(items, phi)[outside]]
    for k, arm in enumerate(chosen):
        mine = moved[arms[arm, moved] > 0]
        tilted = np.array([items.tilted(phi[i], held[i], tau[arm]) for i in mine])
        bends = [items.bend(phi[i], other) for i, other in zip(mine, tilted, strict=True)]
        flat = 1.0 / (held[mine] * np.array(bends))
        gain = tilted - phi[mine]
        gain = np.maximum(gain + (gaps[arm] - gain.sum()) * flat / flat.sum(), 0.0)
        # rounding must not leave the alternative short of what it needs
        confusing[k, mine] += gain * max(1.0, gaps[arm] / gain.sum())
    collected = arms @ collected_information(items, phi, confusing, weights)
    others = np.arange(arms.shape[0]) != leader
    lower = weights.sum() / (collected[others] / gaps[others]).max()
    rates = sparsest(items, arms, phi, leader, rates, float(lower), gap)
    used = weights > 0
    return SemiBanditSolution(
        leader, rates, float(rates @ gaps), float(lower), chosen[used], confusing[used],
        weights[used],
    )  # fmt: skip


def sparsest(
    items: ItemFamily,
    arms: np.ndarray,
    phi: np.ndarray,
    leader: int,
    rates: np.ndarray,
    lower: float,
    gap: float,
) -> np.ndarray:
    """Feasible rates, without those that are next to nothing as long as the gap allows it."""
    gaps = gaps_to(arms, phi, leader)
    spent = rates * gaps
    feasible = rates
    for share in (1e-4, 1e-6, 1e-8, 0.0):
        fewer = np.where(spent > share * spent.sum(), rates, 0.0)
        logs, _ = informations(items, arms, phi, leader, item_weights(arms, fewer))
        if np.isfinite(logs.min()):
            feasible = fewer * np.exp(-logs.min())
            cost = float(feasible @ gaps)
            if cost - lower <= 0.9 * gap * cost:
                break
    return feasible


def collected_information(
    items: ItemFamily, phi: np.ndarray, confusing: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Σ_k y_k d(φ_i, λ_ki) of every item."""
    total = np.zeros(phi.size)
    for k, i in np.argwhere(confusing != phi):
        total[i] += weights[k] * items.divergence(phi[i], confusing[k, i])
    return total
