"""The inequalities that the proofs of ``docs/hgl/proofs.md`` rest on, on the code's own numbers."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import binom, gamma, norm, poisson

from ossb.families import family_named
from ossb.models.base import NU
from ossb.models.improvement import DECIDED, improvement
from ossb.models.normal import density
from ossb.policies import policy
from ossb.structures import Classical, Linear
from ossb.tally import decide, empty_tally, observe

FAMILIES = ["gaussian", "bernoulli", "bounded", "poisson", "exponential"]
LAWS = [(name, goal) for name in FAMILIES for goal in ("maximize", "minimize")]
SLACK = 1.0 + 1e-9
RNG = np.random.default_rng(0)  # the rule draws nothing


# independent arms


def drawn_tally(instance, rng):
    """Counts of every size, means anywhere, some of them level or at the end of the means."""
    tally = empty_tally(instance.n_arms, instance.n_arms)
    counts = rng.integers(1, rng.choice([3, 10, 300, 10**5]), instance.n_arms)
    name = instance.observation
    if name in ("bernoulli", "bounded", "poisson"):
        level = rng.random(instance.n_arms) * rng.choice([1.0, 0.05])
        shown = rng.binomial(counts, level) / counts
        shown = shown * (rng.choice([1.0, 30.0]) if name == "poisson" else 1.0)
    elif name == "exponential":
        shown = 10.0 ** rng.uniform(-rng.choice([1, 8]), 1, instance.n_arms)
    else:
        shown = rng.normal(size=instance.n_arms) * rng.choice([0.1, 1.0, 10.0])
    if rng.random() < 0.3:
        shown[1] = shown[0]
    tally.counts[:] = tally.plays[:] = counts
    tally.means[:] = instance.sign * shown
    tally.clock[0] = counts.sum()
    return tally


class Weighed:
    """A tally as the rule sees it: weights n, means m, gains, horizon and net value."""

    def __init__(self, name, goal, seed):
        rng = np.random.default_rng(seed)
        theta = [0.5] * int(rng.integers(2, 7))
        self.instance = Classical(theta=theta, observation=name, goal=goal)
        self.family, self.tally = self.instance.family, drawn_tally(self.instance, rng)
        self.rule = policy("hgl", self.instance)
        look = self.rule.model.start()
        self.b = self.rule.model.weigh(self.tally, look)
        self.n, self.m, self.gain = look.weights, look.estimate, look.gain
        self.nu, self.share = look.numbers[NU], look.numbers[1]
        self.h = self.rule.look_ahead(self.tally.clock[0] + 1.0, self.share)
        self.gaps = self.m[self.b] - self.m
        self.net = self.h * self.nu * self.gain - self.gaps
        self.others = [k for k in range(len(self.n)) if k != self.b]

    def variances(self, k):
        """The least and the largest variance of means from that of k to that of the leader."""
        between = np.linspace(self.m[k], self.m[self.b], 101)
        values = [self.family.positive_variance(float(u)) for u in between]
        return min(values), max(values)

    def skew(self, start, end):
        """Their ratio; 1 where variances do not rise from one arm to the other."""
        least, largest = self.variances(start if end == self.b else end)
        monotone = self.instance.observation in ("poisson", "exponential")
        falls = monotone and abs(self.m[start]) >= abs(self.m[end])
        return 1.0 if falls else largest / least

    def discount(self, k, deviation):
        if self.rule.model.prior > 0:
            return 1.0
        clear = 0.5 * (self.gaps[k] / deviation) ** 2 - 2
        return max(1 / (1 + self.spacing(k)), 1 - 1 / (1 + clear) if clear > 0 else 0.0)

    def ratio(self, k):
        n, m, b = self.n, self.m, self.b
        pooled = (n[k] * m[k] + n[b] * m[b]) / (n[k] + n[b])
        return n[k] * self.family.kl(m[k], pooled) + n[b] * self.family.kl(m[b], pooled), pooled

    def spacing(self, k):
        return 1 / self.n[k] + 1 / self.n[self.b]


@pytest.mark.parametrize(("name", "goal"), LAWS)
def test_an_arm_played_often_is_not_played_before_its_leader(name, goal):
    """Lemma 1, with the ratio of variances only where they rise towards the leader."""
    played = 0
    for seed in range(300):
        look = Weighed(name, goal, seed)
        for k in look.others:
            if look.net[k] > look.net[look.b]:
                skew = look.skew(k, look.b)
                assert look.n[k] < look.n[look.b] * math.sqrt(2 * skew)
                played += 1
    assert played > 25


@pytest.mark.parametrize(("name", "goal"), LAWS)
def test_what_a_play_buys_is_bounded_by_its_number(name, goal):
    """Lemma 2, from above and, but for what is decided, from below."""
    for seed in range(300):
        look = Weighed(name, goal, seed)
        n, m, b = look.n, look.m, look.b
        total = 0.0
        for k in look.others:
            _, largest = look.variances(k)
            ratio, pooled = look.ratio(k)
            total += math.sqrt(largest)
            assert look.gain[k] <= 1.05 * math.sqrt(largest) / n[k] * SLACK
            if ratio > DECIDED:
                continue
            deviation = math.sqrt(look.family.positive_variance(pooled) * look.spacing(k))
            evidence = look.discount(k, deviation) * n[k] * look.family.kl(m[k], m[b])
            low = density(math.sqrt(2 * evidence)) * deviation
            assert look.gain[k] * SLACK >= 0.25 * low / (n[k] * (1 + look.skew(b, k) * n[k]))
        assert look.gain[b] <= 1.05 * total / n[b] * SLACK


@pytest.mark.parametrize(("name", "goal"), LAWS)
def test_an_arm_worth_its_gap_has_little_evidence_against_it(name, goal):
    """Lemma 3: GLR ≤ ln(1.05 √V h / g) + g²/2V."""
    worth = 0
    for seed in range(300):
        look = Weighed(name, goal, seed)
        for k in look.others:
            if look.gaps[k] > 0 and look.h * look.nu * look.gain[k] >= look.gaps[k]:
                least, largest = look.variances(k)
                slack = look.gaps[k] ** 2 / (2 * least)
                most = math.log(1.05 * math.sqrt(largest) * look.h / look.gaps[k]) + slack
                assert look.ratio(k)[0] <= most * SLACK + 1e-9
                worth += 1
    assert worth > 25


def test_young_evidence_on_waiting_times_is_never_fully_believed():
    """Lemma 4: 1 − q ≥ 1/(n(n + 1)), without which arms would lock for as long as T.

    What is not discounted shows in Φ(−z).
    """
    family, rng = family_named("exponential"), np.random.default_rng(0)
    for _ in range(2000):
        n, known = (int(10.0 ** rng.uniform(0, 3)) for _ in range(2))
        top, low = 1.0, 10.0 ** -rng.uniform(0, 60)
        pooled, spacing = (n * low + known * top) / (n + known), 1 / n + 1 / known
        ratio = n * family.kl(low, pooled) + known * family.kl(top, pooled)
        if ratio < DECIDED:
            deviation = math.sqrt(family.positive_variance(pooled) * spacing)
            part = improvement(ratio, top - low, deviation, 1 / (1 + spacing))
            z = math.sqrt(2 * ratio * (1 - 1 / (n * (n + 1))))
            assert part.chance >= norm.sf(z) * (1 - 1e-9)


def test_priors_of_successes_stay_off_the_ends():
    """Lemma 5: the mean of an arm, with its prior, is at least 1/((4K − 3) n), at most 1 − 1/n."""
    for goal in ("maximize", "minimize"):
        for seed in range(200):
            look = Weighed("bernoulli", goal, seed)
            up = look.m if goal == "maximize" else 1 + look.m
            count = len(up)
            assert np.all(up * SLACK >= 1 / ((4 * count - 3) * look.n))
            assert np.all((1 - up) * SLACK >= 1 / look.n)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 20, 60])
@pytest.mark.parametrize(("best", "level"), [(0.9, 0.85), (0.6, 0.2), (0.05, 0.02)])
def test_time_locked_out_is_shorter_than_it_is_rare(n, best, level):
    """Lemma 6: E[e^(q n kl(M, λ)); M ≤ λ] is at most e^(−n kl(λ, μ)) times a power of n."""
    bernoulli, counted, timed = (family_named(x) for x in ("bernoulli", "poisson", "exponential"))
    wins = np.arange(math.floor(n * level) + 1)
    for family, chances in ((bernoulli, binom.pmf(wins, n, best)), (counted, None)):
        if chances is None:
            chances = poisson.pmf(wins, n * best)
        moments = np.array([math.exp(n * family.kl(w / n, level)) for w in wins])
        most = math.exp(-n * family.kl(level, best)) * (1 + n * family.kl(0.0, level))
        assert float(chances @ moments) <= most * SLACK
    q = 1 - 1 / (n * (n + 1))
    found, _ = quad(
        lambda u: math.exp(
            u + gamma.logpdf(math.exp(u), n, scale=best / n) + q * n * timed.kl(math.exp(u), level)
        ),
        -400.0,
        math.log(level),
        limit=500,
    )
    assert found <= math.exp(-n * timed.kl(level, best)) * (1 + n * (n + 1)) * SLACK


# linear arms


class LinearLook:
    """A linear case after some rounds, as the rule sees it, with every prior's W beside it.

    Arms are of many shapes: well apart, on a line, nearly parallel, with a free level, one-hot.
    What was told is off by little or much.
    """

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        d, n_arms = int(rng.integers(1, 5)), int(rng.integers(2, 8))
        arms = rng.normal(size=(n_arms, d))
        shape = seed % 5
        if shape == 1:
            arms = np.outer(arms[:, 0], rng.normal(size=d))
        elif shape == 2:
            arms = rng.normal(size=d) + 1e-2 * arms
        elif shape == 3:
            arms = np.hstack([arms, np.ones((n_arms, 1))])
        elif shape == 4:
            arms = np.eye(n_arms)
        phi = rng.normal(size=arms.shape[1]) * rng.choice([0.3, 3.0])
        sigma = float(rng.choice([0.1, 1.0, 5.0]))
        self.instance = Linear(arms=arms.tolist(), phi=phi.tolist(), sigma=sigma)
        self.rule = policy("hgl", self.instance)
        self.model, self.truth = self.rule.model, np.array(self.instance.rewards)
        self.tally = self.told(rng)
        self.memory = self.model.start()
        self.b = self.model.weigh(self.tally, self.memory)
        self.nu = self.memory.numbers[NU]
        self.buys = self.nu * self.memory.gain  # Σ_c w_c ν_c B_c(x)
        self.shares = self.memory.space.shares[1]
        self.gaps = self.memory.rewards[self.b] - self.memory.rewards
        self.best = int(np.argmax(self.truth))
        self.least_gap = np.sort(self.truth)[-1] - np.sort(self.truth)[-2]

    def told(self, rng):
        n_arms = self.model.n_arms
        tally = empty_tally(n_arms, n_arms)
        counts = rng.integers(0, rng.choice([2, 10, 10**4]), n_arms)
        counts *= rng.integers(0, 2, n_arms)
        counts[self.model.spanning] += 1
        noise = rng.normal(size=n_arms) * rng.choice([0.3, 1.0, 4.0])
        tally.counts[:] = tally.plays[:] = counts
        tally.means[counts > 0] = (self.truth + noise * self.model.sigma / np.sqrt(counts + 1e-9))[
            counts > 0
        ]
        tally.clock[0] = counts.sum()
        return tally

    def priors(self):
        level = np.outer(self.model.centre, self.model.centre)
        across = np.eye(len(level)) - level
        return [p * across + 1e-12 * level for p in self.model.precisions]

    def gram(self):
        x = self.model.features
        return (x * self.tally.counts) @ x.T

    def spreads(self, more=0.0):
        """√(uᵀWu) of every pair of arms, under each prior."""
        x, found = self.model.features, []
        for prior in self.priors():
            form = x.T @ np.linalg.solve(prior + self.gram() + more, x)
            squares = np.diag(form)[:, None] + np.diag(form) - 2 * form
            found.append(np.sqrt(np.maximum(squares, 0.0)))
        return np.array(found)

    def potential(self, more=0.0):
        return 0.5 * self.model.sigma * self.spreads(more).sum()

    def estimates(self):
        """θ̂ of every scale: of those kept the program's own."""
        x, found = self.model.features, []
        target = x @ (self.tally.counts * self.tally.means)
        for c, prior in enumerate(self.priors()):
            if self.shares[c] > 0:
                found.append(np.linalg.lstsq(x.T, self.memory.space.rewards[c], rcond=None)[0])
            else:
                found.append(np.linalg.solve(prior + self.gram(), target))
        return found

    def errors(self):
        """X_c of every prior, and the bound Σ n (m − μ)² / 2σ² + R_c² / 2 of each."""
        x, sigma, tally = self.model.features, self.model.sigma, self.tally
        phi = np.linalg.lstsq(x.T, self.truth, rcond=None)[0]
        noise = float(tally.counts @ (tally.means - self.truth) ** 2) / (2 * sigma**2)
        found, most = [], []
        for prior, theta in zip(self.priors(), self.estimates(), strict=True):
            off = theta - phi
            found.append(off @ (prior + self.gram()) @ off / (2 * sigma**2))
            most.append(noise + phi @ prior @ phi / (2 * sigma**2))
        return np.array(found), np.array(most)

    def reach(self):
        """1 + xᵀWx at the largest, under the first of the priors, which is the widest."""
        x = self.model.features
        w = np.linalg.inv(self.priors()[0] + self.gram())
        return 1 + np.einsum("ik,il,lk->k", x, w, x).max()

    def misled(self):
        """(c, j) of every prior kept that has a better arm, or a near one, wrong."""
        for c, theta in enumerate(self.estimates()):
            if self.shares[c] > 0:
                rewards = self.model.features.T @ theta
                gaps = rewards[self.b] - rewards
                if self.b != self.best and gaps[self.best] >= 0:
                    yield c, self.best
                elif self.b == self.best:
                    true = self.truth[self.b] - self.truth
                    yield from ((c, j) for j in np.flatnonzero(gaps < true / 2) if j != self.b)


