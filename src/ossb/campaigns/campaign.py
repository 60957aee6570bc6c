"""A campaign: ask for an arm, act, tell what was observed.

Every change is an event of the campaign's journal, and is answered once it is on disk.
"""

import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any, Self, overload

import numpy as np

from ossb.campaigns import looking
from ossb.campaigns.arms import Changes, Closed
from ossb.campaigns.ask import (
    Available,
    Players,
    Undone,
    answered,
    choose_brought,
    chooser,
    context_of,
    features_of,
    left_out_of,
    refuse_other_ask,
)
from ossb.campaigns.brought import Features
from ossb.campaigns.calls import CampaignCalls
from ossb.campaigns.card import card, line
from ossb.campaigns.contrasts import judged, read_contrasts, trial_of
from ossb.campaigns.deciding import confidence
from ossb.campaigns.definition import check_same, create, definition, label
from ossb.campaigns.description import described, standing
from ossb.campaigns.document import BINS, document_of
from ossb.campaigns.events import Event
from ossb.campaigns.evidence import known_of
from ossb.campaigns.history import Decided, decided, numbers_in, told_of, with_lists
from ossb.campaigns.journal import Journal
from ossb.campaigns.ledger import TOLD, VOIDED
from ossb.campaigns.state import State
from ossb.campaigns.storage import Storage, open_storage
from ossb.campaigns.storage.base import NO_END
from ossb.campaigns.tell import place_of, sorted_out, told_value
from ossb.campaigns.timeline import timeline
from ossb.campaigns.voiding import without
from ossb.errors import InputError, NoCampaign, OssbError
from ossb.fields import integer, number
from ossb.pairs import as_pairs, id_of
from ossb.served import ServedCampaign, is_service
from ossb.structures.base import Instance
from ossb.tally import Tally

LEASE = 3600.0
LONGEST_LEASE = 10 * 365 * 86400.0
MOST_PENDING = 100_000
MOST_AT_ONCE = 10_000


