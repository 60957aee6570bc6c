"""Trials of plain policies, which are asked for an arm and told what it showed."""

import time
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from ossb.policies.plain import Plain
from ossb.simulation.environment import Environment
from ossb.simulation.trial import Course, note
from ossb.tally import Tally, decide

STRETCH = 1000  # rounds between two looks at the outside world


def run_plain(
    policy: Plain,
    environment: Environment,
    tally: Tally,
    course: Course,
    batch: int,
    delay: int,
    rng: np.random.Generator,
    noise: np.random.Generator,
    progress: Callable[[int], None] | None,
    name: str,
) -> float:
    """Play one trial up to the last checkpoint; the draws are those of the compiled loop.

    Returns the CPU seconds it took.
    """
    own = policy.start()
    late: deque[tuple[int, Any, list[float]]] = deque()
    started = time.thread_time()
    horizon = int(course.checkpoints[-1])
    for t in range(1, horizon + 1):
        if (t - 1) % batch == 0:
            while late and late[0][0] + delay < t:
                policy.update(own, *late.popleft()[1:], name, t)
        arm, decision = policy.select(own, rng, name, t)
        decide(tally, decision)
        first, last = environment.starts[decision.arm : decision.arm + 2]
        means = environment.means[environment.shown[first:last]].tolist()
        late.append((t, arm, [environment.family.sample(mean, noise) for mean in means]))
        note(course, tally, t, environment.gaps[decision.arm])
        if progress is not None and (t % STRETCH == 0 or t == horizon):
            progress(STRETCH if t % STRETCH == 0 else t % STRETCH)
    return time.thread_time() - started
