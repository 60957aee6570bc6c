"""A policy may be anybody's: a wrong decision is an error that names policy, round and value."""

import re

import numpy as np
import pytest

from ossb.errors import OssbError, PolicyError
from ossb.policies.checked import Checked
from ossb.simulation.environment import environment_of
from ossb.simulation.implicit import run_implicit
from ossb.simulation.simulate import Timing, log_spaced, new_course, run
from ossb.structures.classical import Classical
from ossb.structures.combinatorial import Combinatorial
from ossb.structures.dueling import Dueling
from ossb.tally import EXPLOIT, Decision, empty_tally
from wrong_policies import (
    Bare,
    NoStart,
    OnSets,
    Plain,
    Raising,
    Real,
    Truth,
    Undecided,
    Wrong,
)

CLASSICAL = Classical(observation="bernoulli", theta=[0.3, 0.5, 0.8])
DUELS = Dueling(preferences=[[0.5, 0.8, 0.7], [0.2, 0.5, 0.6], [0.3, 0.4, 0.5]])
SETS = Combinatorial(
    feedback="semi_bandit",
    observation="bernoulli",
    arm_set="m_sets",
    n_items=4,
    size=2,
    phi=[0.2, 0.3, 0.6, 0.8],
)
LATE = Timing(batch=3, delay=2)


def play(policy, instance=CLASSICAL, timing=LATE, compiled=False, horizon=200):
    rng, noise = np.random.default_rng(1), np.random.default_rng(2)
    environment = environment_of(instance)
    return run(policy, environment, log_spaced(horizon), rng, noise, timing, compiled, name="mine")


def fault_of(policy, **options):
    with pytest.raises(PolicyError) as caught:
        play(policy, **options)
    return caught.value


FAR = [-1, 3, 900_000, -(2**63), 2**63 - 1]


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("timing", [Timing(), LATE])
@pytest.mark.parametrize("round", [1, 107])
def test_arms_and_phases_that_there_are_not(compiled, timing, round):
    for arm in FAR:
        error = fault_of(Wrong(arm, EXPLOIT, round), timing=timing, compiled=compiled)
        assert str(error) == f"policy 'mine' in round {round}: `arm` must be 0, …, 2, got {arm}"
        assert (error.policy, error.round) == ("mine", round)
    for phase in (-1, 3, 2**40):
        error = fault_of(Wrong(1, phase, round), timing=timing, compiled=compiled)
        phases = "0 (exploit), 1 (estimate), 2 (explore)"
        assert str(error).endswith(f"in round {round}: `phase` must be {phases}, got {phase}")
    outcome = play(Wrong(2, 1, round), timing=timing, compiled=compiled)
    assert outcome.plays.tolist() == [round - 1, 0, 201 - round]


@pytest.mark.parametrize("compiled", [False, True])
def test_duels_are_arms_by_number(compiled):
    assert play(Wrong(5), instance=DUELS, compiled=compiled).plays[5] == 200
    error = fault_of(Wrong(6), instance=DUELS, compiled=compiled)
    assert "`arm` must be 0, …, 5, got 6" in str(error)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "`select` must return a Decision(arm, phase), got None"),
        (1.0, "`select` must return a Decision(arm, phase), got 1.0"),
        (2, "`select` must return a Decision(arm, phase), got 2"),
        ((1, 0), "`select` must return a Decision(arm, phase), got (1, 0)"),
        ((1, 0, 2), "`select` must return a Decision(arm, phase), got (1, 0, 2)"),
        (Decision(1.5, 0), "`arm` must be a whole number, got 1.5"),
        (Decision(1.0, 0), "`arm` must be a whole number, got 1.0"),
        (Decision(True, 0), "`arm` must be a whole number, got True"),
        (Decision(np.bool_(True), 0), "`arm` must be a whole number, got np.True_"),
        (Decision(None, 0), "`arm` must be a whole number, got None"),
        (Decision("1", 0), "`arm` must be a whole number, got '1'"),
        (Decision(np.array([1]), 0), "`arm` must be a whole number, got array([1])"),
        (Decision(float("nan"), 0), "`arm` must be a whole number, got nan"),
        (Decision(np.uint64(2**63), 0), f"`arm` must be 0, …, 2, got {2**63}"),
        (Decision(np.timedelta64(1), 0), "`arm` must be a whole number, got np.timedelta64(1)"),
        (Decision(0, 1.0), "`phase` must be a whole number, got 1.0"),
        (Decision(0, None), "`phase` must be a whole number, got None"),
        (Decision(2**70, 0), f"`arm` must be 0, …, 2, got {2**70}"),
        (Decision(np.int64(3), 0), "`arm` must be 0, …, 2, got 3"),
        (Decision(np.uint8(2), 7), "`phase` must be 0 (exploit), 1 (estimate), 2 (explore), got 7"),
    ],
)
@pytest.mark.parametrize("timing", [Timing(), LATE])
def test_plain_policies_that_answer_something_else(answer, said, timing):
    for compiled in (False, True):  # a plain class is not compiled, whatever is asked for
        error = fault_of(Plain(answer, 5), timing=timing, compiled=compiled)
        assert str(error) == f"policy 'mine' in round 5: {said}"


