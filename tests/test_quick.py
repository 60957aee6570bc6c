"""Kernels that turn to compiled code by themselves: when, how, and what stays the same."""

import fcntl
import os
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from ossb import compiling, quick
from ossb.families.bernoulli import bernoulli_kl
from ossb.kernels import kernel
from ossb.quick import COMPILING, INTERPRETED, LOOKING, MISSING, READY, Quick, kind_of

pytestmark = pytest.mark.aside


@kernel
def doubled(x):
    return x + x


class Pretended:
    """A kernel whose compiled twin says so, and whose cache holds what a test says."""

    def __init__(self, cached=False):
        self.function = doubled.function
        self.cached = cached
        self.loads = 0
        self.calls = []

    def compiled(self, x):
        self.calls.append(x)
        return doubled(x)

    def is_compiled(self, *args):
        return self.cached

    def load(self, *args):
        self.loads += 1

    def signature(self, *args):
        return "types"


class Compiler:
    """A process that is done when a test says so."""

    def __init__(self):
        self.code = None

    def poll(self):
        return self.code


@pytest.fixture
def at_once(monkeypatch):
    """Work that is always worth compiling."""
    monkeypatch.setattr(quick, "WORTH", -1.0)


def stage_of(runs):
    (progress,) = runs._kinds.values()
    return progress.stage


def test_a_few_calls_are_interpreted():
    pretended = Pretended(cached=True)
    runs = Quick(pretended)
    assert [runs(x) for x in range(5)] == [0, 2, 4, 6, 8]
    assert pretended.calls == []
    assert stage_of(runs) == INTERPRETED


def test_what_is_in_the_cache_is_taken(at_once):
    pretended = Pretended(cached=True)
    runs = Quick(pretended)
    assert runs(3) == 6
    assert pretended.calls == [3]
    assert pretended.loads == 1
    assert runs.is_ready(4)
    assert not runs.is_ready(4.0)  # other code


def test_what_is_not_in_the_cache_is_compiled_in_a_process_of_its_own(at_once, monkeypatch):
    compiler, pretended = Compiler(), Pretended()
    monkeypatch.setattr(quick, "is_importable", lambda kernel: True)
    monkeypatch.setattr(quick, "compile_aside", lambda kernel, signature: compiler)
    runs = Quick(pretended)
    assert [runs(1), runs(2)] == [2, 4]
    assert stage_of(runs) == COMPILING
    assert not runs.expect(100.0, 3)
    compiler.code, pretended.cached = 0, True
    assert runs(3) == 6
    assert pretended.calls == [3]
    assert runs.expect(0.0, 3)


def test_a_compiler_that_failed_is_not_asked_again(at_once, monkeypatch):
    started = []
    compiler = Compiler()
    monkeypatch.setattr(quick, "is_importable", lambda kernel: True)
    monkeypatch.setattr(quick, "compile_aside", lambda *args: started.append(args) or compiler)
    pretended = Pretended()
    runs = Quick(pretended)
    runs(1)
    compiler.code = 1
    assert [runs(1), runs(2)] == [2, 4]
    assert len(started) == 1
    assert stage_of(runs) == MISSING
    monkeypatch.setattr(quick, "HOPELESS", -1.0)
    assert runs(5) == 10
    assert pretended.calls == [5]  # compiled here, after so long


