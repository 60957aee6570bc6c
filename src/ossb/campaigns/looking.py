"""What a campaign's tally says: who leads, how surely, and what the bound asks for."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ossb.arm_sets.base import Items
from ossb.campaigns.observations import largest
from ossb.campaigns.player import Player
from ossb.campaigns.stopping import share, threshold
from ossb.certificates import to_certificate
from ossb.errors import CertificationError, InputError
from ossb.graves_lai.semi_bandit.evidence import least_evidence
from ossb.instances import from_dict
from ossb.models.base import WEAKEST
from ossb.structures.base import bound
from ossb.tally import Tally

BEYOND = "the likelihood ratio is beyond the range of doubles"


class View(NamedTuple):
    """What the arms that may be played have shown, taken at one moment."""

    player: Player
    tally: Tally
    components: int  # of all arms, retired ones included
    added: int  # arms added since the start
    arms: int  # retired ones included
    met: Sequence[Items] = ()  # the arms, where they are not listed


class Moment(NamedTuple):
    """A campaign as it stood after one event, to look at without the lock."""

    digest: str  # of that event
    stands: dict[str, Any]  # as it is described
    view: View
    course: dict[str, Any]  # the timeline, without regret
    played: np.ndarray  # int32 (n_decisions,), the arm of each that was told, -1 for the others

    def timeline(self, gaps: Sequence[float | None] | None) -> dict[str, Any]:
        """Phases and, given the arms' gaps, regret along the decisions, in a few bins."""
        if gaps is None:
            return self.course
        prices = np.array([*(gap or 0.0 for gap in gaps), 0.0])  # the last for what was not told
        spent = np.cumsum(prices[self.played])
        return {**self.course, "regret": [float(spent[end - 1]) for end in self.course["ends"]]}


def plain(arm: Any) -> int | list[int]:
    """An arm as it is written."""
    return [int(item) for item in arm] if isinstance(arm, tuple | list) else int(arm)


def leader(view: View) -> int | list[int]:
    """The arm that leads among all arms: the likeliest best one, by what was told."""
    player = view.player
    instance: Any = player.instance
    if player.described:
        arm = instance.implicit_set.maximize(_told_first(view.tally))
    else:
        arm = instance.arm_at(_position_of_leader(instance, view.tally))
    return plain(arm if player.whole else player.outer(arm))


def known_leader(view: View) -> int | list[int] | None:
    """The same; None where nothing was told of the arms that may be played."""
    return leader(view) if view.tally.counts.any() else None


def _position_of_leader(instance: Any, tally: Tally) -> int:
    model = _model(instance)
    if model is None:
        return int(np.argmax(_told_first(tally)))
    memory = model.start()
    if instance.unprojected() is not None:
        return int(model.plug_in(tally._replace(means=_told_first(tally)), memory))
    if tally.counts.all():
        return int(model.project(tally, memory))
    return int(instance.leading(tally, _told_first(tally)))


def _told_first(tally: Tally) -> np.ndarray:
    """Means under which no arm with components never told of beats one without."""
    lowest = -1.0 - 2.0 * float(np.abs(tally.means).sum())
    return np.where(tally.counts > 0, tally.means, lowest)


def stopping(view: View, delta: float) -> dict[str, Any]:
    """Whether the leader is the best arm with confidence 1 − δ.

    Where there is no test, or nothing was told yet, ``statistic`` is None and ``reason`` says
    why.
    """
    answer: dict[str, Any] = {"delta": delta, "statistic": None, "threshold": None, "met": False}
    instance: Any = view.player.instance
    described = view.player.described
    if not described and instance.tested() is None:
        reason = f"this {instance.kind} structure has no likelihood-ratio test"
        return {**answer, "reason": reason}
    if _has_one_arm(view.player):
        return {**answer, "met": True, "reason": "there is one arm"}
    if not view.tally.counts.any():
        return {**answer, "statistic": 0.0, "reason": "nothing was told yet"}
    if not np.abs(view.tally.means).max() <= largest(instance):  # NaN is not
        return {**answer, "reason": BEYOND}
    statistic = (_evidence_of_set if described else _evidence)(instance, view.tally)
    level = threshold(
        view.tally.counts, delta * share(view.added, instance.can_grow), view.components
    )
    answer["threshold"] = level
    if math.isfinite(statistic):
        return {**answer, "statistic": statistic, "met": bool(statistic > level)}
    if statistic == math.inf:  # nothing is left that could contradict the leader
        return {**answer, "met": True, "reason": "every alternative is ruled out"}
    return {**answer, "reason": BEYOND}


