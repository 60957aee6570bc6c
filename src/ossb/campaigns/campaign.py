"""A campaign: ask for an arm, act, tell what was observed.

Every change is an event.  Under the campaign's lock an event is made, folded into the state and
handed to the store; the caller is answered once it is on disk.  If the store refuses it, the
state is thrown away and folded anew from what is on disk.
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, NamedTuple, Self

import numpy as np

from ossb.campaigns import arrays, snapshots
from ossb.campaigns.events import FORMAT, GENESIS, Event, chained, digest
from ossb.campaigns.ledger import PENDING, TOLD, value_digest
from ossb.campaigns.state import State
from ossb.campaigns.stopping import threshold
from ossb.campaigns.storage import Conflict, Corrupt, Storage, open_storage
from ossb.errors import InputError, OssbError
from ossb.fields import integer, number, text
from ossb.instances import from_dict
from ossb.models.base import WEAKEST
from ossb.policies import policy as make_policy
from ossb.structures.base import Instance, bound
from ossb.tally import PHASES

LEASE = 3600.0
SNAPSHOT_EVERY = 20_000
MOST_PENDING = 100_000
MOST_AT_ONCE = 10_000
DELTA = 0.05


class Unknown(OssbError):
    """No such campaign or decision."""


class Told(OssbError):
    """The decision was told another value."""


class Closed(OssbError):
    """The campaign takes no more asks."""


class Decided(NamedTuple):
    """What to do next."""

    id: str
    arm: int | list[int]
    arm_name: str
    phase: str


class Campaign:
    """One campaign in a store; safe to use from several threads."""

    def __init__(self, storage: Storage, name: str, clock: Callable[[], float] = time.time) -> None:
        self._storage = storage
        self._owned = False
        self.name = name
        self._clock = clock
        self._lock = threading.RLock()
        self._last: Future[None] | None = None
        self._state = self._load()

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
    ) -> "Campaign":
        """The campaign of a name: created if it is new and an instance is given, else loaded.

        A campaign that exists with another definition is refused.
        """
        store = open_storage(storage) if isinstance(storage, str) else storage
        try:
            if name not in store.names():
                if instance is None:
                    raise Unknown(f"there is no campaign {name!r}: give an instance to create it")
                create(store, name, instance, policy, seed, clock())
            campaign = cls(store, name, clock)
            if instance is not None:
                campaign._check_same(definition(name, instance, policy, seed))
        except BaseException:
            if isinstance(storage, str):
                store.close()
            raise
        campaign._owned = isinstance(storage, str)
        return campaign

    # asking and telling

    def ask(
        self,
        n: int = 1,
        *,
        lease: float = LEASE,
        key: str | None = None,
    ) -> list[Decided]:
        """The next ``n`` decisions; with a ``key``, the same ones again for the same key."""
        n = integer(n, "n", least=1)
        if n > MOST_AT_ONCE:
            raise InputError("n", f"be at most {MOST_AT_ONCE}", n)
        lease = number(lease, "lease_seconds")
        if not lease > 0:
            raise InputError("lease_seconds", "be positive", lease)

        def decide() -> tuple[list[int], Future[None] | None]:
            state = self._state
            if key is not None and key in state.keys:
                first, count = state.keys[key]
                if count != n:
                    raise InputError("n", f"be {count}, as for this key before", n)
                return list(range(first, first + count)), self._last
            if state.closed:
                raise Closed(f"campaign {self.name!r} is closed")
            now = self._clock()
            self._expire(now)
            if state.pending().size + n > MOST_PENDING:
                raise InputError("n", f"leave at most {MOST_PENDING} decisions pending", n)
            first = len(state.decisions)
            waiting = self._record("asked", now, self._choose(n, now + lease, key), folded=True)
            return list(range(first, first + n)), waiting

        return [self._decided(place) for place in self._change(decide)]

    def tell(self, id: str, observation: Any) -> str:
        """Tell what a decision showed: ``recorded``, or ``same`` if it was told already."""
        return self.tell_many([(id, observation)])[0]

    def tell_many(self, tells: Sequence[tuple[str, Any]]) -> list[str]:
        """Tell several, all or nothing."""

        def record() -> tuple[list[str], Future[None] | None]:
            statuses: list[str] = []
            fresh: dict[int, Any] = {}
            for i, (id_, observation) in enumerate(tells):
                where = f"tells[{i}]" if len(tells) > 1 else ""
                place = self._place(id_, where)
                value = self._observation(place, observation, where)
                told = self._state.decisions.status[place] == TOLD
                held = fresh.get(place)
                before = self._state.decisions.value[place] if told else None
                if held is not None:
                    before = value_digest(held)
                if before is None:
                    fresh[place] = value
                    statuses.append("recorded")
                elif before == value_digest(value):
                    statuses.append("same")
                else:
                    raise Told(f"decision {id_} was told another value; nothing was changed")
            if not fresh:
                return statuses, self._last  # a replay awaits the first one's commit
            content = {"tells": [[place, value] for place, value in fresh.items()]}
            return statuses, self._record("told", self._clock(), content)

        return self._change(record)

    def void(self, id: str, observation: Any = None) -> None:
        """Take a wrong tell back; the decision may be told again."""

        def take_back() -> tuple[None, Future[None]]:
            place = self._place(id, "")
            if self._state.decisions.status[place] != TOLD:
                raise InputError("id", "be a decision that was told", id)
            content = {"number": place, "observation": self._told_value(place)}
            return None, self._record("voided", self._clock(), content)

        self._change(take_back)

    def close(self) -> None:
        """Take no more asks; late tells still count."""

        def shut() -> tuple[None, Future[None] | None]:
            if self._state.closed:
                return None, self._last
            return None, self._record("closed", self._clock(), {})

        self._change(shut)

    # looking

    def best(self) -> int | list[int]:
        """The arm that leads, by what was told."""
        with self._lock:
            return _plain(self._state.instance.arm_at(self._leader()))

    def stop(self, delta: float = DELTA) -> dict[str, Any]:
        """Whether the leader is the best arm with confidence 1 − delta."""
        delta = number(delta, "delta")
        if not 0 < delta < 1:
            raise InputError("delta", "lie in (0, 1)", delta)
        with self._lock:
            state = self._state
            if (state.tally.counts == 0).any():
                return {"delta": delta, "statistic": 0.0, "threshold": None, "met": False}
            model, memory = state.policy.model, state.policy.model.start()
            leader = model.project(state.tally, memory)
            model.test(leader, state.tally, memory)
            statistic = float(memory.numbers[WEAKEST])
            level = threshold(state.tally.counts, delta)
        return {
            "delta": delta,
            "statistic": statistic,
            "threshold": level,
            "met": bool(statistic > level),
        }

    def history(self) -> list[dict[str, Any]]:
        """Every decision, with what was told."""
        with self._lock:
            told: dict[int, Any] = {}
            for event in self._storage.read(self.name):
                if event.kind == "told":
                    told.update(dict(event.content["tells"]))
                elif event.kind == "voided":
                    told.pop(event.content["number"], None)
            return [
                {**self._decided(place)._asdict(), "observation": told.get(place)}
                for place in range(len(self._state.decisions))
            ]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._owned:
            self._storage.close()

    # inside

    def _load(self) -> State:
        """The state on disk, from the snapshot on, with every hash checked."""
        events = self._storage.read(self.name)
        created = next(events, None)
        if created is None:
            raise Unknown(f"there is no campaign {self.name!r}")
        _check_link(self.name, GENESIS, created)
        state = State(created)
        kept = self._storage.snapshot(self.name)
        if kept is not None:
            snapshots.load(state, kept[1])
            events = self._storage.read(self.name, state.number)
        for event in events:
            _check_link(self.name, state.digest, event)
            state.fold(event)
        return state

    def _change(self, make: Callable[[], tuple[Any, Future[None] | None]]) -> Any:
        """Make a change under the lock, and answer once it is on disk."""
        while True:
            with self._lock:
                answer, waiting = make()
            if waiting is None:
                return answer
            try:
                waiting.result()
                return answer
            except Conflict:
                self._reload(waiting)  # another server was first: look again and decide anew
            except OssbError:
                self._reload(waiting)
                raise

    def _reload(self, failed: Future[None]) -> None:
        with self._lock:
            if self._last is failed or self._last is None or self._last.done():
                self._state = self._load()
                self._last = None

    def _record(
        self, kind: str, now: float, content: dict[str, Any], folded: bool = False
    ) -> Future[None]:
        """Fold an event and hand it to the store."""
        state = self._state
        event = chained(state.digest, state.number + 1, kind, now, content)
        if folded:
            state.number, state.digest = event.number, event.digest
        else:
            state.fold(event)
        self._last = self._storage.append(self.name, [event])
        if event.number % SNAPSHOT_EVERY == 0:
            content_, number_ = snapshots.to_bytes(state), state.number
            self._last.add_done_callback(
                lambda done: (
                    self._storage.keep_snapshot(self.name, number_, content_)
                    if done.exception() is None
                    else None
                )
            )
        return self._last

    def _choose(self, n: int, expires: float, key: str | None) -> dict[str, Any]:
        """Ask the policy, folding as it goes; what it changed goes into the event."""
        state = self._state
        before, stream = arrays.copied(state.memory), arrays.rng_state(state.rng)
        first = len(state.decisions)
        chosen = []
        for _ in range(n):
            decision = state.policy.select(state.tally, state.memory, state.rng)
            arm, phase = int(decision.arm), int(decision.phase)
            state.decisions.add(arm, phase, expires)
            state.enter(type(decision)(arm, phase))
            chosen.append([arm, phase, expires])
        content: dict[str, Any] = {
            "decisions": chosen,
            "memory": arrays.changes(state.memory, before),
        }
        after = arrays.rng_state(state.rng)
        if after != stream:
            content["rng"] = after
        if key is not None:
            content["key"] = key
            state.remember(key, first, n)
        return content

    def _expire(self, now: float) -> None:
        pending = self._state.pending()
        overdue = pending[self._state.decisions.expires[pending] <= now]
        if overdue.size:
            self._record("expired", now, {"numbers": overdue.tolist()})

    def _leader(self) -> int:
        memory = self._state.policy.model.start()
        return int(self._state.policy.model.project(self._state.tally, memory))

    def _place(self, id_: Any, where: str) -> int:
        place = self._state.decisions.number_of(id_) if isinstance(id_, str) else None
        if place is None:
            field = f"{where}.id" if where else "id"
            raise Unknown(f"`{field}` must be a decision of campaign {self.name!r}, got {id_!r}")
        return place

    def _observation(self, place: int, value: Any, where: str) -> Any:
        """An observation checked against what the arm shows and the family's range."""
        state = self._state
        field = f"{where}.observation" if where else "observation"
        components = state.reveals[int(state.decisions.arm[place])]
        several = getattr(state.instance, "feedback", "") == "semi_bandit"
        if several:
            if not isinstance(value, list | tuple) or len(value) != len(components):
                must = f"be a list of {len(components)} numbers, one for each item"
                raise InputError(field, must, value)
            return [self._number(entry, f"{field}[{i}]") for i, entry in enumerate(value)]
        return self._number(value, field)

    def _number(self, value: Any, field: str) -> float:
        found = number(value, field)
        family = self._state.instance.plain_family
        if not family.covers(found):
            kind = self._state.instance.observation
            raise InputError(field, f"be a possible {kind} observation", found)
        return found

    def _told_value(self, place: int) -> Any:
        found = None
        for event in self._storage.read(self.name):
            if event.kind == "told":
                for number_, value in event.content["tells"]:
                    if number_ == place:
                        found = value
        return found

    def _decided(self, place: int) -> Decided:
        state = self._state
        arm = state.instance.arm_at(int(state.decisions.arm[place]))
        return Decided(
            state.decisions.id_of(place),
            _plain(arm),
            state.instance.arm_name(arm),
            PHASES[int(state.decisions.phase[place])],
        )

    def _check_same(self, wanted: dict[str, Any]) -> None:
        held = self._state.definition
        for key in ("instance", "policy", "seed"):
            if held[key] != wanted[key]:
                raise Conflict(f"campaign {self.name!r} exists with another {key}")


