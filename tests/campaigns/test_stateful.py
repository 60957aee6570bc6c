"""Random sequences of everything a campaign does, with crashes, against a plain model."""

from dataclasses import dataclass, field

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from ossb.campaigns import Campaign, Closed, Told
from ossb.campaigns import journal as journal_module
from ossb.campaigns.snapshots import fingerprint
from ossb.campaigns.storage.memory import MemoryStorage
from ossb.errors import InputError

POLICIES = ("hgl", "ucb1", "thompson")


@dataclass
class Expected:
    """What a decision must be."""

    arm: int
    lease: float
    status: str = "pending"
    value: float | None = None


@dataclass
class Model:
    """A campaign written plainly: every decision in a list, everything counted from it."""

    n_arms: int = 3
    now: float = 1000.0
    decisions: dict = field(default_factory=dict)
    imported: list = field(default_factory=list)
    keys: dict = field(default_factory=dict)
    retired: set = field(default_factory=set)
    closed: bool = False

    def expire(self):
        for decision in self.decisions.values():
            if decision.status == "pending" and decision.lease <= self.now:
                decision.status = "expired"

    def told(self, arm):
        values = [d.value for d in self.decisions.values() if d.status == "told" and d.arm == arm]
        return values + [value for imported, value in self.imported if imported == arm]

    def count(self, status):
        return sum(d.status == status for d in self.decisions.values())


class Campaigns(RuleBasedStateMachine):
    @initialize(policy=st.sampled_from(POLICIES), seed=st.integers(0, 3), every=st.integers(3, 9))
    def create(self, policy, seed, every):
        self.model, self.storage = Model(), MemoryStorage()
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(journal_module, "SNAPSHOT_EVERY", every)
        self.campaign = Campaign.open(
            self.storage,
            "c",
            instance={"structure": "classical", "observation": "bernoulli", "n_arms": 3},
            policy=policy,
            seed=seed,
            clock=lambda: self.model.now,
        )

    def teardown(self):
        if hasattr(self, "patch"):
            self.patch.undo()

    def some(self, data, statuses):
        ids = [i for i, d in self.model.decisions.items() if d.status in statuses]
        return data.draw(st.sampled_from(ids)) if ids else None

    @rule(
        n=st.integers(1, 4),
        lease=st.sampled_from([1.0, 5.0, 100.0]),
        key=st.sampled_from([None, None, "a", "b"]),
        data=st.data(),
    )
    def ask(self, n, lease, key, data):
        model = self.model
        if key in model.keys:
            asked = model.keys[key]
            assert self.campaign.ask(len(asked), key=key) == asked
            return
        if model.closed:
            with pytest.raises(Closed):
                self.campaign.ask(n, key=key)
            return
        active = sorted(set(range(model.n_arms)) - model.retired)
        available = data.draw(
            st.none() | st.lists(st.sampled_from(active), min_size=1, unique=True)
        )
        asked = self.campaign.ask(n, lease=lease, key=key, available=available)
        model.expire()
        for decision in asked:
            assert decision.id not in model.decisions
            assert decision.arm in (available or active)
            model.decisions[decision.id] = Expected(decision.arm, model.now + lease)
        if key is not None:
            model.keys[key] = asked

    @rule(value=st.sampled_from([0.0, 1.0]), data=st.data())
    def tell(self, value, data):
        id_ = self.some(data, ("pending", "expired", "voided"))
        if id_ is not None:
            assert self.campaign.tell(id_, value) == "recorded"
            decision = self.model.decisions[id_]
            decision.status, decision.value = "told", value

    @rule(value=st.sampled_from([0.0, 1.0]), data=st.data())
    def tell_again(self, value, data):
        id_ = self.some(data, ("told",))
        if id_ is None:
            return
        if self.model.decisions[id_].value == value:
            assert self.campaign.tell(id_, value) == "same"
        else:
            with pytest.raises(Told):
                self.campaign.tell(id_, value)

    @rule(data=st.data())
    def void(self, data):
        id_ = self.some(data, ("told",))
        if id_ is not None:
            self.campaign.void(id_)
            self.model.decisions[id_].status = "voided"

    @rule(seconds=st.sampled_from([0.5, 2.0, 50.0]))
    def wait(self, seconds):
        self.model.now += seconds

    @rule()
    def expire(self):
        before = self.model.count("pending")
        self.model.expire()
        assert self.campaign.expire() == before - self.model.count("pending")

    @precondition(lambda self: not self.model.closed and self.model.n_arms < 6)
    @rule()
    def add_arm(self):
        assert self.campaign.add_arm() == self.model.n_arms
        self.model.n_arms += 1

    @rule(data=st.data())
    def retire_arm(self, data):
        arm = data.draw(st.integers(0, self.model.n_arms - 1))
        if len(self.model.retired | {arm}) == self.model.n_arms:
            with pytest.raises(InputError):
                self.campaign.retire_arm(arm)
        else:
            self.campaign.retire_arm(arm)
            self.model.retired.add(arm)

    @precondition(lambda self: not self.model.closed)
    @rule(rows=st.lists(st.tuples(st.integers(0, 2), st.sampled_from([0.0, 1.0])), max_size=4))
    def import_rows(self, rows):
        self.campaign.import_rows(rows)
        self.model.imported += rows

    @precondition(lambda self: len(self.model.decisions) > 8)
    @rule()
    def close(self):
        self.campaign.close()
        self.model.closed = True

    @rule()
    def crash_and_restart(self):
        with self.campaign._journal.look() as state:
            before = fingerprint(state)
        self.campaign = Campaign(self.storage, "c", lambda: self.model.now)
        with self.campaign._journal.look() as state:
            assert fingerprint(state) == before

    @invariant()
    def agrees(self):
        if not hasattr(self, "campaign"):
            return
        model, found = self.model, self.campaign.describe()
        told = [model.told(arm) for arm in range(model.n_arms)]
        assert found["plays"] == found["components"]["counts"] == [len(v) for v in told]
        means = [sum(values) / len(values) if values else None for values in told]
        assert found["means"] == [mean if mean is None else pytest.approx(mean) for mean in means]
        assert all(mean is None or 0.0 <= mean <= 1.0 for mean in found["means"])
        assert found["rounds"] == sum(map(len, told))
        assert found["decisions"] == {
            status: model.count(status) for status in ("pending", "told", "expired", "voided")
        }
        assert found["pending"] == model.count("pending")
        assert sum(found["phases"].values()) == len(model.decisions)
        assert found["retired"] == sorted(model.retired)
        assert found["closed"] == model.closed
        with self.campaign._journal.look() as state:
            waiting = [0] * model.n_arms
            for decision in model.decisions.values():
                waiting[decision.arm] += decision.status == "pending"
            assert state.tally.pending.tolist() == waiting
            assert state.tally.plays.tolist() == [
                len(values) + more for values, more in zip(told, waiting, strict=True)
            ]


TestCampaigns = Campaigns.TestCase
TestCampaigns.settings = settings(max_examples=30, stateful_step_count=30)
