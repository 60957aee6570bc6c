"""Where a campaign stands in one plain sentence: who leads, how long still, at what cost."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from ossb.campaigns.deciding import DECIDING, Left, begun
from ossb.graves_lai.answers import read_question
from ossb.structures import STRUCTURES

LISTED = 3  # arms that lead in some of the contexts


def headline(
    stands: Mapping[str, Any],
    leader: Any,
    stop: Mapping[str, Any],
    left: Left | None,
    regret: float | None,
    per_day: float | None,
) -> str:
    """Where a campaign stands, for who has no wish to know how it is worked out.

    Parameters
    ----------
    stands
        The campaign as it is described.
    leader
        The arm that leads, or that of each context; None where nothing was told.
    left
        Rounds until the stop, under the policy or after a switch to one that is to end.
    per_day
        Rounds a day; None where it is too early to say.
    """
    closed = stands["closed"]
    if leader is None:
        return "Closed before anything was told." if closed else "Nothing was told yet."
    spent = amount(regret, stands["instance"])
    sure = f"{100 * (1 - stop['delta']):.6g}% sure"
    parts = []
    if "contexts" in stands["instance"]:
        parts.append(_in_contexts(stands, leader))
    elif stop["met"]:
        parts.append(f"{found_so_far(stands, stop)}, {sure}")
    else:
        leads = f"{called(stands, leader)} leads"
        parts.append(f"so far {found_so_far(stands, stop)}" if stop.get("chosen") else leads)
        parts.append(_until(stands["policy"]["name"], sure, left, None if closed else per_day))
        if closed or stop["statistic"] is None:
            parts[-1] = f"not {sure}"
    if spent is not None:
        parts.append(f"exploring has cost about {spent}" + ("" if closed else " so far"))
    said = "; ".join(parts) + "."
    return f"Closed: {said}" if closed else begun(said)


def found_so_far(stands: Mapping[str, Any], stop: Mapping[str, Any]) -> str:
    """What the test finds, as if it had ended."""
    near = amount(stop["epsilon"], stands["instance"], exact=True)
    if stop.get("chosen") is None:
        good = f"is within {near} of the best" if stop["epsilon"] else "is best"
        return f"{called(stands, stop['arm'])} {good}"
    asked = read_question(stop["answer"])
    level = amount(asked.above, stands["instance"], exact=True) or ""
    said = asked.stated([called(stands, arm) for arm in stop["chosen"]], level)
    return f"{said} (to within {near})" if stop["epsilon"] else said


def _until(policy: str, sure: str, left: Left | None, per_day: float | None) -> str:
    if left is None:
        return f"not {sure} yet"
    still = f"about {_more(left.rounds, per_day)} to be {sure}"
    return still if policy in DECIDING else f"{policy} does not aim to end (top-two: {still})"


def _more(rounds: int, per_day: float | None) -> str:
    """How long that is, in the unit that one would use."""
    if not per_day:
        return f"{rounds:,} more round{'' if rounds == 1 else 's'}"
    days = rounds / per_day
    count, unit = (days / 7, "week") if days >= 21 else (days, "day")
    if days < 2:
        count, unit = (24 * days, "hour") if days >= 1 / 12 else (1440 * days, "minute")
    whole = max(1, round(count))
    return f"{whole:,} more {unit}{'' if whole == 1 else 's'}"


def called(stands: Mapping[str, Any], arm: Any) -> str:
    """An arm by its name; the winner of duels by that of its item."""
    instance = stands["instance"]
    names = instance.get("arm_names") or ()
    has_pairs = STRUCTURES[instance["structure"]].has_pairs
    if has_pairs and isinstance(arm, list) and len(set(arm)) == 1:
        arm = arm[0]
        return str(names[arm]) if names else str(arm)
    for known in stands["arms"]:
        if known["arm"] == arm:
            return str(known["arm_name"])
    if isinstance(arm, list) and names:  # of a set, not met yet
        return ", ".join(str(names[item]) for item in arm)
    return str(arm)


def amount(value: float | None, instance: Mapping[str, Any], exact: bool = False) -> str | None:
    """A reward with its unit, in the figures that one would say; None where it is not known."""
    if value is None:
        return None
    said = f"{value:,.0f}" if value >= 10 and not exact else f"{value:.{6 if exact else 2}g}"
    unit = instance.get("reward_unit")
    return f"{said} {unit}" if unit else said


def _in_contexts(stands: Mapping[str, Any], leaders: list[Any]) -> str:
    contexts, counts = stands["instance"]["contexts"], Counter[str]()
    for arm in leaders:
        title = contexts[arm[0]].get("name", str(arm[0]))
        counts[called(stands, arm).removeprefix(f"{title}: ")] += 1
    (first, times), *others = counts.most_common(LISTED)
    of_all = f" of {len(leaders)}" if len(leaders) > 1 else ""
    said = [f"{first} leads in {times}{of_all} context{'' if len(leaders) == 1 else 's'}"]
    said += [f"{name} in {count}" for name, count in others]
    rest = len(leaders) - times - sum(count for _, count in others)
    return ", ".join([*said, f"others in {rest}"] if rest else said)
