"""Work off the event loop."""

import asyncio
import threading
from concurrent.futures import Future

import pytest

from ossb.campaigns import Campaign, Conflict, Unavailable, open_storage
from ossb.campaigns.unwaited import leave, unwaited
from ossb.service.threads import Threads

LONG = 20.0


def test_results_failures_and_an_end():
    threads = Threads(3)

    async def use():
        numbers = await asyncio.gather(*(threads.run(lambda x: x * x, i) for i in range(50)))
        assert numbers == [i * i for i in range(50)]
        with pytest.raises(KeyError):
            await threads.run({}.__getitem__, "none")
        assert await threads.run(threading.get_ident) != threading.get_ident()

    asyncio.run(use())
    done = threading.Event()
    threads.start(done.set)
    threads.shutdown()
    threads.shutdown()
    assert done.is_set()
    with pytest.raises(RuntimeError, match="ended"):
        threads.start(done.set)


def test_slow_work_does_not_hold_up_the_rest():
    threads = Threads(2)
    gate = threading.Event()

    async def use():
        slow = asyncio.ensure_future(threads.run(gate.wait))
        assert await threads.run(lambda: 7) == 7
        assert not slow.done()
        gate.set()
        assert await slow

    asyncio.run(use())
    threads.shutdown()


def test_a_caller_that_has_gone():
    threads = Threads(1)
    gate = threading.Event()

    async def use():
        gone = asyncio.ensure_future(threads.run(gate.wait))
        await asyncio.sleep(0)
        gone.cancel()
        gate.set()
        assert await threads.run(lambda: 7) == 7

    asyncio.run(use())
    late = threading.Event()

    async def leave():
        asyncio.ensure_future(threads.run(late.wait))  # noqa: RUF006
        await asyncio.sleep(0)

    asyncio.run(leave())
    late.set()
    threads.shutdown()


def test_what_stands_in_line_is_done_in_order_by_one_thread():
    threads, gate, done, workers = Threads(4), threading.Event(), [], set()

    def work(i):
        gate.wait(LONG)
        workers.add(threading.get_ident())
        done.append(i)
        if i == 5:
            raise KeyError(i)
        return i

    async def use():
        calls = [asyncio.ensure_future(threads.run(work, i, line="a")) for i in range(20)]
        # other lines, and what stands in none, do not wait for it
        assert await asyncio.wait_for(threads.run(lambda: 7, line="b"), LONG) == 7
        assert await asyncio.wait_for(threads.run(lambda: 8), LONG) == 8
        calls[3].cancel()  # its caller has gone
        gate.set()
        found = await asyncio.gather(*calls, return_exceptions=True)
        for i, one in enumerate(found):
            assert isinstance(one, {3: asyncio.CancelledError, 5: KeyError}.get(i, int))
        assert await threads.run(lambda: 9, line="a") == 9

    asyncio.run(use())
    assert done == [0, 1, 2, *range(4, 20)]
    assert len(workers) == 1
    threads.shutdown()


@pytest.mark.parametrize("failure", [None, Conflict("another came first"), Unavailable("no disk")])
def test_an_answer_in_line_is_handed_out_with_its_commit(failure):
    threads, commits, doubts = Threads(2), [Future(), Future()], []

    def work(commit):
        made.append(commit)
        if not leave(commit, lambda: doubts.append(commit)):
            commit.result()
        return len(made)

    made = []

    async def use():
        first = asyncio.ensure_future(threads.run(work, commits[0], line="a"))
        second = asyncio.ensure_future(threads.run(work, commits[1], line="a"))
        commits[1].set_result(None)
        assert await asyncio.wait_for(second, LONG) == 2  # the thread waits for no commit
        assert not first.done()
        if failure is None:
            commits[0].set_result(None)
            assert await asyncio.wait_for(first, LONG) == 1
            return
        commits[0].set_exception(failure)
        with pytest.raises(type(failure)):  # made again where another server came first
            await asyncio.wait_for(first, LONG)

    asyncio.run(use())
    again = [commits[0]] if isinstance(failure, Conflict) else []
    assert made == [*commits, *again]
    assert doubts == ([] if failure is None else [commits[0]])
    threads.shutdown()


def test_a_campaign_answers_before_its_commit_where_somebody_else_waits_for_it():
    class Slow:
        """A store whose commits the test lets through."""

        def __init__(self, store):
            self._store, self.held = store, []

        def __getattr__(self, name):
            return getattr(self._store, name)

        def append(self, name, events, after):
            self._store.append(name, events, after).result()
            self.held.append(Future())
            return self.held[-1]

    store = open_storage("memory://")
    instance = {"structure": "classical", "observation": "bernoulli", "n_arms": 3}
    Campaign.open(store, "c", instance=instance, policy="ucb1")
    slow = Slow(store)
    campaign = Campaign(slow, "c")
    (decision,), awaited = unwaited(campaign.ask)
    assert awaited is not None
    assert awaited.commit is slow.held[0]
    assert not awaited.commit.done()
    status, told = unwaited(campaign.tell, decision.id, 1.0)
    assert status == "recorded"
    assert told is not None
    # a tell that is repeated rests on the commit of the first
    status, again = unwaited(campaign.tell, decision.id, 1.0)
    assert status == "same"
    assert again is not None
    assert again.commit is told.commit
    for commit in slow.held:
        commit.set_result(None)
    assert campaign.stop(0.05)["met"] is False
