"""Progress of long work: a bar on a terminal, plain lines elsewhere, always on stderr."""

import sys
import threading
import time
from types import TracebackType
from typing import Any, Self

EVERY = 10.0  # seconds between two plain lines


class RoundProgress:
    """Counts rounds of several policies towards a total."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.done = 0
        self._started = self._spoke = time.monotonic()
        self._lock = threading.Lock()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import (
                BarColumn,
                Progress,
                TaskProgressColumn,
                TextColumn,
                TimeRemainingColumn,
            )

            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TaskProgressColumn(),
                TextColumn("{task.fields[rate]}"),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._task = self._bar.add_task("", total=self.total, rate="")
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, policy: str, rounds: int) -> None:
        with self._lock:
            self.done += rounds
            now = time.monotonic()
            rate = self.done / max(now - self._started, 1e-9)
            if self._bar is not None:
                self._bar.update(
                    self._task,
                    completed=self.done,
                    description=policy,
                    rate=f"{rate:,.0f} rounds/s",
                )
            elif now - self._spoke >= EVERY:
                self._spoke = now
                left = (self.total - self.done) / max(rate, 1e-9)
                share = f"{self.done / self.total:.0%}, {rate:,.0f} rounds/s, {left:.0f} s left"
                print(f"{policy}: {share}", file=sys.stderr, flush=True)

    def say(self, message: str) -> None:
        """A line of its own."""
        if self._bar is not None:
            self._bar.console.print(message)
        else:
            print(message, file=sys.stderr, flush=True)


class CellProgress:
    """Counts the cells of an experiment; the total is known once the grid is."""

    def __init__(self) -> None:
        self._started = self._spoke = time.monotonic()
        self._first = -1
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import (
                BarColumn,
                MofNCompleteColumn,
                Progress,
                TextColumn,
                TimeRemainingColumn,
            )

            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[rate]}"),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._task = self._bar.add_task("starting", total=None, rate="")
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, cell: Any, done: int, total: int) -> None:
        now = time.monotonic()
        if self._first < 0:  # what came before, compiling, tells nothing of the rate
            self._first, self._started = done, now
        rate = (done - self._first) / max(now - self._started, 1e-9)
        current = f"{cell.label} on {cell.group}"
        if self._bar is not None:
            self._bar.update(
                self._task,
                completed=done,
                total=total,
                description=current,
                rate=f"{rate:.2f} cells/s",
            )
        elif (now - self._spoke >= EVERY and rate > 0) or done == total:
            self._spoke = now
            left = (total - done) / rate if rate > 0 else 0.0
            line = f"{done}/{total} cells, {rate:.2f} cells/s, {left:.0f} s left: {current}"
            print(line, file=sys.stderr, flush=True)

    def say(self, message: str) -> None:
        """A line of its own."""
        if self._bar is not None:
            self._bar.console.print(message)
        else:
            print(message, file=sys.stderr, flush=True)
