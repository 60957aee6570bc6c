"""Policies of an experiment over all of its instances at once."""

from typing import Any, NamedTuple

import numpy as np

from ossb.errors import InputError
from ossb.experiments.aggregates import (
    Interval,
    geometric_mean,
    improvement,
    interquartile_mean,
    profile,
    with_interval,
)
from ossb.experiments.results import Results


class Overall(NamedTuple):
    """One policy over all instances; scores are regrets over the least mean of their instance."""

    policy: str
    interquartile_mean: Interval
    geometric_mean: Interval  # of the means of instances
    improvement: Interval | None  # chance of less regret than the first has; None for the first

    def to_dict(self) -> dict[str, Any]:
        return {
            key: value._asdict() if isinstance(value, Interval) else value
            for key, value in self._asdict().items()
        }


def is_comparison(results: Results) -> bool:
    """Whether there are several instances and several policies to speak of at once."""
    if len(results.experiment.instances) < 2:
        return False
    try:
        return len(scores(results)) > 1
    except InputError:
        return False


def scores(results: Results) -> dict[str, np.ndarray]:
    """Regret at the horizon over the least mean of the instance: policy → (instances, trials).

    Policies with trials missing are left out, and instances on which nobody has any regret.
    """
    ends: dict[str, dict[int, list[float]]] = {}
    columns = results.trials.sort("instance", "trial").select("policy", "instance", "regret")
    for policy, instance, regret in columns.iter_rows():
        ends.setdefault(policy, {}).setdefault(instance, []).append(regret[-1])
    count, trials = len(results.experiment.instances), results.experiment.trials
    whole = {
        policy: np.array([found[instance] for instance in sorted(found)])
        for policy, found in ends.items()
        if len(found) == count and all(len(one) == trials for one in found.values())
    }
    if not whole:
        raise InputError("folder", "hold all trials of some policy", str(results.ledger.folder))
    least = np.min([regret.mean(axis=1) for regret in whole.values()], axis=0)
    kept = least > 0.0
    if not kept.any():
        raise InputError("folder", "hold an instance with some regret", str(results.ledger.folder))
    return {policy: regret[kept] / least[kept, None] for policy, regret in whole.items()}


def overall(results: Results) -> list[Overall]:
    """Every policy that has all trials, the least interquartile mean first."""
    found = scores(results)
    middles = {policy: float(interquartile_mean(values)) for policy, values in found.items()}
    ordered = sorted(found, key=lambda policy: middles[policy])
    first = found[ordered[0]]
    return [
        Overall(
            policy,
            with_interval(interquartile_mean, found[policy]),
            with_interval(geometric_mean, found[policy]),
            None if policy == ordered[0] else improvement(found[policy], first),
        )
        for policy in ordered
    ]


def profiles(results: Results, levels: np.ndarray) -> dict[str, np.ndarray]:
    """Share of trials whose score is at most each level: policy → (levels,)."""
    return {policy: profile(values, levels) for policy, values in scores(results).items()}


def overall_text(found: list[Overall], instances: int) -> str:
    """The table for a terminal."""
    width = max(len(one.policy) for one in found)
    first = found[0].policy
    lines = [
        f"all {instances} instances: regret over the least mean of its instance, and the chance "
        f"of less regret than {first} has",
        f"  {'policy':{width}}  {'interquartile mean':>22} {'geometric mean':>22} {'chance':>22}",
    ]
    for one in found:
        chance = "" if one.improvement is None else str(one.improvement)
        lines.append(
            f"  {one.policy:{width}}  {one.interquartile_mean!s:>22} {one.geometric_mean!s:>22} "
            f"{chance:>22}".rstrip()
        )
    return "\n".join(lines)
