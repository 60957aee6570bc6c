"""An ask that has no time left leaves nothing, and costs no more than was done for it."""

import time

import pytest

from ossb import deadlines
from ossb.campaigns import Campaign
from ossb.campaigns.snapshots import fingerprint
from ossb.campaigns.storage.memory import MemoryStorage
from ossb.deadlines import OutOfTime

CLASSICAL = {"structure": "classical", "observation": "bernoulli", "n_arms": 4}
DUELS = {"structure": "dueling", "n_items": 3}
LINE = {"structure": "unimodal", "observation": "bernoulli", "n_arms": 4}


def print_of(campaign):
    with campaign._journal.look() as state:
        return fingerprint(state)


@pytest.mark.parametrize(
    ("instance", "policy"),
    [
        *((CLASSICAL, name) for name in ("hgl", "ossb", "ucb1", "thompson", "dmed", "imed")),
        (DUELS, "rmed1"),
        (DUELS, "double-thompson"),
        (LINE, "hgl"),
    ],
)
def test_a_late_ask_leaves_nothing(clock, monkeypatch, instance, policy):
    late, other = (
        Campaign.open(MemoryStorage(), "c", instance=instance, policy=policy, clock=clock)
        for _ in range(2)
    )

    def play(campaign, rounds):
        found = []
        for i in range(rounds):
            clock.now = 1e9 + i
            decisions = campaign.ask(2, lease=5 if i % 3 else 1e6)
            found += [(decision.arm, decision.phase) for decision in decisions]
            campaign.tell(decisions[0].id, (i + len(found)) % 2)
        return found

    assert play(late, 12) == play(other, 12)
    before, loads = print_of(late), late._journal._loads
    checks = []

    def check():
        checks.append(1)
        if len(checks) == 6:
            raise OutOfTime("there is not enough time for this")

    with monkeypatch.context() as patched:
        patched.setattr(deadlines, "check", check)
        with pytest.raises(OutOfTime, match="not enough time"):
            late.ask(50)
    assert len(checks) == 6
    assert print_of(late) == before
    assert late._journal._loads == loads  # nothing was folded anew
    assert play(late, 12) == play(other, 12)
    assert print_of(late) == print_of(Campaign(late._storage, "c", clock))


def test_long_work_lets_others_go_first_only_where_there_are_some(monkeypatch):
    rests = []
    monkeypatch.setattr(time, "sleep", rests.append)
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    deadlines.breathe()
    with deadlines.wanted(10.0, lambda: False):
        now[0] = 1.0
        deadlines.breathe()
        assert rests == []
        deadlines._at_work.add(-1)
        try:
            deadlines.breathe()
            deadlines.breathe()
        finally:
            deadlines._at_work.discard(-1)
        assert rests == [deadlines.REST]
