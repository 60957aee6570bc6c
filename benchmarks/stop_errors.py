"""How often a stop is wrong: errors at δ = 0.1, 0.05 and 0.01, by structure.

    python benchmarks/stop_errors.py [--runs 10000] [--seconds 200] [--processes 2] [NAME ...]

Of each structure a near tie, played until the test ends or to a horizon, and two best arms, where
every stop is an error.  One run of `top-two` serves all three δ, since its plays do not depend on
them.  Runs are dealt out in turns, as many as there is time for: a row says how many were played.

Polytopes and unions solve programs in every look.  There `uniform` plays, and looks are taken only
in rounds where the evidence of all components against the truth reaches ln(1/δ): in others a stop
with a wrong arm is impossible.  Of these rows only the errors count, not stops with the right arm.
"""

import argparse
import math
import multiprocessing
import time

import numpy as np

import ossb
from ossb.instances import from_dict
from ossb.models.rivals.mixture import mixture_of
from ossb.simulation.environment import environment_of
from ossb.simulation.simulate import AT_ONCE, log_spaced, new_course, new_late
from ossb.simulation.stops import Stop, is_decided, rivals_or_reason, run_until
from ossb.tally import empty_tally

DELTAS = (0.1, 0.05, 0.01)
TIE = 1e-9  # between two arms that no test of these lengths tells apart
BERNOULLI, SETS = {"observation": "bernoulli"}, [[1, 1, 0], [0, 1, 1], [1, 0, 1]]
ARMS = [[1.0, 0.0], [0.0, 1.0], [0.95, 0.31]]
LINE = {"points": [0.0, 1.0, 2.0], "lipschitz_constant": 0.2}


def duels(apart):
    """Two items that are ``apart`` when they meet, and a third that loses."""
    return [[0.5, 0.5 - apart, 0.6], [0.5 + apart, 0.5, 0.6], [0.4, 0.4, 0.5]]


def listed(apart):
    """A list of parameters of which two differ by ``apart`` and one by much."""
    rows = [[0.0, apart], [apart, 0.0], [0.5, 0.2]]
    return {"parameters": rows, "theta": rows[0]}


def kinds(apart):
    """Instances by name, with two best arms that differ by ``apart``."""
    yield (
        "classical, bernoulli",
        {"structure": "classical", "theta": [0.5, 0.5 + apart], **BERNOULLI},
    )
    yield (
        "classical, ten",
        {"structure": "classical", "theta": [0.3 + apart] + 9 * [0.3], **BERNOULLI},
    )
    yield "classical, gaussian", {"structure": "classical", "theta": [0.0, 2 * apart, -0.3]}
    for family in ("poisson", "exponential"):
        keys = {"structure": "classical", "observation": family}
        yield f"classical, {family}", {**keys, "theta": [1.0, 1.0 + 2 * apart]}
    yield "unimodal", {"structure": "unimodal", "theta": [0.3, 0.5, 0.5 - apart, 0.4], **BERNOULLI}
    keys = {"structure": "lipschitz", **LINE, **BERNOULLI}
    yield "lipschitz", {**keys, "theta": [0.4, 0.5, 0.5 - apart]}
    slope = (0.05 + apart) / 0.31
    yield "linear", {"structure": "linear", "arms": ARMS, "phi": [1.0, slope], "sigma": 1.0}
    keys = {"structure": "combinatorial", "sigma": 0.5, "arms": SETS}
    sums = {**keys, "phi": [0.0, apart, 0.2]}
    yield "sums", {**sums, "feedback": "bandit"}
    yield "semi-bandit", {**sums, "feedback": "semi_bandit"}
    arms, phi = [[1, 0], [0, 1], [0.7, 0.7]], [0.6, 0.6 * 3 / 7 + apart]
    keys = {"structure": "generalized_linear", "arms": arms, "phi": phi}
    yield "logistic", {**keys, "link": "logistic", **BERNOULLI}
    yield "log", {**keys, "link": "log", "observation": "poisson"}
    yield "duels", {"structure": "dueling", "preferences": duels(apart)}
    yield "finite", {"structure": "finite", "sigma": 1.0, **listed(apart)}
    box = {"A": [[1, -1, 0], [0, 1, -1]], "b": [0.2, 0.2]}
    yield (
        "polytope",
        {"structure": "polytope", **box, "theta": [0.5, 0.5 + apart, 0.4], **BERNOULLI},
    )
    other = {"A": [[-1, 1, 0]], "b": [0.2]}
    keys = {"structure": "union", "pieces": [box, other], **BERNOULLI}
    yield "union", {**keys, "theta": [0.5, 0.5 + apart, 0.4]}


SCREENED = ("polytope", "union")
NEAR, FAR, TIED, SHORT = 0.1, 10_000, 3000, 1000
LONG = "classical, bernoulli, two best"  # runs to 100,000 rounds
SIZE = 50  # runs in a turn


def cells():
    """(name, content, whether two arms are best, horizon)."""
    for name, content in kinds(NEAR):
        yield name, content, False, SHORT if name in SCREENED else FAR
    for name, content in kinds(TIE):
        label = f"{name}, two best"
        far = SHORT if name in SCREENED else 10 * FAR if label == LONG else TIED
        yield label, content, True, far


