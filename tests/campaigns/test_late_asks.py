"""An ask that has no time left leaves nothing, and costs no more than was done for it."""

import threading
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


@pytest.mark.parametrize("structure", ["linear", "generalized_linear"])
@pytest.mark.parametrize("listed", [False, True])
def test_a_late_ask_that_rests_on_rows_of_asks_leaves_nothing(
    clock, monkeypatch, structure, listed
):
    kind = {"structure": structure, "sigma": 1.0}
    if structure == "generalized_linear":
        kind = {"structure": structure, "observation": "bernoulli", "link": "logistic"}
    instance = {**kind, "arms": [[1, 0], [0, 1], [1, 1]]}
    campaign = Campaign.open(MemoryStorage(), "c", instance=instance, clock=clock)
    rows = [[1.0, 0.5], [0.2, 1.0]]
    for i in range(6):
        for decision in campaign.ask(2, features=rows):
            campaign.tell(decision.id, i % 2)
    before, loads = print_of(campaign), campaign._journal._loads
    checks = []

    def check():
        checks.append(1)
        if len(checks) == 30:
            raise OutOfTime("there is not enough time for this")

    with monkeypatch.context() as patched:
        patched.setattr(deadlines, "check", check)
        with pytest.raises(OutOfTime, match="not enough time"):
            campaign.ask(50, features=None if listed else rows)
    assert print_of(campaign) == before
    assert campaign._journal._loads == loads  # nothing was folded anew
    assert len(campaign.ask(3, features=None if listed else rows)) == 3
    assert print_of(campaign) == print_of(Campaign(campaign._storage, "c", clock))
    with deadlines.wanted(0.0, lambda: False), pytest.raises(OutOfTime):
        campaign.contrasts({"first over second": [1, -1]})


def test_long_work_lets_others_go_first_only_where_there_are_some(monkeypatch):
    rests, now, ours, sleep = [], [0.0], threading.get_ident(), time.sleep

    def rest(seconds):
        rests.append(seconds) if threading.get_ident() == ours else sleep(seconds)

    monkeypatch.setattr(time, "sleep", rest)
    monkeypatch.setattr(time, "thread_time", lambda: now[0])
    monkeypatch.setattr(time, "monotonic", lambda: 2.0 * now[0])  # half of it others were at work
    forever = (float("inf"), lambda: False)
    deadlines.breathe()
    with deadlines.wanted(*forever):
        now[0] = 1.0
        deadlines.breathe()
        assert rests == []
        deadlines._limits[-1] = deadlines.Limit(*forever, 0.0)
        try:
            deadlines.breathe()
            deadlines.breathe()
            deadlines._long.add(-1)
            now[0] += 1.0
            deadlines.breathe()  # the other is as long as this one
            assert len(rests) == 1
            now[0] += 1.0
            deadlines._begun += 1  # but somebody else was there
            deadlines.breathe()
        finally:
            deadlines._limits.pop(-1)
            deadlines._long.discard(-1)
        assert rests == [deadlines.WORK, 3 * deadlines.WORK]
        with deadlines.in_line(behind := []):  # work in line for one campaign
            now[0] += 1.0
            deadlines.breathe()
            assert len(rests) == 2  # nobody else is there
            behind += [None] * 20
            deadlines.breathe()
        assert rests[2:] == [(2 * (1 + deadlines.CROWD) - 1) * deadlines.WORK]
    assert not deadlines._long


def test_nobody_waits_for_a_campaign_longer_than_is_wanted():
    campaign = Campaign.open(MemoryStorage(), "c", instance=CLASSICAL, policy="ucb1")
    held, done = threading.Event(), threading.Event()

    def hold():
        with campaign._journal.look():
            held.set()
            done.wait(60)

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait(60)
    try:
        with deadlines.wanted(0.0, lambda: False), pytest.raises(OutOfTime):
            campaign.ask()
    finally:
        done.set()
        holder.join()
    assert len(campaign.ask()) == 1