def test_one_compiles_at_a_time(at_once, monkeypatch, tmp_path):
    assert compiling.BUSY == quick.BUSY
    started, compiler, pretended = [], Compiler(), Pretended()
    monkeypatch.setattr(quick, "is_importable", lambda kernel: True)
    monkeypatch.setattr(quick, "compile_aside", lambda *args: started.append(args) or compiler)
    runs = Quick(pretended)
    runs(1)
    compiler.code = quick.BUSY
    runs(1)
    assert stage_of(runs) == INTERPRETED
    runs(1)  # too soon
    assert (len(started), stage_of(runs)) == (1, INTERPRETED)
    (progress,) = runs._kinds.values()
    progress.again -= quick.PAUSE
    runs(1)
    assert (len(started), stage_of(runs)) == (2, COMPILING)
    runs(1)
    monkeypatch.setattr(quick, "HOPELESS", -1.0)
    assert (runs(7), pretended.calls) == (14, [7])  # after so long it is compiled here
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with open(tmp_path / f"ossb-compiling-{os.getuid()}", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        command = [sys.executable, "-m", "ossb.compiling"]
        run = subprocess.run(command, env=environment, input=b"", timeout=60)
    assert run.returncode == quick.BUSY


def test_a_list_gets_its_code_once_others_have_compiled(monkeypatch):
    """However long they take, and however little of it lies ahead by then."""
    compilers = [Compiler() for _ in range(12)]
    started, pretended = iter(compilers), Pretended()
    monkeypatch.setattr(quick, "is_importable", lambda kernel: True)
    monkeypatch.setattr(quick, "compile_aside", lambda *args: next(started))
    runs = Quick(pretended)
    for compiler in compilers:
        assert not runs.expect(2.0 * quick.WORTH, 1)
        assert stage_of(runs) == COMPILING
        compiler.code = quick.BUSY
        assert not runs.expect(2.0 * quick.WORTH, 1)
        (progress,) = runs._kinds.values()
        assert progress.pause <= quick.LONGEST_PAUSE
        progress.again -= quick.LONGEST_PAUSE
    pretended.cached = True
    assert runs.expect(2.0 * quick.WORTH, 1)


def test_a_cache_that_cannot_be_read_leaves_the_interpreter(at_once, monkeypatch):
    pretended = Pretended()
    monkeypatch.setattr(pretended, "is_compiled", lambda *args: 1 / 0)
    runs = Quick(pretended)
    assert runs(2) == 4
    assert stage_of(runs) == MISSING


def test_work_ahead_is_worth_looking_now():
    pretended = Pretended(cached=True)
    runs = Quick(pretended)
    assert not runs.expect(0.5 * quick.WORTH, 1)
    assert runs.expect(2.0 * quick.WORTH, 1)
    assert runs(1) == 2
    assert pretended.calls == [1]


def test_other_threads_do_not_wait_nor_disturb_who_is_looking(monkeypatch):
    waiting = []
    monkeypatch.setattr(quick, "aside", waiting.append)
    monkeypatch.setattr(quick, "WORTH", -1.0)
    pretended = Pretended(cached=True)
    runs = Quick(pretended)
    with ThreadPoolExecutor(1) as pool:
        assert list(pool.map(runs, [1, 2])) == [2, 4]
    assert stage_of(runs) == LOOKING
    assert not runs.expect(100.0, 1)
    assert len(waiting) == 1
    waiting[0]()
    assert stage_of(runs) == READY
    assert runs(7) == 14
    assert pretended.calls == [7]


def test_kinds_are_what_compiled_code_is_specialised_to():
    array = np.zeros((2, 3))
    frozen = array.copy()
    frozen.setflags(write=False)
    others = [array.T, frozen, np.zeros(2), np.zeros((2, 3), np.int64), (array,), 1, 1.0]
    kinds = [kind_of(value) for value in [array, *others]]
    assert len(set(kinds)) == len(kinds)
    assert kind_of((1, array)) == kind_of((2, np.ones((4, 4))))


def test_kernels_have_one_each():
    assert bernoulli_kl.quick is bernoulli_kl.quick
    assert bernoulli_kl.quick(0.25, 0.5) == bernoulli_kl(0.25, 0.5)
    assert quick.is_importable(bernoulli_kl)
    assert not quick.is_importable(kernel(bernoulli_kl.function))


def test_another_process_compiles_for_this_one(tmp_path):
    script = """
        import time
        from ossb import compiling, quick
        from ossb.families.bernoulli import bernoulli_kl
        quick.WORTH = -1.0
        expected = bernoulli_kl(0.25, 0.5)
        ended = time.monotonic() + 120
        while not bernoulli_kl.quick.is_ready(0.25, 0.5) and time.monotonic() < ended:
            assert bernoulli_kl.quick(0.25, 0.5) == expected
            time.sleep(0.05)
        assert bernoulli_kl.quick.is_ready(0.25, 0.5)
        assert bernoulli_kl.quick(0.25, 0.5) == expected
        (progress,) = bernoulli_kl.quick._kinds.values()
        assert progress.compiler.poll() == 0
        assert bernoulli_kl.compiled.stats.cache_hits
    """
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "TMPDIR": str(tmp_path)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], env=environment, check=True, timeout=240
    )