class Trials:
    """Runs of one cell."""

    def __init__(self, content, horizon):
        instance = from_dict(content)
        self.world, self.horizon = environment_of(instance), horizon
        self.record, self.rivals = ossb.policy("top-two", instance), rivals_or_reason(instance)[0]

    def play(self, number):
        """The round after which each δ stopped, 0 where it did not, and the arm."""
        rng, noise = np.random.default_rng((1, number)), np.random.default_rng((2, number))
        tally = empty_tally(self.world.means.size, self.world.gaps.size)
        course, late = new_course(log_spaced(self.horizon)), new_late(self.world, AT_ONCE)
        memory, t, found = self.record.start(), 0, []
        for delta in DELTAS:
            ending = Stop(self.rivals, delta, 0.0).ending()
            if t and is_decided.compiled(self.rivals, tally, ending):
                ending.found[0] = t
            elif t < self.horizon:
                args = (self.record, self.world, tally, memory, course, late, 1, 0, self.rivals)
                run_until.compiled(*args, ending, t + 1, self.horizon + 1, rng, noise)
            t = int(ending.found[0]) or self.horizon
            found.append((int(ending.found[0]), int(ending.found[1])))
        return found


class Screened:
    """Runs of one cell where looks are dear: every arm in turn, looked at where it can matter."""

    def __init__(self, content, horizon):
        instance = from_dict(content)
        self.world, self.horizon = environment_of(instance), horizon
        self.rivals = rivals_or_reason(instance)[0]
        self.mixture = mixture_of(instance.observed_family)
        self.tied = np.sort(self.world.gaps)[1] < 10 * TIE

    def play(self, number):
        """The round in which each δ stopped with a wrong arm, 0 where it did not, and the arm."""
        noise, world = np.random.default_rng((2, number)), self.world
        n, truth, found = world.gaps.size, world.means.tolist(), [(0, 0)] * len(DELTAS)
        tally, rounds = empty_tally(n, n), np.arange(1, self.horizon // n + 1)
        values = np.array([[world.family.sample(m, noise) for m in truth] for _ in rounds])
        means = values.cumsum(axis=0) / rounds[:, None]
        for count, row in zip(rounds.tolist(), means, strict=True):
            against = math.fsum(map(self.mixture.evidence_at, [count] * n, row.tolist(), truth))
            for place, delta in enumerate(DELTAS):
                if found[place][0] or against < -math.log(delta):
                    continue
                tally.counts[:], tally.plays[:], tally.clock[0] = count, count, n * count
                tally.means[:] = row
                ending = Stop(self.rivals, delta, 0.0).ending()
                decided, arm = is_decided(self.rivals, tally, ending), int(ending.found[1])
                if decided and (self.tied or world.gaps[arm] > 0.0):
                    found[place] = (n * count, arm)
        return found


MADE = {}


def turn(task):
    """Play some runs of a cell: (name, runs, stops, errors, rounds) by δ; none after the end."""
    name, first, last, until = task
    content, tied, horizon = next((c, b, h) for n, c, b, h in cells() if n == name)
    if name not in MADE:
        maker = Screened if name.startswith(SCREENED) else Trials
        MADE[name] = maker(content, horizon)
        MADE[name].play(0)  # compiles
    trials, began = MADE[name], time.perf_counter()
    runs, counts = 0, np.zeros((3, len(DELTAS)))
    for number in range(first, last):
        if time.time() > until:
            break
        runs += 1
        for place, (end, arm) in enumerate(trials.play(number)):
            counts[0, place] += end > 0
            counts[1, place] += end > 0 and (tied or trials.world.gaps[arm] > 0.0)
            counts[2, place] += end or horizon
    return name, runs, counts, time.perf_counter() - began


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first run")
    parser.add_argument("--seconds", type=float, default=200.0)
    parser.add_argument("--processes", type=int, default=2)
    chosen = parser.parse_args()
    until, all_cells = time.time() + chosen.seconds, list(cells())
    if chosen.names:
        all_cells = [one for one in all_cells if any(n in one[0] for n in chosen.names)]
    total = {one[0]: [0, np.zeros((3, len(DELTAS))), 0.0] for one in all_cells}
    with multiprocessing.get_context("spawn").Pool(chosen.processes) as pool:
        compiling = [(one[0], 0, 0, math.inf) for one in all_cells]
        pool.map(turn, compiling, 1)
        tasks = []
        for first in range(chosen.first, chosen.first + chosen.runs, SIZE):
            last = min(first + SIZE, chosen.first + chosen.runs)
            tasks += [(one[0], first, last, until) for one in all_cells]
        for name, runs, counts, seconds in pool.imap_unordered(turn, tasks, 1):
            total[name][0] += runs
            total[name][1] += counts
            total[name][2] += seconds
    head = " ".join(f"{f'δ = {delta}':>21}" for delta in DELTAS)
    print(f"{'errors, stops, mean rounds':32}{'runs':>7} {head}{'CPU s':>8}")
    for name, (runs, counts, seconds) in total.items():
        row = " ".join(
            f"{wrong / max(runs, 1):8.3%}{ended / max(runs, 1):5.0%}{rounds / max(runs, 1):8.0f}"
            for ended, wrong, rounds in counts.T
        )
        print(f"{name:32}{runs:7} {row}{seconds:8.1f}", flush=True)


if __name__ == "__main__":
    main()
