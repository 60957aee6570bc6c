"""A service in this process."""

import pytest

from ossb.campaigns import open_storage
from ossb.service.app import Service
from service_calls import BODY, Local


@pytest.fixture(autouse=True)
def no_compiler(monkeypatch):
    monkeypatch.setattr("ossb.campaigns.player.WORTH", 10**9)


@pytest.fixture
def storage_url(tmp_path):
    return f"sqlite:///{tmp_path / 'campaigns.db'}"


@pytest.fixture
def http(storage_url):
    local = Local(Service(open_storage(storage_url)))
    yield local
    local.close()


@pytest.fixture
def campaign(http):
    """A service with one campaign, named ``first``."""
    assert http.post("/v1/campaigns", BODY).status_code == 201
    return http
