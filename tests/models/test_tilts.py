"""Mixtures of tilts: fair under every law that they are held against, and least where they say."""

import math
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from models.plain_tilts import evidence_of_tilts
from ossb.families import Bernoulli, Exponential, Gaussian, Poisson
from ossb.models.rivals.mixture import mixture_of
from ossb.models.rivals.tilts import (
    least_tilted,
    natural_gap,
    new_tilts,
    scale_of_pair,
    tilt_beyond,
    tilt_pair,
)

FAMILIES = {
    "gaussian": Gaussian(0.7),
    "bernoulli": Bernoulli(),
    "poisson": Poisson(),
    "exponential": Exponential(),
}


PAIRS = [
    (0.7, 200, 0.6, 300, 0.0),
    (0.52, 4000, 0.5, 90_000, 0.0),
    (0.9, 12, 0.1, 700, 0.05),
    (0.5, 30, 0.48, 30, 0.2),
    (0.6, 5, 0.3, 5000, 0.0),
]


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("pair", PAIRS)
def test_the_least_over_levels_is_found_and_never_overstated(name, pair):
    p, n, q, m, epsilon = pair
    mixture, tilts = mixture_of(FAMILIES[name]), new_tilts()
    found = least_tilted(mixture, p, n, q, m, epsilon, -math.inf, tilts)
    low, high, unit = q - epsilon, p, 0.7 if name == "gaussian" else 1.0
    levels = np.linspace(max(low - 0.5 * (high - low), 1e-3), min(high + 0.2, 0.999 - epsilon), 201)
    least = min(evidence_of_tilts(name, p, n, q, m, v, v + epsilon, unit) for v in levels.tolist())
    assert found <= least + 1e-9
    # scales are left out, which is little of large evidence, and cells bound what is not convex
    allowed = 0.4 if least > 3.0 else 3.0
    assert found >= least - allowed
    swapped = Bernoulli(-1.0), Poisson(-1.0), Exponential(-1.0)
    mirrored = {"bernoulli": 0, "poisson": 1, "exponential": 2}
    if name in mirrored:  # what is small is good: the rival leads, and the leader is its rival
        mixture = mixture_of(swapped[mirrored[name]])
        again = least_tilted(mixture, -q, m, -p, n, epsilon, -math.inf, tilts)
        assert again == pytest.approx(found, abs=0.02 if epsilon == 0.0 else 1.0)


def test_its_mean_is_at_most_one_under_every_law_it_is_held_against():
    """Exactly, over all outcomes of a few Bernoulli observations."""
    mixture, tilts, n, m = mixture_of(Bernoulli()), new_tilts(), 6, 4
    for below, above in ((0.4, 0.4), (0.3, 0.55), (0.02, 0.02), (0.9, 0.97)):
        mean = {"pair": 0.0, "least": 0.0, "up": 0.0}
        for one, other in product(range(n + 1), range(m + 1)):
            chance = binom.pmf(one, n, below) * binom.pmf(other, m, above)
            p, q = one / n, other / m
            scale = scale_of_pair(mixture, p, q, 0.5 * (p + q), 0.5 * (p + q))
            mean["pair"] += chance * math.exp(
                tilt_pair(mixture, p, n, q, m, below, above, scale, tilts)
            )
            mean["least"] += chance * math.exp(
                least_tilted(mixture, p, n, q, m, 0.0, -math.inf, tilts)
            )
            mean["up"] += chance * math.exp(tilt_beyond(mixture, n, p, below + 0.01, 1.0, tilts))
        assert max(mean.values()) <= 1.0 + 1e-12, (below, above, mean)


@pytest.mark.parametrize("family", [Gaussian(0.5), Poisson(), Exponential()])
def test_its_mean_is_at_most_one_by_sampling(family):
    rng, mixture, tilts, level = np.random.default_rng(3), mixture_of(family), new_tilts(), 0.4
    for n, m in ((1, 3), (20, 4)):
        values = []
        for _ in range(3000):
            p = float(np.mean([family.sample(level, rng) for _ in range(n)]))
            q = float(np.mean([family.sample(level, rng) for _ in range(m)]))
            scale = scale_of_pair(mixture, p, q, level, level)
            values.append(math.exp(tilt_pair(mixture, p, n, q, m, level, level, scale, tilts)))
        assert np.mean(values) < 1.0 + 4.0 * np.std(values) / math.sqrt(len(values))


def test_what_is_paid_stays_small_however_close_the_arms():
    mixture, tilts = mixture_of(Bernoulli()), new_tilts()
    for gap in (0.3, 0.1, 0.01, 1e-3, 1e-5):
        p, q = 0.5 + 0.5 * gap, 0.5 - 0.5 * gap
        for statistic in (7.0, 18.0):
            each = 0.5 * statistic / mixture.family.kl(p, 0.5)
            found = least_tilted(mixture, p, each, q, each, 0.0, -math.inf, tilts)
            assert 1.5 < statistic - found < 6.5


def test_evidence_beyond_doubles_of_its_exponential_is_evidence():
    for family, scale in ((Gaussian(), 1.0), (Bernoulli(), 0.1), (Poisson(), 1.0)):
        mixture, tilts, before = mixture_of(family), new_tilts(), 0.0
        for count in (30.0, 1e3, 1e5, 1e7, 1e12):
            found = least_tilted(
                mixture, 8.0 * scale, count, 4.0 * scale, 17.0 * count, 0.0, -math.inf, tilts
            )
            assert before < found < math.inf
            before = found
        assert tilt_beyond(mixture, 1e12, 8.0 * scale, 4.0 * scale, 1.0, tilts) > before


def test_units_do_not_matter():
    tilts = new_tilts()
    args = (30.0, 0.2, 50.0)
    one = least_tilted(mixture_of(Gaussian(0.7)), 0.9, *args, 0.1, -math.inf, tilts)
    for unit in (1e-6, 1e6):
        mixture = mixture_of(Gaussian(0.7 * unit))
        scaled = least_tilted(
            mixture, 0.9 * unit + 50.0 * unit, 30.0, 50.2 * unit, 50.0, 0.1 * unit, -math.inf, tilts
        )
        assert scaled == pytest.approx(one, abs=1e-3)
    one = least_tilted(mixture_of(Exponential()), 0.9, *args, 0.0, -math.inf, tilts)
    scaled = least_tilted(mixture_of(Exponential()), 9e5, 30.0, 2e5, 50.0, 0.0, -math.inf, tilts)
    assert scaled == pytest.approx(one, abs=1e-3)


def test_means_at_an_end_are_far_from_all_others():
    mixture, tilts = mixture_of(Bernoulli()), new_tilts()
    assert natural_gap(mixture, 1.0, 0.5) == math.inf
    found = least_tilted(mixture, 1.0, 40.0, 0.0, 40.0, 0.0, -math.inf, tilts)
    assert 30.0 < found < math.inf
    assert least_tilted(mixture, 0.5, 40.0, 0.5, 40.0, 0.0, -math.inf, tilts) <= 0.0
    # no mean is above 1
    assert least_tilted(mixture, 0.9, 40.0, 0.5, 40.0, 1.5, -math.inf, tilts) == math.inf


def test_compiled_and_interpreted_evidence_is_the_same():
    mixture = mixture_of(Bernoulli())
    for args in ((0.7, 200.0, 0.6, 300.0, 0.02), (0.9, 9e4, 0.4, 10.0, 0.0)):
        both = [
            run(mixture, *args, -math.inf, new_tilts())
            for run in (least_tilted.function, least_tilted.compiled)
        ]
        assert both[0] == both[1]
