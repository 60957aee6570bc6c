"""What an ask and a tell cost, and a step of a policy from Python: ``python benchmarks/pairs.py``.

    python benchmarks/pairs.py [--quick]

CPU time of the process, least of several runs.  Steps, ``choose`` and ``learn`` of a ``Learner``,
stand beside river's ``pull`` and ``update`` on ten arms, in turns in the same run; the ratio is
what to look at.  ``longest`` is the longest ask or tell, by the clock, of the first ones, while
code is fetched or compiled beside them.
"""

import argparse
import time

import numpy as np

from ossb.adapters.learner import Learner
from ossb.campaigns import Campaign, open_storage
from ossb.instances import from_dict

TEN = np.linspace(0.1, 0.7, 10)
RNG = np.random.default_rng(0)
CASES = [
    # instance, policy, µs of a pair that are aimed at
    ("classical K=10", {"structure": "classical", "observation": "bernoulli", "n_arms": 10}, 60),
    (
        "linear K=81, d=3",
        {"structure": "linear", "sigma": 1.0, "arms": RNG.normal(size=(81, 3)).tolist()},
        200,
    ),
    ("unimodal K=30", {"structure": "unimodal", "observation": "bernoulli", "n_arms": 30}, 200),
]


def seconds_of(play, rounds, repeats):
    """CPU seconds of a round: the least of some runs."""
    found = []
    for _ in range(repeats):
        started = time.process_time()
        for _ in range(rounds):
            play()
        found.append((time.process_time() - started) / rounds)
    return min(found)


def asking(instance, name):
    """Ask and tell in a store in memory."""
    campaign = Campaign.open(open_storage("memory://"), "c", instance=instance, policy=name)
    rng = np.random.default_rng(1)

    def play():
        (decision,) = campaign.ask()
        campaign.tell(decision.id, float(rng.random() < 0.5))

    return campaign, play


def stepping(name, compiled):
    """Choose and learn on ten arms, called from Python."""
    instance = from_dict(
        {"structure": "classical", "observation": "bernoulli", "theta": TEN.tolist()}
    )
    learner, noise = Learner(instance, name, compiled=compiled), np.random.default_rng(1)

    def play():
        arm = learner.choose()
        learner.learn(arm, float(noise.random() < TEN[arm]))

    return play


def pulling(build):
    """The same of river's."""
    made, arms, noise = build(), list(range(10)), np.random.default_rng(1)

    def play():
        arm = made.pull(arms)
        made.update(arm, float(noise.random() < TEN[arm]))

    return play


def steps(rounds, repeats):
    """Our step and river's, in turns."""
    from river import bandit, proba

    def thompson():
        return bandit.ThompsonSampling(reward_obj=proba.Beta(), seed=0)

    # river has none of the last two: theirs is the policy that their users would leave
    theirs = {
        "ucb1": lambda: bandit.UCB(delta=1, seed=0),
        "thompson": thompson,
        "hgl": thompson,
        "kl-ucb": thompson,
    }
    for name, build in theirs.items():
        plays = stepping(name, False), stepping(name, True), pulling(build)
        runs = [[seconds_of(play, rounds, 1) for play in plays] for _ in range(repeats)]
        slow, quick, other = (1e6 * min(column) for column in zip(*runs, strict=True))
        for way, each in (("interpreted", slow), ("compiled", quick)):
            line = f"| step, {way} | {name} | {each:.1f} | river {other:.1f} | {each / other:.2f} |"
            print(line)


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--quick", action="store_true")
    rounds, repeats = (300, 3) if options.parse_args().quick else (2000, 7)
    print("| what | policy | µs | beside | ratio |\n|---|---|---|---|---|")
    try:
        steps(rounds, repeats)
    except ImportError:
        print("| step | river is not installed | | | |")
    for label, instance, aim in CASES:
        for name in ("ucb1", "hgl") if label.startswith("classical") else ("hgl", "ossb"):
            campaign, play = asking(instance, name)
            longest = 0.0
            campaign.prepare()
            for _ in range(300):
                started = time.perf_counter()
                play()
                longest = max(longest, time.perf_counter() - started)
            with campaign._journal.look() as state:
                player = campaign._players.of(state, frozenset())
            player.compile()  # or what is in the cache
            each = seconds_of(play, rounds // 3, repeats)
            print(
                f"| {label} | {name} | {1e6 * each:.0f} | aim {aim}, longest "
                f"{1e3 * longest:.1f} ms | {1e6 * each / aim:.2f} |"
            )


if __name__ == "__main__":
    main()
