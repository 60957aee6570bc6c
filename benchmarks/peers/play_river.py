"""River: ``pull`` and ``update``."""

from river import bandit, proba
from rounds import MEANS, report

ARMS = list(range(len(MEANS)))


def player(build):
    def make(seed):
        policy = build(seed)
        return lambda: policy.pull(ARMS), policy.update

    return make


report(
    {
        "ucb1": player(lambda seed: bandit.UCB(delta=1, seed=seed)),
        "thompson": player(
            lambda seed: bandit.ThompsonSampling(reward_obj=proba.Beta(), seed=seed)
        ),
    }
)
