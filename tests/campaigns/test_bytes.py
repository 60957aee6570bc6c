"""How much an ask adds to a journal, for every structure, and what it takes to leave it out."""

import json
from pathlib import Path

import numpy as np
import pytest

from campaign_instances import PLAYED
from campaigns.test_restarts import Clock, compare, opened, step
from campaigns.test_trajectory import INSTANCES
from ossb import deadlines
from ossb.campaigns import Campaign, journal, open_storage, working
from ossb.campaigns.events import Event
from ossb.campaigns.snapshots import fingerprint
from ossb.campaigns.state import ASIDES
from ossb.campaigns.storage import Conflict
from ossb.campaigns.storage.memory import MemoryStorage
from ossb.instances import STRUCTURES, from_dict
from ossb.policies import POLICIES
from ossb.policies.base import refusal
from ossb.tally import Decision

MOST = 1000  # bytes of an ask
REMEMBERED = ("memory", "whole")  # how an ask tells what its policy remembers
BEFORE = Path(__file__).parent / "journals" / "before_repeats"
RNG = np.random.default_rng(0)
POINTS = np.sort(RNG.uniform(size=40)).round(3)
LARGE = {
    "classical": {
        "structure": "classical",
        "observation": "bernoulli",
        "theta": np.linspace(0.1, 0.8, 40).tolist(),
    },
    "linear": {
        "structure": "linear",
        "sigma": 1.0,
        "arms": RNG.normal(size=(81, 3)).round(3).tolist(),
        "phi": [0.5, 0.2, 0.1],
    },
    "generalized_linear": {
        "structure": "generalized_linear",
        "arms": RNG.normal(size=(12, 3)).round(3).tolist(),
        "phi": [0.5, 0.2, 0.1],
        "link": "logistic",
        "observation": "bernoulli",
    },
    "lipschitz": {
        "structure": "lipschitz",
        "observation": "bernoulli",
        "points": POINTS.tolist(),
        "lipschitz_constant": 1.0,
        "theta": (0.8 - 0.9 * np.abs(POINTS - 0.4)).tolist(),
    },
    "unimodal": {
        "structure": "unimodal",
        "observation": "bernoulli",
        "theta": (0.8 - 0.01 * np.abs(np.arange(60) - 20)).tolist(),
    },
    "dueling": {
        "structure": "dueling",
        "preferences": [[0.5 + 0.03 * (j - i) for j in range(10)] for i in range(10)],
    },
    "combinatorial": {
        "structure": "combinatorial",
        "sigma": 1.0,
        "feedback": "semi_bandit",
        "arm_set": "m_sets",
        "n_items": 20,
        "size": 6,
        "phi": np.linspace(0.0, 1.0, 20).tolist(),
    },
    "finite": {
        "structure": "finite",
        "observation": "bernoulli",
        "parameters": RNG.uniform(0.1, 0.9, (8, 40)).round(3).tolist(),
    },
    "polytope": {
        "structure": "polytope",
        "observation": "bernoulli",
        "A": RNG.uniform(0.5, 1.0, (4, 8)).round(3).tolist(),
        "b": [4.0, 4.0, 4.0, 4.0],
        "theta": np.linspace(0.2, 0.6, 8).tolist(),
    },
    "union": {
        "structure": "union",
        "observation": "bernoulli",
        "pieces": [{"A": [[1, -1, 0, 0]], "b": [0]}, {"A": [[-1, 1, 0, 0]], "b": [0]}],
        "theta": [0.2, 0.6, 0.4, 0.3],
    },
}
LARGE["finite"]["theta"] = LARGE["finite"]["parameters"][0]


def cases():
    for label, keys in LARGE.items():
        instance = from_dict(keys)
        for name in ("hgl", "ossb"):
            if refusal(POLICIES[name], instance) is None:
                yield pytest.param(instance, name, id=f"{label}-{name}")


def test_every_structure_is_measured():
    assert set(LARGE) == set(STRUCTURES)
    assert {keys["structure"] for keys, _ in PLAYED.values()} == set(STRUCTURES)


