"""A client of campaigns that ``ossb serve`` serves; it needs the standard library only.

    with Client("http://127.0.0.1:8090", token) as client:
        decision = client.ask("headlines")[0]
        client.tell("headlines", decision.id, 1)

It is ``ossb.client`` under a name of its own, for machines that only call the service.
"""

from ossb_client.client import Client, Decision, ServiceError, Unreachable
from ossb_client.errors import (
    Closed,
    Conflict,
    Corrupt,
    InputError,
    NoCampaign,
    OssbError,
    OutOfTime,
    PolicyError,
    Told,
    Unavailable,
    Unknown,
)
from ossb_client.served import ServedCampaign

__all__ = [
    "Client",
    "Closed",
    "Conflict",
    "Corrupt",
    "Decision",
    "InputError",
    "NoCampaign",
    "OssbError",
    "OutOfTime",
    "PolicyError",
    "ServedCampaign",
    "ServiceError",
    "Told",
    "Unavailable",
    "Unknown",
    "Unreachable",
]
