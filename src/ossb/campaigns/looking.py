"""What a campaign's tally says: who leads, how surely, and what the bound asks for."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ossb.arm_sets.base import Items
from ossb.campaigns.observations import largest
from ossb.campaigns.player import Player
from ossb.campaigns.stopping import LEAST, left_out, share, threshold
from ossb.certificates import numbers_in, to_certificate
from ossb.errors import CertificationError, InputError
from ossb.graves_lai.answers import BEST, Answer
from ossb.graves_lai.semi_bandit.evidence import least_evidence
from ossb.instances import from_dict
from ossb.models.base import WEAKEST
from ossb.models.brought import Evidence, Spread, posterior
from ossb.models.rivals import rivals_for
from ossb.models.rivals.mixture import mixture_of
from ossb.structures.base import bound
from ossb.structures.segments import placed
from ossb.tally import Tally

GAP = 1e-6  # relative, of rates at the estimate

CERTIFIED = 10_000_000  # numbers of a certificate: as JSON some hundred megabytes
NO_BOUND = "asks brought rows of their own: of contexts still to come no bound is known"
BEYOND = "the likelihood ratio is beyond the range of doubles"


class View(NamedTuple):
    """What the arms that may be played have shown, taken at one moment."""

    player: Player
    tally: Tally
    components: int  # of all arms, retired ones included
    added: int  # arms added since the start
    arms: int  # retired ones included
    met: Sequence[Items] = ()  # the arms, where they are not listed
    known: tuple[Evidence, Spread] | None = None  # of the parameter, where asks brought rows


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


def plain(arm: Any) -> Any:
    """An arm as it is written, or the best arm of each context."""
    return [plain(item) for item in arm] if isinstance(arm, tuple | list) else int(arm)


def written(arm: Any) -> Any:
    """An arm as instances call it, of what ``plain`` has made of it."""
    return tuple(map(written, arm)) if isinstance(arm, list) else arm


def leader(view: View) -> int | list[int]:
    """The arm that leads among all arms: the likeliest best one, by what was told."""
    player = view.player
    instance: Any = player.instance
    if instance.has_segments:
        return plain([[z, _leader_of_told(one)] for z, one in enumerate(segments(view))])
    if view.known is not None:
        found = _led_by_all(view)
        return plain(found if player.whole else player.outer(found))
    if player.has_contexts:
        return plain(_leaders(instance, view.tally))
    if player.described:
        arm = instance.implicit_set.maximize(_told_first(view.tally))
    else:
        arm = instance.arm_at(_position_of_leader(instance, view.tally))
    return plain(arm if player.whole else player.outer(arm))


def segments(view: View) -> list[View]:
    """What each segment has shown."""
    players: Any = view.player
    found = []
    for part in players.parts:
        tally = part.view(view.tally)
        found.append(View(part, tally, tally.counts.size, 0, tally.plays.size))
    return found


def _leader_of_told(view: View) -> Any:
    """The leader of a segment, the first arm where nothing was told of it."""
    arm = known_leader(view)
    return plain(view.player.instance.arm_at(0)) if arm is None else arm


def _led_by_all(view: View) -> Any:
    """The leader where asks brought rows, which tell of the parameter too."""
    assert view.known is not None
    instance: Any = view.player.instance
    index = instance.sign * (np.asarray(instance.arms) @ posterior(*view.known).theta)
    if view.player.has_contexts:
        return _leading_rows(instance, index)
    return instance.arm_at(int(np.argmax(index)))


def _leaders(instance: Any, tally: Tally) -> list[Any]:
    """The arm that leads in each context."""
    model = instance.model()
    memory = model.start()
    model.project(tally, memory)
    return _leading_rows(instance, memory.rewards)


def _leading_rows(instance: Any, rewards: np.ndarray) -> list[Any]:
    layout = instance.layout
    rows = [layout.rows(z) for z in range(layout.n_contexts)]
    return [
        instance.arm_at(here.start + int(np.argmax(rewards[here.start : here.stop])))
        for here in rows
    ]


def known_leader(view: View) -> int | list[int] | None:
    """Like ``leader``, or None where nothing was told of the arms that may be played."""
    told = view.tally.counts.any() or view.known is not None
    return leader(view) if told else None


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


def stopping(
    view: View, delta: float, epsilon: float = 0.0, asked: Answer = BEST
) -> dict[str, Any]:
    """Whether the leader is within epsilon of the best arm with confidence 1 − δ.

    Where more is asked for, ``answer`` says what and ``chosen`` the arms that it is by now.

    ``arm`` is the leader that the test is about, and ``runner_up`` the arm (item, of duels) that is
    least ruled out.  Where there is no test, or nothing was told yet, ``statistic`` is None or 0
    and ``reason`` says why.
    """
    answer: dict[str, Any] = {
        "delta": delta,
        "epsilon": epsilon,
        "statistic": None,
        "threshold": None,
        "met": False,
        "arm": known_leader(view),
        "runner_up": None,
    }
    if not asked.is_best:
        answer |= {"answer": asked.plain, "chosen": None}
    instance: Any = view.player.instance
    described = view.player.described
    if not described and not instance.has_segments and instance.tested() is None:
        reason = f"this {instance.kind} structure has no likelihood-ratio test"
        return {**answer, "reason": reason}
    if view.known is not None:
        reason = "asks brought rows of their own: see what `contrasts` say of some that you name"
        return {**answer, "reason": reason}
    if view.player.has_contexts:
        reason = "arms in contexts have a best one each, and no one stop"
        return {**answer, "arm": None, "reason": reason}
    only = _only_arm(view.player)
    if only is not None and asked.is_best:
        return {**answer, "met": True, "arm": only, "reason": "there is one arm"}
    if not view.tally.counts.any():
        return {**answer, "statistic": 0.0, "reason": "nothing was told yet"}
    if not np.abs(view.tally.means).max() <= largest(instance):  # NaN is not
        return {**answer, "reason": BEYOND}
    found = _verdict(view, delta, epsilon, asked)
    answer |= {"arm": found.arm, "runner_up": found.runner_up, "threshold": found.threshold}
    if not asked.is_best:
        answer["chosen"] = found.chosen
    if math.isfinite(found.statistic):
        met = bool(found.statistic >= found.threshold)
        return {**answer, "statistic": found.statistic, "met": met}
    if found.statistic == math.inf:  # nothing is left that could contradict the leader
        return {**answer, "met": True, "reason": "every alternative is ruled out"}
    return {**answer, "reason": BEYOND}


class Verdict(NamedTuple):
    """The least statistic over rivals, and what it has to reach."""

    statistic: float
    threshold: float
    arm: Any
    runner_up: Any
    chosen: list[Any] | None = None


def _verdict(view: View, delta: float, epsilon: float, asked: Answer) -> Verdict:
    player, tally = view.player, view.tally
    instance: Any = player.instance
    level = -math.log(max(delta * share(view.added, instance.can_grow), LEAST))
    if not player.whole:
        units = _units(view)
        level += left_out(units, units - len(player.kept))
    if player.described:
        return _verdict_of_set(instance, view, level)
    rivals = rivals_for(instance, asked)
    if rivals is None:  # a structure of somebody's own, by the ratio against all components
        needed = threshold(
            tally.counts, delta * share(view.added, instance.can_grow), view.components
        )
        return Verdict(_evidence(instance, tally), needed, known_leader(view), None)
    contest = rivals.start()
    leader = int(rivals.judge(epsilon, math.inf, tally, contest))
    statistic, charge, runner_up = contest.verdict.tolist()

    def outside(place: int) -> Any:
        arm = (place, place) if instance.has_pairs else place
        return plain(arm if player.whole else player.outer(arm))

    arm = instance.pairs[leader][0] if instance.has_pairs else leader
    rival = None if runner_up < 0 else outside(int(runner_up))
    chosen = None
    if not asked.is_best:
        inside = contest.space.sides.inside > 0
        chosen = [outside(place) for place in asked.picked(inside, instance.sign)]
    return Verdict(statistic, level + charge, outside(arm), rival, chosen)


def _units(view: View) -> int:
    """How many arms there ever were, or items where arms are made of items."""
    if view.player.described:
        return view.components
    if view.player.instance.has_pairs:
        return math.isqrt(2 * view.arms)  # of n (n + 1) / 2 pairs
    return view.arms


def _verdict_of_set(instance: Any, view: View, level: float) -> Verdict:
    """The evidence on arms that are not listed: of all items together, whatever may be played."""
    tally, mixture = view.tally, mixture_of(instance.family)
    counts = [float(count) for count in tally.counts]
    weights = np.array([mixture.evidence_weight(count) for count in counts])
    for count, mean in zip(counts, tally.means.tolist(), strict=True):
        level += mixture.evidence_price(count, mean)
    statistic = least_evidence(instance.implicit_set, instance.family, weights, tally.means)
    return Verdict(statistic, level, known_leader(view), None)


def _only_arm(player: Player) -> Any:
    """The one arm (of duels, item) that may be played; None where there are several."""
    instance: Any = player.instance
    if not player.described:
        if len(instance.showing()) > 1:
            return None
        arm = (0, 0) if instance.has_pairs else 0
        return plain(arm if player.whole else player.outer(arm))
    arms = instance.implicit_set
    flat = np.zeros(arms.n_items)
    first = arms.maximize(flat)
    return plain(first) if arms.runner_up(flat, first) is None else None


def _evidence(instance: Any, tally: Tally) -> float:
    """The least likelihood ratio of the leader against an alternative."""
    model = instance.tested()
    memory = model.start()
    best = int(model.project(tally, memory))
    model.test(best, math.inf, tally, memory)
    return float(memory.numbers[WEAKEST])


def rates_at_estimate(view: View, gap: float, most: int = CERTIFIED) -> dict[str, Any]:
    """C and the rates at the estimated parameter, with their certificate.

    Where the estimate has no bound, ``rates`` is None and ``reason`` says why.

    Parameters
    ----------
    most
        Numbers that the certificate may hold, else it is None: those of independent arms grow
        with the square of how many there are.
    """
    if view.known is not None:
        return {"value": None, "rates": None, "reason": NO_BOUND}
    try:
        found = bound(at_estimate(view), gap)
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
        "certificate": to_certificate([found]) if numbers_in(found) <= most else None,
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
    """What a play of each arm met costs, by the means of its items; there may be many."""
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


def at_estimate(view: View) -> Any:
    """The instance with the estimate for its true parameter."""
    instance: Any = view.player.instance
    if view.player.described:
        return _set_at_estimate(instance, view.tally)
    if instance.has_segments:
        return _segments_at_estimate(view)
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


def _segments_at_estimate(view: View) -> Any:
    """The segments, each with its estimate for its true parameter."""
    instance: Any = view.player.instance
    content = instance.to_dict()
    shared = {key: value for key, value in content.items() if key != "segments"}
    tables = []
    for z, (one, table) in enumerate(zip(segments(view), content["segments"], strict=True)):
        with placed(z):
            parameter = instance.parts[z].parameter
            tables.append({**table, parameter: at_estimate(one).to_dict()[parameter]})
            shared.pop(parameter, None)
    return from_dict({**shared, "segments": tables})


def _set_at_estimate(instance: Any, tally: Tally) -> Any:
    """The instance of arms that are not listed, with its items' means for its parameter."""
    arms = instance.implicit_set
    for item in np.flatnonzero(tally.counts == 0).tolist():
        if arms.maximize_with(tally.means, item) is not None:
            raise InputError("estimate", f"know every item: item {item} has shown nothing yet")
    keys = instance.to_dict()
    keys[instance.parameter] = (instance.sign * tally.means).tolist()
    return from_dict(keys)
