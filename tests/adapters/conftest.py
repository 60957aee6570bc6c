import pytest


@pytest.fixture(autouse=True)
def no_compiler(monkeypatch):
    """Slow steps stay interpreted, whatever else this machine does."""
    monkeypatch.setattr("ossb.campaigns.player.WORTH", 10**9)
