"""Sizes are limited over HTTP, other numbers are not."""

import numpy as np
import pytest

from ossb.errors import InputError
from ossb.policies.checked import fresh_memory
from ossb.service.sizes import check
from service_calls import BODY


@pytest.mark.parametrize(
    ("instance", "field"),
    [
        ({"structure": "classical", "sigma": 1.0, "n_arms": 20_001}, "n_arms"),
        ({"structure": "classical", "sigma": 1.0, "theta": [0.0] * 20_001}, "theta"),
        ({"structure": "dueling", "n_items": 151}, "n_items"),
        ({"structure": "lipschitz", "sigma": 1.0, "points": [0.0] * 1_501}, "points"),
        (
            {
                "structure": "combinatorial",
                "sigma": 1.0,
                "arm_set": "m_sets",
                "n_items": 9,
                "size": 1_001,
            },
            "size",
        ),
        (
            {"structure": "combinatorial", "sigma": 1.0, "arm_set": "matchings", "n_left": 101},
            "n_left",
        ),
        (
            {
                "structure": "combinatorial",
                "sigma": 1.0,
                "arm_set": "spanning_trees",
                "n_nodes": 501,
            },
            "n_nodes",
        ),
        ({"structure": "unimodal", "sigma": 1.0, "edges": [[0, 20_000]]}, r"edges\[0\]"),
    ],
)
def test_what_is_too_large_is_refused_by_name(instance, field):
    with pytest.raises(InputError, match=f"`instance.{field}` must .* over HTTP"):
        check(instance)


def test_a_large_number_is_no_size():
    check({"structure": "classical", "n_arms": 20_000, "sigma": 50_000})
    check(
        {"structure": "lipschitz", "sigma": 1.0, "points": [0.0, 1.0], "lipschitz_constant": 30_000}
    )


def test_a_policy_whose_memory_is_too_large_is_refused(http, monkeypatch):
    """With what it would take; a machine that has not even that says so in the same words."""
    monkeypatch.setattr("ossb.campaigns.rehearsal.MOST_BYTES", 2**20)
    arms = [[int(i == j) for j in range(100)] for i in range(100)]
    instance = {"structure": "linear", "sigma": 1.0, "arms": arms}
    answer = http.post("/v1/campaigns", {**BODY, "instance": instance, "policy": "hgl"})
    assert answer.status_code == 400
    assert answer.json()["error"]["field"] == "instance"
    assert "memory of hgl" in answer.json()["error"]["message"]
    assert http.get("/v1/campaigns/first").status_code == 404


def test_a_memory_that_cannot_be_had_is_no_failure_of_the_policy():
    class Greedy:
        def start(self):
            return np.zeros((2**20, 2**30))

    with pytest.raises(
        InputError, match="`instance` must be small enough for the memory of greedy"
    ):
        fresh_memory(Greedy(), "greedy")
