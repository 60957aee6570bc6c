import pytest

from cli_runner import Runner


@pytest.fixture
def ossb(monkeypatch, capsys):
    return Runner(monkeypatch, capsys)
