"""Work off the event loop, in a fixed number of threads.

``ThreadPoolExecutor`` with ``run_in_executor`` makes two futures and a condition for each call;
a call here is an entry in a queue and one future, which the loop's thread would otherwise spend
much of its time on.
"""

import asyncio
import math
import queue
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from ossb import deadlines


class Task(NamedTuple):
    """Something to do, and who waits for it."""

    make: Callable[..., Any]
    arguments: tuple[Any, ...]
    waiting: "asyncio.Future[Any] | None"
    until: float  # of the monotonic clock: nobody waits for longer
    ended: Callable[[], None] | None = None  # called on the loop's thread once it has ended


class Threads:
    """Threads that take tasks from one queue."""

    def __init__(self, count: int) -> None:
        self._tasks: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=self._work, name=f"ossb-request-{i}", daemon=True)
            for i in range(count)
        ]
        self._started = 0
        self._running = 0  # tasks that wait or are being done; changed on the loop's thread
        self._ended = False

    @property
    def count(self) -> int:
        return len(self._threads)

    @property
    def all_busy(self) -> bool:
        """Whether what comes next has to wait."""
        return self._running >= len(self._threads)

    async def run(
        self,
        make: Callable[..., Any],
        *arguments: Any,
        until: float | None = None,
        ended: Callable[[], None] | None = None,
    ) -> Any:
        """What ``make`` returns or raises; ``ended`` is called once it does, whoever waits then.

        It is ended where it asks whether it is still wanted (``deadlines.check``) once whoever
        waits here has been cancelled, or at the moment ``until`` of the monotonic clock.
        """
        waiting = asyncio.get_running_loop().create_future()

        def end() -> None:
            self._running -= 1
            if ended is not None:
                ended()

        self._running += 1
        try:
            self._put(Task(make, arguments, waiting, math.inf if until is None else until, end))
        except BaseException:
            end()
            raise
        return await waiting

    def begin(self) -> None:
        """Start all threads: to start one takes long where others are busy."""
        while self._started < len(self._threads):
            self._threads[self._started].start()
            self._started += 1

    def start(self, make: Callable[[], Any]) -> None:
        """Do something that nobody waits for."""
        self._put(Task(make, (), None, math.inf))

    def shutdown(self, seconds: float | None = None) -> None:
        """Do what is in the queue, and end; what takes longer than ``seconds`` is left behind."""
        if self._ended:
            return
        self._ended = True
        for _ in range(self._started):
            self._tasks.put(None)
        deadline = None if seconds is None else time.monotonic() + seconds
        for thread in self._threads[: self._started]:
            thread.join(None if deadline is None else max(deadline - time.monotonic(), 0.0))

    def _put(self, task: Task) -> None:
        if self._ended:
            raise RuntimeError("the threads have ended")
        if self._started < min(self._running + 1, len(self._threads)):
            self._threads[self._started].start()
            self._started += 1
        self._tasks.put(task)

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            result: Any = None
            failure: BaseException | None = None
            try:
                if task.waiting is None:
                    task.make(*task.arguments)
                elif not task.waiting.done():
                    with deadlines.wanted(task.until, task.waiting.done):
                        result = task.make(*task.arguments)
            except BaseException as error:
                failure = error
            if task.waiting is not None:
                loop = task.waiting.get_loop()
                try:
                    loop.call_soon_threadsafe(_settle, task, result, failure)
                except RuntimeError:  # the loop has ended: nobody waits any more
                    continue
            del task, result, failure  # a thread that waits keeps nothing alive


def _settle(task: Task, result: Any, failure: BaseException | None) -> None:
    if task.ended is not None:
        task.ended()
    waiting = task.waiting
    if waiting is None or waiting.done():  # the caller has gone
        return
    if failure is None:
        waiting.set_result(result)
    else:
        waiting.set_exception(failure)
