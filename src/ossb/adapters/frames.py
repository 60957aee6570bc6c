"""Bounds, simulations, experiments and campaigns as pandas frames and xarray datasets."""

from functools import singledispatch
from typing import Any

import numpy as np

from ossb.campaigns import Campaign
from ossb.errors import InputError
from ossb.experiments.results import Results
from ossb.extras import load
from ossb.graves_lai.bound import Bound
from ossb.simulation.result import PolicyResult, SimulationResult
from ossb.tally import PHASES


@singledispatch
def to_pandas(found: Any) -> Any:
    """A pandas frame, long: one row for each observation of the kind.

    - a bound: a row for each arm with a rate;
    - a simulation: for each policy, trial and checkpoint;
    - an experiment's results: for each group, instance, policy, trial and checkpoint;
    - a campaign: for each decision.
    """
    raise InputError("results", "be a bound, a simulation, results or a campaign", found)


@to_pandas.register
def _(found: Bound) -> Any:
    instance = found.instance
    rows = [
        (instance.arm_name(arm), rate, instance.gap_of(arm), rate * instance.gap_of(arm))
        for arm, rate in found.support
    ]
    return _pandas().DataFrame(rows, columns=["arm", "rate", "gap", "cost"])


@to_pandas.register
def _(found: SimulationResult) -> Any:
    pandas = _pandas()
    frames = []
    for result in found.policies:
        trials, times = result.curves.shape
        frames.append(
            pandas.DataFrame(
                {
                    "policy": result.label,
                    "trial": np.repeat(np.arange(trials), times),
                    "t": np.tile(result.checkpoints, trials),
                    "regret": result.curves.ravel(),
                }
            )
        )
    return pandas.concat(frames, ignore_index=True)


@to_pandas.register
def _(found: Results) -> Any:
    return found.to_pandas()


@to_pandas.register
def _(found: Campaign) -> Any:
    pandas = _pandas()
    frame = pandas.DataFrame(found.history())
    for column in ("asked", "told"):
        frame[column] = pandas.to_datetime(frame[column], unit="s", utc=True)
    return frame


@singledispatch
def to_xarray(found: Any) -> Any:
    """An xarray dataset with named dimensions.

    - a bound: ``rate`` and ``gap`` by ``arm``;
    - a simulation: ``regret`` by ``policy``, ``trial`` and ``t``, ``plays`` by ``policy`` and
      ``arm``, ``phases`` by ``policy`` and ``phase``;
    - an experiment's results: ``regret`` by ``group``, ``policy``, ``instance``, ``trial`` and
      ``t``, NaN where a cell is not finished.
    """
    raise InputError("results", "be a bound, a simulation or results", found)


@to_xarray.register
def _(found: Bound) -> Any:
    instance = found.instance
    arms = [arm for arm, _ in found.support]
    return _xarray().Dataset(
        {
            "rate": ("arm", np.array([rate for _, rate in found.support], dtype=np.float64)),
            "gap": ("arm", np.array([instance.gap_of(arm) for arm in arms], dtype=np.float64)),
        },
        coords={"arm": [instance.arm_name(arm) for arm in arms]},
        attrs={"lower": found.lower, "upper": found.upper, "status": found.status},
    )


@to_xarray.register
def _(found: SimulationResult) -> Any:
    xarray = _xarray()
    names = [_arms(found, result) for result in found.policies]
    played = [
        xarray.DataArray(result.plays, dims="arm", coords={"arm": arms})
        for result, arms in zip(found.policies, names, strict=True)
    ]
    labels = xarray.DataArray([r.label for r in found.policies], dims="policy", name="policy")
    attributes: dict[str, Any] = {
        "horizon": found.horizon,
        "trials": found.trials,
        "seed": found.seed,
    }
    if found.bound is not None:
        attributes["lower_bound"] = found.bound.value
    return xarray.Dataset(
        {
            "regret": (("policy", "trial", "t"), np.stack([r.curves for r in found.policies])),
            # arms that a policy never met have no plays
            "plays": xarray.concat(played, labels, join="outer", fill_value=0.0),
            "phases": (("policy", "phase"), np.stack([r.phases for r in found.policies])),
        },
        coords={
            "policy": labels,
            "trial": np.arange(found.trials),
            "t": found.policies[0].checkpoints,
            "phase": list(PHASES),
        },
        attrs=attributes,
    )


@to_xarray.register
def _(found: Results) -> Any:
    dimensions = ["group", "policy", "instance", "trial", "t"]
    long = found.to_pandas()[[*dimensions, "regret"]]
    return _xarray().Dataset.from_dataframe(long.set_index(dimensions))


def _arms(found: SimulationResult, result: PolicyResult) -> list[str]:
    instance = found.instance
    listed = range(instance.n_arms or 0)
    arms = [instance.arm_at(x) for x in listed] if result.arms is None else result.arms
    return [instance.arm_name(arm) for arm in arms]


def _pandas() -> Any:
    return load("pandas", "to_pandas")


def _xarray() -> Any:
    return load("xarray", "to_xarray")
