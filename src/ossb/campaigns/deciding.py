"""Where a test stands, in a sentence: which arm, how sure, at what cost; or how long still."""

import math
from typing import Any, NamedTuple

import numpy as np

from ossb.campaigns.looking import View, at_estimate
from ossb.errors import InputError, OssbError
from ossb.fields import number
from ossb.graves_lai.answers import BEST, Answer, answer_of, read_question
from ossb.models.rivals import CHARGE, STATISTIC, rivals_for
from ossb.simulation.planning import shares
from ossb.simulation.stops import Stop
from ossb.structures.base import bound
from ossb.tally import Tally

DELTA = 0.05
ROUGH = 1e-2  # relative gap of the weights
LARGEST = 2000  # numbers in the arms' description up to which what is left is worked out
LONGEST = 1e12
REHEARSED = 300  # rounds of a test at the estimate, or more where there are many arms
SPREAD = 1.28  # standard deviations of the evidence, for a range of eight in ten
DECIDING = ("top-two",)  # policies that are to end


class Left(NamedTuple):
    """How many rounds there are still, by the present estimate: about, and a range."""

    rounds: int
    low: int
    high: int


class Test(NamedTuple):
    """What a campaign is asked for, and how surely."""

    delta: float
    epsilon: float
    answer: Answer = BEST


def confidence(
    policy: dict[str, Any], delta: float | None = None, epsilon: float | None = None
) -> Test:
    """The test of a campaign: δ and ε as asked for, else by its definition."""
    own = policy if policy["name"] in DECIDING else {}
    delta = number(own.get("delta", DELTA) if delta is None else delta, "delta")
    epsilon = number(own.get("epsilon", 0.0) if epsilon is None else epsilon, "epsilon")
    if not 0 < delta < 1:
        raise InputError("delta", "lie in (0, 1)", delta)
    if not 0 <= epsilon < math.inf:
        raise InputError("epsilon", "be non-negative", epsilon)
    asked = read_question(answer_of(own.get("top"), own.get("above")))
    return Test(delta, epsilon, asked)


def outlook(view: View, stop: dict[str, Any]) -> Left | None:
    """What is left if the best weights were played from here; None where that is not known."""
    player, tally = view.player, view.tally
    instance: Any = player.instance
    if stop["met"] or player.described or stop["threshold"] is None or not stop["statistic"]:
        return None
    numbers = np.size(getattr(instance, "arms", 0)) + len(instance.showing())
    if numbers > LARGEST:
        return None
    asked = read_question(stop.get("answer"))
    rivals = rivals_for(instance, asked)
    reveals = instance.showing()
    if rivals is None:
        return None
    weights = np.zeros(len(reveals))
    try:
        if stop["epsilon"] > 0.0:  # other arms count than for the bound
            end = Stop(rivals, stop["delta"], stop["epsilon"], answer=asked)
            weights += shares(at_estimate(view), end, rounds=REHEARSED)
        else:
            found = bound(at_estimate(view), ROUGH, cost="samples", answer=asked)
            for arm, rate in found.support:
                weights[found.instance.position(arm)] += rate
    except OssbError:
        return None
    if not 0.0 < weights.sum() < math.inf:
        return None
    weights /= weights.sum()
    needed = stop["threshold"] - _charge(rivals, tally, stop["epsilon"])
    contest = rivals.start()

    def met(rounds: float) -> bool:
        counts = tally.counts.copy()
        for shown, plays in zip(reveals, (rounds * weights).tolist(), strict=True):
            for component in shown:
                counts[component] += round(plays)
        later = Tally(counts, tally.means, tally.pending, tally.plays, tally.phases, tally.clock)
        rivals.judge(stop["epsilon"], needed, later, contest)
        return bool(contest.verdict[STATISTIC] - contest.verdict[CHARGE] >= needed)

    high = 1.0
    while not met(high):
        high *= 2.0
        if high > LONGEST:
            return None
    low = 0.5 * high
    while high - low > max(0.01 * high, 1.0):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if met(middle) else (middle, high)
    total = float(tally.clock[0]) + high
    swing = SPREAD * math.sqrt(2.0 / stop["threshold"])
    least = max(total * (1.0 - swing) - float(tally.clock[0]), 0.0)
    most = total * (1.0 + swing) - float(tally.clock[0])
    return Left(math.ceil(high), math.ceil(least), math.ceil(most))


def _charge(rivals: Any, tally: Tally, epsilon: float) -> float:
    contest = rivals.start()
    rivals.judge(epsilon, math.inf, tally, contest)
    return float(contest.verdict[CHARGE])


def sentence(
    stop: dict[str, Any],
    left: Left | None,
    policy: str,
    named: str,
    rounds: int,
    regret: str | None,
    per_day: float | None,
) -> str:
    """How sure the answer is by now, and how much is left, in words.

    Parameters
    ----------
    named
        What is the case if the test has ended.
    """
    sure = f"{100 * (1 - stop['delta']):.6g}%"
    if stop["met"]:
        cost = f" and about {regret} of regret" if regret is not None else ""
        return f"{begun(named)}, sure to {sure}; that took {rounds:,} rounds{cost}."
    if stop["statistic"] is None or stop["threshold"] is None:
        return f"Not sure: {stop.get('reason', 'there is no test')}."
    share = max(0.0, min(1.0, stop["statistic"] / stop["threshold"]))
    whole = math.floor(100 * share)  # all of it is not said before there is
    said = f"Not sure to {sure} yet: {whole}% of the evidence that is needed."
    if policy in DECIDING:
        if left is not None:
            said += f" About {left.rounds:,} rounds more ({left.low:,} to {left.high:,})"
            said += f", {_days(left.rounds / per_day)} at this pace." if per_day else "."
        return said
    said += f" {policy} spends little and does not aim to end"
    if left is None:
        return said + "."
    said += f"; after a switch to top-two, about {left.rounds:,} rounds more"
    said += f" ({left.low:,} to {left.high:,})"
    return said + (f", {_days(left.rounds / per_day)} at this pace." if per_day else ".")


def begun(said: str) -> str:
    """What begins a sentence with a capital, where it is no name."""
    ours = said.startswith(("the ", "so far ", "no arm ", "arm "))
    return said[:1].upper() + said[1:] if ours else said


def _days(days: float) -> str:
    if days < 2:
        return f"{24 * days:.1f} hours"
    return f"{days:.0f} days" if days < 21 else f"{days / 7:.0f} weeks"
