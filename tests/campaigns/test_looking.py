"""Rates at the estimate, in every structure that has an estimate."""

import json
import math

import numpy as np
import pytest

from ossb import certificates
from ossb.campaigns import Campaign
from ossb.campaigns.document import short
from ossb.instances import from_dict
from ossb.structures.base import bound

KNOWN = {
    "classical": {"structure": "classical", "sigma": 1.0, "theta": [0.1, 0.5, 0.9]},
    "minimise": {
        "structure": "classical",
        "sigma": 1.0,
        "theta": [0.1, 0.5, 0.9],
        "goal": "minimize",
    },
    "bernoulli": {"structure": "classical", "observation": "bernoulli", "theta": [0.25, 0.5]},
    "linear": {
        "structure": "linear",
        "sigma": 1.0,
        "arms": [[1, 0], [0, 1], [0.8, 0.7]],
        "phi": [1.0, 0.4],
    },
    "lipschitz": {
        "structure": "lipschitz",
        "sigma": 1.0,
        "points": [0.0, 0.5, 1.0],
        "lipschitz_constant": 1.0,
        "theta": [0.25, 0.5, 0.4],
    },
    "unimodal": {"structure": "unimodal", "sigma": 1.0, "theta": [0.25, 0.75, 0.5]},
    "dueling": {
        "structure": "dueling",
        "preferences": [[0.5, 0.75, 0.75], [0.25, 0.5, 0.625], [0.25, 0.375, 0.5]],
    },
    "semi-bandit": {
        "structure": "combinatorial",
        "sigma": 1.0,
        "feedback": "semi_bandit",
        "arms": [[1, 1, 0], [0, 1, 1], [1, 0, 1]],
        "phi": [0.25, 0.5, 0.75],
    },
}


def rows_of(instance, count=4000):
    """Observations whose means are the true ones."""
    components = instance.sign * np.asarray(instance.components)
    for position, shown in enumerate(instance.reveals()):
        arm = instance.arm_at(position)
        arm = list(arm) if isinstance(arm, tuple) else arm
        for i in range(count if shown else 0):
            if instance.observation == "bernoulli":
                ones = round(components[shown[0]] * count)
                yield arm, float(i < ones)
            elif len(shown) > 1:
                yield arm, components[shown].tolist()
            else:
                yield arm, float(components[shown[0]])


@pytest.mark.parametrize("label", KNOWN)
def test_rates_at_the_estimate_are_those_of_the_parameter(label, clock, tmp_path):
    instance = from_dict(KNOWN[label])
    keys = {k: v for k, v in KNOWN[label].items() if k != instance.parameter}
    keys.update({"n_arms": 3} if label in ("classical", "minimise", "unimodal") else {})
    keys.update({"n_arms": 2} if label == "bernoulli" else {})
    keys.update({"n_items": 3} if label == "dueling" else {})
    policy = "hgl" if label != "semi-bandit" else "ossb"
    campaign = Campaign.open("memory://", "c", instance=keys, policy=policy, clock=clock)
    campaign.import_rows(list(rows_of(instance, 400)))
    found, expected = campaign.rates(), bound(instance)
    assert found["value"] == pytest.approx(expected.value, rel=0.02)
    best = expected.best_arm
    assert found["best_arm"] == (list(best) if isinstance(best, tuple) else best)
    assert campaign.best() == found["best_arm"]
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(found["certificate"]))
    assert all(report.valid for _, report in certificates.verify(path))


def test_an_estimate_outside_has_a_reason(clock):
    keys = {"structure": "dueling", "n_items": 3}
    campaign = Campaign.open("memory://", "c", instance=keys, clock=clock)
    assert "has shown nothing yet" in campaign.rates()["reason"]
    campaign.import_rows([([0, 1], 1), ([1, 2], 1), ([0, 2], 1), ([0, 2], 0)])
    assert "items 0 and 2 are tied" in campaign.rates()["reason"]


def test_nobody_leads_of_whom_nothing_was_told(clock):
    duels = {"structure": "dueling", "n_items": 3}
    campaign = Campaign.open("memory://", "c", instance=duels, clock=clock)
    assert campaign.leader() is None
    campaign.import_rows([([1, 1], None)])  # shows nothing
    assert campaign.leader() is None
    campaign.import_rows([([0, 2], 1)])
    assert campaign.leader() == campaign.best() == [0, 0]
    campaign.retire_arm(2)
    assert campaign.leader() is None
    assert campaign.document()["leader"] is short(campaign)["leader"] is None
    assert "none yet" in repr(campaign)


def test_the_bound_is_at_the_number_of_tells_plus_one(clock):
    campaign = Campaign.open("memory://", "c", instance=KNOWN["classical"], clock=clock)
    campaign.import_rows([(0, 0.0), (1, 0.5), (2, 1.0)])
    found = campaign.document()
    assert found["exploration"]["bound"] == found["rates"]["value"] * math.log(4)


def test_the_gap_is_checked(clock):
    campaign = Campaign.open("memory://", "c", instance=KNOWN["classical"], clock=clock)
    campaign.import_rows([(0, 0.0), (1, 1.0), (2, 0.5)])
    assert "gap" in campaign.rates(gap=2.0)["reason"]
