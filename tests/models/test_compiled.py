"""Every model computes the same bits interpreted and compiled."""

import math

import numpy as np
import pytest

from ossb.kernels import kernel
from structured_instances import INSTANCES, made_up


@kernel
def everything(model, tally, memory, out):
    """All a model answers but its rates, whose kernel has a test of its own."""
    out[0] = model.unseen(tally)
    out[1] = model.plug_in(tally, memory)
    out[2] = model.project(tally, memory)
    model.test(int(out[2]), math.inf, tally, memory)
    out[3] = memory.numbers[2]
    out[4] = memory.numbers[3]
    out[5] = model.weigh(tally, memory)
    for place in range(3):
        out[6 + place] = model.informative(place)
    out[9] = 1.0 if model.speaks(0) else 0.0


def leaves(memory):
    """Every array of a memory."""
    for value in memory:
        if isinstance(value, np.ndarray):
            yield value
        elif isinstance(value, tuple):
            yield from leaves(value)


@pytest.mark.sampled
@pytest.mark.parametrize("name", INSTANCES)
def test_interpreted_and_compiled_agree_bit_for_bit(name):
    instance = INSTANCES[name]
    model = instance.model()
    memories = model.start(), model.start()
    for seed in range(8):
        tally = made_up(instance, seed, pending=seed % 2 == 1)
        before = [array.copy() for array in tally]
        answers = np.zeros(10), np.zeros(10)
        everything(model, tally, memories[0], answers[0])
        everything.compiled(model, tally, memories[1], answers[1])
        assert answers[0].tolist() == answers[1].tolist()
        for mine, theirs in zip(leaves(memories[0]), leaves(memories[1]), strict=True):
            assert mine.tobytes() == theirs.tobytes()
        assert all((a == b).all() for a, b in zip(before, tally, strict=True))
