"""Campaigns: ask for an arm, act, tell what was observed; through crashes, for weeks."""

from ossb.campaigns.arms import Closed
from ossb.campaigns.campaign import Campaign
from ossb.campaigns.history import Decided
from ossb.campaigns.journal import Unknown
from ossb.campaigns.rows import read_rows
from ossb.campaigns.storage import (
    Conflict,
    Corrupt,
    InUse,
    Storage,
    Unavailable,
    open_storage,
)
from ossb.campaigns.tell import Told

__all__ = [
    "Campaign",
    "Closed",
    "Conflict",
    "Corrupt",
    "Decided",
    "InUse",
    "Storage",
    "Told",
    "Unavailable",
    "Unknown",
    "open_storage",
    "read_rows",
]
