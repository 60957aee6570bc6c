"""What policies for duels read off the tally."""

from ossb.graves_lai.duels import pair_position
from ossb.kernels import kernel
from ossb.models.dueling import DuelingModel
from ossb.tally import Tally


@kernel
def win_rate(model: DuelingModel, tally: Tally, i: int, k: int) -> float:
    """The share of their duels that item i has won against k; ½ before the first."""
    if i == k:
        return 0.5
    component = model.component[pair_position(i, k, model.n_items)]
    if tally.counts[component] == 0:
        return 0.5
    first_wins = tally.means[component] + model.offset
    return first_wins if i < k else 1.0 - first_wins


@kernel
def duels_told(model: DuelingModel, tally: Tally, i: int, k: int) -> int:
    """How many duels of two different items were told."""
    return int(tally.counts[model.component[pair_position(i, k, model.n_items)]])


@kernel
def duels_held(model: DuelingModel, tally: Tally, i: int, k: int) -> int:
    """How often two items, or one with itself, were played, duels not yet told included."""
    return int(tally.plays[pair_position(i, k, model.n_items)])


@kernel
def scarce_pair(model: DuelingModel, tally: Tally, wanted: float) -> int:
    """The first pair of different items played less often than wanted, or −1."""
    for arm in range(model.n_arms):
        if model.component[arm] >= 0 and tally.plays[arm] < wanted:
            return arm
    return -1