SEEDS = range(400)


def test_what_a_play_buys_is_taken_from_a_finite_stock():
    """Lemma 8, also of a leader that is held for 1 % of its plays.

    Each scale alone, as far as it is believed: what the others hold is more.
    """
    for seed in SEEDS:
        look = LinearLook(seed)
        believed = look.model.sigma * look.shares
        before = look.spreads()[:, look.b].sum(axis=1)
        for x in range(look.model.n_arms):
            times = 1 + look.tally.plays[x] // 100 if x == look.b else 1
            feature = look.model.features[:, x]
            after = look.spreads(times * np.outer(feature, feature))[:, look.b].sum(axis=1)
            bought, fall = times * look.buys[x], believed @ (before - after)
            assert bought <= 1.01 * 0.4 * fall * (1 + 1e-6) + 1e-9 * (believed @ before)


def test_no_prior_is_further_off_than_the_noise_and_itself():
    """Lemma 7: X_c ≤ X + R_c²/2."""
    for seed in SEEDS:
        found, most = LinearLook(seed).errors()
        assert np.all(found <= most * (1 + 1e-6) + 1e-6)


def test_who_is_misled_buys_much():
    """Lemma 9: with a wrong leader, or an arm taken for too good, what a play buys is large."""
    found = 0
    for seed in SEEDS:
        look = LinearLook(seed)
        errors, _ = look.errors()
        for c, j in look.misled():
            gap = abs(look.truth[look.b] - look.truth[j]) / 2
            spread = gap / math.sqrt(2 * errors[c])
            low = look.shares[c] / look.model.n_arms * 0.5 * density(math.sqrt(2 * errors[c]))
            low *= spread * (spread / look.model.sigma) ** 2 / (4 * look.reach())
            assert max(look.buys[j], look.buys[look.b]) >= low * (1 - 1e-6)
            found += 1
    assert found > 100


