"""The state of a campaign: the fold of its journal."""

from typing import Any

import numpy as np

from ossb.campaigns import arrays
from ossb.campaigns.events import GENESIS, Event
from ossb.campaigns.ledger import EXPIRED, PENDING, TOLD, VOIDED, Decisions, value_digest
from ossb.instances import from_dict
from ossb.policies import policy
from ossb.simulation.seeds import instance_key, policy_stream
from ossb.structures.base import Instance
from ossb.tally import Decision, Tally, decide, empty_tally, observe

KEYS = 50_000  # idempotency keys remembered


class State:
    """What a campaign knows after some events.

    ``fold`` is the only thing that changes it; it calls no policy, no solver and no clock.
    """

    def __init__(self, created: Event) -> None:
        content = created.content
        self.definition: dict[str, Any] = {
            key: content[key] for key in ("name", "instance", "policy", "seed")
        }
        self.instance: Any = from_dict(content["instance"])
        chosen = dict(content["policy"])
        self.policy: Any = policy(chosen.pop("name"), self.instance, **chosen)
        self.reveals: list[list[int]] = self.instance.reveals()
        n_components = 1 + max(max(shown, default=-1) for shown in self.reveals)
        self.tally: Tally = empty_tally(n_components, len(self.reveals))
        self.memory: Any = self.policy.start()
        self.rng = policy_stream(
            int(content["seed"]),
            instance_key(self.instance.to_dict()),
            stream(content["policy"]),
            0,
        )
        self.decisions = Decisions(created.digest)
        self.retired: set[int] = set()
        self.keys: dict[str, tuple[int, int]] = {}  # idempotency key -> first decision, count
        self.closed = False
        self.number, self.digest = created.number, created.digest
        self.opened = created.time

    def fold(self, event: Event) -> None:
        """Take in the next event."""
        content = event.content
        getattr(self, f"_{event.kind}")(content)
        self.number, self.digest = event.number, event.digest

    def _asked(self, content: dict[str, Any]) -> None:
        if "key" in content:
            self.remember(content["key"], len(self.decisions), len(content["decisions"]))
        for arm, phase, expires in content["decisions"]:
            self.decisions.add(arm, phase, expires)
            self.enter(Decision(arm, phase))
        arrays.apply(self.memory, content["memory"])
        if "rng" in content:
            arrays.set_rng_state(self.rng, content["rng"])

    def remember(self, key: str, first: int, count: int) -> None:
        """Keep which decisions answered an idempotency key, the newest ``KEYS`` of them."""
        self.keys[key] = (first, count)
        if len(self.keys) > KEYS:
            del self.keys[next(iter(self.keys))]

    def enter(self, decision: Decision) -> None:
        """Count a decision that is not told yet."""
        decide(self.tally, decision)
        for component in self.reveals[decision.arm]:
            self.tally.pending[component] += 1

    def _told(self, content: dict[str, Any]) -> None:
        for number, observation in content["tells"]:
            arm = int(self.decisions.arm[number])
            if self.decisions.status[number] == PENDING:
                for component in self.reveals[arm]:
                    self.tally.pending[component] -= 1
            else:
                self.tally.plays[arm] += 1  # late: no longer among the provisional ones
            self.decisions.status[number] = TOLD
            self.decisions.value[number] = value_digest(observation)
            self._observe(arm, observation)

    def _observe(self, arm: int, observation: Any) -> None:
        values = observation if isinstance(observation, list) else [observation]
        sign = self.instance.sign
        for component, value in zip(self.reveals[arm], values, strict=True):
            observe(self.tally, component, sign * float(value))
        self.tally.clock[0] += 1

    def _voided(self, content: dict[str, Any]) -> None:
        number, observation = content["number"], content["observation"]
        arm = int(self.decisions.arm[number])
        values = observation if isinstance(observation, list) else [observation]
        for component, value in zip(self.reveals[arm], values, strict=True):
            count = int(self.tally.counts[component])
            total = self.tally.means[component] * count - self.instance.sign * float(value)
            self.tally.counts[component] = count - 1
            self.tally.means[component] = total / (count - 1) if count > 1 else 0.0
        self.tally.clock[0] -= 1
        self.tally.plays[arm] -= 1
        self.decisions.status[number] = VOIDED

    def _expired(self, content: dict[str, Any]) -> None:
        for number in content["numbers"]:
            arm = int(self.decisions.arm[number])
            self.decisions.status[number] = EXPIRED
            self.tally.plays[arm] -= 1
            for component in self.reveals[arm]:
                self.tally.pending[component] -= 1

    def _imported(self, content: dict[str, Any]) -> None:
        for arm, observation in content["rows"]:
            self.tally.plays[arm] += 1
            self._observe(arm, observation)

    def _arm_retired(self, content: dict[str, Any]) -> None:
        self.retired.add(int(content["arm"]))

    def _closed(self, content: dict[str, Any]) -> None:
        self.closed = True

    def pending(self) -> np.ndarray:
        """Numbers of the decisions that are waited for."""
        return np.flatnonzero(self.decisions.status == PENDING)


def stream(chosen: dict[str, Any]) -> str:
    """The name of a policy's random stream: the one the simulator gives it."""
    from ossb.policies import POLICIES

    name = chosen["name"]
    known = POLICIES[name].parameters
    own = {k: v for k, v in chosen.items() if k != "name" and v != known[k]}
    return str(name) + "".join(f",{k}={own[k]!r}" for k in sorted(own))


def opening(events: list[Event]) -> State:
    """The state after a journal from its first event on, checked link by link."""
    from ossb.campaigns.events import digest

    previous = GENESIS
    for event in events:
        if event.digest != digest(previous, event.number, event.kind, event.time, event.body):
            raise ValueError(f"event {event.number}")
        previous = event.digest
    state = State(events[0])
    for event in events[1:]:
        state.fold(event)
    return state


__all__ = ["Instance", "State", "opening", "stream"]
