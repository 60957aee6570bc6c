"""Events: what cannot be written down is refused by name."""

import pytest

from ossb.campaigns import Campaign
from ossb.errors import InputError

KEYS = {"structure": "classical", "sigma": 1.0, "n_arms": 2, "arm_names": ["a", "b"]}


def test_half_a_character_is_named_by_where_it_stands(clock):
    with pytest.raises(InputError) as caught:
        Campaign.open("memory://", "c", instance={**KEYS, "note": "\ud800"}, clock=clock)
    assert caught.value.field == "instance.note"
    campaign = Campaign.open("memory://", "c", instance=KEYS, clock=clock)
    with pytest.raises(InputError) as caught:
        campaign.import_rows([(0, 1.0)], source="\ud800")
    assert caught.value.field == "source"
    with pytest.raises(InputError) as caught:
        campaign.add_arm({"name": "\ud800"})
    assert caught.value.field == "arm.name"
    assert campaign.number == 1
