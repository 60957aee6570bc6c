"""Who plays the cells: this process, local processes that may die, or a Dask cluster."""

import os
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any, Protocol

from ossb.errors import InputError, OssbError
from ossb.experiments.cells import Cell, work
from ossb.extras import load, need
from ossb.library_threads import ONE_EACH

AHEAD = 2  # cells handed out per worker: enough to keep it busy, few enough to lose
TRIES = 5  # losses in a row, with nothing finished in between, before a cell is to blame

Done = tuple[Cell, bytes, float]


class Workers(Protocol):
    """Plays cells in any order and yields them as they finish."""

    def play(self, cells: Sequence[Cell]) -> Iterator[Done]: ...

    def close(self) -> None:
        """Let them go, whatever they are at."""


class Alone:
    """The process that asks."""

    def __init__(self, compiled: bool = True) -> None:
        self._compiled = compiled

    def play(self, cells: Sequence[Cell]) -> Iterator[Done]:
        for cell in cells:
            yield cell, *work(cell, self._compiled)

    def close(self) -> None:
        pass


class Processes:
    """Local processes; what a killed one was playing is played again."""

    def __init__(self, count: int, compiled: bool = True) -> None:
        need("loky", "workers")
        self._count = count
        self._compiled = compiled
        self._pool: Any = None

    def play(self, cells: Sequence[Cell]) -> Iterator[Done]:
        broken_pool = load("loky.process_executor", "workers").BrokenProcessPool

        waiting = list(reversed(cells))
        running: dict[Future[tuple[bytes, float]], Cell] = {}
        losses = 0
        while waiting or running:
            try:
                while waiting and len(running) < AHEAD * self._count:
                    future = self._open().submit(work, waiting[-1], self._compiled)
                    running[future] = waiting.pop()
                finished, _ = wait(running, timeout=0.5, return_when=FIRST_COMPLETED)
                for future in finished:
                    part, seconds = future.result()
                    yield running.pop(future), part, seconds
                    losses = 0
            except broken_pool as broken:
                losses += 1
                # last in the queue: a cell that takes its worker down holds up no other
                waiting = [*running.values(), *waiting]
                running.clear()
                self.close()
                _give_up(losses, waiting[0], broken)

    def _open(self) -> Any:
        """The processes; they stay, with what they have loaded, from one call to the next."""
        if self._pool is None:
            self._pool = load("loky.process_executor", "workers").ProcessPoolExecutor(
                self._count,
                timeout=None,
                initializer=_settle,
                initargs=(os.getpid(),),
                env=ONE_EACH,
            )
        return self._pool

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=False, kill_workers=True)
            self._pool = None


def _settle(parent: int) -> None:
    """Make a process a worker: interrupts are for its parent, without whom it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow, args=(parent,), daemon=True).start()


def _follow(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


class Cluster:
    """An existing Dask cluster; what dies with a worker is played again elsewhere."""

    def __init__(self, address: str, compiled: bool = True) -> None:
        self._compiled = compiled
        client = load("distributed", "scheduler").Client
        try:
            self._client: Any = client(address, timeout=10, set_as_default=False)
        except (OSError, ValueError) as error:
            raise InputError("scheduler", f"be a reachable scheduler: {error}", address) from None

    def play(self, cells: Sequence[Cell]) -> Iterator[Done]:
        from distributed import as_completed

        waiting = list(reversed(cells))
        losses = 0
        pool: Any = as_completed(loop=self._client.loop)
        running: dict[str, Cell] = {}
        while waiting or running:
            # the cluster may grow and shrink while it works
            ahead = AHEAD * max(1, sum(self._client.nthreads().values()))
            while waiting and len(running) < ahead:
                future = self._client.submit(work, waiting[-1], self._compiled, pure=False)
                running[future.key] = waiting.pop()
                pool.add(future)
            future = next(pool)
            cell = running.pop(future.key)
            failure = future.exception()
            if failure is None:
                part, seconds = future.result()
                yield cell, part, seconds
                losses = 0
            elif _is_loss(failure):
                losses += 1
                waiting.insert(0, cell)
                _give_up(losses, cell, failure)
            else:
                raise failure

    def close(self) -> None:
        self._client.close()


def _is_loss(failure: BaseException) -> bool:
    """Whether it was the worker that failed, not the cell."""
    from distributed import KilledWorker
    from distributed.comm.core import CommClosedError

    return isinstance(failure, KilledWorker | CommClosedError)


def _give_up(losses: int, cell: Cell, error: BaseException) -> None:
    if losses >= TRIES:
        what = f"{cell.label} on {cell.group}, trials {cell.first} to {cell.last - 1}"
        raise OssbError(f"{what}: lost {losses} times with its worker: {error}") from error


def workers_for(count: int, scheduler: str | None, compiled: bool = True) -> Workers:
    """Those that the options ask for."""
    if scheduler is not None:
        return Cluster(scheduler, compiled)
    return Alone(compiled) if count == 1 else Processes(count, compiled)
