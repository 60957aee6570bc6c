"""A campaign opened anew goes on as if it had not been: decisions and memory, to the bit."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from campaigns.test_trajectory import cases
from general_form import as_general
from ossb.campaigns import Campaign, journal, open_storage
from ossb.campaigns.snapshots import fingerprint
from ossb.instances import from_dict
from ossb.models import general
from ossb.policies import POLICIES
from ossb.policies.base import refusal

TESTS = Path(__file__).parent.parent
LIPSCHITZ = from_dict(
    {
        "structure": "lipschitz",
        "observation": "bernoulli",
        "points": [0.0, 0.25, 0.5, 0.75, 1.0],
        "lipschitz_constant": 1.0,
        "theta": [0.2, 0.4, 0.6, 0.5, 0.3],
    }
)
UNIMODAL = from_dict(
    {
        "structure": "unimodal",
        "observation": "gaussian",
        "sigma": 0.5,
        "theta": [0.1, 0.5, 0.8, 0.2],
    }
)
SOLVING = ("hgl", "ossb", "ossb-paper", "graves-lai")
GENERAL = {"polytope": as_general(LIPSCHITZ), "union": as_general(UNIMODAL)}


def general_cases():
    for label, instance in GENERAL.items():
        for name, kind in POLICIES.items():
            if refusal(kind, instance) is None:
                yield pytest.param(instance, name, id=f"{label}-{name}")


class Clock:
    """Each look at it is a second later than the last."""

    def __init__(self):
        self.now = 1e9

    def __call__(self):
        self.now += 1.0
        return self.now


def step(campaign, number, instance):
    """One to three asks at once, and a tell of all but the newest pending ones, newest first."""
    rng = np.random.default_rng([7, number])
    campaign.ask(int(rng.integers(1, 4)))
    family, means, sign = instance.observed_family, instance.components, instance.observed_sign
    told = []
    with campaign._journal.look() as state:
        waiting = sorted(state.pending)[: max(1, len(state.pending) - int(rng.integers(0, 3)))]
        for place in reversed(waiting):
            shown = state.reveals[int(state.decisions.arm[place])]
            values = [sign * float(family.sample(float(means[c]), rng)) for c in shown]
            lists = getattr(instance, "feedback", "") == "semi_bandit" or len(values) > 1
            value = values if lists else (values[0] if values else None)
            told.append((state.decisions.id_of(place), value))
    campaign.tell_many(told)


def opened(storage, instance, name, clock):
    return Campaign.open(storage, "c", instance=instance, policy=name, seed=3, clock=clock)


def journal_of(storage):
    return [(event.kind, event.content) for event in storage.read("c")]


def compare(instance, name, steps, every, step=step):
    """Play with and without restarts; the journals and the states must be the same."""
    stores = [open_storage("memory://") for _ in range(2)]
    clocks = [Clock(), Clock()]
    whole, broken = (opened(s, instance, name, c) for s, c in zip(stores, clocks, strict=True))
    for number in range(steps):
        step(whole, number, instance)
        step(broken, number, instance)
        if number % every == every - 1:
            broken = Campaign(stores[1], "c", clocks[1])
    first, second = (journal_of(store) for store in stores)
    for one, other in zip(first, second, strict=True):
        assert one == other
    with whole._journal.look() as state, broken._journal.look() as other:
        assert fingerprint(state) == fingerprint(other)
    return whole


@pytest.mark.sampled(of=3)
@pytest.mark.parametrize(("keys", "name"), list(cases()))
def test_restarts_change_nothing(keys, name):
    compare(from_dict(keys), name, 15, 3)


@pytest.mark.sampled(of=3)
@pytest.mark.parametrize(("instance", "name"), list(general_cases()))
def test_restarts_change_nothing_on_polytopes_and_unions(instance, name):
    compare(instance, name, 100 if name in SOLVING else 20, 7)


@pytest.mark.parametrize("name", SOLVING)
def test_nor_do_restarts_from_snapshots(name, monkeypatch):
    monkeypatch.setattr(journal, "SNAPSHOT_EVERY", 5)
    compare(GENERAL["polytope"], name, 40, 3)


@pytest.mark.parametrize("name", ["ossb", "ossb-paper", "graves-lai"])
def test_what_is_solved_again_is_what_was_solved(name, monkeypatch):
    """Without anything kept from one call to the next."""
    monkeypatch.setattr(general, "LONGEST", 4)
    monkeypatch.setattr("ossb.graves_lai.generic.tracked_rates.LONGEST", 4)
    instance = GENERAL["polytope"]
    kept = journal_of(compare(instance, name, 25, 10**9)._storage)
    monkeypatch.setattr(general.SolutionCache, "of", lambda self, key: None)
    forgotten = journal_of(compare(instance, name, 25, 10**9)._storage)
    assert kept == forgotten


DRIVER = """
import os, signal, sys
from campaigns.test_restarts import GENERAL, Clock, opened, step
from ossb.campaigns import open_storage
label, name, url, first, last = sys.argv[1:]
instance, clock = GENERAL[label], Clock()
clock.now += 100.0 * int(first)
campaign = opened(open_storage(url), instance, name, clock)
for number in range(int(first), int(last)):
    clock.now = 1e9 + 100.0 * number
    step(campaign, number, instance)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize(("label", "name"), [("union", "ossb"), ("polytope", "graves-lai")])
def test_kills_change_nothing(label, name, tmp_path):
    path = os.pathsep.join(filter(None, [str(TESTS), os.environ.get("PYTHONPATH")]))

    def played(file, ends):
        url = f"sqlite:///{tmp_path / file}"
        for first, last in zip([0, *ends], ends, strict=False):
            words = [sys.executable, "-c", DRIVER, label, name, url, str(first), str(last)]
            ended = subprocess.run(words, env=os.environ | {"PYTHONPATH": path}, check=False)
            assert ended.returncode == -signal.SIGKILL
        return journal_of(open_storage(url))

    assert played("whole.db", [24]) == played("broken.db", [5, 11, 24])
