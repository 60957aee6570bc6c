"""Where a campaign stands, in one document: for ``GET``, the page and ``campaign show``."""

import math
import time
from typing import TYPE_CHECKING, Any

from ossb import deadlines
from ossb.arm_sets import ARM_SETS
from ossb.campaigns.deciding import Left, Test, confidence, outlook, sentence
from ossb.campaigns.differences import differences
from ossb.campaigns.headline import amount, found_so_far, headline
from ossb.campaigns.intervals import intervals
from ossb.campaigns.looking import GAP, Moment, View, known_leader, rates_at_estimate, stopping
from ossb.errors import OutOfTime

if TYPE_CHECKING:
    from ossb.campaigns.campaign import Campaign

BINS = 60
INTERVALS = 0.05  # how often any of the intervals may ever miss
HOUR = 3600.0  # before that a pace says little
DEFINED = ("name", "instance", "policy", "seed", "created", "closed")
COUNTED = ("rounds", "pending", "events", "phases", "plays", "means", "components")
SHORT = (*DEFINED, *COUNTED)
JUDGED = ("rates", "stop")  # what takes time to work out
MOST_MET = 1000  # arms of a set in one document
ROUGH = 1e-2  # relative gap of their rates
CERTIFIED = 100_000  # numbers of a certificate in a document


def document_of(
    moment: Moment, delta: float | None, epsilon: float | None = None
) -> dict[str, Any]:
    """Where a campaign stands at one moment: what is worked out belongs to what is beside it."""
    stands = moment.stands
    rates = _rates(moment)
    gaps = rates.pop("gaps", None)
    told_for = None
    if gaps is not None:
        pairs = zip(stands["plays"], gaps, strict=True)
        told_for = sum(plays * gap for plays, gap in pairs if gap is not None)
    value = rates["value"]
    promised = None if value is None else value * math.log(stands["rounds"] + 1)
    leader, pace = known_leader(moment.view), _rounds_a_day(stands)
    stop, left = _stop(moment, confidence(stands["policy"], delta, epsilon), told_for, pace)
    found = {
        **stands,
        "leader": leader,
        "rates": rates,
        "stop": stop,
        "headline": headline(stands, leader, stop, left, told_for, pace),
        "intervals": _intervals(moment.view),
        "exploration": {"regret": told_for, "bound": promised, "gaps": gaps},
        "timeline": moment.timeline(gaps),
    }
    return most_played(found)


def _rounds_a_day(stands: dict[str, Any]) -> float | None:
    """The pace so far; None where it is too early to say."""
    days = (time.time() - stands["created"]) / 86400.0
    return stands["rounds"] / days if days > HOUR / 86400.0 else None


def _stop(
    moment: Moment,
    test: Test,
    regret: float | None,
    per_day: float | None,
) -> tuple[dict[str, Any], Left | None]:
    """Whether one may stop, and that in a sentence, with what is left until then."""
    stands, view = moment.stands, moment.view
    stop = stopping(view, *test)
    left = outlook(view, stop)
    named = "" if stop["arm"] is None else found_so_far(stands, stop)
    named = named if stop.get("chosen") is not None else f"arm {named}"
    policy, spent = stands["policy"]["name"], amount(regret, stands["instance"])
    said = sentence(stop, left, policy, named, stands["rounds"], spent, per_day)
    return {**stop, "left": None if left is None else left._asdict(), "sentence": said}, left


def _intervals(view: View) -> dict[str, Any] | None:
    """Of means, and of differences to the leader; each list right at all times."""
    if not view.player.whole:
        return None
    return {**intervals(view, INTERVALS), "differences": differences(view, INTERVALS)}


def _rates(moment: Moment) -> dict[str, Any]:
    """To a rough gap where the solver takes seconds, and not at all where it takes minutes."""
    arm_set = ARM_SETS.get(moment.stands["instance"].get("arm_set", ""))
    most = None if arm_set is None else arm_set[0].slow_items
    if most is None:
        return rates_at_estimate(moment.view, GAP, CERTIFIED)
    if len(moment.stands["components"]["counts"]) > most:
        reason = f"rates of more than {most} items are for `Campaign.rates` in Python"
        return {"value": None, "rates": None, "reason": reason}
    return rates_at_estimate(moment.view, ROUGH, CERTIFIED)


def most_played(found: dict[str, Any]) -> dict[str, Any]:
    """A document with the most played arms alone, where those of a set were met.

    ``arms_played`` says how many there are in all.
    """
    if "arm_set" not in found["instance"]:
        return found
    plays = found["plays"]
    played = [number for number, count in enumerate(plays) if count]
    shown = sorted(played, key=lambda number: -plays[number])[:MOST_MET]
    fewer: dict[str, Any] = {
        key: [found[key][number] for number in shown] for key in ("arms", "plays", "means")
    }
    exploration = found.get("exploration")
    if exploration is not None and exploration["gaps"] is not None:
        gaps = dict(enumerate(exploration["gaps"]))
        exploration = {**exploration, "gaps": [gaps.get(number) for number in shown]}
    fewer["exploration"] = exploration
    return {**found, **fewer, "arms_played": len(played)}


def short(campaign: "Campaign") -> dict[str, Any]:
    """A campaign in a list of them, without what takes time to work out."""
    moment = campaign.moment()
    return _entry({**moment.stands, "leader": _leader_soon(moment)})


def _leader_soon(moment: Moment) -> Any:
    """The leader; None where finding it takes most of the time there is, as a program may."""
    if not deadlines.is_limited():
        return known_leader(moment.view)
    try:
        with deadlines.no_longer(0.5 * deadlines.left()):
            return known_leader(moment.view)
    except OutOfTime:
        deadlines.check()
        return None


def unjudged(
    campaign: "Campaign", delta: float | None, epsilon: float | None = None
) -> dict[str, Any]:
    """A campaign whose rates and stop took too long to work out, which it says."""
    reason = "this takes longer than a call has; it is shown once it was worked out"
    unknown = dict.fromkeys(("statistic", "threshold", "arm", "runner_up"))
    moment = campaign.moment(BINS)
    test = confidence(moment.stands["policy"], delta, epsilon)
    stop = {"delta": test.delta, "epsilon": test.epsilon, "met": False, **unknown, "reason": reason}
    leader = _leader_soon(moment)
    found = {
        **moment.stands,
        "leader": leader,
        "rates": {"value": None, "rates": None, "reason": reason},
        "stop": stop,
        "headline": headline(moment.stands, leader, stop, None, None, None),
        "intervals": None,
        "exploration": {"regret": None, "bound": None, "gaps": None},
        "timeline": moment.timeline(None),
    }
    return most_played(found)


def judged(found: dict[str, Any]) -> dict[str, Any]:
    """An entry in a list from a campaign's document, with rates and whether one may stop."""
    return {**_entry(found), **{key: found[key] for key in JUDGED}}


def _entry(found: dict[str, Any]) -> dict[str, Any]:
    fewer = most_played(found) if "arms_played" not in found else found
    keys = [*SHORT, "arms", "retired", "leader"]
    if "arms_played" in fewer:  # those of a set
        keys.append("arms_played")
    return {key: fewer[key] for key in keys} | {"structure": found["instance"]["structure"]}
