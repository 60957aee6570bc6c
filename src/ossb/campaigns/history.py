"""Decisions as users see them, and what became of them."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from ossb.campaigns.brought import is_brought
from ossb.campaigns.events import Event
from ossb.campaigns.ledger import EXPIRED, PENDING, STATUSES, TOLD, number_from
from ossb.campaigns.looking import plain
from ossb.campaigns.observations import Observations
from ossb.campaigns.state import State
from ossb.deadlines import breathe
from ossb.tally import PHASES


class Decided(NamedTuple):
    """What to do next."""

    id: str
    arm: int | list[int]
    arm_name: str
    phase: str


class Elsewhere(NamedTuple):
    """An observation that the ledger has no room for: the decision, and the event that holds it."""

    place: int
    event: int


def decided(state: State, first: int, count: int) -> list[Decided]:
    """Some decisions, in the order they were made."""
    answers, columns = [], state.decisions.raw
    for place in range(first, first + count):
        breathe()
        number = int(columns["arm"][place])
        arm = state.arm_at(number)
        answers.append(
            Decided(
                state.decisions.id_of(place),
                plain(arm),
                str(arm) if is_brought(number) else state.instance.arm_name(arm),
                PHASES[columns["phase"][place]],
            )
        )
    return answers


def told_of(state: State, first: int, count: int, now: float) -> list[dict[str, Any]]:
    """Some decisions with what became of them; lists stand in the journal, see ``with_lists``."""
    decisions, observations = state.decisions, Observations(state)
    entries = []
    for place, decision in enumerate(decided(state, first, count), first):
        status = int(decisions.status[place])
        if status == PENDING and decisions.expires[place] <= now:
            status = EXPIRED  # though no ask has freed it since
        told = status == TOLD
        observation: Any = None
        shown = state.shown_by(place)
        if told and shown:
            if observations.are_lists(shown):
                observation = Elsewhere(place, int(decisions.event[place]))
            else:
                observation = number_from(int(decisions.value[place]))
        entry: dict[str, Any] = decision._asdict()
        if is_brought(int(decisions.arm[place])):
            entry["features"] = state.brought.row(place).tolist()
        entries.append(
            {
                **entry,
                "status": STATUSES[status],
                "observation": observation,
                "asked": float(decisions.asked[place]),
                "told": float(decisions.told[place]) if told else None,
            }
        )
    return entries


def with_lists(
    entries: list[dict[str, Any]], read: Callable[[int, int], Iterator[Event]]
) -> list[dict[str, Any]]:
    """Look up what the ledger has no room for, in the events from one number to another."""
    wanted = {e["observation"].event for e in entries if isinstance(e["observation"], Elsewhere)}
    found: dict[int, Any] = {}
    for event in read(min(wanted), max(wanted)) if wanted else ():
        if event.number in wanted:
            found.update(dict(event.content["tells"]))
    for entry in entries:
        if isinstance(entry["observation"], Elsewhere):
            entry["observation"] = found[entry["observation"].place]
    return entries


def numbers_in(event: Event, first: int) -> Sequence[int]:
    """The decisions that an event asked, which begin at ``first``, told, voided or let expire."""
    content = event.content
    if event.kind in ("asked", "offered"):
        return range(first, first + len(content["decisions"]))
    if event.kind == "told":
        return [number for number, _ in content["tells"]]
    if event.kind == "voided":
        return [content["number"]]
    return content["numbers"] if event.kind == "expired" else ()
