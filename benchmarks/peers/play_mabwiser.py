"""MABWiser: ``predict`` and ``partial_fit``."""

from mabwiser.mab import MAB, LearningPolicy
from rounds import MEANS, report

ARMS = list(range(len(MEANS)))


def player(learning_policy):
    def make(seed):
        bandit = MAB(ARMS, learning_policy, seed=seed)
        bandit.fit(ARMS, [0.0] * len(ARMS))
        return bandit.predict, lambda arm, reward: bandit.partial_fit([arm], [reward])

    return make


report(
    {
        "ucb1": player(LearningPolicy.UCB1(alpha=1.0)),
        "thompson": player(LearningPolicy.ThompsonSampling()),
    }
)
