"""What all tests share: one hypothesis profile, and no dependence on where they are started.

Tests marked ``sampled`` are many of a kind, such as a contract on every policy, structure and
family.  A run has a fifth of them, or as ``sampled(of=25)`` says, which the commit draws: what runs
is reproduced by the commit alone, and other commits run others.  Those with the same number ``by``
are drawn together, as they compile the same code.  ``--share all`` runs all of them, ``--share 3``
a share by its number; a test named by its id always runs.
"""

import hashlib
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from ossb import quick
from ossb.deadlines import is_limited

settings.register_profile(
    "ossb",
    derandomize=True,
    deadline=None,
    max_examples=40,
    database=None,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.filter_too_much,
    ],
)
settings.load_profile("ossb")
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # started in the background of a shell, where children would ignore an interrupt for good
    signal.signal(signal.SIGINT, signal.default_int_handler)

FIFTH, MOST = 5, 1000


def pytest_addoption(parser):
    parser.addoption(
        "--share",
        default="",
        help="number of the share of sampled tests to run, or all; by default the commit draws it",
    )


def pytest_configure(config):
    share = config.option.share
    if not share:  # here and not in each worker: they must collect the same tests
        config.option.share = str(drawn(commit(), MOST))
    elif share != "all" and not share.isdecimal():
        raise pytest.UsageError(f"--share must be a number or all, got {share!r}")


def pytest_collection_modifyitems(config, items):
    share = config.option.share
    if share == "all" or any("::" in argument for argument in config.args):
        return
    kept, left = [], []
    for item in items:
        mark = item.get_closest_marker("sampled")
        drawing = mark.kwargs if mark else {"of": 1}
        of = drawing.get("of", FIFTH)
        number = drawing.get("by", drawn(item.nodeid, of))
        (kept if (number - int(share)) % of == 0 else left).append(item)
    items[:] = kept
    config.hook.pytest_deselected(items=left)


def drawn(text, of):
    """A number below ``of``, drawn by a text."""
    return int(hashlib.sha256(text.encode()).hexdigest(), 16) % of


def commit():
    """The commit that is checked out; nothing where there is no repository."""
    command = ["git", "-C", Path(__file__).parent, "rev-parse", "HEAD"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:
        return ""


@pytest.fixture(autouse=True)
def compiled_here(request, monkeypatch):
    """Kernels that have come to be worth compiling are compiled at once, in the tests' process.

    A process aside would be waited for by interpreting what takes a hundred times as long, on
    cores that are busy with tests; of campaigns, which nobody waits for here, none is started.
    Tests marked ``aside`` are about these processes.
    """
    if request.node.get_closest_marker("aside"):
        return
    look = quick.Quick._look

    def look_here(self, progress, args):
        waits = threading.current_thread() is threading.main_thread() and not is_limited()
        if not waits or not quick.is_importable(self._kernel):
            look(self, progress, args)
            return
        self._kernel.load(*args)
        progress.stage = quick.READY

    monkeypatch.setattr(quick.Quick, "_look", look_here)
    player = sys.modules.get("ossb.campaigns.player")
    if player is not None:
        monkeypatch.setattr(player, "compile_aside", lambda *keys: None)


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
