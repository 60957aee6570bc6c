"""Results in real pandas frames and xarray datasets."""

import sys

import numpy as np
import pandas
import pytest
import xarray

from experiment_cases import CLASSICAL, experiment
from ossb import Campaign, Classical, Combinatorial, bound, simulate
from ossb.adapters.frames import to_pandas, to_xarray
from ossb.errors import InputError
from ossb.experiments.results import Results
from ossb.experiments.run import run

NAMES = ["<a>", "b", "c"]


@pytest.fixture(scope="module")
def simulation():
    instance = Classical(theta=[0.2, 0.9, 0.5], observation="bernoulli", arm_names=NAMES)
    return simulate(instance, ["ucb1", "kl-ucb"], 40, trials=3, compiled=False)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results") / "out"
    instances = [{"group": "one", **CLASSICAL}, {"group": "two", **CLASSICAL, "theta": [0.1, 0.5]}]
    run(experiment(instances=instances), folder, compiled=False)
    return Results(folder)


def test_a_bound():
    found = bound(Classical(theta=[0.2, 0.9, 0.5], observation="bernoulli", arm_names=NAMES))
    frame = to_pandas(found)
    assert isinstance(frame, pandas.DataFrame)
    assert frame["arm"].tolist() == ["<a>", "c"]
    assert frame["cost"].sum() == pytest.approx(found.value)
    data = to_xarray(found)
    assert isinstance(data, xarray.Dataset)
    assert float((data["rate"] * data["gap"]).sum()) == pytest.approx(found.value)
    assert data.attrs["status"] == "certified"
    assert float(data["gap"].sel(arm="c")) == pytest.approx(0.4)


def test_a_simulation(simulation):
    frame = to_pandas(simulation)
    result = simulation["kl-ucb"]
    assert len(frame) == 2 * 3 * result.checkpoints.size
    last = frame[(frame["policy"] == "kl-ucb") & (frame["t"] == 40)]
    assert last["regret"].tolist() == result.regret.tolist()
    data = to_xarray(simulation)
    assert dict(data.sizes) == {
        "policy": 2, "trial": 3, "t": result.checkpoints.size, "arm": 3, "phase": 3,
    }  # fmt: skip
    assert data["regret"].sel(policy="kl-ucb", t=40).values.tolist() == result.regret.tolist()
    assert data["plays"].sum("arm").values.tolist() == pytest.approx([40.0, 40.0])
    assert float(data["plays"].sel(policy="kl-ucb", arm="b")) == result.plays[1]
    assert data["phases"].sum("phase").values.tolist() == pytest.approx([40.0, 40.0])
    assert data.attrs["lower_bound"] == simulation.bound.value


def test_a_simulation_of_arms_that_are_not_listed():
    instance = Combinatorial(
        feedback="semi_bandit", arm_set="m_sets", n_items=4, size=2, phi=[0.9, 0.1, 0.5, 0.3]
    )
    simulation = simulate(instance, ["hgl", "hgl:horizon_factor=1"], 30, trials=2)
    data = to_xarray(simulation)
    assert data["plays"].sum("arm").values.tolist() == pytest.approx([30.0, 30.0])
    assert "[0, 2]" in data["arm"].values


def test_an_experiment(results):
    frame = to_pandas(results)
    assert frame["regret"].tolist() == results.frame()["regret"].to_list()
    data = to_xarray(results)
    assert set(data.dims) == {"group", "policy", "instance", "trial", "t"}
    for row in frame.sample(20, random_state=1).itertuples():
        cell = data["regret"].sel(
            group=row.group, policy=row.policy, instance=row.instance, trial=row.trial, t=row.t
        )
        assert float(cell) == row.regret
    assert int(np.isfinite(data["regret"].values).sum()) == len(frame)


def test_a_campaign():
    instance = Classical(n_arms=2, sigma=1.0, arm_names=["<a>", "b"])
    with Campaign.open("memory://", "first", instance=instance) as campaign:
        for value in (1.0, 2.0):
            campaign.tell(campaign.ask()[0].id, value)
        campaign.ask()
        frame = to_pandas(campaign)
        assert frame["observation"].tolist()[:2] == [1.0, 2.0]
        assert frame["status"].tolist() == ["told", "told", "pending"]
        assert frame["asked"].dt.year.min() >= 2024
        assert pandas.isna(frame["told"].iloc[2])
        with pytest.raises(InputError, match="`results` must be a bound, a simulation or results"):
            to_xarray(campaign)


def test_what_is_missing_or_strange_is_said(simulation, monkeypatch):
    with pytest.raises(InputError, match="`results` must be a bound"):
        to_pandas([1, 2])
    for package, convert in (("pandas", to_pandas), ("xarray", to_xarray)):
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(InputError, match=f"`to_{package}` must have {package} installed"):
            convert(simulation)
