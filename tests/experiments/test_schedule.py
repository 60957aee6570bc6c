"""What is compiled first, and what is played meanwhile."""

from experiment_cases import experiment
from ossb.experiments.cells import cells
from ossb.experiments.code import solvers_of
from ossb.experiments.definition import read
from ossb.experiments.schedule import schedule
from ossb.instances import from_dict
from ossb.policies import policy
from ossb.simulation.environment import environment_of


def solvers(name, content):
    instance = from_dict(content)
    return solvers_of(policy(name, instance), environment_of(instance))


LINEAR = {"structure": "linear", "observation": "gaussian", "arms": [[1, 0], [0, 1]], "phi": [1, 2]}


def test_every_cell_is_played_once_after_a_short_one_of_its_kind():
    grid = list(cells(experiment()))
    plan = schedule(grid)
    played = [cell for cell in plan.cells if cell.key not in plan.warming]
    assert sorted(cell.key for cell in played) == sorted(cell.key for cell in grid)
    assert len(plan.cells) == len(grid) + len(plan.warming)
    seen = set()
    for cell in plan.cells:
        kind = (cell.label, cell.instance["structure"], cell.instance["observation"])
        if cell.key in plan.warming:
            assert cell.checkpoints == (1,)
            assert cell.last == cell.first + 1
            seen.add(kind)
    assert seen <= {
        (cell.label, cell.instance["structure"], cell.instance["observation"]) for cell in grid
    }


def test_solvers_that_a_policy_calls():
    assert "ossb.graves_lai.program.newton.newton" in solvers("ossb", LINEAR)
    assert solvers("hgl", LINEAR) == frozenset()


def test_one_solver_is_compiled_by_one_process():
    found = read("figure1", ["trials=1", "horizon=20"])
    plan = schedule(cells(found))
    order = [cell.label for cell in plan.cells if cell.key in plan.warming]
    assert order[0] == "ossb"  # the longest to compile
    assert order[-1] == "end-of-optimism"  # the same solver, when it is on disk
    assert len(order) == 5  # the two printed ones are `ossb` with other numbers
    first_played = next(cell.label for cell in plan.cells if cell.key not in plan.warming)
    assert first_played == "hgl"


def test_cells_as_short_as_that_lead_themselves():
    found = experiment(horizon=1, trials=1, block=1)
    plan = schedule(cells(found))
    assert len(plan.cells) == len({cell.key for cell in plan.cells})
    assert {cell.key for cell in plan.cells} == {cell.key for cell in cells(found)}
