"""HGL as ``docs/hgl.md`` and ``docs/hgl/structures.md`` state it, in plain numpy and scipy.

Nothing of the package's models is in it.

Every structure gives its estimate and its alternatives j, each with z_j, the scale s_j and the
shares ρ_j(x); the rule, ``Literal``, is the same for all.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.stats import norm

EXPLOIT, ESTIMATE, EXPLORE = 0, 1, 2
LEAST_VARIANCE = {"bernoulli": 1e-12, "poisson": 1e-12, "exponential": 1e-300}


class Alternative(NamedTuple):
    """What one alternative has at stake, and what a play of each arm takes of it."""

    z: float
    scale: float
    shares: np.ndarray  # ρ_j(x), over the discount where there is one
    spread: np.ndarray | float = 0.0  # what a play takes besides


class Look(NamedTuple):
    leader: int
    rewards: np.ndarray
    gain: np.ndarray  # B(x)
    nu: float
    share: float  # m


def look_of(leader, rewards, once, alternatives):
    """B(x) = ½ c(x) Σ_j φ(z_j) s_j ρ_j(x), ν and m."""
    gain, chances, improvements = np.zeros(len(rewards)), 0.0, []
    for z, scale, shares, spread in alternatives:
        gain += 0.5 * norm.pdf(z) * scale * shares + spread
        chances += norm.sf(z)
        improvements.append(scale * max(norm.pdf(z) - z * norm.sf(z), 0.0))
    share = max(improvements) / sum(improvements) if sum(improvements) > 0 else 1.0
    return Look(leader, rewards, once * gain, 1 / (1 + chances), share)


def horizon(t, share, k, front, cautious=False):
    """h_t = κ_t t + P m² √t; m in place of m² and 3P where it is cautious."""
    ahead = k * max(1.0, math.log(t) / 8) * t
    return ahead + front * (3 * share if cautious else share**2) * math.sqrt(t)


class Literal:
    """The rule, with what it holds from round to round."""

    def __init__(self, instance, k, front):
        self.instance, self.k, self.front = instance, k, front
        skewed = instance.observation in ("poisson", "exponential")
        self.cautious = instance.kind == "classical" and skewed
        self.first, self.weigh = STRUCTURES[instance.kind]
        self.until, self.leader = 0, 0
        self.look = self.horizon = self.net = None

    def select(self, tally):
        """(arm, phase); ``look``, ``horizon`` and ``net`` are None where none was needed."""
        t, waiting = int(tally.clock[0]) + 1, tally.pending.sum() > 0
        self.look = self.horizon = self.net = None
        if waiting:
            self.until = 0
        if t < self.until:
            return self.leader, EXPLOIT
        first = self.first(self.instance, tally)
        if first is not None:
            return first, ESTIMATE
        self.look = look = self.weigh(self.instance, tally)
        self.horizon = horizon(t, look.share, self.k, self.front, self.cautious)
        gaps = look.rewards[look.leader] - look.rewards
        self.net = net = self.horizon * look.nu * look.gain - gaps
        best = int(np.argmax(net))  # the lowest of equals
        if net[best] > net[look.leader]:
            return best, EXPLORE
        if waiting:
            return look.leader, EXPLOIT
        self.leader = look.leader
        if len(self.instance.reveals()[look.leader]):
            self.until = t + 1 + int(tally.plays[look.leader] // 100)
        else:
            self.until = self.wake(t, look, gaps)
        return look.leader, EXPLOIT

    def wake(self, t, look, gaps):
        """The first round at which some arm is worth its gap, all else as it is now."""
        last = 2 * t + 1000
        others = [x for x in range(len(gaps)) if x != look.leader and look.gain[x] > 0]
        least = min((gaps[x] / (look.nu * look.gain[x]) for x in others), default=math.inf)
        later = (u for u in range(t + 1, last) if self.ahead(u, look) > least)
        return next(later, last)

    def ahead(self, t, look):
        return horizon(t, look.share, self.k, self.front, self.cautious)


# families


def excess(u):
    """u − ln(1 + u)."""
    return u - math.log1p(u)


def poisson(p, q):
    return p * excess((q - p) / p) if p > 0 else q


DIVERGENCES = {
    "gaussian": lambda p, q: 0.5 * (p - q) ** 2,  # in units of σ
    "bernoulli": lambda p, q: poisson(p, q) + poisson(1 - p, 1 - q),
    "poisson": poisson,
    "exponential": lambda p, q: excess((p - q) / q) if p > 0 else math.inf if q > 0 else 0.0,
}
VARIANCES = {
    "gaussian": lambda p: 1.0,
    "bernoulli": lambda p: p * (1 - p),
    "poisson": lambda p: p,
    "exponential": lambda p: p * p,
}


def family_of(instance):
    """d(p, q) and the variance at p, of means that carry the sign of the goal."""
    name, sign = instance.observation, instance.sign
    sigma = instance.sigma if name == "gaussian" else 1.0

    def divergence(p, q):
        return DIVERGENCES[name](sign * p / sigma, sign * q / sigma)

    def variance(p):
        return sigma**2 * max(VARIANCES[name](sign * p / sigma), LEAST_VARIANCE.get(name, 0.0))

    return divergence, variance


def levels(instance, tally):
    """What the other arms showed, each as if seen 8 N/(8 + N) times, beside one success and one
    failure; never more than the middle.  Items have the middle itself.
    """
    middle = 0.5 * instance.sign
    if instance.kind != "classical":
        return np.full(len(tally.counts), middle)
    shared = 8 * tally.counts / (8 + tally.counts)
    others = 1 - np.eye(len(shared))
    shown = (2 * middle + others @ (shared * tally.means)) / (2 + others @ shared)
    return np.minimum(shown, middle)


def with_prior(instance, tally):
    """Means and weights N, with two observations at their level where values are 0 or 1.

    What is on its way has weight, and no mean: that is the average of the others, where there are.
    """
    prior = 2.0 if instance.observation == "bernoulli" else 0.0
    counts, told = tally.counts + prior, tally.counts > 0
    means = (tally.counts * tally.means + prior * levels(instance, tally)) / np.maximum(counts, 1)
    if not prior and told.any():
        means = np.where(told, means, means[told].mean())
    return means, np.maximum(counts + tally.pending, 1)


# independent arms


def never_played(instance, tally):
    return next((x for x in range(instance.n_arms) if tally.plays[x] == 0), None)


def weigh_independent(instance, tally):
    """GLR_j pools j and the leader; a prior worth one observation discounts young evidence.

    The prior is wider, by τ², where the gap is so wide that it speaks for that itself.
    """
    divergence, variance = family_of(instance)
    means, weights = with_prior(instance, tally)
    b = int(np.argmax(means))
    alternatives = []
    for j in range(instance.n_arms):
        pooled = (weights[j] * means[j] + weights[b] * means[b]) / (weights[j] + weights[b])
        apart = {x: divergence(means[x], pooled) for x in (j, b)}
        glr = sum(weights[x] * apart[x] for x in apart)
        if j == b or glr > 600:
            continue
        rough = 1 / weights[j] + 1 / weights[b]
        deviation, gap = math.sqrt(variance(pooled) * rough), means[b] - means[j]
        wide = max(1, gap**2 / (2 * variance(pooled)) - 2 * rough)
        discount = 1 if instance.observation == "bernoulli" else 1 / (1 + rough / wide)
        tied = glr < 1e-9 or gap <= 0
        ratio = deviation if tied else gap / math.sqrt(2 * glr)
        z, shares, spread = math.sqrt(2 * glr * discount), *np.zeros((2, instance.n_arms))
        for x in (j, b):
            shares[x] = 1 / (weights[x] ** 2 * rough) if tied else apart[x] / glr
            if 2 * ratio < deviation:
                part = norm.sf(z) * norm.pdf(0) * (1 - 2 * ratio / deviation) / deviation
                spread[x] = part * variance(pooled) / weights[x] ** 2
        alternatives.append(Alternative(z, max(ratio, deviation), shares / discount, spread))
    return look_of(b, means, weights / (1 + weights), alternatives)


# linear arms


SCALES = (2.0**17, 1024.0, 256.0, 64.0, 16.0, 4.0, 1.0)


def spanning(arms):
    """Arms that span the others, each the one with the most of its leverage left."""
    values, vectors = np.linalg.eigh(arms.T @ arms)
    rest, chosen = arms @ vectors / np.sqrt(values), []
    for _ in range(arms.shape[1]):
        lengths = np.round(np.linalg.norm(rest, axis=1), 9)
        chosen.append(int(np.argmax(lengths)))  # the lowest of equals
        unit = rest[chosen[-1]] / np.linalg.norm(rest[chosen[-1]])
        rest = rest - np.outer(rest @ unit, unit)
    return chosen


def spanning_first(instance, tally):
    chosen = spanning(np.asarray(instance.arms, float))
    return next((x for x in chosen if tally.plays[x] == 0 and tally.counts[x] == 0), None)


def linear_priors(arms):
    """(V₀, ln of its odds) of every scale on which arms may differ, the widest first."""
    apart, centre = arms - arms.mean(axis=0), arms.mean(axis=0)
    directions = np.linalg.matrix_rank(apart)
    redundancy = min((len(np.unique(arms, axis=0)) - 1) / directions - 1, 1)
    scales = dict.fromkeys(SCALES, 1.0)
    if redundancy > 0:
        scales[1 / 16] = min(0.1, 100 / 16**directions) * redundancy
    cov, level = apart.T @ apart / len(arms), 1e-12 * np.outer(centre, centre)
    return [(directions / t**2 * cov + level, math.log(odds)) for t, odds in scales.items()]


def weigh_linear(instance, tally):
    """Least squares under priors of several scales, each with its own look, mixed by belief.

    What is on its way narrows W alone.  A scale as good as the widest is taken for it.
    """
    arms, sigma = np.asarray(instance.arms, float), instance.sigma
    target, seen = arms.T @ (tally.counts * tally.means), (arms.T * tally.counts) @ arms
    priors = linear_priors(arms)
    widest = np.linalg.inv(priors[0][0] + seen)
    kept, scores = {}, []
    for number, (prior, odds) in enumerate(priors):
        same = np.trace(widest @ prior) - np.trace(widest @ priors[0][0]) < 0.05
        inverse = widest if same else np.linalg.inv(prior + seen)
        theta = inverse @ target
        cost = tally.counts @ (tally.means - arms @ theta) ** 2 + theta @ prior @ theta
        volumes = np.linalg.slogdet(prior)[1] + np.linalg.slogdet(inverse)[1]
        scores.append(odds + 0.5 * volumes - 0.5 * cost / sigma**2)
        kept[number] = (0 if same else number), theta
    beliefs = np.exp(np.array(scores) - max(scores))
    beliefs /= beliefs.sum()
    beliefs = np.where(beliefs > 3e-4, beliefs, 0.0) / beliefs[beliefs > 3e-4].sum()
    parts = np.zeros(len(priors))
    for number, (place, _) in kept.items():
        parts[place] += beliefs[number]
    rewards = arms @ sum(part * kept[c][1] for c, part in enumerate(parts))
    b = int(np.argmax(rewards))
    gain, nu, top = 0.0, 0.0, 0.0
    for c in np.flatnonzero(parts):
        inverse = np.linalg.inv(priors[c][0] + seen + (arms.T * tally.pending) @ arms)
        one = linear_look(arms, sigma, b, arms @ kept[c][1], inverse)
        part = parts[c]
        gain, nu, top = gain + part * one.nu * one.gain, nu + part * one.nu, top + part * one.share
    return Look(b, rewards, gain / nu, nu, top)


def linear_look(arms, sigma, b, rewards, inverse):
    alternatives = []
    for j in range(len(arms)):
        image = inverse @ (arms[j] - arms[b])
        square = float(image @ (arms[j] - arms[b]))
        if square > 0 and (z := (rewards[b] - rewards[j]) / (sigma * math.sqrt(square))) <= 37:
            shares = np.array([float(x @ image) ** 2 for x in arms]) / square
            alternatives.append(Alternative(z, sigma * math.sqrt(square), shares))
    once = 1 / (1 + np.array([float(x @ inverse @ x) for x in arms]))
    return look_of(b, rewards, once, alternatives)


# duels


def duel_of_every_item(instance, tally):
    """The first two items that had no duel, the last one with a neighbour.

    Until something is told, the least played of the duels of neighbours.
    """
    n, pairs = instance.n_items, instance.pairs
    held = [(i, k) for arm, (i, k) in enumerate(pairs) if tally.plays[arm] and i != k]
    met = {item for pair in held for item in pair}
    alone = [item for item in range(n) if item not in met]
    if len(alone) >= 2:
        return pairs.index((alone[0], alone[1]))
    if alone:
        return pairs.index(tuple(sorted((alone[0], alone[0] - 1 if alone[0] else 1))))
    first = [(i, i + 1) if i + 1 < n else (i - 1, i) for i in range(0, n, 2)]
    arms = [pairs.index(pair) for pair in first]
    return min(arms, key=lambda arm: tally.plays[arm]) if tally.clock[0] == 0 else None


def smoothed(mean, count):
    """E[2 max(X, 0)²], X normal around ½ − mean with variance 1/(4 count); kl(mean, ½) far off."""
    deviation = 0.5 / math.sqrt(count)
    ratio = (0.5 - mean) / deviation
    if ratio > 3:
        return DIVERGENCES["bernoulli"](mean, 0.5)
    if ratio < -5:
        return 0.0
    square = (1 + ratio**2) * norm.cdf(ratio) + ratio * norm.pdf(ratio)
    return 2 * deviation**2 * max(square, 0.0)


def weigh_duels(instance, tally):
    """Item j wins by losing no duel; half a win each way is the prior."""
    n, pairs = instance.n_items, instance.pairs
    p, weights = np.full((n, n), 0.5), np.zeros((n, n))
    duels = [pair for pair in pairs if pair[0] != pair[1]]
    for c, (i, k) in enumerate(duels):
        wins = tally.counts[c] * (tally.means[c] + (0 if instance.sign > 0 else 1))
        p[i, k] = (wins + 0.5) / (tally.counts[c] + 1)
        p[k, i] = 1 - p[i, k]
        weights[i, k] = weights[k, i] = tally.counts[c] + 1 + tally.pending[c]
    kl = DIVERGENCES["bernoulli"]
    lost = [sum(weights[i, k] * kl(p[i, k], 0.5) for k in range(n) if p[i, k] < 0.5)
            for i in range(n)]  # fmt: skip
    b = max((i for i in range(n) if lost[i] <= min(lost) + 1e-9), key=lambda i: sum(p[i]))
    own = [0.5 / math.sqrt(weights[b, i]) if i != b else 0.0 for i in range(n)]
    short = [max(p[b, i] - 0.5, own[i] / 4) for i in range(n)]
    rewards = np.array([-0.5 * (short[i] + short[k]) for i, k in pairs])
    alternatives = []
    for j in range(n):
        glr = max(lost[j] - lost[b], 0.0)
        if j == b or glr > 600:
            continue
        z, gap = math.sqrt(2 * glr), max(p[b, j] - 0.5, 0.0)
        scale = max(gap / z, own[j]) if z > 1e-6 else own[j]
        news = {tuple(sorted((j, k))): smoothed(p[j, k], weights[j, k]) for k in range(n) if k != j}
        for k in range(n):
            if k not in (b, j) and p[b, k] < 0.5:
                news[tuple(sorted((b, k)))] = kl(0.5, p[b, k])
        evidence = sum(weights[pair] * news[pair] for pair in news)
        if evidence <= 1e-9:
            news, evidence = {tuple(sorted((b, j))): 1.0}, weights[b, j]
        shares = np.array([news.get(pair, 0.0) / evidence for pair in pairs])
        alternatives.append(Alternative(z, scale, shares))
    once = np.array([weights[pair] / (1 + weights[pair]) for pair in pairs])
    return look_of(pairs.index((b, b)), rewards, once, alternatives)


# sets of items, each of them shown


def most_new_items(instance, tally):
    arms, fresh = np.asarray(instance.arms), tally.counts + tally.pending == 0
    if instance.observation == "bernoulli" or not (arms[:, fresh] > 0).any():
        return None
    return int(np.argmax((arms[:, fresh] > 0).sum(axis=1)))


def doubts_midway(instance, apart, side, gap, doubts, means, weights):
    """v_i/N_i of the items that tell two sets apart, v_i half way to where these meet."""
    _, variance = family_of(instance)
    low, high = (sorted((0.0, instance.sign)) if instance.observation == "bernoulli" else
                 sorted((0.0, instance.sign * math.inf)) if instance.observation == "poisson" else
                 (-math.inf, math.inf))  # fmt: skip
    own = doubts.copy()
    for _ in range(3):
        half = np.clip(means + side * gap * own / own[apart].sum() / 2, low, high)
        own = np.array([variance(m) for m in half]) / weights
    return own


def weigh_items(instance, tally):
    """For each item, the best set with its membership changed."""
    arms, (_, variance) = np.asarray(instance.arms) > 0, family_of(instance)
    means, weights = with_prior(instance, tally)
    variances = np.array([variance(m) for m in means])
    if instance.observation == "poisson":
        variances += 0.5 / np.maximum(tally.counts, 1)
    rewards = np.array([sum(means[arm].tolist()) for arm in arms])
    b = int(np.argmax(rewards))
    rivals = set()
    for i in range(arms.shape[1]):
        other = [x for x in range(len(arms)) if arms[x, i] != arms[b, i]]
        rivals |= {max(other, key=lambda x: rewards[x])} if other else set()
    alternatives = []
    for j in rivals:
        apart, gap = arms[j] != arms[b], rewards[b] - rewards[j]
        side = arms[j].astype(float) - arms[b]
        own = doubts_midway(instance, apart, side, gap, variances / weights, means, weights)
        square, total = own[apart].sum(), (own * weights)[apart].sum()
        q = 1.0 if instance.observation == "bernoulli" else total / (total + 4 * square)
        z = gap / math.sqrt(square / q)
        if z <= 37:
            each = np.where(apart, own / (1 + weights), 0.0) / square
            alternatives.append(Alternative(z, math.sqrt(square), arms @ each / q))
    return look_of(b, rewards, 1.0, alternatives)


STRUCTURES = {
    "classical": (never_played, weigh_independent),
    "linear": (spanning_first, weigh_linear),
    "dueling": (duel_of_every_item, weigh_duels),
    "combinatorial": (most_new_items, weigh_items),
}
