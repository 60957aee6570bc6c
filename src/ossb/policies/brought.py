"""Policies where an ask brings rows of its own: the rules of their files, on any rows.

Contexts are continuous then, and none comes twice.  What each policy knows is the evidence of all
rows told; ``hgl`` looks at the rows of the last asks for what the next ones will want to know.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from ossb.errors import InputError
from ossb.graves_lai.information.links import IDENTITY
from ossb.models.brought import (
    Evidence,
    Posterior,
    Spread,
    gram,
    inverted,
    known,
    mean_of,
    posterior,
    slope_of,
)
from ossb.policies import POLICIES
from ossb.policies.base import refusal
from ossb.policies.hgl import settings
from ossb.tally import EXPLOIT, EXPLORE, Decision

FAR = 38.0  # standard deviations beyond which nothing is to be gained


class Offer(NamedTuple):
    """What a policy decides on.

    Parameters
    ----------
    rows
        Those to choose from.
    recent
        Rows of the last asks, these among them where the ask brought them.
    evidence
        What was told.
    waiting
        Σ x xᵀ of what is on its way.
    spread
        Of all rows that asks brought, and of those of the instance.
    t
        Rounds told, and one.
    """

    instance: Any
    rows: np.ndarray
    recent: Sequence[np.ndarray]
    evidence: Evidence
    waiting: np.ndarray
    spread: Spread
    t: float

    @property
    def scale(self) -> float:
        """The unit that evidence is in: of the noise, where it has one."""
        return float(self.instance.noise or 1.0)

    def rewards(self, rows: np.ndarray, theta: np.ndarray) -> np.ndarray:
        """What rows are worth under a parameter, in units of the user's, more being better."""
        index = rows @ theta * self.scale
        return np.asarray(self.instance.sign * mean_of(self.instance.links[0], index))

    def slopes(self, rows: np.ndarray, theta: np.ndarray) -> np.ndarray:
        """By how much these change with the index."""
        found = slope_of(self.instance.links[0], rows @ theta * self.scale)
        return np.asarray(self.instance.sign * self.scale * found)

    def on_its_way(self) -> np.ndarray:
        """The precision of what is on its way, once it is told."""
        if self.evidence.link == IDENTITY or not self.waiting.any():
            return self.waiting
        theta = posterior(self.evidence, self.spread).theta
        return self.waiting * float(slope_of(self.evidence.link, self.rows @ theta).mean())

    def least_squares(self, ridge: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """θ̂, W, and W with what is on its way, under the precision of a prior."""
        matrix, vector = known(self.evidence)
        told = inverted(matrix + ridge)
        asked = inverted(matrix + ridge + self.waiting) if self.waiting.any() else told
        return told @ vector, told, asked


Rule = Callable[[Mapping[str, Any], Offer, Generator], Decision]


def decide(name: str, parameters: Mapping[str, Any], offer: Offer, rng: Generator) -> Decision:
    """The decision of a policy by its name, as a place among the rows of an offer."""
    return RULES[name]({**POLICIES[name].parameters, **parameters}, offer, rng)


def refuse_rows(name: str, instance: Any) -> None:
    """Refuse rows that an ask brings where the policy has no rule for them."""
    able = [one for one, kind in RULES.items() if plays_rows(one, instance)]
    if name not in able:
        must = f"be left out: {name} does not decide on rows that asks bring"
        raise InputError("features", f"{must}; these do: {', '.join(able)}")


def plays_rows(name: str, instance: Any) -> bool:
    """Whether a policy decides on rows that asks bring."""
    return name in RULES and refusal(POLICIES[name], instance) is None


def _widths(rows: np.ndarray, inverse: np.ndarray) -> np.ndarray:
    return np.sqrt(np.maximum(((rows @ inverse) * rows).sum(axis=1), 0.0))


def _most(rewards: np.ndarray, index: np.ndarray) -> Decision:
    """The largest index, lowest on ties."""
    best = int(np.argmax(index))
    return Decision(best, EXPLOIT if best == int(np.argmax(rewards)) else EXPLORE)


def greedy(parameters: Mapping[str, Any], offer: Offer, rng: Generator) -> Decision:
    found = posterior(offer.evidence, offer.spread)
    return Decision(int(np.argmax(offer.rewards(offer.rows, found.theta))), EXPLOIT)


def lin_ucb(parameters: Mapping[str, Any], offer: Offer, rng: Generator) -> Decision:
    theta, _, inverse = offer.least_squares(np.eye(offer.rows.shape[1]))
    alpha = parameters["alpha"]
    if alpha is None:
        alpha = 1.0 + math.sqrt(0.5 * math.log(2.0 / parameters["delta"]))
    rewards = offer.rewards(offer.rows, theta)
    return _most(rewards, rewards + alpha * offer.scale * _widths(offer.rows, inverse))


def oful(parameters: Mapping[str, Any], offer: Offer, rng: Generator) -> Decision:
    theta, told, inverse = offer.least_squares(np.eye(offer.rows.shape[1]))
    volume = -np.linalg.slogdet(told)[1]
    radius = offer.scale * math.sqrt(2.0 * math.log(1.0 / parameters["delta"]) + volume)
    rewards = offer.rewards(offer.rows, theta)
    width = _widths(offer.rows, inverse)
    return _most(rewards, rewards + (radius + parameters["norm"]) * width)


def linear_thompson(parameters: Mapping[str, Any], offer: Offer, rng: Generator) -> Decision:
    d = offer.rows.shape[1]
    ridge = np.eye(d) if parameters["prior"] == "unit" else offer.spread.floor()
    theta, inverse, _ = offer.least_squares(ridge)
    spread = 1.0
    if parameters["scale"] == "paper":
        spread = math.sqrt(0.5 * d * math.log(offer.t / parameters["delta"]))
    sizes, axes = np.linalg.eigh(inverse)
    drawn = theta + spread * (axes @ (np.sqrt(np.maximum(sizes, 0.0)) * rng.standard_normal(d)))
    rewards, index = offer.rewards(offer.rows, theta), offer.rewards(offer.rows, drawn)
    return _most(rewards, index)


def glm_ucb(parameters: Mapping[str, Any], offer: Offer, rng: Generator) -> Decision:
    found = posterior(offer.evidence, offer.spread)
    seen = offer.evidence.quadratic.matrix + gram(offer.evidence.rows, offer.evidence.weights)
    inverse = inverted(seen + offer.waiting + offer.spread.floor())
    rewards = offer.rewards(offer.rows, found.theta)
    radius = parameters["scale"] * offer.scale * math.sqrt(0.5 * math.log(offer.t))
    return _most(rewards, rewards + radius * _widths(offer.rows, inverse))


class Wanted(NamedTuple):
    """What the last asks had still to learn."""

    matrix: np.ndarray  # W A W, a mean over them
    share: float  # the largest of one alternative in all the expected improvement


def hgl(parameters: Mapping[str, Any], offer: Offer, rng: Generator) -> Decision:
    given = {**parameters, "front": parameters["front"] or 0.0}  # as where contexts are listed
    factor, front, cautious = settings(offer.instance, **given)
    found = posterior(offer.evidence, offer.spread)
    inverse = inverted(found.precision + offer.on_its_way())
    wanted = want(offer, found, inverse)
    rewards = offer.rewards(offer.rows, found.theta)
    leader = int(np.argmax(rewards))
    share = wanted.share if cautious else wanted.share * wanted.share
    ahead = factor * max(1.0, math.log(offer.t) / 8.0) * offer.t
    ahead += front * share * math.sqrt(offer.t)
    told = slope_of(offer.evidence.link, offer.rows @ found.theta)
    gains = told * np.maximum(((offer.rows @ wanted.matrix) * offer.rows).sum(axis=1), 0.0)
    gains /= 1.0 + told * np.square(_widths(offer.rows, inverse))
    net = ahead * gains - (rewards[leader] - rewards)
    best = int(np.argmax(net))
    if net[best] <= net[leader]:
        return Decision(leader, EXPLOIT)
    return Decision(best, EXPLORE)


def want(offer: Offer, found: Posterior, inverse: np.ndarray) -> Wanted:
    """What ``hgl_contexts.py`` has of each context, of each of the last asks; in rewards."""
    asks = [*offer.recent, offer.rows]
    rows = np.concatenate(asks)
    sizes = [len(one) for one in asks]
    starts = np.cumsum([0, *sizes[:-1]])
    rewards, slopes = offer.rewards(rows, found.theta), offer.slopes(rows, found.theta)
    tilted = slopes[:, None] * rows
    leaders = [
        start + int(np.argmax(rewards[start : start + size]))
        for start, size in zip(starts.tolist(), sizes, strict=True)
    ]
    of_leader = np.repeat(leaders, sizes)
    away = tilted - tilted[of_leader]
    images = away @ inverse
    spreads = np.sqrt(np.maximum((images * away).sum(axis=1), 0.0))
    gaps = rewards[of_leader] - rewards
    scores = np.full(len(rows), math.inf)
    open_ = spreads > 0.0
    scores[open_] = gaps[open_] / spreads[open_]
    near = np.flatnonzero(scores <= FAR)
    z, s = scores[near], spreads[near]
    heights = np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
    chances = np.array([0.5 * math.erfc(x / math.sqrt(2.0)) for x in z.tolist()])
    weights, doubts, expected = (np.zeros(len(rows)) for _ in range(3))
    weights[near] = 0.5 * heights / s
    doubts[near] = chances
    expected[near] = s * np.maximum(heights - z * chances, 0.0)
    weights /= np.repeat(1.0 + np.add.reduceat(doubts, starts), sizes)
    total = float(expected.sum())
    share = float(expected.max()) / total if total > 0.0 else 1.0
    return Wanted((images * weights[:, None]).T @ images / len(asks), share)


RULES: Mapping[str, Rule] = {
    "hgl": hgl,
    "linear-thompson": linear_thompson,
    "lin-ucb": lin_ucb,
    "oful": oful,
    "glm-ucb": glm_ucb,
    "greedy": greedy,
}
