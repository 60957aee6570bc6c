"""Kernels called from Python over and over: interpreted at first, compiled once that pays.

A few small solves take less time than it takes to import a compiler.  When what was interpreted
adds up, compiled code is looked for in the disk cache.  To import a compiler and to load code
takes a second: the main thread waits for it, which is the sooner done; from other threads, where
somebody may wait for an answer, a thread of its own looks.  Where there is no code, a process
compiles into the cache, for which nobody waits, and its code is taken when it is done; where one
is compiling already, that is tried again a moment later.  As both ways give the same bits, nobody
can tell but by the clock.
"""

import atexit
import math
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ossb.deadlines import is_limited

WORTH = 0.1  # seconds interpreted, or known to lie ahead, from which on compiled code is looked for
HOPELESS = 60.0  # seconds interpreted from which on it is compiled here, where nothing else helped
PAUSE, LONGEST_PAUSE = 0.5, 8.0  # seconds until one looks again, doubled while others compile
LEAVING = 5.0  # seconds that a process at its end waits for a thread that is loading code

BUSY = 75  # what ``ossb.compiling`` ends with where another one is compiling
INTERPRETED, LOOKING, COMPILING, MISSING, READY = range(5)


class Progress:
    """How far one kind of arguments has come."""

    def __init__(self) -> None:
        self.spent = 0.0
        self.pause = PAUSE
        self.again = -math.inf  # when to look, by the clock
        self.stage = INTERPRETED
        self.compiler: subprocess.Popen[bytes] | None = None


class Quick:
    """Runs one kernel, and turns to its compiled twin when that is at hand."""

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel
        self._kinds: dict[Any, Progress] = {}
        self._lock = threading.Lock()

    def __call__(self, *args: Any) -> Any:
        progress = self._progress(args)
        if progress.stage != READY and progress.spent > WORTH:
            self._advance(progress, args)
        if progress.stage == READY:
            return self._kernel.compiled(*args)
        started = time.perf_counter()
        try:
            return self._kernel.function(*args)
        finally:
            progress.spent += time.perf_counter() - started

    def expect(self, seconds: float, *args: Any) -> bool:
        """Look for compiled code at once, as so many seconds lie ahead; whether it is at hand.

        This waits for code to be loaded, and for no compiler.
        """
        progress = self._progress(args)
        if is_limited():  # who waits for an answer does not wait for code
            return progress.stage == READY
        if progress.stage == INTERPRETED and seconds > WORTH and is_time(progress):
            progress.stage = LOOKING
            self._look(progress, args)
        elif progress.stage == COMPILING:
            self._advance(progress, args)
        return progress.stage == READY

    def is_ready(self, *args: Any) -> bool:
        """Whether a call with such arguments would run compiled code."""
        return self._progress(args).stage == READY

    def _progress(self, args: tuple[Any, ...]) -> Progress:
        kind = kind_of(args)
        found = self._kinds.get(kind)
        return self._kinds.setdefault(kind, Progress()) if found is None else found

    def _advance(self, progress: Progress, args: tuple[Any, ...]) -> None:
        with self._lock:
            done = progress.compiler is not None and progress.compiler.poll() is not None
            first = progress.stage == INTERPRETED and is_time(progress)
            if first or (progress.stage == COMPILING and done):
                progress.stage = LOOKING
                if threading.current_thread() is threading.main_thread():
                    self._look(progress, args)
                else:
                    aside(lambda: self._look(progress, args))
            elif (
                progress.stage in (MISSING, INTERPRETED)
                and progress.spent > HOPELESS
                and not is_limited()
            ):
                progress.stage = READY  # this call compiles

    def _look(self, progress: Progress, args: tuple[Any, ...]) -> None:
        """Take code from the cache, or have it compiled into the cache, once."""
        try:
            if self._kernel.is_compiled(*args):
                self._kernel.load(*args)
                progress.stage = READY
            elif progress.compiler is None and is_importable(self._kernel):
                progress.compiler = compile_aside(self._kernel, self._kernel.signature(*args))
                progress.stage = COMPILING
            elif progress.compiler is not None and progress.compiler.poll() == BUSY:
                progress.compiler = None
                progress.again = time.perf_counter() + progress.pause
                progress.pause = min(2.0 * progress.pause, LONGEST_PAUSE)
                progress.stage = INTERPRETED
            else:
                progress.stage = MISSING
        except Exception:  # a cache or a compiler that does not work leaves the interpreter
            progress.stage = MISSING


def is_time(progress: Progress) -> bool:
    """Whether to look for code, or to look again where others were compiling."""
    return time.perf_counter() >= progress.again


def kind_of(value: Any) -> Any:
    """What compiled code is specialised to, in a form that is quick to make and to compare."""
    if isinstance(value, np.ndarray):
        flags = value.flags
        return value.dtype, value.ndim, flags.c_contiguous, flags.writeable
    if isinstance(value, tuple):
        return (type(value), *map(kind_of, value))
    return type(value)


def aside(work: Callable[[], None]) -> None:
    """Work in a thread, to whose end a process that ends gives a moment."""
    thread = threading.Thread(target=work, daemon=True)
    atexit.register(thread.join, LEAVING)
    thread.start()


def is_importable(kernel: Any) -> bool:
    """Whether another process finds the kernel by its name."""
    function = kernel.function
    module = sys.modules.get(function.__module__)
    return function.__module__ != "__main__" and getattr(module, function.__name__, None) is kernel


def compile_aside(kernel: Any, signature: Any) -> "subprocess.Popen[bytes]":
    """Start a process that compiles a kernel into the disk cache."""
    process = subprocess.Popen(
        [sys.executable, "-m", "ossb.compiling"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdin is not None
    with process.stdin as pipe:
        function = kernel.function
        pipe.write(pickle.dumps((function.__module__, function.__name__, signature)))
    return process
