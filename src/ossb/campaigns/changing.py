"""Arms that come and go, and data from before a campaign."""

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from typing import Any

from ossb.campaigns import arrays
from ossb.campaigns.asking import unit_of
from ossb.campaigns.definition import first_event, wanted_policy
from ossb.campaigns.importing import Intake
from ossb.campaigns.journal import Journal
from ossb.campaigns.player import Player
from ossb.campaigns.rehearsal import naming_policy, rehearse
from ossb.campaigns.rosters import extended, refuse_growth
from ossb.campaigns.rows import Row
from ossb.campaigns.state import State
from ossb.campaigns.storage import Conflict
from ossb.errors import Closed as Closed
from ossb.errors import InputError
from ossb.fields import seen
from ossb.pairs import as_rows

LONGEST_SOURCE = 1000


class Changes:
    """What a campaign may do besides asking and telling."""

    name: str
    _journal: Journal
    _clock: Callable[[], float]

    def add_arm(
        self,
        arm: Mapping[str, Any] | None = None,
        number: int | None = None,
        fits: Callable[[dict[str, Any]], None] = lambda instance: None,
    ) -> int:
        """Add an arm (an item, for dueling); returns its number.

        Parameters
        ----------
        arm
            What it brings depends on the structure, see ``ossb.campaigns.rosters``; its ``name``
            too where arms have names.
        number
            The number that it shall have: ``Conflict`` if that is another's already, so that who
            is not sure whether it was added may ask again.
        fits
            Raises where the instance with the arm, as its keys, is too large for somebody.
        """
        if arm is not None and not isinstance(arm, Mapping):
            raise InputError("arm", "be a table of what a new arm brings", arm)
        brought = {} if arm is None else dict(arm)

        def add(state: State) -> tuple[int, Future[None] | None]:
            if state.closed:
                raise Closed(f"campaign {self.name!r} is closed")
            old = state.instance
            refuse_growth(old)
            if number is not None and number != old.unit_count():
                raise Conflict(f"the next arm of campaign {self.name!r} is {old.unit_count()}")
            new = extended(old, brought)
            fits(new.to_dict())
            player = Player(new, state.definition["policy"], sorted(state.retired))
            content = {
                "arm": brought,
                "instance": new.to_dict(),
                **old.moves(new),
                "memory": arrays.packed(player.start()),
            }
            waiting = self._journal.record("arm_added", self._clock(), content)
            return old.unit_count(), waiting

        return self._journal.change(add)

    def retire_arm(self, arm: int) -> None:
        """Play an arm (an item, where arms are made of items) no more; what it showed is kept."""

        def retire(state: State) -> tuple[None, Future[None] | None]:
            unit = unit_of(state, arm, "arm")
            if unit in state.retired:
                return None, self._journal.newest
            retired = state.retired | {unit}
            if len(retired) == state.instance.unit_count():
                raise InputError("arm", "not be the last one", unit)
            player = Player(state.instance, state.definition["policy"], sorted(retired))
            content = {"arm": unit, "memory": arrays.packed(player.start())}
            return None, self._journal.record("arm_retired", self._clock(), content)

        self._journal.change(retire)

    def switch(
        self, policy: str | Mapping[str, Any], seconds: float | None = None
    ) -> dict[str, Any]:
        """Play by another policy from here on; returns it, as the journal holds it.

        What was learnt is kept: it begins with all that was played and told.

        Parameters
        ----------
        seconds
            What an ask may take: a policy that takes longer is refused, with what it took.
        """
        wanted = wanted_policy(policy)
        with self._journal.look() as state:
            instance, over = state.instance, state.closed
            again = {**state.definition, "instance": instance.to_dict(), "policy": wanted}
            as_before = state.definition["policy"] == wanted
        if not (over or as_before):  # tried out as if it were new, while others go on asking
            with naming_policy():
                rehearse(*first_event(instance, again, 0.0), seconds)

        def play_by(state: State) -> tuple[dict[str, Any], Future[None] | None]:
            if state.closed:
                raise Closed(f"campaign {self.name!r} is closed")
            if state.definition["policy"] == wanted:
                return wanted, self._journal.newest
            player = Player(state.instance, wanted, sorted(state.retired))
            content = {"policy": wanted, "memory": arrays.packed(player.start())}
            return wanted, self._journal.record("switched", self._clock(), content)

        return self._journal.change(play_by)

    def import_rows(
        self, rows: Iterable[Row], source: str = "", after: int | None = None, once: bool = False
    ) -> int:
        """Take in logged data, pairs of an arm and an observation; returns how many.

        The tally is what telling them one by one would make it; one bad row, and none counts.

        Parameters
        ----------
        source
            Where they come from, for the journal.
        after
            The number of the newest event: ``Conflict`` if there is a newer one, so that who is
            not sure whether they were taken in may try again.
        once
            Take in nothing if the newest event took in as many rows from the same ``source``.
        """
        pairs = as_rows(rows)

        def take_in(state: State) -> tuple[int, Future[None] | None]:
            self._check_stands(state, after)
            intake = Intake(state)
            intake.add(pairs)
            return self._enter(state, intake, source, once)

        return self._journal.change(take_in)

    def begin_import(self, after: int | None = None) -> Intake:
        """Rows to be added up aside, in parts, and then taken in all at once."""
        with self._journal.look() as state:
            self._check_stands(state, after)
            return Intake(state)

    def finish_import(self, intake: Intake, source: str = "", once: bool = False) -> int:
        """Take in what was added up; ``Conflict`` if the campaign has moved since it began."""

        def take_in(state: State) -> tuple[int, Future[None] | None]:
            self._check_stands(state, intake.after)
            return self._enter(state, intake, source, once)

        return self._journal.change(take_in)

    def _check_stands(self, state: State, after: int | None) -> None:
        if state.closed:
            raise Closed(f"campaign {self.name!r} is closed")
        if after is not None and after != state.number:
            raise Conflict(f"the newest event of campaign {self.name!r} is {state.number}")

    def _enter(
        self, state: State, intake: Intake, source: str, once: bool
    ) -> tuple[int, Future[None] | None]:
        if not intake.rows or (once and self._was_entered(state, intake.rows, source)):
            return 0, self._journal.newest
        if source:
            seen(source, "source", LONGEST_SOURCE)
        content = {"source": source, **intake.content()}
        return intake.rows, self._journal.record("imported", self._clock(), content)

    def _was_entered(self, state: State, rows: int, source: str) -> bool:
        newest = self._journal.event(state.number)
        if newest.kind != "imported":
            return False
        before = newest.content
        return bool(before["source"] == source and before["rows"] == rows)
