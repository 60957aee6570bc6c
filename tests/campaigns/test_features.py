"""Asks that bring rows of features of their own."""

import json

import numpy as np
import pytest

from ossb.campaigns import Campaign
from ossb.campaigns.snapshots import fingerprint, load, to_bytes
from ossb.campaigns.state import State
from ossb.campaigns.storage import open_storage
from ossb.errors import InputError
from ossb.structures.classical import Classical
from ossb.structures.generalized_linear import GeneralizedLinear
from ossb.structures.linear import Linear

D = 3
PLAIN = Linear(arms=np.eye(D).tolist(), sigma=0.5)
CLICKS = GeneralizedLinear(arms=np.eye(D).tolist(), observation="bernoulli", link="logistic")
RULES = ["hgl", "linear-thompson", "lin-ucb", "oful", "glm-ucb", "greedy"]
PHI = np.array([0.6, -0.4, 0.2])


@pytest.fixture
def store(tmp_path):
    found = open_storage(f"sqlite:///{tmp_path / 'campaigns.db'}")
    yield found
    found.close()


def played(campaign, rounds, seed=3, logistic=False, reopen=None):
    """Rewards short of the best rows of some rounds, and the rows chosen."""
    rng, lost, chosen = np.random.default_rng(seed), 0.0, []
    for t in range(rounds):
        if reopen and t % 7 == 0:
            campaign = reopen()
        rows = rng.normal(size=(4, D))
        (decision,) = campaign.ask(features=rows.tolist())
        index = rows @ PHI
        lost += index.max() - index[decision.arm]
        chosen.append(decision.arm)
        noise, coin = rng.normal(), rng.random()
        value = float(coin < 1 / (1 + np.exp(-index[decision.arm])))
        if not logistic:
            value = float(index[decision.arm] + 0.5 * noise)
        if t % 5:
            campaign.tell(decision.id, value)
    return lost, chosen


def same_state(campaign, other):
    with campaign._journal.look() as one, other._journal.look() as two:
        assert fingerprint(one) == fingerprint(two)


@pytest.mark.parametrize("policy", RULES)
def test_a_restart_changes_nothing(store, policy):
    campaign = Campaign.open(store, "whole", instance=PLAIN, policy=policy)
    _, arms = played(campaign, 60)
    parts = Campaign.open(store, "parts", instance=PLAIN, policy=policy)
    assert played(parts, 60, reopen=lambda: Campaign(store, "parts"))[1] == arms
    same_state(campaign, Campaign(store, "whole"))


@pytest.mark.parametrize("policy", ["hgl", "glm-ucb", "greedy"])
def test_clicks(store, policy, monkeypatch):
    monkeypatch.setattr("ossb.campaigns.evidence.EXACT", 30)  # so that some rows are summed up
    campaign = Campaign.open(store, "whole", instance=CLICKS, policy=policy)
    _, arms = played(campaign, 80, logistic=True)
    parts = Campaign.open(store, "parts", instance=CLICKS, policy=policy)
    again = played(parts, 80, logistic=True, reopen=lambda: Campaign(store, "parts"))
    assert again[1] == arms


@pytest.mark.parametrize("policy", RULES)
def test_what_is_learnt_is_used(store, policy):
    campaign = Campaign.open(store, policy, instance=PLAIN, policy=policy)
    played(campaign, 150)
    late, _ = played(campaign, 50, seed=4)
    assert late < 12.0  # one that learns nothing loses about 40


def test_goals_and_units_turn_with_the_parameter(store):
    minimal = Linear(arms=np.eye(D).tolist(), sigma=0.5, goal="minimize")
    one = Campaign.open(store, "max", instance=PLAIN)
    two = Campaign.open(store, "min", instance=minimal)
    large = Campaign.open(store, "large", instance=Linear(arms=np.eye(D).tolist(), sigma=500.0))
    rng = np.random.default_rng(0)
    for _ in range(40):
        rows = rng.normal(size=(5, D))
        asked = [c.ask(features=rows)[0] for c in (one, two, large)]
        assert len({decision.arm for decision in asked}) == 1
        value = float(rows[asked[0].arm] @ PHI + 0.5 * rng.normal())
        for campaign, decision, factor in zip(
            (one, two, large), asked, (1.0, -1.0, 1000.0), strict=True
        ):
            campaign.tell(decision.id, factor * value)


def test_snapshots_hold_all_of_it(store):
    campaign = Campaign.open(store, "whole", instance=PLAIN)
    played(campaign, 30)
    with campaign._journal.look() as state:
        fresh = State(next(iter(store.read("whole", 0, 1))))
        load(fresh, to_bytes(state))
        assert fingerprint(fresh) == fingerprint(state)


