"""What all tests share: one hypothesis profile, and no dependence on where they are started."""

import signal

import pytest
from hypothesis import HealthCheck, settings

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


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