def told(campaign, decision, instance, rng):
    with campaign._journal.look() as state:
        place = state.decisions.number_of(decision.id)
        shown = state.reveals[int(state.decisions.arm[place])]
    family, means, sign = instance.observed_family, instance.components, instance.observed_sign
    values = [sign * float(family.sample(float(means[c]), rng)) for c in shown]
    lists = getattr(instance, "feedback", "") == "semi_bandit"
    campaign.tell(decision.id, values if lists else (values[0] if values else None))


@pytest.mark.parametrize(("instance", "name"), list(cases()))
def test_an_ask_adds_little_to_the_journal(instance, name):
    storage, rng, rounds = open_storage("memory://"), np.random.default_rng(1), 60
    campaign = opened(storage, instance, name, Clock())
    for _ in range(rounds):
        told(campaign, campaign.ask()[0], instance, rng)
    asked = sum(len(event.body) for event in storage.read("c") if event.kind == "asked")
    assert asked <= MOST * rounds


REMEMBERING = ["graves-lai", "ids", "top-two"]


def taking_turns(campaign, number):
    """One of some sets of fewer arms: each in turn, or each twice and one more than are kept."""
    arms = campaign.definition["instance"]["arms"]
    left_out = number % ASIDES if number % 64 < 32 else number // 2 % (ASIDES + 1)
    return campaign.ask(available=[arm for arm in range(len(arms)) if arm != left_out])[0]


@pytest.mark.parametrize("name", REMEMBERING)
def test_an_ask_for_one_of_fewer_arms_adds_as_little(name):
    instance = from_dict({**LARGE["linear"], "arms": LARGE["linear"]["arms"][:30]})
    storage, rng, rounds = open_storage("memory://"), np.random.default_rng(1), 64
    campaign = opened(storage, instance, name, Clock())
    for number in range(rounds):
        told(campaign, taking_turns(campaign, number), instance, rng)
    asked = sum(len(event.body) for event in storage.read("c") if event.kind == "asked")
    assert asked <= MOST * rounds


@pytest.mark.parametrize("few", [2, 1998])
def test_of_many_arms_those_left_out_are_not_written_again_and_again(few):
    instance = from_dict({"structure": "classical", "observation": "bernoulli", "n_arms": 2000})
    storage = open_storage("memory://")
    campaign = opened(storage, instance, "dmed", Clock())
    for _ in range(5):
        decision = campaign.ask(available=list(range(few)))[0]
        campaign.tell(decision.id, 1)
    first, *later = [len(event.body) for event in storage.read("c") if event.kind == "asked"]
    assert first <= MOST
    assert sum(later) <= MOST * len(later)
    with campaign._journal.look() as state, Campaign(storage, "c")._journal.look() as other:
        assert fingerprint(state) == fingerprint(other)
        assert len(state.asides) == 1


@pytest.mark.parametrize("name", ["hgl", "ossb", "top-two"])
def test_an_ask_after_a_void_adds_as_little(name):
    """A policy begins with a fresh memory then, which need not be written."""
    instance = from_dict(LARGE["linear"])
    storage, rng, rounds = open_storage("memory://"), np.random.default_rng(1), 30
    campaign = opened(storage, instance, name, Clock())
    for _ in range(rounds):
        decision = campaign.ask()[0]
        told(campaign, decision, instance, rng)
        campaign.void(decision.id)
    asked = sum(len(event.body) for event in storage.read("c") if event.kind == "asked")
    assert asked <= MOST * rounds


# journals of before


def what_of(event):
    """What happened, whoever did it."""
    content = {k: v for k, v in event.content.items() if k not in ("by", "request")}
    return event.kind, event.time, content