def test_events_hold_the_rows_and_little_else(store):
    campaign = Campaign.open(store, "large", instance=Linear(arms=np.eye(20).tolist(), sigma=1.0))
    rng = np.random.default_rng(0)
    for _ in range(5):
        (decision,) = campaign.ask(features=rng.normal(size=(50, 20)), key=None)
        campaign.tell(decision.id, 1.0)
    asked = [event for event in campaign.events() if event.kind == "offered"]
    rows = json.loads(asked[-1].body)["features"]
    assert len(asked[-1].body) - len(json.dumps(rows)) < 1000
    assert rows[0] == 50


def test_voids_late_tells_and_leases(store):
    now = [0.0]
    campaign = Campaign.open(store, "late", instance=PLAIN, clock=lambda: now[0])
    rows = np.eye(D).tolist()
    asked = [campaign.ask(features=rows, lease=10.0)[0] for _ in range(4)]
    for decision in asked[:2]:
        campaign.tell(decision.id, 2.0)
    now[0] = 20.0
    assert campaign.expire() == 2
    campaign.tell(asked[2].id, 1.0)
    assert campaign.void(asked[0].id) == "voided"
    assert campaign.void(asked[0].id) == "same"
    stands = campaign.describe()
    assert (stands["rounds"], stands["brought"]) == (2, {"decisions": 4, "told": 2})
    same_state(campaign, Campaign(store, "late", lambda: now[0]))
    with campaign._journal.look() as state:
        rows_told, values = state.brought.told()
        assert state.brought.sums.line.tolist() == (rows_told.T @ values).tolist()
        assert not state.brought.waiting.any()


def test_a_key_is_of_these_rows(store):
    campaign = Campaign.open(store, "keys", instance=PLAIN)
    rows = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.5]]
    (first,) = campaign.ask(features=rows, key="k")
    assert campaign.ask(features=rows, key="k") == [first]
    for other in (rows[::-1], None):
        with pytest.raises(InputError, match="features"):
            campaign.ask(features=other, key="k")
    campaign.ask(key="listed")
    with pytest.raises(InputError, match="features"):
        campaign.ask(features=rows, key="listed")


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ([[1.0, 0.0]], r"features\[0\].*3"),
        ([[1.0, 0.0, 0.0], [1.0, 0.0]], r"features\[1\]"),
        ([[float("nan"), 0.0, 0.0]], r"features\[0\]\[0\].*finite"),
        ([[1.0, "2", 0.0]], r"features\[0\]\[1\].*number"),
        ([[True, 0.0, 0.0]], r"features\[0\]\[0\].*number"),
        ([[1e60, 0.0, 0.0]], r"features\[0\].*lie in"),
        ([[0.0, 1.5, 1.5]], r"features\[0\].*feature_norm, 2"),
        ([], "features.*1 to"),
        ("rows", "features.*list of rows"),
        ([1.0, 2.0, 3.0], r"features\[0\]"),
        ({"a": [1.0, 0.0, 0.0]}, "features.*list of rows"),
    ],
)
def test_bad_rows_are_refused(store, features, message):
    bounded = Linear(arms=np.eye(D).tolist(), sigma=0.5, feature_norm=2.0)
    campaign = Campaign.open(store, "bad", instance=bounded)
    with pytest.raises(InputError, match=message):
        campaign.ask(features=features)
    assert campaign.describe()["events"] == 1


def test_arms_may_be_declared_too_long(store):
    with pytest.raises(InputError, match=r"arms\[1\].*feature_norm"):
        Linear(arms=[[1.0], [3.0]], sigma=1.0, feature_norm=2.0)
    with pytest.raises(InputError, match=r"feature_norm.*positive"):
        Linear(arms=[[1.0], [3.0]], sigma=1.0, feature_norm=0.0)


def test_what_has_no_features_takes_none(store):
    buttons = Campaign.open(store, "b", instance=Classical(n_arms=3, observation="bernoulli"))
    with pytest.raises(InputError, match=r"features.*share no parameter"):
        buttons.ask(features=[[1.0]])
    tested = Campaign.open(store, "t", instance=PLAIN, policy="top-two")
    with pytest.raises(InputError, match=r"features.*top-two.*these do: hgl"):
        tested.ask(features=np.eye(D))
    plain = Campaign.open(store, "p", instance=PLAIN)
    with pytest.raises(InputError, match=r"available.*left out"):
        plain.ask(features=np.eye(D), available=[0])


