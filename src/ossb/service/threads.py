"""Work off the event loop, in a fixed number of threads.

``ThreadPoolExecutor`` with ``run_in_executor`` makes two futures and a condition for each call;
a call here is an entry in a queue and one future, which the loop's thread would otherwise spend
much of its time on.

What changes one campaign stands in line: one thread does all of it, in its order, and none waits
for the others' lock, nor for the disk.  An answer is handed out by whoever commits what it rests
on.
"""

import asyncio
import math
import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

from ossb import deadlines
from ossb.campaigns import Conflict
from ossb.campaigns.unwaited import Awaited, unwaited


class Task(NamedTuple):
    """Something to do, and who waits for it."""

    make: Callable[..., Any]
    arguments: tuple[Any, ...]
    waiting: "asyncio.Future[Any] | None"
    until: float  # of the monotonic clock: nobody waits for longer
    ended: Callable[[], None] | None = None  # called on the loop's thread once it has ended
    in_line: bool = False  # whether others wait for its thread, so that it waits for no commit


class Threads:
    """Threads that take tasks from one queue."""

    def __init__(self, count: int) -> None:
        self._tasks: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=self._work, name=f"ossb-request-{i}", daemon=True)
            for i in range(count)
        ]
        self._lines: dict[str, deque[Task]] = {}  # what stands in line, where some thread works
        self._lining = threading.Lock()
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
        line: str | None = None,
    ) -> Any:
        """What ``make`` returns or raises; ``ended`` is called once it does, whoever waits then.

        It is ended where it asks whether it is still wanted (``deadlines.check``) once whoever
        waits here has been cancelled, or at the moment ``until`` of the monotonic clock.

        Parameters
        ----------
        line
            After whatever else stands in the line of this name.  What it returns is handed out
            once the commit that it rests on is done; where another server came first, it is made
            again.
        """
        waiting = asyncio.get_running_loop().create_future()

        def end() -> None:
            self._running -= 1
            if ended is not None:
                ended()

        self._running += 1
        try:
            end_of = math.inf if until is None else until
            task = Task(make, arguments, waiting, end_of, end, line is not None)
            self._put(task if line is None else self._lined_up(line, task))
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

    def _put(self, task: Task | None) -> None:
        if self._ended:
            raise RuntimeError("the threads have ended")
        if self._started < min(self._running + 1, len(self._threads)):
            self._threads[self._started].start()
            self._started += 1
        if task is not None:
            self._tasks.put(task)

    def _lined_up(self, line: str, task: Task) -> Task | None:
        """Let a task stand in line; what works the line off, where nobody does so yet."""
        with self._lining:
            standing = self._lines.get(line)
            if standing is not None:
                standing.append(task)
                return None
            self._lines[line] = deque((task,))
        return Task(self._work_off, (line,), None, math.inf)

    def _work_off(self, line: str) -> None:
        while True:
            with self._lining:
                standing = self._lines[line]
                if not standing:
                    del self._lines[line]
                    return
                task = standing.popleft()
            with deadlines.in_line(standing):
                self._do(task)

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            self._do(task)
            del task  # a thread that waits keeps nothing alive

    def _do(self, task: Task) -> None:
        result: Any = None
        failure: BaseException | None = None
        awaited: Awaited | None = None
        try:
            if task.waiting is None:
                task.make(*task.arguments)
            elif not task.waiting.done():
                with deadlines.wanted(task.until, task.waiting.done):
                    if task.in_line:
                        result, awaited = unwaited(task.make, *task.arguments)
                    else:
                        result = task.make(*task.arguments)
        except BaseException as error:
            failure = error
        if awaited is None:
            _hand_out(task, result, failure)
        else:
            left = awaited
            left.commit.add_done_callback(lambda _: self._committed(task, result, left))

    def _committed(self, task: Task, result: Any, awaited: Awaited) -> None:
        """Hand out what rests on a commit; where that failed, some thread finds out what now."""
        failure = awaited.commit.exception()
        if failure is None:
            _hand_out(task, result, None)
        else:
            again = partial(_made_again, task, awaited, failure)
            self._tasks.put(task._replace(make=again, arguments=(), in_line=False))


def _made_again(task: Task, awaited: Awaited, failure: BaseException) -> Any:
    """What comes of a task whose commit failed: where others came first, it is made anew."""
    awaited.doubt()
    if isinstance(failure, Conflict):
        return task.make(*task.arguments)
    raise failure


def _hand_out(task: Task, result: Any, failure: BaseException | None) -> None:
    if task.waiting is not None:
        with suppress(RuntimeError):  # the loop has ended: nobody waits any more
            task.waiting.get_loop().call_soon_threadsafe(_settle, task, result, failure)


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
