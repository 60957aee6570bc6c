"""Track and stop, Frank–Wolfe, the game: literal transcriptions, costs, and tests that end."""

import math

import numpy as np
import pytest
from scipy.optimize import linprog

from ossb import bound
from ossb.errors import InputError
from ossb.instances import from_dict
from ossb.policies import policy
from ossb.simulation.simulate import simulate
from ossb.tally import decide, empty_tally, observe

ARMS = from_dict({"structure": "classical", "observation": "bernoulli", "theta": [0.5, 0.6, 0.75]})
NAMES = ["track-and-stop", "frank-wolfe", "game"]


def kl(p, q):
    return sum(
        a * math.log(a / b) if a > 0 else 0.0 for a, b in ((p, q), (1.0 - p, 1.0 - q)) if a != b
    )


def rivals_of(n, m):
    """The leader, and of every other arm Z and the divergences of the two from where they meet."""
    b = max(range(len(n)), key=lambda x: (m[x], -x))
    found = {}
    for j in range(len(n)):
        if j != b:
            v = (n[b] * m[b] + n[j] * m[j]) / (n[b] + n[j])
            told = np.zeros(len(n))
            told[b], told[j] = kl(m[b], v), kl(m[j], v)
            found[j] = n[b] * told[b] + n[j] * told[j], told
    return b, found


def rounds(record, horizon, look, seed=4):
    """Play, with a look before each decision is entered."""
    tally, memory, rng = empty_tally(3, 3), record.start(), np.random.default_rng(seed)
    for _ in range(horizon):
        before = tally.counts.copy(), tally.means.copy()
        decision = record.select(tally, memory, rng)
        look(*before, decision.arm, memory)
        decide(tally, decision)
        observe(tally, decision.arm, float(rng.random() < ARMS.theta[decision.arm]))
        tally.clock[0] += 1


def test_shares_are_those_of_the_characteristic_time():
    """Beside certified bounds at the estimates for which they were solved."""
    record, solved = policy("track-and-stop", ARMS), []

    def look(n, m, arm, memory):
        solving = n.min() > 0 and memory.imagined.tally.means.tolist() == m.tolist()
        if solving and m.min() > 0 and sorted(m)[-1] - sorted(m)[-2] > 0.02 and len(solved) < 6:
            keys = {"structure": "classical", "observation": "bernoulli", "theta": m.tolist()}
            best = bound(from_dict(keys), cost="samples").value
            _, found = rivals_of(memory.shares, m)
            solved.append(min(z for z, _ in found.values()) * best)

    rounds(record, 300, look)
    assert len(solved) == 6
    assert min(solved) > 1.0 - 2e-3
    assert max(solved) < 1.0 + 1e-6


@pytest.mark.parametrize("tracking", ["C", "D"])
def test_what_is_most_behind_is_played(tracking):
    record, sums = policy("track-and-stop", ARMS, tracking=tracking), np.ones(3)

    def look(n, m, arm, memory):
        nonlocal sums
        t = int(n.sum())
        if t < 3:
            assert arm == t
        elif tracking == "C":
            least = 0.5 / math.sqrt(9 + t)
            sums = sums + (1.0 - 3.0 * least) * memory.shares + least
            assert sums[arm] - n[arm] > (sums - n).max() - 1e-9
        elif n.min() < math.sqrt(t) - 1.5:
            assert arm == n.argmin()
        else:
            lacks = np.where(memory.shares > 0, t * memory.shares - n, -np.inf)
            assert lacks[arm] == lacks.max()

    rounds(record, 400, look)


