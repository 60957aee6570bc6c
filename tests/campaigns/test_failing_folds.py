"""An event that cannot be folded: nothing is acknowledged, and nothing of it is seen."""

import pytest

from ossb.campaigns import Campaign
from ossb.campaigns.snapshots import fingerprint
from ossb.campaigns.state import State
from ossb.campaigns.storage.memory import MemoryStorage

BERNOULLI = {"structure": "classical", "observation": "bernoulli", "n_arms": 3}


class Failed(RuntimeError):
    """What no caller expects."""


def print_of(campaign):
    with campaign._journal.look() as state:
        return fingerprint(state)


def spoilt(monkeypatch, kind):
    """Folds of a kind do all they do, and then fail."""
    whole = getattr(State, f"_{kind}")

    def fold(self, event, content):
        whole(self, event, content)
        raise Failed(kind)

    monkeypatch.setattr(State, f"_{kind}", fold)


CALLS = {
    "told": lambda campaign, ids: campaign.tell(ids[1], 1),
    "voided": lambda campaign, ids: campaign.void(ids[0]),
    "closed": lambda campaign, ids: campaign.close(),
    "arm_added": lambda campaign, ids: campaign.add_arm(),
    "arm_retired": lambda campaign, ids: campaign.retire_arm(0),
    "imported": lambda campaign, ids: campaign.import_rows([(0, 1)]),
}


@pytest.mark.parametrize("kind", CALLS)
def test_a_fold_that_fails_changes_nothing(kind, storage, clock, monkeypatch):
    campaign = Campaign.open(storage, "c", instance=BERNOULLI, policy="hgl", clock=clock)
    ids = [decision.id for decision in campaign.ask(3)]
    campaign.tell(ids[0], 1)
    before, number = print_of(campaign), storage.last("c")
    with monkeypatch.context() as patch:
        spoilt(patch, kind)
        with pytest.raises(Failed):
            CALLS[kind](campaign, ids)
    assert storage.last("c") == number
    assert print_of(campaign) == before
    CALLS[kind](campaign, ids)
    assert storage.last("c") == number + 1
    assert print_of(Campaign(storage, "c", clock)) == print_of(campaign)


def test_a_store_that_fails_at_once_changes_nothing(clock, monkeypatch):
    storage = MemoryStorage()
    campaign = Campaign.open(storage, "c", instance=BERNOULLI, policy="hgl", clock=clock)
    before = print_of(campaign)
    with monkeypatch.context() as patch:

        def append(*arguments):
            raise Failed

        patch.setattr(MemoryStorage, "append", append)
        with pytest.raises(Failed):
            campaign.ask()
        with pytest.raises(Failed):
            campaign.close()
    assert print_of(campaign) == before
