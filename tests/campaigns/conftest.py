"""Stores to test on, and a clock that stands still."""

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
    monkeypatch.setattr("ossb.campaigns.player.WORTH", 10**9)


@pytest.fixture
def database(postgresql):
    """The URL of an empty database: one is kept, since a server recovers slowly from many."""
    import psycopg

    tables = "ossb_format, ossb_campaigns, ossb_events, ossb_snapshots"
    with psycopg.connect(postgresql.url, autocommit=True) as connection:
        connection.execute("SET lock_timeout TO '20s'")
        connection.execute("SET client_min_messages TO error")
        connection.execute(f"DROP TABLE IF EXISTS {tables}")
    return postgresql.url


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
