"""What policies of minimum empirical divergence share: the evidence against each arm."""

from ossb.families import Family
from ossb.kernels import kernel
from ossb.tally import Tally


@kernel
def best_told(tally: Tally) -> int:
    """The arm of the largest mean among those told, lowest on ties; −1 while none is."""
    counts, means, leader = tally.counts, tally.means, -1
    for x in range(tally.plays.shape[0]):
        if counts[x] > 0 and (leader < 0 or means[x] > means[leader]):
            leader = x
    return leader


@kernel
def evidence_against(family: Family, tally: Tally, x: int, top: float) -> float:
    """N(x) kl(mean of x, top); nothing stands against an arm that nothing was told of."""
    if tally.counts[x] == 0:
        return 0.0
    return tally.plays[x] * family.kl(tally.means[x], top)
