"""Who plays the cells: this process, local processes that may die, or a Dask cluster."""

from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any, Protocol

from ossb.errors import InputError, OssbError
from ossb.experiments.cells import Cell, work

AHEAD = 4  # cells handed out per worker: enough to keep it busy, few enough to stop quickly
TRIES = 5  # times one cell may take its worker down before it is taken for the cause

Done = tuple[Cell, bytes, float]


class Workers(Protocol):
    """Plays cells in any order and yields them as they finish."""

    def play(self, cells: Sequence[Cell]) -> Iterator[Done]: ...


class Alone:
    """The process that asks."""

    def __init__(self, compiled: bool = True) -> None:
        self._compiled = compiled

    def play(self, cells: Sequence[Cell]) -> Iterator[Done]:
        for cell in cells:
            part, seconds = work(cell, self._compiled)
            yield cell, part, seconds


class Processes:
    """Local processes; what a killed one was playing is played again."""

    def __init__(self, count: int, compiled: bool = True) -> None:
        self._count = count
        self._compiled = compiled

    def play(self, cells: Sequence[Cell]) -> Iterator[Done]:
        from loky.process_executor import BrokenProcessPool, ProcessPoolExecutor

        waiting = list(reversed(cells))
        tries: dict[str, int] = {}
        while waiting:
            pool = ProcessPoolExecutor(self._count, timeout=None)
            running: dict[Future[tuple[bytes, float]], Cell] = {}
            try:
                while waiting or running:
                    while waiting and len(running) < AHEAD * self._count:
                        cell = waiting.pop()
                        running[pool.submit(work, cell, self._compiled)] = cell
                    finished, _ = wait(running, timeout=0.5, return_when=FIRST_COMPLETED)
                    for future in finished:
                        cell = running[future]
                        part, seconds = future.result()
                        del running[future]
                        yield cell, part, seconds
            except BrokenProcessPool as broken:
                for cell in running.values():
                    _count_try(tries, cell, broken.__cause__ or broken)
                waiting.extend(running.values())
            finally:
                pool.shutdown(wait=False, kill_workers=True)


class Cluster:
    """An existing Dask cluster; what dies with a worker is played again elsewhere."""

    def __init__(self, address: str, compiled: bool = True) -> None:
        self._address = address
        self._compiled = compiled

    def play(self, cells: Sequence[Cell]) -> Iterator[Done]:
        try:
            from distributed import Client, as_completed
        except ImportError:
            raise InputError(
                "scheduler", "have Dask installed: pip install ossb[cluster]"
            ) from None
        try:
            client: Any = Client(self._address, timeout=10, set_as_default=False)
        except (OSError, ValueError) as error:
            raise InputError("scheduler", f"be a reachable scheduler: {error}") from None
        waiting = list(reversed(cells))
        tries: dict[str, int] = {}
        with client:
            ahead = AHEAD * max(1, sum(client.nthreads().values()))
            pool: Any = as_completed()
            running: dict[str, Cell] = {}

            def submit(cell: Cell) -> None:
                future = client.submit(work, cell, self._compiled, pure=False)
                running[future.key] = cell
                pool.add(future)

            while waiting or running:
                while waiting and len(running) < ahead:
                    submit(waiting.pop())
                future = next(pool)
                cell = running.pop(future.key)
                failure = future.exception()
                if failure is None:
                    part, seconds = future.result()
                    yield cell, part, seconds
                elif isinstance(failure, OssbError):
                    raise failure
                else:
                    _count_try(tries, cell, failure)
                    waiting.append(cell)


def _count_try(tries: dict[str, int], cell: Cell, error: BaseException) -> None:
    tries[cell.key] = tries.get(cell.key, 0) + 1
    if tries[cell.key] >= TRIES:
        what = f"{cell.label} on {cell.group}, trials {cell.first} to {cell.last - 1}"
        raise OssbError(f"{what}: failed {TRIES} times with its worker: {error}") from error


def workers_for(count: int, scheduler: str | None, compiled: bool = True) -> Workers:
    """Those that the options ask for."""
    if scheduler is not None:
        return Cluster(scheduler, compiled)
    return Alone(compiled) if count == 1 else Processes(count, compiled)