def test_listed_arms_learn_from_rows(store):
    """What rows have shown is known of listed arms too, and the other way round."""
    campaign = Campaign.open(store, "both", instance=PLAIN, policy="greedy")
    for _ in range(3):
        for row, value in zip(np.eye(D), (0.0, 5.0, 0.0), strict=True):
            (decision,) = campaign.ask(features=[row.tolist()])
            campaign.tell(decision.id, value)
    (decision,) = campaign.ask()
    assert decision.arm == 1 == campaign.leader()
    campaign.tell(decision.id, -200.0)
    assert campaign.leader() != 1
    (decision,) = campaign.ask(available=[1, 2])
    assert decision.arm == 2
    assert campaign.document()["plays"] == [0, 1, 0]
    assert campaign.history()[-1]["arm"] == 2
    assert campaign.history(0, 1)[0]["features"] == [1.0, 0.0, 0.0]


def test_there_is_no_bound_and_that_is_said(store):
    campaign = Campaign.open(store, "said", instance=PLAIN)
    played(campaign, 20)
    found = campaign.document()
    assert "no bound is known" in found["rates"]["reason"]
    assert found["stop"]["met"] is False
    assert "contrasts" in found["stop"]["reason"]
    assert found["exploration"]["bound"] is None
    assert sum(map(sum, found["timeline"]["phases"].values())) == 20


def test_new_arms_join_rows(store):
    campaign = Campaign.open(store, "grows", instance=PLAIN)
    played(campaign, 10)
    campaign.add_arm({"features": [1.0, 1.0, 1.0]})
    played(campaign, 10)
    campaign.retire_arm(0)
    assert campaign.ask()[0].arm != 0
    assert campaign.leader() in (1, 2, 3)
    same_state(campaign, Campaign(store, "grows"))


def test_contrasts_are_sure_of_their_sign(store):
    campaign = Campaign.open(store, "c", instance=PLAIN, policy="linear-thompson")
    assert "twice as many" in campaign.contrasts({"a": [1, 0, 0]})["a"]["reason"]
    played(campaign, 250)
    named = {"first over second": [1, -1, 0], "second over first": [-1, 1, 0], "none": [0, 0, 1e-9]}
    found = campaign.contrasts(named, 0.05)
    sure = found["first over second"]
    assert sure["met"]
    assert sure["low"] < 1.0 < sure["high"]
    assert sure["low"] > 0.0
    other = found["second over first"]
    assert (other["low"], other["high"]) == pytest.approx((-sure["high"], -sure["low"]), rel=1e-4)
    assert other["statistic"] == pytest.approx(sure["statistic"])
    for bad, message in (
        ({"a": [0, 0, 0]}, "not 0"),
        ({"a": [1]}, r"contrasts\.a"),
        ([1], "table"),
    ):
        with pytest.raises(InputError, match=message):
            campaign.contrasts(bad)


def test_contrasts_of_clicks(store):
    campaign = Campaign.open(store, "c", instance=CLICKS, policy="greedy")
    played(campaign, 200, logistic=True)
    found = campaign.contrasts({"x": [1, -1, 0]}, 0.05)["x"]
    assert found["low"] < 1.0 < found["high"]
    assert found["low"] < found["estimate"] < found["high"]


@pytest.mark.parametrize("policy", ["hgl", "linear-thompson", "greedy"])
@pytest.mark.parametrize(
    "rows",
    [[[0, 0, 0]] * 3, [[1, 2, 3]] * 4, [[1e50, 1, 0], [0, 1e50, 1]], [[1e-50, 1e50, 0], [1, 1, 1]]],
)
def test_rows_that_tell_little_are_decided_on(store, policy, rows):
    counts = GeneralizedLinear(arms=np.eye(D).tolist(), observation="poisson", link="log")
    instance = PLAIN if policy == "linear-thompson" else counts
    campaign = Campaign.open(store, "odd", instance=instance, policy=policy)
    for t in range(8):
        (decision,) = campaign.ask(features=rows)
        campaign.tell(decision.id, float(t % 2))
    assert set(campaign.contrasts({"first": [1, 0, 0]}))
    assert campaign.document()["brought"]["told"] == 8


@pytest.mark.slow
@pytest.mark.parametrize("link", [0, 2])
def test_contrasts_are_seldom_wrong(link):
    """At most a share δ of runs ever rules the truth out, looked at ten times."""
    from ossb.models.contrasts import contrast, trial

    rng, wrong = np.random.default_rng(1), 0
    for _ in range(150):
        rows = rng.normal(size=(200, D))
        index = rows @ PHI
        values = index + rng.normal(size=200)
        if link == 0:
            values = (rng.random(200) < 1 / (1 + np.exp(-index))).astype(float)
        missed = False
        for count in range(20, 201, 20):
            sure = contrast(trial(link, rows[:count], values[:count]), np.eye(D)[0], np.log(10.0))
            missed |= not sure.low <= PHI[0] <= sure.high
        wrong += missed
    assert wrong <= 15
