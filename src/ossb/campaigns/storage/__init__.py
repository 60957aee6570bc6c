"""Where journals live: SQLite by default, PostgreSQL by URL, memory for tests."""

from ossb.campaigns.storage.base import Conflict, Corrupt, InUse, Storage, Unavailable, open_storage

__all__ = ["Conflict", "Corrupt", "InUse", "Storage", "Unavailable", "open_storage"]
