"""Tells sorted out: which are new, which were told before, which contradict what was told."""

from collections.abc import Callable, Sequence
from typing import Any

from ossb.campaigns.events import Event
from ossb.campaigns.journal import Unknown
from ossb.campaigns.ledger import TOLD, number_from, value_of
from ossb.campaigns.observations import Observations
from ossb.campaigns.state import State
from ossb.errors import Told as Told
from ossb.pairs import as_pairs as as_pairs


def place_of(state: State, id_: Any, field: str) -> int:
    """The number of the decision of an id."""
    place = state.decisions.number_of(id_) if isinstance(id_, str) else None
    if place is None:
        name = state.definition["name"]
        shown = id_[:80] if isinstance(id_, str) else id_
        raise Unknown(f"`{field}` must be a decision of campaign {name!r}, got {shown!r}")
    return place


def sorted_out(
    state: State, tells: Sequence[tuple[str, Any]]
) -> tuple[list[str], list[tuple[int, Any]]]:
    """What is answered to each tell, and what is new in them: decisions and observations."""
    observations, columns = Observations(state), state.decisions.raw
    statuses: list[str] = []
    fresh: dict[int, Any] = {}
    for i, (id_, observation) in enumerate(tells):
        where = f"tells[{i}]." if len(tells) > 1 else ""
        place = place_of(state, id_, f"{where}id")
        value = observations.read(place, observation, f"{where}observation")
        if place in fresh:
            before = value_of(fresh[place])
        elif columns["status"][place] == TOLD:
            before = int(columns["value"][place])
        else:
            fresh[place] = value
            statuses.append("recorded")
            continue
        if before != value_of(value):
            raise Told(f"decision {id_} was told another value; nothing was changed", i)
        statuses.append("same")
    return statuses, list(fresh.items())


def told_value(state: State, place: int, event: Callable[[int], Event]) -> Any:
    """What a decision was told; lists are looked up in the event that told them."""
    shown = state.shown_by(place)
    if not shown:
        return None
    if not Observations(state).are_lists(shown):
        return number_from(int(state.decisions.value[place]))
    return dict(event(int(state.decisions.event[place])).content["tells"])[place]
