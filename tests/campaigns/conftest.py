"""Stores to test on, and a clock that stands still."""

import itertools

import pytest

import postgresql_server
from ossb.campaigns import open_storage


@pytest.fixture(scope="session")
def postgresql():
    """A real PostgreSQL server; tests that ask for it are skipped where there is none."""
    if postgresql_server.binaries() is None:
        pytest.skip(postgresql_server.ABSENT)
    server = postgresql_server.Server()
    server.start()
    yield server
    server.stop()


@pytest.fixture(autouse=True)
def no_compiler(monkeypatch):
    """Slow steps stay interpreted, whatever else this machine does."""
    monkeypatch.setattr("ossb.campaigns.player.PATIENCE", 10**9)


_databases = itertools.count()


@pytest.fixture
def database(postgresql):
    """The URL of a fresh database."""
    import psycopg

    name = f"test{next(_databases)}"
    with psycopg.connect(postgresql.url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return postgresql.url.replace("/postgres?", f"/{name}?")


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def storage(request, tmp_path):
    """Each kind of store, empty."""
    if request.param == "memory":
        url = "memory://"
    elif request.param == "sqlite":
        url = f"sqlite:///{tmp_path / 'campaigns.db'}"
    else:
        url = request.getfixturevalue("database")
    store = open_storage(url)
    yield store
    store.close()


class Clock:
    """Time that passes when told to."""

    def __init__(self):
        self.now = 1_700_000_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()
