"""The client raises what a campaign in process raises: the class, the fields and the text."""

import threading
from contextlib import contextmanager

import pytest
import uvicorn

from ossb.campaigns import Campaign, open_storage
from ossb.client import Client, ServiceError, Unreachable
from ossb.errors import InputError, OssbError, Unavailable
from ossb.service.app import CallLimits, Service
from ossb.service.server import Protocol, _listening
from service_calls import INSTANCE

GAUSSIAN = {"structure": "classical", "observation": "gaussian", "n_arms": 3}
LISTS = {
    "structure": "combinatorial",
    "feedback": "semi_bandit",
    "arms": [[1, 1, 0], [0, 1, 1]],
    "observation": "bernoulli",
}


@contextmanager
def served(store, **limits):
    """A service on a port of its own, in this process."""
    service = Service(store, limits=CallLimits(**limits))
    config = uvicorn.Config(service, http=Protocol, ws="none", log_config=None, lifespan="off")
    server = uvicorn.Server(config)
    listening = _listening("127.0.0.1", 0)
    running = threading.Thread(target=server.run, args=([listening],), daemon=True)
    running.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        running.join()
        service.close()


@pytest.fixture(scope="module")
def both():
    """A client of a service, and a store of this process, with the same campaigns."""
    theirs, ours = open_storage("memory://"), open_storage("memory://")
    with served(theirs) as url, Client(url, patience=0.2) as client:
        for name, instance in (("first", INSTANCE), ("lists", LISTS), ("over", INSTANCE)):
            policy = "cucb" if instance is LISTS else "ucb1"
            client.create(name, instance, policy, 1)
            Campaign.open(ours, name, instance=instance, policy=policy, seed=1)
        client.close_campaign("over")
        Campaign(ours, "over").close()
        yield client, ours


def caught(make):
    with pytest.raises(OssbError) as found:
        make()
    error = found.value
    return type(error), {k: v for k, v in vars(error).items() if k != "__notes__"}, str(error)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("first", {"n": 0}),
        ("first", {"n": 10_001}),
        ("first", {"n": 2.5}),
        ("first", {"lease": -1}),
        ("first", {"lease": 1e12}),
        ("first", {"key": "k" * 201}),
        ("first", {"available": []}),
        ("first", {"available": [7]}),
        ("first", {"available": ["x"]}),
        ("first", {"available": 3}),
        ("over", {}),
        ("none", {}),
        ("firts", {}),
        ("a\nb", {}),
    ],
)
def test_asks(both, name, options):
    client, ours = both
    http = {("lease_seconds" if k == "lease" else k): v for k, v in options.items()}
    theirs = caught(lambda: client.ask(name, **http))
    # who opens one is told beside how to create it
    assert theirs == caught(lambda: Campaign(ours, name).ask(**options))


def test_a_key_that_was_used_otherwise(both):
    client, ours = both
    first = Campaign(ours, "first")
    for campaign in (lambda **o: client.ask("first", **o), first.ask):
        campaign(n=2, key="k")
    assert caught(lambda: client.ask("first", n=3, key="k")) == caught(
        lambda: first.ask(3, key="k")
    )


@pytest.mark.parametrize(
    "observation", [2, 0.5, "1", None, [1], True, float("nan"), float("inf"), -1, 10**400]
)
def test_tells(both, observation):
    client, ours = both
    first = Campaign(ours, "first")
    (there,), (here,) = client.ask("first"), first.ask()
    one = caught(lambda: client.tell("first", there.id, observation))
    assert one == caught(lambda: first.tell(here.id, observation))
    many = caught(lambda: client.tell_many("first", [(there.id, observation)]))
    assert many == caught(lambda: first.tell_many([(here.id, observation)]))
    two = [(there.id, 1), (there.id, observation)]
    pair = [(here.id, 1), (here.id, observation)]
    assert caught(lambda: client.tell_many("first", two)) == caught(lambda: first.tell_many(pair))


@pytest.mark.parametrize(
    "observation", [1, [1], [1, 2], [1, 0, 1], [1, "x"], [[1], 0], [0, float("nan")]]
)
def test_tells_of_lists(both, observation):
    client, ours = both
    lists = Campaign(ours, "lists")
    (there,), (here,) = client.ask("lists"), lists.ask()
    one = caught(lambda: client.tell("lists", there.id, observation))
    assert one == caught(lambda: lists.tell(here.id, observation))


