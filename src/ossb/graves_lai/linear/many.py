"""Answers to many linear instances of one shape, in threads once their kernel is compiled."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np

from ossb import deadlines
from ossb.graves_lai.linear.answer import Answers, answer_all, answers, desk
from ossb.graves_lai.linear.enclosure import Enclosure
from ossb.graves_lai.linear.rates import LinearMemory
from ossb.graves_lai.linear.solution import PATIENCE, SECOND, interpreted_seconds

CHUNK = 32  # instances that a thread takes at a time
SHAPES = 8  # shapes whose work arrays are kept
SMALL = 100_000  # numbers in the arms of an instance whose work arrays are kept

_desks: dict[tuple[int, int], list[tuple[LinearMemory, Enclosure]]] = {}


def answer_many(arms: np.ndarray, phi: np.ndarray, sigma: np.ndarray, gap: float) -> Answers:
    """Answers to N instances: arms (N, K, d), parameters (N, d), standard deviations (N,)."""
    count, n_arms, dimension = arms.shape
    out = answers(count, n_arms, dimension)
    if n_arms < dimension:  # they span less than there is: left to the other way
        return out

    def run(call: object, first: int, last: int) -> None:
        part = Answers(*(array[first:last] for array in out))
        with borrowed(n_arms, dimension) as (memory, proof):
            given = (arms[first:last], phi[first:last], sigma[first:last])
            with deadlines.stopping([memory.held.work.stop]):
                call(*given, gap, memory, proof, part)  # type: ignore[operator]

    with borrowed(n_arms, dimension) as (memory, proof):
        example = (arms, phi, sigma, gap, memory, proof, out)
        seconds = interpreted_seconds(n_arms, dimension) + 12.0 * SECOND * n_arms * dimension**2
        is_ready = seconds > PATIENCE or answer_all.quick.expect((count - 1) * seconds, *example)
    done = 0
    while done < count and not is_ready:
        run(answer_all.quick, done, done + 1)
        done += 1
        is_ready = done < count and answer_all.quick.expect((count - done) * seconds, *example)
    chunks = [(first, min(first + CHUNK, count)) for first in range(done, count, CHUNK)]
    if len(chunks) < 2:
        for chunk in chunks:
            run(answer_all.run_as(True), *chunk)
        return out
    with ThreadPoolExecutor(cores()) as pool:
        for future in [pool.submit(run, answer_all.compiled, *chunk) for chunk in chunks]:
            future.result()
    return out


def cores() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def borrowed(n_arms: int, dimension: int) -> Iterator[tuple[LinearMemory, Enclosure]]:
    """Work arrays that nobody else uses now, kept for the next of this shape."""
    kept = _desks.get((n_arms, dimension), [])
    try:
        lent = kept.pop()
    except IndexError:
        lent = desk(n_arms, dimension)
    yield lent
    if n_arms * dimension <= SMALL:
        if len(_desks) >= SHAPES and (n_arms, dimension) not in _desks:
            _desks.clear()
        _desks.setdefault((n_arms, dimension), []).append(lent)
