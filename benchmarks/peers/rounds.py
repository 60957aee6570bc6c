"""One loop for every package: Bernoulli arms, one choice and one update a round.

It needs the standard library only, since each peer runs in an environment of its own.
"""

import json
import random
import statistics
import sys
import time

MEANS = [0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.6]


def microseconds(make, rounds, repeats=3):
    """CPU time of a round, the median of a few runs; rewards are drawn beforehand.

    ``make(seed)`` gives two functions: one chooses an arm, the other takes an arm and a reward.
    """
    found = []
    for seed in range(repeats):
        rng = random.Random(seed)
        draws = [rng.random() for _ in range(rounds)]
        choose, tell = make(seed)
        started = time.process_time()
        for draw in draws:
            arm = int(choose())
            tell(arm, 1.0 if draw < MEANS[arm] else 0.0)
        found.append(1e6 * (time.process_time() - started) / rounds)
    return statistics.median(found)


def report(makers):
    """Print what each maker's policy takes, as one JSON line; rounds are the first argument."""
    rounds = int(sys.argv[1])
    print(json.dumps({name: microseconds(make, rounds) for name, make in makers.items()}))
