"""The state of a campaign: the fold of its journal."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ossb.arm_sets.table import ArmTable
from ossb.campaigns import arrays
from ossb.campaigns.arrays import Memory
from ossb.campaigns.brought import Brought, has_features, is_brought, number_of, rows_in
from ossb.campaigns.course import Course
from ossb.campaigns.events import FORMATS, KINDS, Event
from ossb.campaigns.ledger import EXPIRED, PENDING, TOLD, VOIDED, Decisions, value_of
from ossb.deadlines import breathe
from ossb.errors import InputError
from ossb.instances import from_dict
from ossb.tally import PHASES, Decision, Tally, by_numbers, decide, empty_tally, observe

KEYS = 50_000  # idempotency keys remembered
ASIDES = 8  # sets of arms, fewer than usual, whose memory is kept
NEVER = float("inf")
ONE = (0,)  # what shows one value
ROOM = 16  # arms that are not listed, before more room is made


class State:
    """What a campaign knows after some events.

    ``fold`` is the only thing that changes it; it calls no policy, no solver and no clock.
    """

    def __init__(self, created: Event) -> None:
        content = created.content
        if content["format"] not in FORMATS:
            known = " or ".join(map(str, FORMATS))
            must = f"be {known}: the journal was written by another version of this software"
            raise InputError("format", must, content["format"])
        self.definition: dict[str, Any] = {
            key: content[key] for key in ("name", "instance", "policy", "seed")
        }
        self.first_policy: dict[str, Any] = content["policy"]
        self.opened = created.time
        instance: Any = from_dict(content["instance"])
        self.instance = instance
        self.reveals: Sequence[Sequence[int]]
        self.tally: Tally
        self.table: ArmTable | None = None  # the arms met, where they are not listed
        if instance.n_arms is None:
            self.table = ArmTable()
            self.reveals = self.table.arms  # grows with it
            self.tally = empty_tally(instance.item_count, ROOM)
        else:
            self.reveals = instance.showing()
            self.tally = self._empty_tally()
        self._numbers: tuple[Any, Any] = (None, None)  # of a tally
        self.brought = Brought(feature_count(instance))  # rows of asks, and what they showed
        self.format = int(content["format"])
        # the policy's memory, on the arms not retired, and on fewer, by the arms left out
        self.usual = Course(Memory(arrays.unpacked(content["memory"])))
        self.asides: dict[tuple[int, ...], Course] = {}
        self.labour = 0.0  # seconds that the policy took since the memory was kept: no part either
        self.rng = np.random.Generator(np.random.PCG64(0))
        self.stream: list[str] = content["rng"]  # where it stands
        arrays.set_rng_state(self.rng, self.stream)
        self.decisions = Decisions(created.digest)
        self.pending: dict[int, float] = {}  # decision -> when its lease ends
        self.soonest = NEVER  # no lease ends before
        self.retired: set[int] = set()
        self.added = 0  # arms added so far
        self.keys: dict[str, tuple[int, int]] = {}  # idempotency key -> first decision, count
        self.closed = False
        self.number, self.digest = created.number, created.digest

    def _empty_tally(self) -> Tally:
        """That of no decision; where there are segments, phases and rounds of each behind those of
        all.
        """
        made = empty_tally(self.instance.component_count(), len(self.reveals))
        if not self.instance.has_segments:
            return made
        times = 1 + len(self.instance.parts)
        phases, clock = np.tile(made.phases, times), np.tile(made.clock, times)
        return made._replace(phases=phases, clock=clock)

    def segment_of(self, arm: int) -> int | None:
        """The segment that an arm belongs to; None where there are none."""
        return self.instance.layout.context_of(arm) if self.instance.has_segments else None

    def count_phase(self, tally: Any, arm: int, phase: int, times: int) -> None:
        """Count a decision among those of its segment."""
        segment = self.segment_of(arm)
        if segment is not None:
            tally.phases[len(PHASES) * (1 + segment) + phase] += times

    def count_round(self, tally: Any, arm: int, times: int) -> None:
        """Count a round among those of all, and of its segment."""
        tally.clock[0] += times
        segment = self.segment_of(arm)
        if segment is not None:
            tally.clock[1 + segment] += times

    def fold(self, event: Event) -> None:
        """Take in the next event."""
        if event.kind not in KINDS:
            name = self.definition["name"]
            must = (
                f"be one of {', '.join(KINDS)}: event {event.number} of campaign {name!r} was "
                "written by a newer version of ossb"
            )
            raise InputError("kind", must, event.kind)
        getattr(self, f"_{event.kind}")(event, event.content)
        self.number, self.digest = event.number, event.digest

    def _asked(self, event: Event, content: dict[str, Any]) -> None:
        expires = content["expires"]
        if "key" in content:
            self.remember(content["key"], len(self.decisions), len(content["decisions"]))
        self.meet(content.get("met", ()))
        for arm, phase in content["decisions"]:
            self.enter(Decision(arm, phase), event.time, expires)
        self.take_up(event.digest, content)
        if "rng" in content:
            arrays.set_rng_state(self.rng, self.stream)

    def _offered(self, event: Event, content: dict[str, Any]) -> None:
        if "key" in content:
            self.remember(content["key"], len(self.decisions), len(content["decisions"]))
        rows = rows_in(content)
        self.brought.offer(rows)
        for place, phase in content["decisions"]:
            self.enter_brought(place, phase, rows[place], event.time, content["expires"])
        if "rng" in content:
            self.stream = content["rng"]
            arrays.set_rng_state(self.rng, self.stream)

    @property
    def memory(self) -> Memory:
        """The policy's memory on the arms not retired, as an event last held it."""
        return self.usual.memory

    def courses(self) -> "dict[tuple[int, ...] | None, Course]":
        """All memories there are, by the arms left out; None where these are the usual ones."""
        found: dict[tuple[int, ...] | None, Course] = {None: self.usual}
        for aside, course in self.asides.items():
            found[aside] = course
        return found

    def take_up(self, digest: str, content: dict[str, Any], here: bool = False) -> None:
        """What an ask, whose decisions are entered, changed in a policy's memory and its stream.

        Parameters
        ----------
        here
            Whether it was made here, so that the memory after it is at hand.
        """
        if "features" in content:  # it rests on no memory
            self.stream = content.get("rng", self.stream)
            return
        course = self.usual
        if "aside" in content or "among" in content:
            course = self._hold(self._left_out(content))
        live = course.live if here else None
        if course.take_up(digest, content, self.tally, self.stream, live) and course is self.usual:
            self.labour = 0.0
        self.stream = content.get("rng", self.stream)

    def named(self, aside: tuple[int, ...]) -> dict[str, Any]:
        """How an event says which arms are left out: by the place of the memory that there is
        for the others, or by whichever arms are fewer.
        """
        if aside in self.asides:
            return {"aside": list(self.asides).index(aside)}
        kept = sorted(set(range(self.instance.unit_count())) - set(aside))
        return {"among": kept} if len(kept) < len(aside) else {"aside": list(aside)}

    def _left_out(self, content: dict[str, Any]) -> tuple[int, ...]:
        if "among" in content:
            return tuple(sorted(set(range(self.instance.unit_count())) - set(content["among"])))
        aside = content["aside"]
        return list(self.asides)[aside] if isinstance(aside, int) else tuple(aside)

    def _hold(self, aside: tuple[int, ...]) -> Course:
        """Keep a policy's memory of the usual arms with some more left out."""
        course = self.asides.pop(aside, None) or Course(Memory(()))
        self.asides[aside] = course  # the newest last
        most = max(ASIDES, len(self.instance.parts) if self.instance.has_segments else 0)
        if len(self.asides) > most:
            del self.asides[next(iter(self.asides))]
        return course

    def forget(self) -> None:
        """Let a policy begin with a fresh memory."""
        self._begin(Memory(()))

    def _begin(self, memory: Memory) -> None:
        self.usual, self.asides, self.labour = Course(memory), {}, 0.0

    def go_on_from(self, other: "State") -> None:
        """Memories that another state of this campaign has made again need not be made twice."""
        before = other.courses()
        for aside, course in self.courses().items():
            if course.mark is None and aside in before:
                course.mark = before[aside].mark

    def meet(self, arms: Sequence[Sequence[int]]) -> None:
        """Number arms that are not listed, in their order."""
        if self.table is None:
            return
        for items in arms:
            self.table.place(tuple(items))
        while self.tally.plays.size < len(self.table.arms):
            plays = self.tally.plays
            self.tally = self.tally._replace(plays=np.concatenate([plays, np.zeros_like(plays)]))

    def remember(self, key: str, first: int, count: int) -> None:
        """Keep which decisions answered an idempotency key, the newest ``KEYS`` of them."""
        self.keys[key] = (first, count)
        if len(self.keys) > KEYS:
            del self.keys[next(iter(self.keys))]

    def enter(self, decision: Decision, now: float, expires: float) -> None:
        """Count a decision of the event to come, which is not told yet."""
        number = self.decisions.add(decision.arm, decision.phase, now, expires, self.number + 1)
        self.pending[number] = expires
        self.soonest = min(self.soonest, expires)
        self.meet(())  # room for what the policy met
        books = self._books
        self.count_phase(books, decision.arm, decision.phase, 1)
        decide.function(books, decision)  # a fold looks at no clock, and is never left half
        for component in self.reveals[decision.arm]:
            books.pending[component] += 1

    def enter_brought(
        self, place: int, phase: int, row: np.ndarray, now: float, expires: float
    ) -> None:
        """Count a decision on a row that the ask brought, which is no arm and has no tally."""
        origin = self.number + 1
        number = self.decisions.add(number_of(place), phase, now, expires, origin)
        self.pending[number] = expires
        self.soonest = min(self.soonest, expires)
        self._books.phases[phase] += 1
        self.brought.enter(number, row)

    def shown_by(self, number: int) -> Sequence[int]:
        """The components that a decision shows; what a row that an ask brought shows is one."""
        arm = int(self.decisions.raw["arm"][number])
        return ONE if is_brought(arm) else self.reveals[arm]

    def take_back(self, entered: Sequence[Sequence[int]], soonest: float) -> None:
        """Undo the newest decisions entered, of an event that is not to come after all."""
        size = len(self.decisions) - len(entered)
        for number, (arm, phase) in enumerate(entered, size):
            del self.pending[number]
            self.tally.phases[phase] -= 1
            if is_brought(arm):
                continue
            self.count_phase(self.tally, arm, phase, -1)
            self.tally.plays[arm] -= 1
            for component in self.reveals[arm]:
                self.tally.pending[component] -= 1
        self.decisions.cut(size)
        self.soonest = soonest
        arrays.set_rng_state(self.rng, self.stream)

    def _told(self, event: Event, content: dict[str, Any]) -> None:
        columns, books = self.decisions.raw, self._books
        for number, observation in content["tells"]:
            arm = int(columns["arm"][number])
            waiting = columns["status"][number] == PENDING
            if waiting:
                del self.pending[number]
            if is_brought(arm):
                self.brought.tell(number, observation, waiting)
                books.clock[0] += 1
            else:
                self._observe(arm, observation, waiting)
            columns["status"][number] = TOLD
            columns["value"][number] = value_of(observation)
            columns["told"][number] = event.time
            columns["event"][number] = event.number

    def _observe(self, arm: int, observation: Any, waiting: bool) -> None:
        sign, books = self.instance.observed_sign, self._books
        if waiting:
            for component in self.reveals[arm]:
                books.pending[component] -= 1
        else:
            books.plays[arm] += 1  # late: no longer among the provisional ones
        for component, value in zip(self.reveals[arm], _values(observation), strict=True):
            observe.function(books, component, sign * value)
        self.count_round(books, arm, 1)

    @property
    def _books(self) -> Any:
        """The tally, to write numbers of."""
        if self._numbers[0] is not self.tally:
            self._numbers = self.tally, by_numbers(self.tally)
        return self._numbers[1]

    def _voided(self, event: Event, content: dict[str, Any]) -> None:
        number = content["number"]
        arm = int(self.decisions.arm[number])
        if is_brought(arm):
            self.brought.void(number)
        else:
            for component, mean in zip(self.reveals[arm], content["means"], strict=True):
                self.tally.counts[component] -= 1
                self.tally.means[component] = mean
            self.tally.plays[arm] -= 1
        self.count_round(self.tally, arm, -1)
        self.decisions.status[number] = VOIDED
        self.decisions.event[number] = 0
        self.decisions.value[number] = 0
        self.decisions.told[number] = 0.0
        if content.get("renew"):
            self.forget()

    def _expired(self, event: Event, content: dict[str, Any]) -> None:
        for number in content["numbers"]:
            breathe()
            arm = int(self.decisions.arm[number])
            self.decisions.status[number] = EXPIRED
            del self.pending[number]
            if is_brought(arm):
                self.brought.expire(number)
                continue
            self.tally.plays[arm] -= 1
            for component in self.reveals[arm]:
                self.tally.pending[component] -= 1
        self.soonest = min(self.pending.values(), default=NEVER)

    def _imported(self, event: Event, content: dict[str, Any]) -> None:
        self.meet(content.get("met", ()))
        for key in ("counts", "means", "plays"):
            getattr(self.tally, key)[: len(content[key])] = content[key]
        self.tally.clock[:] = content["clock"]  # of segments a list

    def _arm_added(self, event: Event, content: dict[str, Any]) -> None:
        old = self.tally
        instance: Any = from_dict(content["instance"])
        self.instance = instance
        self.reveals = self.instance.showing()
        self.tally = self._empty_tally()
        arms = np.array(content["arms"], dtype=np.int64)
        components = np.array(content["components"], dtype=np.int64)
        self.tally.plays[arms] = old.plays
        for new, before in zip(self.tally[:3], old[:3], strict=True):
            new[components] = before
        self.tally.phases[: old.phases.size] = old.phases  # longer where a segment was added
        self.tally.clock[: old.clock.size] = old.clock
        self.decisions.renumber(arms)
        if not self.brought:
            self.brought = Brought(feature_count(instance))
        self._begin(Memory(arrays.unpacked(content["memory"])))
        self.added += 1

    def _arm_retired(self, event: Event, content: dict[str, Any]) -> None:
        self.retired.add(int(content["arm"]))
        self._begin(Memory(arrays.unpacked(content["memory"])))

    def _switched(self, event: Event, content: dict[str, Any]) -> None:
        self.play_by(content["policy"])
        self._begin(Memory(arrays.unpacked(content["memory"])))

    def play_by(self, policy: dict[str, Any]) -> None:
        """Another policy from here on; the one it was created with is kept."""
        self.definition = {**self.definition, "policy": policy}

    def _closed(self, event: Event, content: dict[str, Any]) -> None:
        self.closed = True

    def overdue(self, now: float) -> list[int]:
        """The pending decisions whose lease has ended."""
        if now < self.soonest:
            return []
        found = [place for place, expires in self.pending.items() if expires <= now]
        if not found:  # those of the soonest lease were told in time
            self.soonest = min(self.pending.values(), default=NEVER)
        return found

    def arm_at(self, place: int) -> Any:
        """An arm as its instance calls it: the tuple of its items where arms are not listed.

        Of a row that an ask brought its place there.
        """
        if is_brought(place):
            return number_of(place)
        return self.table.arms[place] if self.table is not None else self.instance.arm_at(place)


def feature_count(instance: Any) -> int:
    """How many features rows of an instance have; 0 where they have none."""
    return int(instance.arms.shape[1]) if has_features(instance) else 0


def _values(observation: Any) -> list[float]:
    if observation is None:
        return []
    return observation if isinstance(observation, list) else [observation]