def _has_one_arm(player: Player) -> bool:
    instance: Any = player.instance
    if not player.described:
        return len(instance.showing()) == 1
    arms = instance.implicit_set
    flat = np.zeros(arms.n_items)
    return arms.runner_up(flat, arms.maximize(flat)) is None


def _evidence(instance: Any, tally: Tally) -> float:
    """The least likelihood ratio of the leader against an alternative."""
    model = instance.tested()
    memory = model.start()
    best = int(model.project(tally, memory))
    model.test(best, math.inf, tally, memory)
    return float(memory.numbers[WEAKEST])


def _evidence_of_set(instance: Any, tally: Tally) -> float:
    """The same where arms are not listed."""
    return least_evidence(instance.implicit_set, instance.family, tally.counts, tally.means)


def rates_at_estimate(view: View, gap: float) -> dict[str, Any]:
    """C and the rates at the estimated parameter, with their certificate.

    Where the estimate has no bound, ``rates`` is None and ``reason`` says why.
    """
    try:
        found = bound(_at_estimate(view), gap)
    except (InputError, CertificationError) as error:
        return {"value": None, "rates": None, "reason": str(error)}
    player = view.player

    def outside(arm: Any) -> int | list[int]:
        if player.whole:
            return plain(arm)
        return plain(player.outer(arm))

    return {
        "value": found.value,
        "lower": found.lower,
        "upper": found.upper,
        "best_arm": outside(found.best_arm),
        "rates": [{"arm": outside(arm), "rate": float(rate)} for arm, rate in found.support],
        "status": found.status,
        "certificate": to_certificate([found]),
        "gaps": _gaps(view, found.instance),
    }


def _gaps(view: View, estimated: Any) -> list[float | None]:
    """What a play of each arm costs by the estimate; None for arms that are played no more."""
    player = view.player
    if player.described:
        return _gaps_of_met(view, estimated)
    own = [
        float(estimated.gap_of(estimated.arm_at(place)))
        for place in range(len(estimated.showing()))
    ]
    if player.whole:
        return list(own)
    gaps: list[float | None] = [None] * view.arms
    for place, gap in zip(player.arms, own, strict=True):
        gaps[int(place)] = gap
    return gaps


def _gaps_of_met(view: View, estimated: Any) -> list[float | None]:
    """The same for the arms met, by the means of their items; there may be many."""
    player, best = view.player, estimated.best_arm()
    kept = range(view.components) if player.whole else player.kept
    worth = np.full(view.components, np.nan)
    worth[kept] = estimated.sign * estimated.phi
    top = math.fsum(worth[[kept[item] for item in best]].tolist())
    owner = np.repeat(np.arange(len(view.met)), [len(arm) for arm in view.met])
    items = np.array([item for arm in view.met for item in arm], dtype=np.int64)
    totals = np.bincount(owner, weights=worth[items], minlength=len(view.met))
    return [None if math.isnan(x) else max(0.0, x) for x in (top - totals).tolist()]


def _model(instance: Any) -> Any:
    return instance.model() if hasattr(instance, "model") else None


def _at_estimate(view: View) -> Any:
    """The instance with the estimate for its true parameter."""
    instance: Any = view.player.instance
    if view.player.described:
        return _set_at_estimate(instance, view.tally)
    model = _model(instance)
    if model is None or instance.unprojected() is not None:
        raise InputError("instance", "have a maximum-likelihood estimate", instance.kind)
    memory = model.start()
    model.project(view.tally, memory)
    keys = instance.to_dict()
    signed = instance.observed_sign * memory.estimate
    found = instance.parameter_from(memory, signed, view.tally.counts)
    keys[instance.parameter] = found.tolist()
    return from_dict(keys)


def _set_at_estimate(instance: Any, tally: Tally) -> Any:
    """The same where arms are not listed: the means of the items."""
    arms = instance.implicit_set
    for item in np.flatnonzero(tally.counts == 0).tolist():
        if arms.maximize_with(tally.means, item) is not None:
            raise InputError("estimate", f"know every item: item {item} has shown nothing yet")
    keys = instance.to_dict()
    keys[instance.parameter] = (instance.sign * tally.means).tolist()
    return from_dict(keys)
