"""What a round costs is told from the timings of an experiment."""

import json

from ossb.experiments.definition import parse
from ossb.experiments.ledger import TIMINGS
from ossb.experiments.results import Results
from ossb.experiments.run import run
from regret_grid.costs import round_costs

LINE = {"structure": "unimodal", "theta": [0.1, 0.5, 0.9, 0.4], "group": "line"}


def test_a_round_costs_the_median_of_its_cells(tmp_path):
    experiment = parse(
        {
            "name": "costs",
            "horizon": 100,
            "trials": 6,
            "block": 2,
            "policies": ["hgl", {"name": "lse", "horizon": 50}, {"name": "lse", "horizon": 100}],
            "instances": [LINE],
        }
    )
    run(experiment, tmp_path, workers=1)
    timings = tmp_path / TIMINGS
    played = [json.loads(line) for line in timings.read_text("utf-8").splitlines()]
    assert len(played) == 9
    spent = {"hgl": iter([0.002, 0.004, 9.0]), "lse": iter([0.2] * 6)}
    for entry in played:
        entry["seconds"] = next(spent[entry["policy"].partition(":")[0]])
    timings.write_text("".join(json.dumps(entry) + "\n" for entry in played), "utf-8")
    costs = round_costs([Results(tmp_path)])
    assert set(costs) == {("line", "hgl"), ("line", "lse")}
    assert costs["line", "hgl"] == 1e6 * 0.004 / 200
    assert costs["line", "lse"] == 1e6 * 0.2 / 200
