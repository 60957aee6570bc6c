import numpy as np
import pytest

from lipschitz_instances import FAMILIES, instance, program
from ossb.graves_lai.lipschitz import tableau
from ossb.graves_lai.lipschitz.certificate import certify
from ossb.graves_lai.lipschitz.memory import PRICES, SPEND
from ossb.graves_lai.lipschitz.solution import _laid_out as laid_out


def degenerate(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 14))
    matrix = rng.integers(0, 2, (n, n)).astype(float)
    np.fill_diagonal(matrix, 1.0)
    return matrix, np.ones(n)


def test_blands_rule_alone_reaches_the_same_optimum(monkeypatch):
    programs = [degenerate(seed) for seed in range(25)]
    programs.append(
        program(*instance(FAMILIES["gaussian"], "plane", 12, 1), FAMILIES["gaussian"])[:2]
    )
    values = []
    for patience in (tableau.PATIENCE, -1):
        monkeypatch.setattr(tableau, "PATIENCE", patience)
        values.append([])
        for matrix, costs in programs:
            memory = laid_out(matrix, costs)
            assert tableau.cold(memory)
            assert certify(memory) <= 1e-9
            values[-1].append(memory.vectors[SPEND].sum())
    assert values[0] == pytest.approx(values[1], rel=1e-9)


def test_an_entry_lost_in_rounding_is_not_a_pivot(monkeypatch):
    monkeypatch.setattr(tableau, "PIVOT", 2.0)  # more than any entry of the tableau
    memory = laid_out(np.eye(3), np.ones(3))
    assert tableau.cold(memory)
    assert (memory.vectors[PRICES] == 0.0).all()
    assert certify(memory) == 1.0  # and the certificate says so