def test_frank_wolfe_climbs_by_the_game_of_the_rivals_that_are_near():
    record, due = policy("frank-wolfe", ARMS), np.zeros(3)

    def look(n, m, arm, memory):
        nonlocal due
        t = int(n.sum())
        step, due = memory.targets - due, memory.targets.copy()
        assert step.sum() == pytest.approx(1.0)
        if t < 3:
            assert arm == t
            return
        if math.sqrt(t // 3).is_integer():
            assert step.tolist() == pytest.approx([1 / 3] * 3)
        elif len(set(m)) == 3:
            _, found = rivals_of(n, m)
            least = min(z for z, _ in found.values())
            near = [(z, told) for z, told in found.values() if z < least + t**0.1]
            slopes = np.array([told - z / t for z, told in near])
            best = linprog(
                [0, 0, 0, -1],
                np.hstack([-slopes, np.ones((len(near), 1))]),
                np.zeros(len(near)),
                [[1, 1, 1, 0]],
                [1],
                bounds=[(0, None)] * 3 + [(None, None)],
            )
            assert (slopes @ step).min() == pytest.approx(-best.fun, abs=1e-7)
        ratio = due / n
        assert ratio[arm] > ratio.max() - 1e-9

    rounds(record, 250, look)


def test_the_game_is_adahedge_against_the_least_ruled_out():
    record, state = policy("game", ARMS), {}

    def look(n, m, arm, memory):
        t = int(n.sum())
        if t < 3:
            return
        b, _ = rivals_of(n, m)
        if state.get("leader") != b:
            state.update(leader=b, losses=np.zeros(3), gap=0.0)
        L, gap = state["losses"], state["gap"]
        rate = math.log(3) / gap if gap > 0 else math.inf
        w = np.exp(-rate * (L - L.min())) if gap > 0 else (L.min() == L).astype(float)
        w /= w.sum()
        assert memory.shares.tolist() == pytest.approx(w.tolist(), rel=1e-5, abs=1e-7)
        _, found = rivals_of(np.maximum(w, 1e-12), m)
        least = min(z for z, _ in found.values())
        answers = [told for z, told in found.values() if z <= least * (1 + 1e-6) + 1e-12]
        if len(set(m)) < 3 or len(answers) > 1 or w.min() < 1e-6:
            state.update(losses=memory.losses.copy(), gap=float(memory.mixability[0]))
            return
        gain = (np.sqrt(answers[0]) + np.sqrt(math.log(t + 1) / n)) ** 2
        if gap > 0:
            mixed = -math.log(float(w @ np.exp(rate * (gain - gain.max())))) / rate - gain.max()
        else:
            mixed = -gain[w > 0].max()
        state["gap"] = gap + max(-float(w @ gain) - mixed, 0.0)
        state["losses"] = L - gain
        assert memory.mixability[0] == pytest.approx(state["gap"], rel=1e-4)
        assert memory.losses.tolist() == pytest.approx(state["losses"].tolist(), rel=1e-5)
        state.update(losses=memory.losses.copy(), gap=float(memory.mixability[0]))

    rounds(record, 200, look)


OTHERS = {
    "classical": {"structure": "classical", "observation": "bernoulli", "theta": [0.3, 0.5, 0.75]},
    "linear": {"structure": "linear", "sigma": 0.5, "arms": [[1, 0], [0, 1], [0.8, 0.5]],
               "phi": [0.7, 0.4]},
}  # fmt: skip


@pytest.mark.parametrize(
    "label",
    [pytest.param(one, marks=pytest.mark.sampled(of=2, by=n)) for n, one in enumerate(OTHERS)],
)
def test_they_end_about_as_soon_as_top_two(label):
    result = simulate(from_dict(OTHERS[label]), ["top-two", *NAMES], 20_000, 60, 1, until=0.05)
    mean = {one.policy: one.stops.rounds.mean() for one in result.policies}
    assert all(not one.stops.wrong.mean() > 0.05 for one in result.policies)
    assert max(mean[name] for name in NAMES) < 1.5 * mean["top-two"]
    assert mean["top-two"] < 1.15 * min(mean.values())


@pytest.mark.parametrize("name", NAMES[:2])
def test_cheaper_tests_take_longer(name):
    names = [f"{name}:cost=regret", f"{name}:cost=0.05", name]
    result = simulate(ARMS, names, 100_000, 150, 3, until=0.05)
    lengths = [one.stops.rounds.mean() for one in result.policies]
    regret = [one.regret.mean() for one in result.policies]
    assert lengths == sorted(lengths, reverse=True)
    assert max(regret[:2]) < regret[2]  # how the two differ is within the noise of short tests


@pytest.mark.parametrize("name", NAMES)
def test_fields_are_checked(name):
    for field, value in (("cost", "prices"), ("epsilon", -0.1), ("delta", 0.0)):
        with pytest.raises(InputError, match=field):
            policy(name, ARMS, **{field: value})


def test_tracking_is_checked():
    with pytest.raises(InputError, match="tracking"):
        policy("track-and-stop", ARMS, tracking="E")


@pytest.mark.parametrize("name", NAMES[:2])
def test_many_arms_are_refused(name):
    many = from_dict({"structure": "classical", "n_arms": 301})
    with pytest.raises(InputError, match="at most 300 arms"):
        policy(name, many)


@pytest.mark.parametrize("name", [*NAMES, "top-two"])
def test_a_single_item_is_played(name):
    """Its duel with itself shows nothing."""
    alone = from_dict({"structure": "dueling", "preferences": [[0.5]]})
    assert simulate(alone, [name], 5, 1, compiled=False)[name].plays.tolist() == [5.0]
    assert simulate(alone, [name], 5, 1, until=0.1, compiled=False)[name].stops.rounds.max() <= 1
