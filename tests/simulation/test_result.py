"""What a simulation found, as it is shown and asked for."""

import pytest

from ossb.simulation.simulate import simulate
from ossb.structures.classical import Classical


def played(trials):
    instance = Classical(observation="bernoulli", theta=[0.2, 0.8])
    return simulate(instance, ["ucb1", "kl-ucb"], horizon=20, trials=trials, compiled=False)


def test_a_policy_that_was_not_played():
    said = r"'ucb' was not played \(did you mean 'ucb1'\?\); these were: ucb1, kl-ucb"
    with pytest.raises(KeyError, match=said):
        played(1)["ucb"]


@pytest.mark.parametrize(("trials", "dashes"), [(1, 2), (2, 0)])
def test_one_trial_has_no_standard_error(trials, dashes):
    result = played(trials)
    rows = [line.split() for line in result.table().splitlines()[1:3]]
    assert [row[2] for row in rows].count("–") == dashes
    assert result._repr_html_().count("<td>–</td>") == dashes
    assert all(entry["regret"]["sem"] >= 0 for entry in result.to_dict()["policies"])