@pytest.mark.parametrize("path", sorted(BEFORE.glob("*.jsonl")), ids=lambda path: path.stem)
def test_campaigns_of_before_go_on_as_they_did(path):
    """The past is as it was, to the bit; asks made again on what it left decide as they did.

    What a memory holds beside may differ: a solver may be better than it was.
    """
    *lines, expected = map(json.loads, path.read_text().splitlines())
    events = [Event(**line) for line in lines]
    whole = MemoryStorage()
    whole.append("c", events).result()
    with Campaign(whole, "c")._journal.look() as state:
        assert fingerprint(state) == expected["state"]
    half = [event.number for event in events if event.kind == "asked"][6] - 1
    part, clock = MemoryStorage(), Clock()
    part.append("c", events[:half]).result()
    campaign = Campaign(part, "c", clock)
    for event in events[half:]:
        clock.now = event.time - 1.0
        content = event.content
        if event.kind == "asked":
            campaign.ask(len(content["decisions"]), lease=content["expires"] - event.time)
        else:
            with campaign._journal.look() as state:
                tells = [(state.decisions.id_of(place), value) for place, value in content["tells"]]
            campaign.tell_many(tells)
    assert [decided_in(event) for event in part.read("c")] == [
        decided_in(event) for event in events
    ]


def decided_in(event):
    """An event without what a policy remembers."""
    kind, time, content = what_of(event)
    return kind, time, {key: content[key] for key in content if key not in REMEMBERED}


# changes that are made again


OSSB = ("linear", "ossb")  # which remembers nothing of fewer arms
TURNING = [("linear", "ids"), ("linear", "top-two"), ("bernoulli", "dmed"), ("dueling", "rmed1")]
REPEATED = [
    ("bernoulli", "dmed"),
    ("linear", "ids"),
    ("linear", "hgl"),
    ("linear", "ossb"),
    ("glm", "hgl"),
    ("lipschitz", "ossb"),
    ("unimodal", "hgl"),
    ("dueling", "rmed1"),
    ("semi-bandit", "hgl"),
]


@pytest.mark.parametrize(("label", "name"), REPEATED)
def test_what_is_left_out_is_made_again_to_the_bit(label, name, monkeypatch):
    monkeypatch.setattr(working, "ROOM", -1)
    monkeypatch.setattr(working, "REPEATS", 9)  # now and then all of it is written
    campaign = compare(from_dict(INSTANCES[label]), name, 20, 3)
    written = [event.content for event in campaign.events() if event.kind == "asked"]
    assert any("repeat" in content for content in written)


