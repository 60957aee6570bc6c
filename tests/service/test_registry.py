"""The campaigns of one server."""

import threading
from concurrent.futures import Future

import pytest

from ossb.campaigns import Unavailable
from ossb.campaigns.events import GENESIS
from ossb.campaigns.storage.memory import MemoryStorage
from ossb.service.registry import Registry

TWO = {"structure": "classical", "observation": "gaussian", "sigma": 1.0, "n_arms": 2}
PAIRS = {
    "structure": "combinatorial",
    "feedback": "semi_bandit",
    "observation": "bernoulli",
    "arms": [[1, 1, 0], [0, 1, 1]],
}
LONG = 60  # seconds that only what hangs takes


class Slow(MemoryStorage):
    """A store that does not say whether it has written, until it is told to refuse."""

    def __init__(self):
        super().__init__()
        self.waiting = None
        self.reached = threading.Event()

    def append(self, name, events, after=GENESIS):
        if self.waiting is None:
            return super().append(name, events, after)
        self.reached.set()
        return self.waiting

    def refuse(self):
        waiting, self.waiting = self.waiting, None
        waiting.set_exception(Unavailable("disk full"))


@pytest.fixture
def registry():
    return Registry(Slow())


def while_refused(registry, change, look):
    """What a look shows that begins while a change is on its way, which is then refused."""
    store, failures, found = registry.storage, [], []
    store.waiting = Future()

    def fail():
        try:
            change()
        except Unavailable as error:
            failures.append(str(error))

    changing = threading.Thread(target=fail)
    changing.start()
    assert store.reached.wait(LONG)
    looking = threading.Thread(target=lambda: found.append(look()))
    looking.start()
    looking.join(0.1)  # whichever comes first, what was refused is not shown
    store.refuse()
    changing.join(LONG)
    looking.join(LONG)
    assert failures == ["disk full"]
    return found[0]


def test_what_was_never_written_is_never_shown(registry):
    campaign, _ = registry.create("first", TWO, "ucb1", 0)
    one, other = campaign.ask(2)
    found = while_refused(
        registry,
        lambda: campaign.tell(one.id, 1000.0),
        lambda: registry.document("first", 0.05),
    )
    assert (found["rounds"], found["events"]) == (0, 2)
    campaign.tell(other.id, 1.0)
    found = registry.document("first", 0.05)
    assert found == {**found, **campaign.describe()}
    assert found["rounds"] == 1
    assert 1000.0 not in found["means"]


def test_a_page_of_an_event_is_not_another_ones(registry):
    """The number of an event that was refused becomes another's."""
    campaign, _ = registry.create("first", TWO, "ucb1", 0)
    one, other = campaign.ask(2)
    campaign.tell(one.id, 5.0)
    page = registry.document("first", 0.05)
    journal = registry.storage._journals["first"]
    journal.pop()
    campaign._journal.spoil()
    campaign.tell(other.id, 1.0)
    assert registry.document("first", 0.05)["means"] != page["means"]
    assert registry.document("first", 0.05)["events"] == page["events"]


def test_lists_that_were_never_written_are_not_looked_for(registry):
    campaign, _ = registry.create("first", PAIRS, "hgl", 0)
    (decision,) = campaign.ask()
    found = while_refused(registry, lambda: campaign.tell(decision.id, [1, 0]), campaign.history)
    assert [entry["status"] for entry in found] == ["pending"]
    campaign.tell(decision.id, [0, 1])
    assert [entry["observation"] for entry in campaign.history()] == [[0, 1]]


def test_what_is_kept_of_a_page_is_worked_out_once(registry, monkeypatch):
    from ossb.service import registry as module

    whole, made = module.document_of, []

    def document_of(moment, delta, epsilon):
        made.append(delta)
        return whole(moment, delta, epsilon)

    monkeypatch.setattr(module, "document_of", document_of)
    campaign, _ = registry.create("first", TWO, "ucb1", 0)
    for delta in (0.05, 0.05, 0.1, 0.1):
        registry.document("first", delta)
    assert made == [0.05, 0.1]
    campaign.ask()
    assert registry.document("first", 0.1)["pending"] == 1
    assert made == [0.05, 0.1, 0.1]