def test_whole_numbers_of_any_kind_are_taken():
    for arm in (2, np.int64(2), np.int32(2), np.uint8(2)):
        assert play(Plain(Decision(arm, np.int64(0)))).plays.tolist() == [0, 0, 200]


@pytest.mark.parametrize(
    ("policy", "round", "said"),
    [
        (Real(), 1, "`arm` must be a whole number, got 1.5"),
        (Bare(), 1, "`select` must return a Decision(arm, phase), got 1"),
        (Truth(), 1, "`arm` must be a whole number, got True"),
        (Undecided(20), 20, "`select` must return a Decision(arm, phase), got (0, 0, 0)"),
    ],
)
@pytest.mark.parametrize("compiled", [False, True])
def test_records_that_answer_something_else(policy, round, said, compiled):
    error = fault_of(policy, compiled=compiled, timing=Timing())
    assert (error.round, error.fault) == (round, said)


def test_what_the_compiler_does_not_take_is_said_of_the_policy():
    error = fault_of(Undecided(100), compiled=True)  # by then nothing was wrong but its types
    assert error.policy == "mine"
    assert error.fault.startswith("`select` cannot be compiled: ")
    assert "\n" not in str(error)
    assert "Can't unify return type" in error.fault
    assert re.search(r"wrong_policies.py, line \d+\)$", error.fault)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("timing", [Timing(), LATE])
def test_a_policy_that_raises(compiled, timing):
    error = fault_of(Raising(9), compiled=compiled, timing=timing)
    assert str(error) == "policy 'mine' in round 9: `select` failed: ValueError: a fault of its own"
    assert isinstance(error.__cause__, ValueError)
    error = fault_of(NoStart(), compiled=compiled, timing=timing)
    assert str(error) == (
        "policy 'mine' before round 1: `start` failed: RuntimeError: a fault of its own"
    )
    assert isinstance(error.__cause__, RuntimeError)


def test_an_error_names_the_class_where_there_is_no_name():
    rng, course = np.random.default_rng(1), log_spaced(3)
    with pytest.raises(PolicyError, match="policy 'Wrong' in round 1"):
        run(Wrong(7), environment_of(CLASSICAL), course, rng, rng, compiled=False)


def on_sets(act, name="mine"):
    rng, noise = np.random.default_rng(1), np.random.default_rng(2)
    return run_implicit(OnSets(act), SETS, new_course(log_spaced(9)), 1, 0, rng, noise, name=name)


@pytest.mark.parametrize(
    ("act", "said"),
    [
        (lambda table: Decision(table.place((0, 1, 2)), 0), "got (0, 1, 2)"),
        (lambda table: Decision(table.place((0, 4)), 0), "got (0, 4)"),
        (lambda table: Decision(table.place((-1, 2)), 0), "got (-1, 2)"),
        (lambda table: Decision(table.place((2, 1)), 0), "got (2, 1)"),
        (lambda table: Decision(table.place((0, 1.0)), 0), "got (0, 1.0)"),
        (lambda table: Decision(table.place(()), 0), "got ()"),
        (lambda table: Decision(table.place((0, 1)) + 1, 0), "`arm` must be 0, …, 0, got 1"),
        (lambda table: Decision(-1, 0), "the table of arms is empty, got -1"),
        (lambda table: Decision(table.place((0, 1)), 3), "2 (explore), got 3"),
        (lambda table: table.place((0, 1)), "must return a Decision(arm, phase), got 0"),
        (lambda table: table.never, "`select` failed: AttributeError: "),
    ],
)
def test_sets_that_are_no_arms(act, said):
    with pytest.raises(PolicyError) as caught:
        on_sets(act)
    assert str(caught.value).startswith("policy 'mine' in round 1: ")
    assert said in str(caught.value)


def test_sets_that_are_arms():
    assert on_sets(lambda table: Decision(table.place((1, 3)), 0)).plays == {(1, 3): 9}
    with pytest.raises(PolicyError, match=r"before round 1: `start` must return a memory with a"):
        run_implicit(Plain(), SETS, new_course(log_spaced(9)), 1, 0, *[np.random.default_rng()] * 2)


def test_a_checked_policy_decides_as_it_would():
    rng = np.random.default_rng(3)
    decision = Checked(Wrong(2, 1), "mine").select(empty_tally(3, 3), None, rng)
    assert decision == Decision(2, 1)
    assert issubclass(PolicyError, OssbError)