def definition(
    name: str, instance: Instance | Mapping[str, Any], policy: str | Mapping[str, Any], seed: int
) -> dict[str, Any]:
    """A campaign's definition, checked, as plain data."""
    text(name, "name")
    known = from_dict(dict(instance)) if isinstance(instance, Mapping) else instance
    chosen = {"name": policy} if isinstance(policy, str) else dict(policy)
    parameters = {k: v for k, v in chosen.items() if k != "name"}
    make_policy(str(chosen.get("name")), known, **parameters)
    return {
        "name": name,
        "instance": known.to_dict(),
        "policy": {"name": chosen["name"], **dict(sorted(parameters.items()))},
        "seed": integer(seed, "seed"),
    }


def create(
    storage: Storage,
    name: str,
    instance: Instance | Mapping[str, Any],
    policy: str | Mapping[str, Any],
    seed: int,
    now: float,
) -> None:
    """Enter a new campaign; one that was entered meanwhile is left alone."""
    content = {"format": FORMAT, **definition(name, instance, policy, seed)}
    try:
        storage.append(name, [chained(GENESIS, 1, "created", now, content)]).result()
    except Conflict:
        return


def _check_link(name: str, previous: str, event: Event) -> None:
    if event.digest != digest(previous, event.number, event.kind, event.time, event.body):
        raise Corrupt(f"campaign {name!r} is damaged: event {event.number} is not what was written")


def _plain(arm: Any) -> int | list[int]:
    return list(arm) if isinstance(arm, tuple) else int(arm)


__all__ = ["PENDING", "Campaign", "Closed", "Decided", "Told", "Unknown", "bound", "np"]
