"""Contracts of policies: what campaigns, simulations and compiled code rely on.

Each is a function of a maker, which makes the policy for an instance, and an instance with listed
arms and a true parameter.
"""

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol

import numpy as np

from ossb.campaigns.arrays import leaves, rebuilt
from ossb.errors import InputError
from ossb.policies import POLICIES
from ossb.policies.base import Kind, make, refusal
from ossb.policies.checked import Checked, fresh_memory
from ossb.records import can_compile
from ossb.simulation.contexts import Visits
from ossb.simulation.environment import environment_of
from ossb.simulation.simulate import Timing, new_course, new_late, play
from ossb.structures.base import Instance
from ossb.tally import Tally, decide, empty_tally, observe
from ossb.testing.checks import Check
from ossb.testing.examples import examples

Maker = Callable[[Any], Any]
AT_ONCE, LATE = Timing(), Timing(batch=7, delay=3)
WARM_UP = 15  # rounds before a memory is copied


class Contract(Protocol):
    """One of the contracts below."""

    __name__: str

    def __call__(self, maker: Maker, instance: Any, rounds: int) -> None: ...


def policy_checks(
    policy: str | Kind | Maker,
    instances: Mapping[str, Any] | None = None,
    rounds: int = 80,
    **parameters: Any,
) -> list[Check]:
    """All contracts of a policy, on every instance that it fits.

    With pytest, this is all that a package needs to test a policy of its own::

        @pytest.mark.parametrize("check", policy_checks(ROUND_ROBIN), ids=str)
        def test_round_robin_keeps_the_contracts(check):
            check()

    Parameters
    ----------
    policy
        A ``Kind``, the name of one, or what makes a policy of an instance, such as ``Mine.of``.
    instances
        Name → instance; by default a small one of every structure and family.  They have listed
        arms and a true parameter.
    rounds
        How long the policy plays.
    parameters
        Of the policy, where they are not its defaults.
    """
    kind = POLICIES[policy] if isinstance(policy, str) else policy
    chosen = examples() if instances is None else instances
    found = []
    for name, instance in chosen.items():
        if isinstance(kind, Kind):
            case = f"{_called(kind.name, parameters)}, {name}"
            found.append(Check(fits_or_refuses, case, (kind, instance, parameters)))
            if _refused(kind, instance, parameters) is not None:
                continue
            maker: Maker = partial(_made, kind, parameters=parameters)
        else:
            maker = partial(kind, **parameters)
            case = f"{_called(getattr(kind, '__qualname__', 'policy'), parameters)}, {name}"
        found += [Check(contract, case, (maker, instance, rounds)) for contract in CONTRACTS]
    return found


def fits_or_refuses(kind: Kind, instance: Any, parameters: Mapping[str, Any]) -> None:
    """A policy is made for what it says it fits, and refuses the rest with an ``InputError``."""
    refused = _refused(kind, instance, parameters)
    said = refusal(kind, instance)
    if refused is None:
        assert said is None, f"{kind.name} is made for {instance!r}, and says: {said}"
    else:
        fits = said is None and kind.suits(instance) is None
        assert not fits, f"{kind.name} says that {instance!r} fits, and refuses it: {refused}"


def compiled_is_interpreted(
    maker: Maker, instance: Any, rounds: int, timing: Timing = AT_ONCE
) -> None:
    """A compiled trial is the interpreted one bit for bit; nothing to do for what runs in Python.

    Tally, memory, regret and random streams are compared.
    """
    record = maker(instance)
    if not can_compile(record):
        return
    ours, theirs = (
        _trial(record, instance, rounds, timing, compiled) for compiled in (True, False)
    )
    for number, (one, other) in enumerate(zip(ours, theirs, strict=True)):
        same = np.ascontiguousarray(one).tobytes() == np.ascontiguousarray(other).tobytes()
        assert same, f"{_part(record, number)} differs with {timing}: {one!r}, {other!r}"


def compiled_is_interpreted_late(maker: Maker, instance: Any, rounds: int) -> None:
    """Nor does compiling change anything where observations come late and in batches."""
    compiled_is_interpreted(maker, instance, rounds, LATE)


def select_leaves_the_tally(maker: Maker, instance: Any, rounds: int) -> None:
    """No decision changes the tally, while observations are on their way either."""
    record = _playing(maker(instance), instance)

    def select(tally: Tally, memory: Any, rng: np.random.Generator) -> Any:
        before = [array.copy() for array in tally]
        decision = record.select(tally, memory, rng)
        for name, old, new in zip(tally._fields, before, tally, strict=True):
            assert old.tobytes() == new.tobytes(), f"`select` changed tally.{name}: {old}, {new}"
        return decision

    _decisions(record, instance, rounds, select, untold=3)


def decisions_are_possible(maker: Maker, instance: Any, rounds: int) -> None:
    """Each decision is an arm and a phase that there are, in whole numbers.

    Told at once, told late, and with nothing told at all.
    """
    record = _playing(maker(instance), instance)
    checked = Checked(record, type(record).__name__)
    for untold in (0, 3, 1):
        _decisions(record, instance, rounds, checked.select, untold)


def the_same_again(maker: Maker, instance: Any, rounds: int) -> None:
    """Decisions follow from tally, memory and random stream alone, not from what else happened."""
    first = _decisions(_playing(maker(instance), instance), instance, rounds)
    record = _playing(maker(instance), instance)
    once, twice = (_decisions(record, instance, rounds) for _ in range(2))
    assert first == once, f"two trials with the same seeds differ: {first}, {once}"
    assert once == twice, f"a second trial of one policy differs from its first: {once}, {twice}"


