"""Random sequences of everything a campaign does, with crashes, against a plain model."""

import shutil
import tempfile

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from campaigns.plain_model import WORLDS, Expected, Model
from ossb.campaigns import Campaign, Closed, Told, open_storage
from ossb.campaigns import journal as journal_module
from ossb.campaigns.snapshots import fingerprint
from ossb.campaigns.storage.memory import MemoryStorage
from ossb.errors import InputError


def named(arm):
    """An arm as the model has it."""
    return tuple(arm) if isinstance(arm, list) else arm


class Campaigns(RuleBasedStateMachine):
    """On a store in memory; ``world`` says what is played."""

    world = None

    def open_storage(self):
        return MemoryStorage()

    def crash(self):
        """Lose all but what is in the store."""

    @initialize(data=st.data(), seed=st.integers(0, 3), every=st.integers(3, 9))
    def create(self, data, seed, every):
        self.model = Model(self.world, self.world.n_units)
        self.storage = self.open_storage()
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(journal_module, "SNAPSHOT_EVERY", every)
        self.campaign = Campaign.open(
            self.storage,
            "c",
            instance=self.world.instance,
            policy=data.draw(st.sampled_from(self.world.policies)),
            seed=seed,
            clock=lambda: self.model.now,
        )

    def teardown(self):
        if hasattr(self, "patch"):
            self.patch.undo()

    def some(self, data, statuses):
        ids = [i for i, d in self.model.decisions.items() if d.status in statuses]
        return data.draw(st.sampled_from(ids)) if ids else None

    def something(self, data, arm):
        """What may be told of an arm, and what of it counts."""
        value = data.draw(self.world.observation(arm))
        return value, value if self.world.shows(arm) else None

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
        units = st.lists(st.sampled_from(model.active()), min_size=1, unique=True)
        available = data.draw(st.none() | units)
        playable = model.playable(model.active() if available is None else available)
        if not playable:
            with pytest.raises(InputError, match="available"):
                self.campaign.ask(n, available=available)
            return
        asked = self.campaign.ask(n, lease=lease, key=key, available=available)
        model.expire()
        for decision in asked:
            assert decision.id not in model.decisions
            assert named(decision.arm) in playable
            model.decisions[decision.id] = Expected(named(decision.arm), model.now + lease)
        if key is not None:
            model.keys[key] = asked

    @rule(data=st.data())
    def tell(self, data):
        id_ = self.some(data, ("pending", "expired", "voided"))
        if id_ is not None:
            decision = self.model.decisions[id_]
            value, counted = self.something(data, decision.arm)
            assert self.campaign.tell(id_, value) == "recorded"
            decision.status, decision.value = "told", counted

    @rule(data=st.data())
    def tell_again(self, data):
        id_ = self.some(data, ("told",))
        if id_ is None:
            return
        decision = self.model.decisions[id_]
        value, counted = self.something(data, decision.arm)
        if decision.value == counted:
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
        before = self.model.count("pending", freed=False)
        self.model.expire()
        assert self.campaign.expire() == before - self.model.count("pending")

    @precondition(lambda self: not self.model.closed and self.model.n_units < 6)
    @rule()
    def add_arm(self):
        if self.world.new_arm is None:
            with pytest.raises(InputError, match="must not be added"):
                self.campaign.add_arm()
            return
        assert self.campaign.add_arm(self.world.new_arm) == self.model.n_units
        self.model.n_units += 1

    @rule(data=st.data())
    def retire_arm(self, data):
        model = self.model
        unit = data.draw(st.integers(0, model.n_units - 1))
        if model.playable(set(model.active()) - {unit}):
            self.campaign.retire_arm(unit)
            model.retired.add(unit)
        else:
            with pytest.raises(InputError):
                self.campaign.retire_arm(unit)

    @precondition(lambda self: not self.model.closed)
    @rule(count=st.integers(0, 4), data=st.data())
    def import_rows(self, count, data):
        arms = self.world.arms(self.model.n_units)
        for_import = []
        for _ in range(count):
            arm = data.draw(st.sampled_from(arms))
            value, counted = self.something(data, arm)
            for_import.append((list(arm) if isinstance(arm, tuple) else arm, value))
            self.model.imported.append((arm, counted))
        self.campaign.import_rows(for_import)

    @precondition(lambda self: len(self.model.decisions) > 8)
    @rule()
    def close(self):
        self.campaign.close()
        self.model.closed = True

    @rule()
    def crash_and_restart(self):
        with self.campaign._journal.look() as state:
            before = fingerprint(state)
        self.crash()
        self.campaign = Campaign(self.storage, "c", lambda: self.model.now)
        with self.campaign._journal.look() as state:
            assert fingerprint(state) == before

    @invariant()
    def agrees(self):
        if not hasattr(self, "campaign"):
            return
        model, found = self.model, self.campaign.describe()
        plays, values = model.plays(), model.values()
        shown = zip(found["arms"], found["plays"], strict=True)
        counted = {named(arm["arm"]): count for arm, count in shown}
        assert {arm: n for arm, n in counted.items() if n} == {a: n for a, n in plays.items() if n}
        assert set(counted) <= set(plays)
        assert found["components"]["counts"] == [len(seen) for seen in values]
        means = [sum(seen) / len(seen) if seen else None for seen in values]
        assert found["components"]["means"] == [
            mean if mean is None else pytest.approx(mean, abs=1e-9) for mean in means
        ]
        if model.world.instance.get("observation") == "bernoulli":
            assert all(mean is None or 0.0 <= mean <= 1.0 for mean in found["components"]["means"])
        assert found["rounds"] == sum(plays.values())
        assert found["decisions"] == {
            status: model.count(status) for status in ("pending", "told", "expired", "voided")
        }
        assert found["pending"] == model.count("pending")
        assert sum(found["phases"].values()) == len(model.decisions)
        assert found["retired"] == sorted(model.retired)
        assert found["closed"] == model.closed
        with self.campaign._journal.look() as state:
            assert state.tally.pending.tolist() == model.waiting()
            waiting = model.count("pending", freed=False)
            assert state.tally.plays.sum() == sum(plays.values()) + waiting


class OnSqlite(Campaigns):
    """The same on a file, which is let go of and opened again."""

    def open_storage(self):
        if not hasattr(self, "folder"):
            self.folder = tempfile.mkdtemp()
        return open_storage(f"sqlite:///{self.folder}/campaigns.db")

    def crash(self):
        self.storage.close()
        self.storage = self.open_storage()

    def teardown(self):
        super().teardown()
        if hasattr(self, "storage"):
            self.storage.close()
            shutil.rmtree(self.folder)


def machine_on(machine, world, examples):
    """The machine on one world, as tests."""
    made = type(f"{machine.__name__} {world}", (machine,), {"world": WORLDS[world]}).TestCase
    made.settings = settings(max_examples=examples, stateful_step_count=30, deadline=None)
    return made


TestClassical = machine_on(Campaigns, "classical", 30)
TestLinear = machine_on(Campaigns, "linear", 15)
TestDueling = machine_on(Campaigns, "dueling", 15)
TestPaths = machine_on(Campaigns, "paths", 25)
TestSpanningTrees = machine_on(Campaigns, "spanning trees", 15)
TestClassicalOnSqlite = machine_on(OnSqlite, "classical", 6)
TestPathsOnSqlite = machine_on(OnSqlite, "paths", 6)
TestDuelingOnSqlite = machine_on(OnSqlite, "dueling", 4)
