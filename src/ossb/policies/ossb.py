"""OSSB, Optimal Sampling for Structured Bandits, as printed and repaired.

R. Combes, S. Magureanu, A. Proutiere, "Minimal Exploration in Structured Stochastic Bandits",
NeurIPS 2017, Algorithm 1: solve the Graves–Lai program at the estimate m(t) for the rates
c(x, m(t)); exploit if N(x) ≥ c(x) (1 + γ) ln t for every x; otherwise, with s(t) the number of
rounds not exploited, play the least played arm if N ≤ ε s(t), else the arm of least N/c.

Made precise: t counts rounds from 1; before its first play m(x) = 0; ties go to the lowest
index; arms with c(x) = 0 and the leader are left out of the test and of argmin N/c; where no
parameter is confusing, all rates are 0 and the leader is played.

``ossb-paper`` is that algorithm.  ``ossb`` departs from it in ways that each can be switched:

- ``estimate="projected"``: m(t) is the maximum-likelihood point of Θ, not the bare means.  For a
  finite or curved Θ the bare means have, almost surely, no confusing parameter, and the printed
  algorithm exploits for ever.
- ``test="likelihood"``: exploit once the likelihood ratio against every alternative reaches
  (1 + γ) ln t.  After a projection, counts can claim evidence that the data do not hold.  The
  ratio uses the real N of the leader where tracking takes it as infinite: where the ratio with
  a known leader already passes, the leader itself is what is missing, and is played.  Such a
  round, and one of ``leader_first``, is not counted in s(t): it costs nothing if the leader is
  right, and forced plays that grow with all of them would go on at the pace of ln t.
- ``leader_first``: a round that explores plays the leader while that has fewer plays than the
  arm chosen.  Without it a stale, lucky estimate of the leader makes one arm's rate explode and
  is never corrected: with ε = 0 the printed algorithm locks.
- ``forced="informative"``: forced plays go to a small set of arms that together show everything,
  not to all K: with many arms ε K s(t) is a heavy tax.
- ``share="vanishing"``: forced plays are at least max(ε s / (1 + ln(1 + s)), ln(1 + s)) for ε > 0:
  a share that vanishes, and at first far more than ε s.  An arm whose first few observations
  happen to say that it tells nothing is otherwise left alone while worse ones are played for it.
- ``capped``: arms are explored by N / min(c, t / ln t), as no plan can ask for more than all
  rounds.  Two arms that seem nearly equal have huge rates: by N/c they take nearly all plays,
  even where both are bad, while the others starve.
- ``opening``: in the first rounds the test asks for (1 + γ) ln 10⁵ at least, and no arm waits for
  the leader.  50 rounds an arm where Θ is a finite set, none otherwise: there a few plays tell
  nearly everything, and a run that exploits before them can stay wrong for long.
- ``sweep``: the first rounds play every arm once (as printed there is none; on by default in
  both, since m = 0 is no estimate), or the informative set where plays are forced on that.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from ossb.errors import InputError
from ossb.fields import choice
from ossb.models.base import SETTLED, WEAKEST, Model
from ossb.models.finite import OPENING
from ossb.policies.arms import lists_arms, projects
from ossb.policies.base import Kind
from ossb.policies.ossb_contexts import OssbInContexts, ossb_in_contexts
from ossb.records import record
from ossb.structures.offers import LISTED_PARAMETERS, MODEL
from ossb.tally import ESTIMATE, EXPLOIT, EXPLORE, Decision, Tally

LATE = 1e5  # in the opening the test uses at least this number of the round


class OssbMemory(NamedTuple):
    """What the model holds, and the rates."""

    model: Any
    targets: np.ndarray  # float64 (n_arms,): the rates c(x)


@record
class Ossb(NamedTuple):
    """Track the rates of the estimated parameter.

    Parameters
    ----------
    model
        The structure.
    epsilon
        Forced estimation: the share of the rounds not exploited that each forced arm gets.
    gamma
        Extra exploration: the rates are scaled by 1 + gamma.
    kappa
        A solution is held, rescaled, while its certified gap at the new estimate is below
        this; 0 solves in every round.
    projected, likelihood, leader_first, sparse, vanishing, capped, sweep, opening
        The departures of the module's docstring.
    """

    model: Model
    epsilon: float
    gamma: float
    kappa: float
    projected: bool
    likelihood: bool
    leader_first: bool
    sparse: bool
    vanishing: bool
    capped: bool
    sweep: bool
    opening: float

    def start(self) -> OssbMemory:
        return OssbMemory(self.model.start(), np.zeros(self.model.n_arms))

    def select(self, tally: Tally, memory: OssbMemory, rng: Generator) -> Decision:
        if self.sweep:
            first = self.first_play(tally)
            if first >= 0:
                return Decision(first, ESTIMATE)
        if self.projected:
            leader = self.model.project(tally, memory.model)
        else:
            leader = self.model.plug_in(tally, memory.model)
        t = tally.clock[0] + 1.0
        level = (1.0 + self.gamma) * math.log(max(t, LATE) if t <= self.opening else t)
        if self.likelihood:
            self.model.test(leader, level, tally, memory.model)
            numbers = memory.model.numbers
            if numbers[WEAKEST] >= level:
                return Decision(leader, EXPLOIT)  # rates would change nothing: none are solved for
            if numbers[SETTLED] >= level and self.due(leader, tally) < 0:
                return Decision(leader, EXPLOIT)  # only its own plays are missing
        self.model.rates(leader, self.kappa, memory.model, memory.targets)
        neediest = self.most_wanted(tally, memory.targets, math.inf)
        if neediest < 0:
            return Decision(leader, EXPLOIT)
        if not self.likelihood:
            if tally.plays[neediest] >= memory.targets[neediest] * level:
                return Decision(leader, EXPLOIT)
        forced = self.due(leader, tally)
        if forced >= 0:
            return Decision(forced, ESTIMATE)
        if self.capped:
            neediest = self.most_wanted(tally, memory.targets, self.most_plays(tally))
        if self.leader_first and t > self.opening and self.model.is_informative(leader):
            if tally.plays[leader] < tally.plays[neediest]:
                return Decision(leader, EXPLOIT)
        return Decision(neediest, EXPLORE)

    def first_play(self, tally: Tally) -> int:
        """The next arm of the first pass, or −1; until something is told it goes on."""
        if tally.clock[0] == 0:
            return self.least_played(-1, tally)
        if not self.sparse:
            for x in range(tally.plays.shape[0]):
                if tally.plays[x] == 0 and self.model.is_informative(x):
                    return x
            return -1
        place = 0
        arm = self.model.informative(place)
        while arm >= 0:
            if tally.plays[arm] == 0:
                return arm
            place += 1
            arm = self.model.informative(place)
        return -1

    def most_wanted(self, tally: Tally, targets: np.ndarray, most: float) -> int:
        """argmin N(x) / min(c(x), most) over the arms with a rate, or −1."""
        arm, least = -1, math.inf
        for x in range(targets.shape[0]):
            if targets[x] > 0.0 and tally.plays[x] / min(targets[x], most) < least:
                arm, least = x, tally.plays[x] / min(targets[x], most)
        return arm

    def most_plays(self, tally: Tally) -> float:
        """The largest rate that all rounds so far could have met."""
        t = tally.clock[0] + 1.0
        return t / max(math.log(t), 1.0)

    def due(self, leader: int, tally: Tally) -> int:
        """The arm whose forced play is due, or −1."""
        wasted = tally.phases[ESTIMATE] + tally.phases[EXPLORE] + 1.0
        forced = self.least_played(leader, tally)
        allowed = self.epsilon * wasted
        if self.vanishing:
            slow = math.log(1.0 + wasted)
            allowed = max(allowed / (1.0 + slow), slow) if self.epsilon > 0.0 else 0.0
        return forced if tally.plays[forced] <= allowed else -1

    def least_played(self, leader: int, tally: Tally) -> int:
        """The least played of the arms that are forced."""
        if self.sparse:
            place = 0
            arm = self.model.informative(place)
            least = arm
            while arm >= 0:
                if tally.plays[arm] < tally.plays[least]:
                    least = arm
                place += 1
                arm = self.model.informative(place)
            return least
        least = -1
        for x in range(tally.plays.shape[0]):
            if x == leader or self.model.is_informative(x):
                if least < 0 or tally.plays[x] < tally.plays[least]:
                    least = x
        return least


SWITCHES = {
    "estimate": ("means", "projected"),
    "test": ("counts", "likelihood"),
    "forced": ("all", "informative"),
    "share": ("constant", "vanishing"),
}


IN_CONTEXTS = ("estimate", "test", "forced")  # of which one of two is written for contexts


def build(
    instance: Any,
    epsilon: float | None,
    gamma: float,
    kappa: float,
    estimate: str,
    test: str,
    leader_first: bool,
    forced: str,
    share: str,
    capped: bool,
    sweep: bool,
    opening: float | None,
) -> Ossb | OssbInContexts:
    n_arms = instance.n_arms
    if epsilon is None:
        epsilon = 0.01 / n_arms
    if not 0 <= epsilon < 1 / n_arms:
        must = f"lie in [0, 1/{n_arms}): Theorem 2 asks for less than one over the arms"
        raise InputError("epsilon", must, epsilon)
    if not 0 <= gamma < math.inf:
        raise InputError("gamma", "be non-negative", gamma)
    if not 0 <= kappa < 1:
        raise InputError("kappa", "lie in [0, 1)", kappa)
    if opening is None:
        opening = OPENING * n_arms if LISTED_PARAMETERS in instance.offers else 0.0
    if not 0 <= opening < math.inf:
        raise InputError("opening", "be a number of rounds, 0 or more", opening)
    words = {"estimate": estimate, "test": test, "forced": forced, "share": share}
    flags = {
        key: choice(word, key, SWITCHES[key]) == SWITCHES[key][1] for key, word in words.items()
    }
    if instance.has_contexts:
        for key in IN_CONTEXTS:
            if not flags[key]:
                must = f"be {SWITCHES[key][1]} where there are contexts"
                raise InputError(key, must, words[key])
        if not sweep or opening:
            key = "opening" if opening else "sweep"
            raise InputError(key, "be left as it is where there are contexts")
        return ossb_in_contexts(
            instance, epsilon, gamma, kappa, leader_first, flags["share"], capped
        )
    reason = instance.unprojected()
    if reason is not None and (flags["estimate"] or flags["test"]):
        key = "estimate" if flags["estimate"] else "test"
        raise InputError(key, f"be {SWITCHES[key][0]}: {SWITCHES[key][1]} {reason}", words[key])
    return Ossb(
        instance.model(),
        epsilon,
        gamma,
        kappa,
        flags["estimate"],
        flags["test"],
        leader_first,
        flags["forced"],
        flags["share"],
        capped,
        sweep,
        float(opening),
    )


REFERENCE = "Combes, Magureanu and Proutiere (2017)"


OSSB_PAPER = Kind(
    name="ossb-paper",
    build=build,
    parameters={
        "epsilon": None,
        "gamma": 0.0,
        "kappa": 0.0,
        "estimate": "means",
        "test": "counts",
        "leader_first": False,
        "forced": "all",
        "share": "constant",
        "capped": False,
        "sweep": True,
        "opening": 0.0,
    },
    needs=(MODEL,),
    reference=REFERENCE,
    fits=lists_arms,
)
OSSB = Kind(
    name="ossb",
    build=build,
    parameters={
        "epsilon": None,
        "gamma": 0.0,
        "kappa": 1e-2,
        "estimate": "projected",
        "test": "likelihood",
        "leader_first": True,
        "forced": "informative",
        "share": "vanishing",
        "capped": True,
        "sweep": True,
        "opening": None,
    },
    needs=(MODEL,),
    reference=f"{REFERENCE}, with repairs",
    fits=lists_arms,
    suits=projects,
    in_contexts=True,
)
