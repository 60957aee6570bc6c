"""Campaigns: ask for an arm, act, tell what was observed; through crashes, for weeks."""

from ossb.campaigns.campaign import Campaign, Decided
from ossb.campaigns.storage import open_storage

__all__ = ["Campaign", "Decided", "open_storage"]
