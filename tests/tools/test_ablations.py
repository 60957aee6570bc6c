"""What each exception of the default is worth."""

from importlib import import_module

import numpy as np
import pytest

from ablations import ABLATIONS, page, row_of
from ossb.policies import POLICIES
from regret_grid.drawn import FAMILIES


@pytest.mark.parametrize("name", ABLATIONS)
def test_every_exception_has_something_to_switch_off(name):
    ablation = ABLATIONS[name]
    assert set(ablation.families) <= set(FAMILIES)
    if ablation.module:
        assert getattr(import_module(ablation.module), ablation.number) != ablation.off
    else:
        assert set(ablation.parameters) <= set(POLICIES["hgl"].parameters)
    assert bool(ablation.module) != bool(ablation.parameters)


def test_every_instance_counts_alike():
    own = [np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[100.0, 100.0], [100.0, 300.0]])]
    row = row_of("front", "line", "drawn", own, own)
    assert (row.early, row.late, row.early_error, row.late_error) == (1.0, 1.0, 0.0, 0.0)
    twice = [own[0], 2.0 * own[1]]
    row = row_of("front", "line", "drawn", own, twice)
    assert (row.early, row.late, row.trials) == (1.5, 1.5, 4)
    assert row.worst == pytest.approx(2.0)
    assert "| front | line | drawn | 4 | 1.50 ±" in page([row])