def step_among(campaign, number, instance):
    """The same among fewer arms now and then, and with a tell that is taken back."""
    rng = np.random.default_rng([7, number])
    units = instance.unit_count()
    kept = [unit for unit in range(units) if unit != number // 3 % 2]
    (decision,) = campaign.ask() if number % 3 == 0 else campaign.ask(available=kept)
    told(campaign, decision, instance, rng)
    if number % 5 == 4:
        campaign.void(decision.id)


@pytest.mark.parametrize("room", [-1, 512])
@pytest.mark.parametrize(("label", "name"), [OSSB, *TURNING])
def test_so_is_the_memory_of_fewer_arms_and_a_fresh_one(label, name, room, monkeypatch):
    monkeypatch.setattr(working, "ROOM", room)
    monkeypatch.setattr(working, "REPEATS", 6)
    campaign = compare(from_dict(INSTANCES[label]), name, 40, 3, step_among)
    written = [event.content for event in campaign.events() if event.kind == "asked"]
    fewer = [content for content in written if "aside" in content or "among" in content]
    if room < 0:
        assert any("repeat" in content for content in written if content not in fewer)
        assert any("repeat" in content for content in fewer) == ((label, name) != OSSB)
    monkeypatch.setattr(journal, "SNAPSHOT_EVERY", 4)
    again = compare(from_dict(INSTANCES[label]), name, 20, 3, step_among)
    asked = [event.content for event in again.events() if event.kind == "asked"]
    assert asked == written[: len(asked)]


def playing(monkeypatch, steps=8):
    """A campaign whose memory is left out, in a store."""
    monkeypatch.setattr(working, "ROOM", -1)
    storage, clock = open_storage("memory://"), Clock()
    instance = from_dict(INSTANCES["linear"])
    campaign = opened(storage, instance, "hgl", clock)
    for number in range(steps):
        step(campaign, number, instance)
    with campaign._journal.look() as state:
        assert len(state.usual.repeats) > 3
    return campaign, storage, clock, instance


def test_a_version_that_decides_otherwise_begins_afresh(monkeypatch):
    _, storage, clock, instance = playing(monkeypatch)
    from ossb.campaigns.player import Player

    select = Player.select

    def otherwise(self, *given):
        decision = select(self, *given)
        return Decision((decision.arm + 1) % 3, decision.phase)

    monkeypatch.setattr(Player, "select", otherwise)
    again = Campaign(storage, "c", clock)
    again.ask()
    newest = list(storage.read("c"))[-1].content
    assert "whole" in newest
    step(again, 20, instance)
    with again._journal.look() as state, Campaign(storage, "c")._journal.look() as other:
        assert fingerprint(state) == fingerprint(other)


def test_making_again_ends_with_its_time_and_goes_on_from_there(monkeypatch):
    _, storage, clock, _ = playing(monkeypatch)
    again, done = Campaign(storage, "c", clock), []

    def enough():
        done.append(True)
        return len(done) % 3 == 0

    tries = 0
    while True:
        try:
            with deadlines.wanted(float("inf"), enough):
                again.ask()
            break
        except deadlines.OutOfTime:
            tries += 1
            assert tries < 100
    assert tries > 1
    assert list(storage.read("c"))[-1].kind == "asked"
    with again._journal.look() as state, Campaign(storage, "c")._journal.look() as other:
        assert fingerprint(state) == fingerprint(other)


def test_an_ask_that_another_came_before_leaves_no_trace(monkeypatch):
    """As where several servers share a store: the ask is made anew on what is there."""
    campaign, storage, clock, _ = playing(monkeypatch)
    append, failed = storage.append, []

    def refuse(name, events, after=None):
        if not failed:
            failed.append(events)
            raise Conflict("another came first")
        return append(name, events, after)

    monkeypatch.setattr(storage, "append", refuse)
    with pytest.raises(Conflict):
        campaign.ask()
    campaign.ask(3)
    assert failed
    with campaign._journal.look() as state, Campaign(storage, "c")._journal.look() as other:
        assert fingerprint(state) == fingerprint(other)
    beside = Campaign(storage, "c", clock)
    campaign.ask(2)
    again = Campaign(storage, "c", clock)
    assert [d.arm for d in beside.ask(2, key="k")] == [d.arm for d in again.ask(2, key="k")]


def test_a_snapshot_brings_the_memory_along(monkeypatch):
    """It is kept once the policy has worked for long, so that nobody need do it all again."""
    monkeypatch.setattr("ossb.campaigns.journal.LABOUR", 0.0)
    monkeypatch.setattr("ossb.campaigns.journal.DEARER", 0.0)
    campaign, storage, clock, instance = playing(monkeypatch)
    campaign.ask()
    monkeypatch.setattr(working, "_repeats", None)  # nothing is made again
    again = Campaign(storage, "c", clock)
    again.ask()
    step(again, 3, instance)
    monkeypatch.undo()
    with again._journal.look() as state, Campaign(storage, "c")._journal.look() as other:
        assert fingerprint(state) == fingerprint(other)


def test_servers_that_share_a_store_make_each_others_asks_again(monkeypatch):
    """In turns: the journal is the one that a single server would have written."""
    monkeypatch.setattr(working, "ROOM", -1)
    monkeypatch.setattr(working, "REPEATS", 7)
    instance = from_dict(INSTANCES["linear"])
    alone, shared = open_storage("memory://"), open_storage("memory://")
    monkeypatch.setattr(shared, "shared", True)
    clocks = [Clock(), Clock()]
    single = opened(alone, instance, "hgl", clocks[0])
    servers = [opened(shared, instance, "hgl", clocks[1]) for _ in range(2)]
    for number in range(16):
        clocks[0].now = clocks[1].now = 1e9 + 1000.0 * number
        step(single, number, instance)
        step(servers[number % 2], number, instance)
    decided = [
        [event.content["decisions"] for event in store.read("c") if event.kind == "asked"]
        for store in (alone, shared)
    ]
    assert decided[0] == decided[1]
    with servers[0]._journal.look() as state, Campaign(shared, "c")._journal.look() as other:
        assert fingerprint(state) == fingerprint(other)
        assert any("repeat" in event.content for event in shared.read("c"))