def test_decisions_that_are_not_there_or_were_told(both):
    client, ours = both
    first = Campaign(ours, "first")
    for id_ in ("77-x", "", "x" * 100):
        theirs = caught(lambda id_=id_: client.tell("first", id_, 1))
        assert theirs == caught(lambda id_=id_: first.tell(id_, 1))
        theirs = caught(lambda id_=id_: client.void("first", id_))
        assert theirs == caught(lambda id_=id_: first.void(id_))
    theirs = caught(lambda: client.tell_many("first", [("77-x", 1), ("78-x", 1)]))
    assert theirs == caught(lambda: first.tell_many([("77-x", 1), ("78-x", 1)]))
    for pairs in (7, "ab", {"a": 1}, [1], [(1, 2, 3)]):
        theirs = caught(lambda pairs=pairs: client.tell_many("first", pairs))
        assert theirs == caught(lambda pairs=pairs: first.tell_many(pairs))
    (there,), (here,) = client.ask("first"), first.ask()
    not_yet = caught(lambda: client.void("first", there.id))
    assert not_yet == caught(lambda: first.void(here.id))[:2] + (not_yet[2],)
    client.tell("first", there.id, 1)
    first.tell(here.id, 1)
    kind, held, text = caught(lambda: client.tell("first", there.id, 0))
    other = caught(lambda: first.tell(here.id, 0))
    assert (kind, held, text.replace(there.id, here.id)) == other
    assert client.tell_many("first", []) == first.tell_many([]) == []


@pytest.mark.parametrize(
    ("name", "instance", "policy", "seed"),
    [
        ("first", INSTANCE, "ucb1", 2),
        ("first", {**INSTANCE, "n_arms": 4}, "ucb1", 1),
        ("new", {**INSTANCE, "n_arms": 0}, "ucb1", 1),
        ("new", {**INSTANCE, "structure": "clasical"}, "ucb1", 1),
        ("new", {**INSTANCE, "n_arm": 3}, "ucb1", 1),
        ("new", INSTANCE, "ucb2", 1),
        ("new", INSTANCE, {"name": "ossb", "epsilon": -1}, 1),
        ("new", INSTANCE, {"name": "ossb", "epsilno": 1}, 1),
        ("new", INSTANCE, {"epsilon": 1}, 1),
        ("new", INSTANCE, "ucb1", -1),
        ("new", INSTANCE, "ucb1", 1.5),
        ("new", GAUSSIAN, "ucb1", 1),
        ("", INSTANCE, "ucb1", 1),
        ("..", INSTANCE, "ucb1", 1),
        ("a\u2028b", INSTANCE, "ucb1", 1),
        ("new", {**INSTANCE, "arm_names": ["a", "b", "c\u202e"]}, "ucb1", 1),
        ("new", {**LISTS, "arms": [[1, 1], [1]]}, "ucb1", 1),
    ],
)
def test_creating(both, name, instance, policy, seed):
    client, ours = both
    theirs = caught(lambda: client.create(name, instance, policy, seed))
    here = caught(lambda: Campaign.open(ours, name, instance=instance, policy=policy, seed=seed))
    assert theirs == here


def test_arms_and_rows(both):
    client, ours = both
    first, over = Campaign(ours, "first"), Campaign(ours, "over")
    assert caught(lambda: client.retire_arm("first", 9)) == caught(lambda: first.retire_arm(9))
    brought = {"features": [1]}
    theirs = caught(lambda: client.add_arm("first", brought))
    assert theirs == caught(lambda: first.add_arm(brought))
    assert caught(lambda: client.add_arm("over")) == caught(lambda: over.add_arm())
    for policy in ("best", {"name": "top-two", "delta": 2}, {"name": "hgl", "speed": 1}, {}):
        theirs = caught(lambda policy=policy: client.switch("first", policy))
        assert theirs == caught(lambda policy=policy: first.switch(policy))
    assert caught(lambda: client.switch("over", "hgl")) == caught(lambda: over.switch("hgl"))
    for rows in ([(9, 1)], [(0, 2)], [("x", 1)], [(0, 1), (0, None)], [0], 7, [(0, float("nan"))]):
        theirs = caught(lambda rows=rows: client.import_rows("first", rows))
        assert theirs == caught(lambda rows=rows: first.import_rows(rows))
    theirs = caught(lambda: client.import_rows("over", [(0, 1)]))
    assert theirs == caught(lambda: over.import_rows([(0, 1)]))
    assert caught(lambda: client.campaign("first", 2)) == caught(lambda: first.stop(2))


def test_a_store_that_is_gone(both):
    store = open_storage("memory://")
    here = Campaign.open(store, "first", instance=INSTANCE, policy="ucb1", seed=1)
    with served(store) as url, Client(url, patience=0.2, sleep=lambda seconds: None) as client:
        client.ask("first")
        store.close()
        assert caught(lambda: client.ask("first")) == caught(here.ask)
        assert caught(lambda: client.ask("first"))[0] is Unavailable


def test_what_only_a_service_refuses(both):
    with served(open_storage("memory://"), per_second=0.1) as url:
        pauses = []
        with Client(url, patience=0.1, sleep=pauses.append) as client:
            client.campaigns()
            with pytest.raises(ServiceError, match="as many calls") as found:
                client.campaigns()
        assert (found.value.status, found.value.code) == (429, "too_many")
        assert pauses == []  # it says that waiting is of no use
    with Client(url, patience=0.1) as client, pytest.raises(Unreachable):
        client.campaigns()
    assert issubclass(Unreachable, Unavailable)
    assert not issubclass(ServiceError, InputError)
