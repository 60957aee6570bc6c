"""Every structure, from its creation to its export."""

import pytest

from campaign_instances import PLAYED, shown_by
from ossb.campaigns import Campaign
from ossb.campaigns.document import short
from ossb.campaigns.snapshots import fingerprint
from ossb.cli.exporting import write
from ossb.errors import InputError
from ossb.instances import STRUCTURES

ROUNDS = 8


def print_of(campaign):
    with campaign._journal.look() as state:
        return fingerprint(state)


def test_every_structure_is_among_them():
    assert {keys["structure"] for keys, _ in PLAYED.values()} == set(STRUCTURES)


@pytest.mark.parametrize("label", PLAYED)
def test_from_creation_to_export(label, clock, tmp_path):
    instance, policy = PLAYED[label]
    campaign = Campaign.open("memory://", "c", instance=instance, policy=policy, clock=clock)
    assert campaign.document()["rounds"] == 0
    for _ in range(ROUNDS):
        (decision,) = campaign.ask()
        value = shown_by(campaign, decision._asdict())
        assert campaign.tell(decision.id, value) == "recorded"
        assert campaign.tell(decision.id, value) == "same"
    stands = campaign.document()
    assert stands["rounds"] == sum(stands["plays"]) == ROUNDS
    assert short(campaign)["structure"] == instance["structure"]
    rates = campaign.rates()
    assert rates["rates"] is not None or rates["reason"]
    assert campaign.stop(0.1).keys() >= {"statistic", "threshold", "met"}
    history = campaign.history()
    assert [entry["status"] for entry in history] == ["told"] * ROUNDS
    for kind in ("csv", "jsonl", "parquet"):
        assert write(iter(history), str(tmp_path / f"told.{kind}")) == ROUNDS
    before = campaign.describe()
    campaign.void(history[-1]["id"])
    campaign.tell(history[-1]["id"], shown_by(campaign, history[-1]))
    assert campaign.describe()["rounds"] == before["rounds"]
    assert print_of(Campaign(campaign._storage, "c", clock)) == print_of(campaign)


@pytest.mark.parametrize("label", ["polytope", "graph feedback", "union", "finite"])
def test_arms_that_belong_together_stay(label, clock):
    instance, policy = PLAYED[label]
    campaign = Campaign.open("memory://", "c", instance=instance, policy=policy, clock=clock)
    for change in (lambda: campaign.retire_arm(0), campaign.add_arm):
        with pytest.raises(InputError, match="belong together"):
            change()
    with pytest.raises(InputError, match="available"):
        campaign.ask(available=[0])


def test_a_campaign_that_cannot_be_played_leaves_nothing_behind(storage, clock, monkeypatch):
    def failing(*arguments):
        raise IndexError("of no use")

    for name in ("described", "choose"):
        with monkeypatch.context() as patch:
            patch.setattr(f"ossb.campaigns.rehearsal.{name}", failing)
            with pytest.raises(IndexError):
                Campaign.open(storage, "c", instance=PLAYED["classical"][0], clock=clock)
        assert storage.last("c") == 0
        assert storage.names() == []


@pytest.mark.parametrize("error", [OverflowError, MemoryError, ValueError, ZeroDivisionError])
@pytest.mark.parametrize(("place", "field"), [("choose", "policy"), ("described", "instance")])
def test_numbers_that_cannot_be_computed_with_are_bad_input(
    storage, clock, monkeypatch, place, field, error
):
    def failing(*arguments):
        raise error("too large")

    monkeypatch.setattr(f"ossb.campaigns.rehearsal.{place}", failing)
    with pytest.raises(InputError, match=f"`{field}` must .*: too large"):
        Campaign.open(storage, "c", instance=PLAYED["classical"][0], clock=clock)
    assert storage.names() == []