def test_who_is_not_misled_soon_knows():
    """Lemma 10: a play of another arm adds to the precision of a gap that is not yet known."""
    found = 0
    for seed in range(3 * SEEDS.stop):
        look = LinearLook(seed)
        if look.b != look.best or next(look.misled(), None) or look.least_gap <= 1e-9:
            continue
        h = look.rule.look_ahead(look.tally.clock[0] + 1.0, look.memory.numbers[1])
        net = h * look.buys - look.gaps
        x = int(np.argmax(net))
        if x == look.b:
            continue
        n_terms = look.model.precisions.size * look.model.n_arms
        feature = look.model.features[:, x]
        before = look.spreads()[:, look.b]
        after = look.spreads(np.outer(feature, feature))[:, look.b]
        kept = np.outer(look.shares > 0, np.arange(look.model.n_arms) != look.b)
        slow = 4 * look.reach() * n_terms * (1 + 2 * look.gaps.max() / look.least_gap)
        widest = look.model.sigma * before.max()
        most = 0.4 * widest * h * n_terms / look.least_gap
        unknown = (2 * look.model.sigma / look.least_gap) ** 2 * 2 * math.log(max(most, 1.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            gained = kept & (1 / after**2 - 1 / before**2 >= (1 - 1e-6) / slow)
            assert np.any(gained & (1 / before**2 <= unknown * (1 + 1e-6)))
        found += 1
    assert found > 25


@pytest.mark.parametrize("x", [0.5, 3.0, 20.0])
@pytest.mark.parametrize("horizon", [1, 10, 1000])
def test_a_mixture_of_scales_keeps_up_with_the_evidence(x, horizon):
    """Lemma 11: of mean 1, and at least e^(xQ/(1 + x)) / (scales · √(1 + 2x)) at every count."""
    scales = x * 2.0 ** -np.arange(1 + int(math.log2(horizon)))
    for n in {1, 2, 3, horizon // 3 + 1, horizon}:
        if n > horizon:
            continue

        grown = 1 + scales * n
        far = (-10 * math.sqrt(grown.max()), 10 * math.sqrt(grown.max()))

        def mixture(z, shift, grown=grown):
            exponents = 0.5 * z * z * (1 - 1 / grown) - shift
            return float(np.mean(np.exp(exponents) / np.sqrt(grown)))

        mean, _ = quad(
            lambda z, mixture=mixture: mixture(z, 0.5 * z * z) / math.sqrt(2 * math.pi),
            *far,
            limit=400,
            points=[-10, 0, 10],
        )
        assert mean == pytest.approx(1.0, rel=1e-6)
        for evidence in (0.0, 0.1, 1.0, x, 10.0):
            least = math.exp(x * evidence / (1 + x)) / (scales.size * math.sqrt(1 + 2 * x))
            assert mixture(math.sqrt(2 * evidence), 0.0) >= least * (1 - 1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_along_a_run_what_was_bought_stays_within_the_stock(seed):
    """The sum over all rounds, the leader's held ones with it, from the first plays on."""
    look = LinearLook(seed)
    rule, model, truth = look.rule, look.model, look.truth
    memory, rng = rule.start(), np.random.default_rng(seed)
    tally = empty_tally(model.n_arms, model.n_arms)
    bought, stock = 0.0, None
    for _ in range(400):
        held = tally.clock[0] + 1 < memory.held[0]
        decision = rule.select(tally, memory, RNG)
        if model.unseen(tally) < 0:
            if stock is None:
                look.tally = tally
                stock = look.potential()
            if not held:
                now = float(memory.model.numbers[NU] * memory.model.gain[decision.arm])
            bought += now
        decide(tally, decision)
        observe(tally, decision.arm, truth[decision.arm] + model.sigma * rng.normal())
        tally.clock[0] += 1
    assert 0.0 < bought <= 1.01 * 0.4 * stock
