"""The world a policy plays in: what each arm shows, and what playing it costs."""

from typing import Any, NamedTuple

import numpy as np

from ossb.errors import InputError
from ossb.families import Family
from ossb.records import Floats, Ints, record
from ossb.structures.segments import refuse_segments


@record
class Environment(NamedTuple):
    """The truth, as the loop needs it.

    Arm x shows the components ``shown[starts[x]:starts[x + 1]]``.
    """

    family: Family
    means: Floats  # (n_components,), signed so that larger is better
    starts: Ints  # (n_arms + 1,)
    shown: Ints
    gaps: Floats  # (n_arms,)


def environment_of(instance: Any) -> Environment:
    """The environment of an instance with listed arms and a true parameter."""
    if not instance.known:
        raise InputError(instance.parameter, "be given: a simulation needs a true parameter")
    refuse_segments(instance)
    reveals = instance.showing()
    starts = np.cumsum([0, *(len(components) for components in reveals)])
    shown = np.array([c for components in reveals for c in components], dtype=np.int64)
    return Environment(instance.observed_family, instance.components, starts, shown, instance.gaps)
