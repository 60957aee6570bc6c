"""What index policies share: arms that each show a component of their own."""

from typing import Any, NamedTuple

import numpy as np

from ossb.kernels import kernel
from ossb.structures.base import Instance
from ossb.tally import Tally


class Nothing(NamedTuple):
    """The memory of a policy that needs none."""

    unused: np.ndarray


def reward_is_observed(instance: Instance) -> str | None:
    """Index policies read rewards off observations; says why where these are something else."""
    if getattr(instance, "observes", "reward") == "index" or not instance.shows_rewards():
        return "needs arms that show their own reward"
    return None


def lists_arms(instance: Any) -> str | None:
    """For policies that number the arms; says so where these are behind an oracle."""
    return "needs its arms listed" if instance.n_arms is None else None


def projects(instance: Any) -> str | None:
    """For policies that number the arms and ask for a maximum-likelihood estimate."""
    return lists_arms(instance) or instance.unprojected()


@kernel
def unplayed(tally: Tally) -> int:
    """The first arm never played, or −1; until something is told, the least played.

    Where costs are counted, a mean of 0 is the best there is: no index would rise above it.
    """
    plays, least = tally.plays, 0
    for x in range(plays.shape[0]):
        if plays[x] < plays[least]:
            least = x
    return least if plays[least] == 0 or tally.clock[0] == 0 else -1


@kernel
def overdue(model: Any, plays: float, tally: Tally) -> int:
    """The least played arm of a small set that shows everything, or −1.

    If it has fewer plays than so many, or nothing is told yet.
    """
    place, least = 1, model.informative(0)
    arm = model.informative(place)
    while arm >= 0:
        if tally.plays[arm] < tally.plays[least]:
            least = arm
        place += 1
        arm = model.informative(place)
    return int(least) if tally.plays[least] < plays or tally.clock[0] == 0 else -1


@kernel
def best_mean(tally: Tally) -> int:
    """The arm of the largest empirical mean, lowest on ties."""
    means, leader = tally.means, 0
    for x in range(tally.plays.shape[0]):
        if means[x] > means[leader]:
            leader = x
    return leader
