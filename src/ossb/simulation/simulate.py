"""``simulate``: policies × trials on one instance."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ossb.errors import InputError, OssbError, PolicyError
from ossb.fields import integer
from ossb.graves_lai.answers import BEST, Answer
from ossb.kernels import Kernel, compiler_says
from ossb.policies.base import by_itself
from ossb.policies.checked import Checked, failed, fresh_memory, within
from ossb.policies.plain import Plain
from ossb.records import can_compile
from ossb.simulation.chosen import Chosen, chosen_of
from ossb.simulation.contexts import Stream, Visits, run_in_contexts, stream_of
from ossb.simulation.environment import Environment, environment_of
from ossb.simulation.implicit import mean_plays, run_implicit
from ossb.simulation.plain import run_plain
from ossb.simulation.result import Limit, PolicyResult, SimulationResult, Stops
from ossb.simulation.seeds import context_stream, instance_key, noise_stream, policy_stream
from ossb.simulation.stops import Ending, Noted, Stop, Witness, run_until, stop_of
from ossb.simulation.trial import Course, Late, run_late_trial, run_trial
from ossb.structures.base import bound
from ossb.structures.segments import Segmented
from ossb.tally import Decision, Tally, empty_tally

STRETCH = 50_000  # most rounds between two looks at the outside world
FIRST_STRETCH = 50
PATIENCE = 0.25  # seconds that one stretch should take, give or take a factor of two
CHECKPOINTS = 120

Played = TypeVar("Played")
Progress = Callable[[str, int], None]  # (policy, rounds played since the last call)


class Outcome(NamedTuple):
    """One trial, played."""

    curve: np.ndarray  # float64 (checkpoints,)
    spent: np.ndarray  # int64 (checkpoints, 3)
    plays: np.ndarray  # int64 (n_arms,)
    seconds: float
    end: int = 0  # the round after which it stopped, 0 if it did not
    answers: tuple[Noted, ...] = ()

    def is_wrong(self, epsilon: float) -> bool:
        """Whether it stopped with an answer that is not good enough."""
        return self.end > 0 and self.answers[-1].lack > epsilon


class Timing(NamedTuple):
    """How observations reach the policy."""

    batch: int = 1
    delay: int = 0


AT_ONCE = Timing()


def simulate(
    instance: Any,
    policies: Any,
    horizon: int,
    trials: int = 100,
    seed: int = 0,
    *,
    workers: int = 1,
    batch: int = 1,
    delay: int = 0,
    until: float | None = None,
    epsilon: float = 0.0,
    answer: Any = "best",
    contexts: Sequence[Any] | None = None,
    compiled: bool = True,
    progress: Progress | None = None,
    announce: Callable[[str], None] | None = None,
) -> SimulationResult:
    """Play every policy on the instance.

    All numbers but timings depend on (instance, policy, horizon, trials, seed, batch, delay)
    alone: not on the number of workers nor on which other policies run.

    Parameters
    ----------
    policies
        Names, ``"name:key=value,…"`` or ``{"name": …, key: value}``, with a ``"label"`` if
        wished; a policy of one's own as an object, a class or ``"module:Class"``: a record, what
        has ``start`` and ``select(tally, memory, rng)``, or what has ``select()`` (or
        ``select(rng)``) and ``update(arm, value)``.  One alone needs no list.
    batch
        Observations are told in batches of this many rounds; in segments, of their own rounds.
    delay
        Rounds before an observation is known, likewise.
    until, epsilon
        Where ``until`` is given, each trial ends when its leader is within ``epsilon`` of the best
        arm with confidence 1 − ``until``, or at the horizon; its regret is that paid until then.
        Policies that play for a test are told its ``epsilon`` and ``answer``, but where they are
        given their own.
    answer
        What the test is asked for: ``"best"``; ``{"top": m}``, the m best arms; ``{"above":
        level}``, those whose means exceed a level, of classical and linear arms.
    contexts
        Who comes, by number or name, round by round and again from the start at the end; by
        default contexts are drawn by their weights, the same for every policy.
    compiled
        Compile the loop; otherwise run the same code interpreted.
    progress, announce
        Called with rounds as they are played, and with what takes long.

    Examples
    --------
    >>> import ossb
    >>> line = ossb.Unimodal(observation="bernoulli", theta=[0.1, 0.3, 0.6, 0.4, 0.2])
    >>> result = ossb.simulate(line, ["hgl", "ucb1"], horizon=500, trials=10, seed=1)
    >>> hgl, ucb1 = result.policies
    >>> bool(hgl.regret.mean() < ucb1.regret.mean())
    True
    """
    horizon = integer(horizon, "horizon", least=1)
    trials = integer(trials, "trials", least=1)
    workers = integer(workers, "workers", least=1)
    timing = Timing(integer(batch, "batch", least=1), integer(delay, "delay"))
    end = None if until is None else stop_of(instance, until, epsilon, answer=answer)
    if end is None and (epsilon or answer not in ("best", BEST)):
        raise InputError("until", "be given beside epsilon or answer, which say when to stop")
    stream = stream_of(instance, contexts)
    chosen = chosen_of(policies)
    if end is not None:
        chosen = [one.for_test(end.epsilon, end.answer) for one in chosen]
    if isinstance(instance, Segmented):
        from ossb.simulation import segments  # which plays by what stands here

        given = segments.trials_of(instance, stream, log_spaced(horizon), trials, seed, timing)
        say = announce if announce is not None else lambda message: None
        played = [
            segments.play_segments(given, one, workers, compiled, progress, say) for one in chosen
        ]
        return SimulationResult(instance, horizon, trials, seed, _bound(instance), played)
    made = [one.made(instance) for one in chosen]
    if instance.n_arms is None:
        return _simulate_implicit(instance, chosen, made, horizon, trials, seed, timing, progress)
    environment = environment_of(instance)
    checkpoints = log_spaced(horizon)
    say = announce if announce is not None else lambda message: None
    answers = []
    for one, record in zip(chosen, made, strict=True):
        name, seconds = one.name, 0.0
        if compiled:
            message = f"compiling {name} for {instance.kind} structures (once)"
            seconds = warm(record, name, environment, timing, partial(say, message), end, stream)
        key = instance_key(by_itself(instance).to_dict())
        label = one.stream()

        def play(
            trial: int,
            record: Any = record,
            label: str = label,
            key: str = key,
            title: str = one.label,
        ) -> Outcome:
            return run(
                record,
                environment,
                checkpoints,
                policy_stream(seed, key, label, trial),
                noise_stream(seed, key, trial),
                timing,
                compiled,
                None if progress is None else lambda n: progress(label, n),
                title or label,
                end,
                None if stream is None else (stream, context_stream(seed, key, trial)),
            )

        outcomes = in_parallel(play, trials, workers if compiled else 1)
        answers.append(
            PolicyResult(
                name,
                one.own(),
                checkpoints,
                np.array([outcome.curve for outcome in outcomes]),
                np.mean([outcome.plays for outcome in outcomes], axis=0),
                np.mean([outcome.spent[-1] for outcome in outcomes], axis=0),
                sum(outcome.seconds for outcome in outcomes),
                seconds,
                stops=None if end is None else stops_of(outcomes, horizon, end.epsilon),
                title=one.label,
            )
        )
    least = _bound(instance)
    limit = None
    if end is not None:
        limit = limit_of(instance, end, None if least is None else least.value)
    return SimulationResult(instance, horizon, trials, seed, least, answers, limit)


def stops_of(outcomes: Sequence[Outcome], horizon: int, epsilon: float) -> Stops:
    """When trials stopped, and how."""
    ends = np.array([outcome.end for outcome in outcomes])
    wrong = np.array([outcome.is_wrong(epsilon) for outcome in outcomes])
    return Stops(np.where(ends > 0, ends, horizon), ends == 0, wrong)


def _simulate_implicit(
    instance: Any,
    chosen: Sequence[Chosen],
    made: Sequence[Any],
    horizon: int,
    trials: int,
    seed: int,
    timing: Timing,
    progress: Progress | None,
) -> SimulationResult:
    """Simulate arms that are not listed: interpreted, since oracles are Python objects."""
    if not instance.known:
        raise InputError(instance.parameter, "be given: a simulation needs a true parameter")
    checkpoints, key = log_spaced(horizon), instance_key(instance.to_dict())
    answers = []
    for one, maker in zip(chosen, made, strict=True):
        label = one.stream()
        outcomes = [
            run_implicit(
                maker,
                instance,
                new_course(checkpoints),
                timing.batch,
                timing.delay,
                policy_stream(seed, key, label, trial),
                noise_stream(seed, key, trial),
                None if progress is None else partial(progress, label),
                one.label or label,
            )
            for trial in range(trials)
        ]
        arms, plays = mean_plays(outcomes)
        answers.append(
            PolicyResult(
                one.name,
                one.own(),
                checkpoints,
                np.array([outcome.curve for outcome in outcomes]),
                plays,
                np.mean([outcome.spent[-1] for outcome in outcomes], axis=0),
                sum(outcome.seconds for outcome in outcomes),
                0.0,
                arms,
                title=one.label,
            )
        )
    return SimulationResult(instance, horizon, trials, seed, _bound(instance), answers)


def run(
    record: Any,
    environment: Environment,
    checkpoints: np.ndarray,
    rng: np.random.Generator,
    noise: np.random.Generator,
    timing: Timing = AT_ONCE,
    compiled: bool = True,
    progress: Callable[[int], None] | None = None,
    name: str | None = None,
    end: Stop | None = None,
    who: tuple[Stream, np.random.Generator] | None = None,
) -> Outcome:
    """Play one trial up to the last checkpoint, or to its stop.

    Parameters
    ----------
    name
        What errors call the policy; its class by default.
    who
        Where contexts come from, and their random stream.
    """
    name = type(record).__name__ if name is None else name
    tally = empty_tally(environment.means.size, environment.gaps.size)
    if who is not None and not hasattr(record, "choose"):
        raise InputError("policy", f"play arms in contexts, by a method `choose`: {name} does not")
    if isinstance(record, Plain):
        if end is not None:
            must = "be left out: what has `select` and `update` alone is told of no stop"
            raise InputError("until", must)
        course = new_course(checkpoints)
        seconds = run_plain(record, environment, tally, course, *timing, rng, noise, progress, name)
        return Outcome(course.curve, course.spent, tally.plays, seconds)
    memory = fresh_memory(record, name)
    course, late = new_course(checkpoints), new_late(environment, timing)
    ending = None if end is None or end.delta == 0.0 else (end.rivals, end.ending())
    witness = None if end is None else Witness(end, environment, compiled)
    started = time.thread_time()
    horizon = int(checkpoints[-1])
    start, stretch = 1, FIRST_STRETCH
    while start <= horizon:
        stop = min(start + stretch, horizon + 1)
        if witness is not None:
            stop = int(min(stop, witness.due() + 1))
        before = time.thread_time()
        play(
            record,
            environment,
            tally,
            memory,
            course,
            late,
            start,
            stop,
            rng,
            noise,
            timing,
            compiled,
            name,
            ending,
            None if who is None else who[0].visits(start, stop, who[1]),
        )
        if progress is not None:
            progress(stop - start)
        if ending is not None and ending[1].found[0]:
            break
        if witness is not None:
            witness.look(stop - 1, tally)
        took = time.thread_time() - before
        if took < PATIENCE:
            stretch = min(2 * stretch, STRETCH)
        elif took > 2 * PATIENCE:
            stretch = max(stretch // 2, 1)
        start = stop
    seconds = time.thread_time() - started
    if witness is None:
        return Outcome(course.curve, course.spent, tally.plays, seconds)
    if ending is None:
        return Outcome(
            course.curve, course.spent, tally.plays, seconds, 0, witness.close(horizon, tally)
        )
    if progress is not None and stop <= horizon:
        progress(horizon + 1 - stop)  # rounds that need not be played
    passed = int(course.marks[0])
    course.curve[passed:] = course.regret[0]
    course.spent[passed:] = tally.phases
    at = int(ending[1].found[0])
    answers = witness.close(at or horizon, tally)
    return Outcome(course.curve, course.spent, tally.plays, seconds, at, answers)


def play(
    record: Any,
    environment: Environment,
    tally: Tally,
    memory: Any,
    course: Course,
    late: Late,
    start: int,
    stop: int,
    rng: np.random.Generator,
    noise: np.random.Generator,
    timing: Timing,
    compiled: bool,
    name: str,
    ending: tuple[Any, Ending] | None = None,
    visits: Visits | None = None,
) -> None:
    """Play some rounds of a trial, compiled or interpreted; ``PolicyError`` at a wrong decision."""
    rest = (
        environment,
        tally,
        memory,
        course,
        late,
        start,
        stop,
        rng,
        noise,
        timing,
        ending,
        visits,
    )
    fault = None
    if compiled and can_compile(record) and (ending is None or can_compile(ending[0])):
        loop, arguments = _call(record, *rest)
        try:
            loop.compiled(*arguments)
        except Exception as error:
            fault = error
        else:
            refuse(course, tally, name)
            return
        said = compiler_says(fault)
        if said is None:
            raise failed(fault, name, tally) from fault
    loop, arguments = _call(Checked(record, name), *rest)
    loop(*arguments)  # says more than a compiler does of a decision of a wrong type
    refuse(course, tally, name)
    if fault is not None:
        raise PolicyError(name, start, f"`select` cannot be compiled: {said}") from fault


def refuse(course: Course, tally: Tally, name: str) -> None:
    """Refuse the decision at which a compiled loop has ended, if it was none."""
    t, arm, phase = course.refused.tolist()
    if t:
        within(Decision(arm, phase), tally.plays.size, name, t)
        raise PolicyError(name, t, f"`arm` must be one of the present context, got {arm}")


def _call(
    record: Any,
    environment: Environment,
    tally: Tally,
    memory: Any,
    course: Course,
    late: Late,
    start: int,
    stop: int,
    rng: np.random.Generator,
    noise: np.random.Generator,
    timing: Timing,
    ending: tuple[Any, Ending] | None = None,
    visits: Visits | None = None,
) -> tuple[Kernel[..., None], tuple[Any, ...]]:
    """The loop that fits the timing and the end, and its arguments."""
    if visits is not None:
        some = (record, environment, visits, tally, memory, course, late)
        return run_in_contexts, (*some, timing.batch, timing.delay, start, stop, rng, noise)
    head = (record, environment, tally, memory, course)
    if ending is not None:
        return run_until, (
            *(*head, late, timing.batch, timing.delay),
            *(*ending, start, stop, rng, noise),
        )
    if timing == AT_ONCE:
        return run_trial, (*head, start, stop, rng, noise)
    return run_late_trial, (*head, late, timing.batch, timing.delay, start, stop, rng, noise)


def new_late(environment: Environment, timing: Timing) -> Late:
    """An empty ring with room for all observations that can be on their way at once."""
    widest = int(np.diff(environment.starts).max(initial=1))
    room = timing.delay + timing.batch + 1
    return Late(np.zeros(room, np.int64), np.zeros((room, max(widest, 1))))


def new_course(checkpoints: np.ndarray) -> Course:
    return Course(
        checkpoints,
        np.zeros(checkpoints.size),
        np.zeros((checkpoints.size, 3), np.int64),
        np.zeros(1),
        np.zeros(2, np.int64),
        np.zeros(3, np.int64),
    )


def log_spaced(horizon: int, count: int = CHECKPOINTS) -> np.ndarray:
    """Rounds at which the regret is noted: about evenly spaced in ln t, the horizon last."""
    points = np.geomspace(1, horizon, count)
    return np.unique(np.append(np.round(points).astype(np.int64), horizon))


def warm(
    record: Any,
    name: str,
    environment: Environment,
    timing: Timing,
    announce: Callable[[], None],
    end: Stop | None = None,
    stream: Stream | None = None,
) -> float:
    """Compile, or load from the cache, before anything is timed; a compilation is announced."""
    if not can_compile(record) or not (end is None or can_compile(end.rivals)):
        return 0.0
    started = time.perf_counter()
    tally = empty_tally(environment.means.size, environment.gaps.size)
    rng = np.random.Generator(np.random.PCG64(0))
    course, late = new_course(np.ones(1, np.int64)), new_late(environment, timing)
    memory = fresh_memory(record, name)
    ending = None if end is None else (end.rivals, end.ending())
    visits = None if stream is None else stream.visits(1, 1, rng)
    loop, arguments = _call(
        record, environment, tally, memory, course, late, 1, 1, rng, rng, timing, ending, visits
    )
    try:
        if not loop.is_compiled(*arguments):
            announce()
        loop.compiled(*arguments)
    except Exception as error:  # the trial says more of it
        if compiler_says(error) is None:
            raise
    return time.perf_counter() - started


def in_parallel(play: Callable[[int], Played], trials: int, workers: int) -> list[Played]:
    """Trials over threads: the compiled loop holds no lock."""
    if workers == 1:
        return [play(trial) for trial in range(trials)]
    with ThreadPoolExecutor(workers) as pool:
        try:
            return list(pool.map(play, range(trials)))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def limit_of(instance: Any, end: Stop, constant: float | None) -> Limit:
    """What trials end at, given C(θ), which is about the best arm."""
    least = constant if end.epsilon == 0.0 and end.answer.is_best else None
    return Limit(
        end.delta, end.epsilon, time_of(instance, end.epsilon, end.answer), least, end.answer
    )


def time_of(instance: Any, epsilon: float, answer: Answer = BEST) -> float | None:
    """T*(θ), where there is one: with ε > 0 several answers may be right."""
    if epsilon > 0.0:
        return None
    try:
        return float(bound(instance, cost="samples", answer=answer).value)
    except OssbError:
        return None


def _bound(instance: Any) -> Any:
    try:
        return bound(instance)
    except OssbError:
        return None  # two best arms, say: there is no bound to draw, and nothing else changes
