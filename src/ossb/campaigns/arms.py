"""Arms that come and go, and data from before a campaign."""

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from typing import Any, Generic, NamedTuple, TypeVar

from ossb.campaigns import arrays
from ossb.campaigns.ask import Players, unit_of
from ossb.campaigns.definition import first_event, wanted_policy
from ossb.campaigns.importing import Intake
from ossb.campaigns.journal import Journal
from ossb.campaigns.player import Player
from ossb.campaigns.rehearsal import naming, rehearse
from ossb.campaigns.rosters import extended, refuse_growth, refuse_retiring, with_context
from ossb.campaigns.rows import Row
from ossb.campaigns.state import State, feature_count
from ossb.campaigns.storage import Conflict
from ossb.errors import Closed as Closed
from ossb.errors import InputError
from ossb.fields import seen
from ossb.pairs import as_rows

LONGEST_SOURCE = 1000

T = TypeVar("T")


class Play(NamedTuple, Generic[T]):
    """How a campaign shall be played from here on, and the event that says so."""

    answer: T
    kind: str | None  # of the event; None where all is so already
    content: dict[str, Any]
    instance: Any
    policy: dict[str, Any]


def _played(state: State) -> tuple[int, dict[str, Any], list[int]]:
    """What tells how a campaign is played: arms added, policy, arms retired."""
    return state.added, state.definition["policy"], sorted(state.retired)


class Changes:
    """What a campaign may do besides asking and telling."""

    name: str
    _journal: Journal
    _players: Players
    _ask_seconds: float | None  # what an ask may take
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

        def grown(state: State) -> Play[int]:
            old = state.instance
            refuse_growth(old)
            if number is not None and number != old.unit_count():
                raise Conflict(f"the next arm of campaign {self.name!r} is {old.unit_count()}")
            new = extended(old, brought)
            held = new.to_dict()
            fits(held)
            content = {"arm": brought, "instance": held, **old.moves(new)}
            return Play(old.unit_count(), "arm_added", content, new, state.definition["policy"])

        with naming("arm", "not be added: the instance must"):
            return self._play(grown)

    def add_context(
        self,
        context: Mapping[str, Any],
        number: int | None = None,
        fits: Callable[[dict[str, Any]], None] = lambda instance: None,
    ) -> int:
        """Add a context, or a segment, with what a file says of one; returns its number.

        What was learnt is kept.

        Parameters
        ----------
        number, fits
            As ``add_arm`` has them.
        """
        if not isinstance(context, Mapping):
            raise InputError("context", "be a table of keys", context)

        def grown(state: State) -> Play[int]:
            old = state.instance
            place = old.layout.n_contexts if old.has_contexts else 0
            if number is not None and number != place:
                raise Conflict(f"the next context of campaign {self.name!r} is {place}")
            new = with_context(old, context)
            width = feature_count(new)
            if state.brought and width != state.brought.width:
                must = "leave the number of features: asks have brought rows of as many"
                raise InputError("context", must, width)
            held = new.to_dict()
            fits(held)
            content = {
                "context": dict(context),
                "instance": held,
                "arms": list(range(len(state.reveals))),
                "components": list(range(old.component_count())),
            }
            return Play(place, "arm_added", content, new, state.definition["policy"])

        with naming("context", "not be added: the instance must"):
            return self._play(grown)

    def retire_arm(self, arm: int) -> None:
        """Play an arm (an item, where arms are made of items) no more; what it showed is kept."""

        def retire(state: State) -> tuple[None, Future[None] | None]:
            unit = unit_of(state, arm, "arm")
            if unit in state.retired:
                return None, self._journal.newest
            retired = state.retired | {unit}
            if len(retired) == state.instance.unit_count():
                raise InputError("arm", "not be the last one", unit)
            refuse_retiring(state.instance)
            player = Player(state.instance, state.definition["policy"], sorted(retired))
            content = {"arm": unit, "memory": arrays.packed(player.start())}
            waiting = self._journal.record("arm_retired", self._clock(), content)
            self._players.keep(state, player)
            return None, waiting

        self._journal.change(retire)

    def switch(self, policy: str | Mapping[str, Any]) -> dict[str, Any]:
        """Play by another policy from here on; returns it, as the journal holds it.

        What was learnt is kept: it begins with all that was played and told.
        """
        wanted = wanted_policy(policy)

        def switched(state: State) -> Play[dict[str, Any]]:
            kind = None if state.definition["policy"] == wanted else "switched"
            return Play(wanted, kind, {"policy": wanted}, state.instance, wanted)

        with naming("policy", "fit the campaign, whose instance must"):
            return self._play(switched)

    def _play(self, plan: Callable[[State], "Play[T]"]) -> T:
        """Go on with another instance or policy, if asks still have time for it.

        It is tried out first as if it were new, while others go on asking.
        """

        def open_plan(state: State) -> Play[T]:
            if state.closed:
                raise Closed(f"campaign {self.name!r} is closed")
            return plan(state)

        while True:
            with self._journal.look() as state:
                play, stood = open_plan(state), _played(state)
                again = {**state.definition, "policy": play.policy}
            player = None
            if play.kind is not None:
                again["instance"] = play.instance.to_dict()
                event, player = first_event(play.instance, again, 0.0, stood[-1])
                rehearse(event, player, self._ask_seconds)

            def enter(
                state: State,
                stood: Any = stood,
                player: Player | None = player,
            ) -> tuple[bool, Future[None] | None]:
                if _played(state) != stood:
                    return False, self._journal.newest
                play = open_plan(state)
                if play.kind is None or player is None:
                    return True, self._journal.newest
                content = {**play.content, "memory": arrays.packed(player.start())}
                waiting = self._journal.record(play.kind, self._clock(), content)
                self._players.keep(state, player)
                return True, waiting

            if self._journal.change(enter):
                return play.answer

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
