"""Work off the event loop."""

import asyncio
import threading

import pytest

from ossb.service.threads import Threads


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