def memory_can_be_saved(maker: Maker, instance: Any, rounds: int) -> None:
    """All that a policy remembers stands in its memory's arrays: from a copy it goes on the same.

    Campaigns save memories so, and restore them around a policy that was made anew.
    """
    record = _playing(maker(instance), instance)
    memory = fresh_memory(record, type(record).__name__)
    try:
        list(leaves(memory))
    except TypeError as error:
        raise AssertionError(f"`start` must return a named tuple of arrays: {error}") from None
    whole = _decisions(record, instance, rounds)
    tally, rng, noise = _tally(instance), np.random.default_rng(1), np.random.default_rng(2)
    taken = []
    for t in range(rounds):
        if t == min(WARM_UP, rounds // 2):
            record = _playing(maker(instance), instance)
            arrays = [leaf.copy() for leaf in leaves(memory)]
            memory = rebuilt(record.start(), arrays)
            assert memory is not None, "a fresh memory has arrays of other shapes than a used one"
        decision = record.select(tally, memory, rng)
        taken.append((int(decision.arm), int(decision.phase)))
        _enter(tally, decision, instance, noise, told=True)
    assert taken == whole, f"from a saved memory decisions differ: {taken}, {whole}"


CONTRACTS: tuple[Contract, ...] = (
    compiled_is_interpreted,
    compiled_is_interpreted_late,
    select_leaves_the_tally,
    decisions_are_possible,
    the_same_again,
    memory_can_be_saved,
)


def _made(kind: Kind, instance: Instance, parameters: Mapping[str, Any]) -> Any:
    return make({kind.name: kind}, kind.name, instance, **parameters)


def _refused(kind: Kind, instance: Instance, parameters: Mapping[str, Any]) -> InputError | None:
    try:
        _made(kind, instance, parameters)
    except InputError as error:
        return error
    return None


class InTurn:
    """A policy on arms in contexts that come in turn."""

    def __init__(self, record: Any, instance: Any) -> None:
        self.record, self.layout = record, instance.layout

    def start(self) -> Any:
        return self.record.start()

    def select(self, tally: Tally, memory: Any, rng: np.random.Generator) -> Any:
        """The decision in the context whose turn it is: every round before was in some phase."""
        rows = self.layout.rows(int(tally.phases.sum()) % self.layout.n_contexts)
        decision = self.record.choose(rows.start, rows.stop, tally, memory, rng)
        assert decision.arm in rows, f"arm {decision.arm} is not of the present context: {rows}"
        return decision


def _playing(record: Any, instance: Any) -> Any:
    """A policy as the contracts play it."""
    return InTurn(record, instance) if _has_several(instance) else record


def _has_several(instance: Any) -> bool:
    return bool(instance.has_contexts) and instance.layout.n_contexts > 1


def _called(name: str, parameters: Mapping[str, Any]) -> str:
    given = ",".join(f"{key}={value}" for key, value in parameters.items())
    return f"{name}:{given}" if given else name


def _tally(instance: Any) -> Tally:
    environment = environment_of(instance)
    return empty_tally(environment.means.size, environment.gaps.size)


def _enter(
    tally: Tally, decision: Any, instance: Any, noise: np.random.Generator, told: bool
) -> None:
    """Play an arm."""
    environment = environment_of(instance)
    decide(tally, decision)
    for component in environment.shown[slice(*environment.starts[decision.arm :][:2])]:
        if told:
            value = environment.family.sample(environment.means[component], noise)
            observe(tally, component, value)
        else:
            tally.pending[component] += 1
    tally.clock[0] += told


def _decisions(
    record: Any,
    instance: Any,
    rounds: int,
    select: Callable[..., Any] | None = None,
    untold: int = 0,
) -> list[tuple[int, int]]:
    """Arms and phases of an interpreted trial.

    Parameters
    ----------
    select
        What decides in the place of the policy's own ``select``, and says what is wrong.
    untold
        Every so-manieth observation stays on its way; 0: none.
    """
    tally, memory = _tally(instance), record.start()
    rng, noise = np.random.default_rng(1), np.random.default_rng(2)
    decides = record.select if select is None else select
    taken = []
    for t in range(rounds):
        decision = decides(tally, memory, rng)
        taken.append((int(decision.arm), int(decision.phase)))
        told = untold == 0 or t % untold != untold - 1
        _enter(tally, decision, instance, noise, told)
    return taken


def _trial(
    record: Any, instance: Any, rounds: int, timing: Timing, compiled: bool
) -> list[np.ndarray]:
    """Everything that a trial leaves behind: tally, memory, regret, and the streams' next draws."""
    environment = environment_of(instance)
    tally, memory = _tally(instance), record.start()
    course = new_course(np.unique([math.ceil(rounds / 2), rounds]))
    late, name = new_late(environment, timing), type(record).__name__
    rng, noise = np.random.default_rng(8), np.random.default_rng(9)
    world = (record, environment, tally, memory, course, late)
    visits = None
    if _has_several(instance):
        order = np.arange(rounds) % instance.layout.n_contexts
        visits = Visits(instance.layout.starts.astype(np.int64), order)
    play(*world, 1, rounds + 1, rng, noise, timing, compiled, name, None, visits)
    return [*tally, *leaves(memory), *course, rng.random(1), noise.random(1)]


def _part(record: Any, number: int) -> str:
    """What one of a trial's arrays is."""
    names = [f"tally.{name}" for name in Tally._fields]
    if number < len(names):
        return names[number]
    place = number - len(names)
    return f"array {place} of the memory" if place < len([*leaves(record.start())]) else "the trial"
