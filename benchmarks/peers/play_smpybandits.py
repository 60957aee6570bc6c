"""SMPyBandits: its own policies, called as its simulator calls them."""

import random

import numpy as np
from rounds import MEANS, report
from SMPyBandits.Policies import DMED, OSSB, Thompson, klUCB


def player(kind):
    def make(seed):
        random.seed(seed)
        np.random.seed(seed)  # noqa: NPY002 (what the package draws from)
        policy = kind(len(MEANS))
        policy.startGame()
        return policy.choice, policy.getReward

    return make


report({"ossb": player(OSSB), "kl-ucb": player(klUCB), "thompson": player(Thompson),
        "dmed": player(DMED)})  # fmt: skip