class Campaign(Changes):
    """One campaign in a store; safe to use from several threads.

    ``close`` closes the campaign itself, for good; ``disconnect`` lets go of the store, and so
    does the end of a ``with`` block.

    Parameters
    ----------
    owned
        Whether the store is let go of with the campaign.
    ask_seconds
        What an ask may take: what would make asks take longer is refused.  As long as it likes by
        default.

    Examples
    --------
    >>> import ossb
    >>> buttons = {"structure": "classical", "observation": "bernoulli", "n_arms": 3}
    >>> with ossb.Campaign.open("memory://", "buttons", instance=buttons, seed=1) as campaign:
    ...     (decision,) = campaign.ask()
    ...     campaign.tell(decision.id, 1)
    ...     campaign.best() == decision.arm
    'recorded'
    True
    """

    def __init__(
        self,
        storage: Storage,
        name: str,
        clock: Callable[[], float] = time.time,
        *,
        owned: bool = False,
        ask_seconds: float | None = None,
    ) -> None:
        self.name = name
        self._storage = storage
        self._owned = owned
        self._ask_seconds = ask_seconds
        self._clock = clock
        self._journal = Journal(storage, name)
        self._players = Players()

    @overload
    @classmethod
    def open(
        cls,
        storage: Storage,
        name: str,
        *,
        instance: Instance | Mapping[str, Any] | None = None,
        policy: str | Mapping[str, Any] = "hgl",
        seed: int = 0,
        clock: Callable[[], float] = time.time,
    ) -> "Campaign": ...

    @overload
    @classmethod
    def open(
        cls,
        storage: str,
        name: str,
        *,
        instance: Instance | Mapping[str, Any] | None = None,
        policy: str | Mapping[str, Any] = "hgl",
        seed: int = 0,
        clock: Callable[[], float] = time.time,
        token: str | None = None,
    ) -> CampaignCalls: ...

    @classmethod
    def open(
        cls,
        storage: str | Storage,
        name: str,
        *,
        instance: Instance | Mapping[str, Any] | None = None,
        policy: str | Mapping[str, Any] = "hgl",
        seed: int = 0,
        clock: Callable[[], float] = time.time,
        token: str | None = None,
    ) -> CampaignCalls:
        """The campaign of a name: created if it is new and an instance is given, else loaded.

        ``Unknown`` if there is none and no instance is given, ``Conflict`` if there is one with
        another definition.  A store given by its URL is let go of with the campaign.

        Parameters
        ----------
        storage
            ``sqlite:///FILE``, ``postgresql://…``, ``memory://``, ``http://…`` of a service, or a
            store that is open.
        clock
            Seconds since 1970; a service has its own.
        token
            Sent to a service.
        """
        if isinstance(storage, str) and is_service(storage):
            return ServedCampaign.open(
                storage, name, instance=instance, policy=policy, seed=seed, token=token
            )
        if token is not None:
            raise InputError("token", "be left out: it is for http://…")
        wanted = None if instance is None else definition(name, instance, policy, seed)
        store = open_storage(storage) if isinstance(storage, str) else storage
        try:
            if wanted is not None and store.last(name) == 0:
                create(store, wanted, clock())
            campaign = cls(store, name, clock, owned=isinstance(storage, str))
        except NoCampaign as error:
            if isinstance(storage, str):
                store.close()
            raise error.with_advice("give an `instance` to create one") from None
        except BaseException:
            if isinstance(storage, str):
                store.close()
            raise
        try:
            if wanted is not None:
                check_same(campaign._like(wanted), wanted)
        except BaseException:
            if isinstance(storage, str):
                store.close()
            raise
        return campaign

    def prepare(self) -> None:
        """Have the policy compiled aside if it is slow, before the first ask."""
        with self._journal.look() as state:
            self._players.of(state, frozenset(state.retired)).prepare()

    def disconnect(self) -> None:
        """Let go of the store, where this campaign opened it."""
        if self._owned:
            self._storage.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.disconnect()

    # asking and telling

    def ask(
        self,
        n: int = 1,
        *,
        lease: float = LEASE,
        key: str | None = None,
        available: Available | None = None,
        context: int | str | None = None,
        features: Features | None = None,
    ) -> list[Decided]:
        """The next ``n`` decisions.

        Parameters
        ----------
        lease
            Seconds after which a decision no longer counts as being played; what is told later
            still counts.
        key
            Asking again with the same key returns the same decisions.
        available
            The arms (items, where arms are made of items) to choose from, of the context that asks
            where there are contexts; all but the retired ones by default.
        context
            Who asks, by number or name, where the instance has contexts.
        features
            Rows to choose from, one for each arm, in the place of the instance's: contexts that
            nobody listed.  A decision's arm is then the place of its row.
        """
        n = integer(n, "n", least=1)
        if n > MOST_AT_ONCE:
            raise InputError("n", f"be at most {MOST_AT_ONCE}", n)
        lease = number(lease, "lease_seconds")
        if not 0 < lease <= LONGEST_LEASE:
            raise InputError("lease_seconds", f"lie in (0, {LONGEST_LEASE:g}]", lease)
        if key is not None:
            label(key, "key")

        def decide(state: State) -> tuple[list[Decided], Future[None] | None]:
            others = {"context": context, "available": available}
            rows = features_of(state, features, others)
            if key is not None and key in state.keys:
                again = answered(state, key, n)
                refuse_other_ask(state, again, rows, context, available, self._journal.event)
                return again, self._journal.newest
            if rows is None:  # what is wrong in itself is said of closed campaigns too
                place = context_of(state, context)
                left_out = left_out_of(state, available, place)
            if state.closed:
                raise Closed(f"campaign {self.name!r} is closed")
            answer: Callable[[float, float], dict[str, Any]]
            if rows is not None:
                kind, answer = "offered", partial(choose_brought, state, rows, n)
            else:
                kind, answer = "asked", chooser(self._players, state, left_out, n, place)
            now = self._clock()
            self._expire(state, now)
            if len(state.pending) + n > MOST_PENDING:
                raise InputError("n", f"leave at most {MOST_PENDING} decisions pending", n)
            first = len(state.decisions)
            try:
                content = answer(now, now + lease)
            except Undone:
                raise
            except BaseException:  # a policy that failed half way leaves its traces
                self._journal.spoil()
                raise
            if key is not None:
                content["key"] = key
                state.remember(key, first, n)
            waiting = self._journal.record(kind, now, content, folded=True)
            return decided(state, first, n), waiting

        return self._journal.change(decide)

    def tell(self, id: str | Decided, observation: Any = None) -> str:
        """Tell what a decision showed: ``recorded``, or ``same`` if it was told already.

        The decision is given by its id, or as ``ask`` answered it.  The observation is a number;
        a list with one for each item for semi-bandit feedback; 1 if the first item of a duel won,
        else 0.  A duel of an item with itself shows nothing: whatever is told of it counts as a
        round, and nothing else.
        """
        return self.tell_many([(id, observation)])[0]

    def tell_many(self, tells: Iterable[tuple[str | Decided, Any]]) -> list[str]:
        """Tell several, all or nothing."""
        given = as_pairs(tells, "tells", "an id and an observation")
        pairs = [(id_of(decision), observation) for decision, observation in given]

        def record(state: State) -> tuple[list[str], Future[None] | None]:
            statuses, fresh = sorted_out(state, pairs)
            if not fresh:
                return statuses, self._journal.newest  # a replay awaits the first one's commit
            content = {"tells": [[place, value] for place, value in fresh]}
            return statuses, self._journal.record("told", self._clock(), content)

        return self._journal.change(record)

    def void(self, id: str) -> str:
        """Take a wrong tell back: ``voided``, or ``same`` if it was taken back already.

        The decision may be told again.
        """

        def take_back(state: State) -> tuple[str, Future[None] | None]:
            place = place_of(state, id, "id")
            if state.decisions.status[place] == VOIDED:
                return "same", self._journal.newest
            if state.decisions.status[place] != TOLD:
                raise InputError("id", "be a decision that was told", id)
            observation = told_value(state, place, self._journal.event)
            content = {
                "number": place,
                "observation": observation,
                "means": without(state, place, observation, self._journal.between),
                "renew": True,  # what a policy remembers may rest on it
            }
            return "voided", self._journal.record("voided", self._clock(), content)

        return self._journal.change(take_back)

    def close(self) -> None:
        """Take no more asks, for good; late tells still count."""

        def shut(state: State) -> tuple[None, Future[None] | None]:
            if state.closed:
                return None, self._journal.newest
            return None, self._journal.record("closed", self._clock(), {})

        self._journal.change(shut)

    def expire(self) -> int:
        """Free the decisions whose lease has ended; returns how many there were.

        Every ask does so by itself; who looks sees them as expired in any case.
        """

        def free(state: State) -> tuple[int, Future[None] | None]:
            before = len(state.pending)
            waiting = self._expire(state, self._clock())
            return before - len(state.pending), waiting

        return self._journal.change(free)

    # looking

    @property
    def definition(self) -> dict[str, Any]:
        """Name, instance, policy and seed, as the campaign was created."""
        with self._journal.look() as state:
            return dict(state.definition)

    def _like(self, wanted: Mapping[str, Any]) -> dict[str, Any]:
        """The definition; of its policies, if it was switched, the first where that is wanted."""
        with self._journal.look() as state:
            first = state.first_policy == wanted["policy"]
            policy = state.first_policy if first else state.definition["policy"]
            return {**state.definition, "policy": policy}

    @property
    def number(self) -> int:
        """The number of the newest event."""
        with self._journal.look() as state:
            return state.number

    @property
    def closed(self) -> bool:
        with self._journal.look() as state:
            return state.closed

    def best(self) -> int | list[int]:
        """The arm that leads, by what was told."""
        return looking.leader(self._view())

    def leader(self) -> int | list[int] | None:
        """Like ``best``, or None where nothing was told of the arms that may be played."""
        return looking.known_leader(self._view())

    def contrasts(
        self, named: Mapping[str, Sequence[float]], delta: float | None = None
    ) -> dict[str, dict[str, Any]]:
        """What is sure of ⟨φ, c⟩ for rows c that you name, such as the difference of two arms.

        All of them are right together, at all times, with confidence 1 − delta: ``estimate``,
        ``low`` and ``high`` (None where nothing limits them), and, for whether to stop, the
        ``statistic`` against the other sign, its ``threshold``, and whether it is ``met``.  For
        linear and generalised linear arms; of the index ⟨φ, x⟩ where a link stands before the
        reward.  Data from before the campaign does not count: its order is not known.
        """
        delta = confidence(self.definition["policy"], delta).delta
        with self._journal.look() as state:
            rows, trial = read_contrasts(named, state), trial_of(state)
        return judged(trial, rows, delta)

    def stop(self, delta: float | None = None, epsilon: float | None = None) -> dict[str, Any]:
        """Whether the leader is within epsilon of the best arm with confidence 1 − delta.

        By themselves they are those of the definition, where its policy is to end, else 0.05 and 0.

        ``{"delta", "epsilon", "statistic", "threshold", "met", "arm", "runner_up"}``, the runner-up
        being the arm that is least ruled out; ``statistic`` is None, with a ``reason``, where there
        is no test.  A policy that is asked for the ``top`` m arms, or those ``above`` a level, has
        its test: ``answer`` says which, and ``chosen`` the arms.
        """
        test = confidence(self.definition["policy"], delta, epsilon)
        if test.delta >= 0.5:
            sure = f"{test.delta:g} to be wrong is asked for; did you mean {1 - test.delta:g}?"
            warnings.warn(f"a chance of {sure}", stacklevel=2)
        return looking.stopping(self._view(), *test)

    def rates(self, gap: float = looking.GAP) -> dict[str, Any]:
        """The Graves–Lai bound at the estimate: value, rates and certificate.

        ``{"value", "lower", "upper", "best_arm", "rates": [{"arm", "rate"}], "status",
        "certificate", "gaps"}``, the gaps being what a play of each arm costs by the estimate,
        where arms are not listed of those met so far; ``certificate`` is None where it would hold
        more than ten million numbers, as that of some thousands of independent arms does;
        ``rates`` is None, with a ``reason``, where the estimate has no bound.
        """
        return looking.rates_at_estimate(self._view(), gap)

    def describe(self) -> dict[str, Any]:
        """Where the campaign stands; decisions not yet told count in ``pending`` only."""
        with self._journal.look() as state:
            return described(state, self._clock())

    def document(self, delta: float | None = None, epsilon: float | None = None) -> dict[str, Any]:
        """All that a service and its page show: definition, plays, leader, rates, stop, intervals.

        ``exploration`` holds the regret spent so far by the estimate, Σ plays(x) (μ* − μ(x)), and
        C(m) ln t beside it, t being the number of tells plus one; ``timeline`` phases and
        estimated regret over the decisions, in a few bins.  Of a set of arms that are not listed
        the most played ones are shown.
        """
        return document_of(self.moment(BINS), delta, epsilon)

    def standing(self) -> tuple[str, dict[str, Any]]:
        """How many decisions are pending, and how many have become what, by now.

        With the digest of the newest event, which says whether something happened since.
        """
        with self._journal.look() as state:
            return state.digest, standing(state, self._clock())

    def __repr__(self) -> str:
        """By what was last seen: it is shown by debuggers, and without its store too."""
        with self._journal.remembered() as state:
            stands = described(state, self._clock())
            try:
                view = self._view_of(state)
                if not view.tally.counts.any():
                    return line(stands, "none yet")
                arm = looking.leader(view)
            except OssbError:  # the policy may be of a package that is not there any more
                return line(stands, "unknown")
            named = state.instance.arm_name(looking.written(arm))
        return line(stands, named)

    def _repr_html_(self) -> str:
        return card(self.describe())

    def history(self, start: int = 0, limit: int | None = None) -> list[dict[str, Any]]:
        """Decisions in the order they were made, with what was told.

        ``limit`` of them from number ``start`` on; from the end where ``start`` is negative.
        """
        start = integer(start, "start", least=-(2**62))
        limit = None if limit is None else integer(limit, "limit")

        def look(state: State) -> list[dict[str, Any]]:
            total = len(state.decisions)
            first = max(0, total + start) if start < 0 else min(start, total)
            last = total if limit is None else min(total, first + limit)
            return told_of(state, first, last - first, self._clock())

        entries = self._journal.seen(look)
        return with_lists(entries, lambda low, high: self._storage.read(self.name, low - 1, high))

    def timeline(
        self, bins: int = BINS, gaps: Sequence[float | None] | None = None
    ) -> dict[str, Any]:
        """Phases and, given the arms' gaps, regret along the decisions, in a few bins."""
        with self._journal.look() as state:
            return timeline(state, integer(bins, "bins", least=1), gaps)

    def moment(self, bins: int = BINS) -> looking.Moment:
        """All that can be said about where the campaign stands, of one moment that is on disk."""
        bins = integer(bins, "bins", least=1)

        def look(state: State) -> looking.Moment:
            told = state.decisions.status == TOLD
            return looking.Moment(
                state.digest,
                described(state, self._clock()),
                self._view_of(state),
                timeline(state, bins, None),
                np.where(told & (state.decisions.arm >= 0), state.decisions.arm, np.int32(-1)),
            )

        return self._journal.seen(look)

    def ids_in(self, events: Sequence[Event]) -> list[list[str]]:
        """The ids of the decisions that each of some events on disk is about."""
        with self._journal.on_disk() as state:
            decisions = state.decisions
            first = [decisions.first_of(event.number) for event in events]
        # an id rests on what never changes: nobody need wait while they are worked out
        return [
            [decisions.id_of(number) for number in numbers_in(event, start)]
            for event, start in zip(events, first, strict=True)
        ]

    def events(self, after: int = 0, until: int = NO_END) -> Iterable[Event]:
        """The journal's events numbered above ``after`` and up to ``until``."""
        return self._journal.events(after, until)

    def check(self) -> int:
        """Check the hashes of all events; ``Corrupt`` names the first that is not as written."""
        return self._journal.check()

    # inside

    def _expire(self, state: State, now: float) -> Future[None] | None:
        overdue = state.overdue(now)
        if not overdue:
            return self._journal.newest
        return self._journal.record("expired", now, {"numbers": overdue})

    def _view(self) -> looking.View:
        """A copy of what was told, to look at without the lock."""
        with self._journal.look() as state:
            return self._view_of(state)

    def _view_of(self, state: State) -> looking.View:
        player = self._players.of(state, frozenset(state.retired))
        tally = Tally(*(leaf.copy() for leaf in player.view(state.tally)))
        return looking.View(
            player,
            tally,
            state.tally.counts.size,
            state.added,
            len(state.reveals),
            () if state.table is None else tuple(state.table.arms),
            known_of(state.instance, state.brought, state.tally),
        )
