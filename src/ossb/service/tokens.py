"""Tokens: who may do what.

A token is 256 random bits, so a plain SHA-256 of it is all that needs to be kept.  The hashes
stand in a journal of their own in the store, under a name that no campaign can have.
"""

import hashlib
import hmac
import secrets
import time
from typing import NamedTuple

from ossb.campaigns import Conflict, Storage
from ossb.campaigns.definition import label
from ossb.campaigns.events import GENESIS, Event, chained
from ossb.errors import InputError
from ossb.fields import choice

JOURNAL = "\x1ftokens"  # a campaign's name holds no control character
SCOPES = ("read", "write", "admin")
PREFIX = "ossb_"
ATTEMPTS = 20


class Grant(NamedTuple):
    """What a token allows."""

    scope: str
    campaign: str | None = None

    def covers(self, scope: str) -> bool:
        return SCOPES.index(self.scope) >= SCOPES.index(scope)


class Tokens:
    """The tokens of a store; sees those that are made while it runs."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._grants: list[tuple[str, Grant]] = []
        self._last: Event | None = None
        self.refresh()

    def __len__(self) -> int:
        return len(self._grants)

    def refresh(self) -> None:
        """Read what was added since."""
        number = 0 if self._last is None else self._last.number
        for event in self._storage.read(JOURNAL, number):
            content = event.content
            self._grants.append((content["hash"], Grant(content["scope"], content["campaign"])))
            self._last = event

    def grant_of(self, token: str) -> Grant | None:
        """What a token allows; every comparison takes the same time, and all are made."""
        given = _hash(token)
        found: Grant | None = None
        for known, grant in self._grants:
            if hmac.compare_digest(known, given):
                found = grant
        return found

    def create(self, scope: str, campaign: str | None = None) -> str:
        """A new token: this is the only time it is seen."""
        choice(scope, "scope", SCOPES)
        if campaign is not None:
            label(campaign, "campaign")
        token = PREFIX + secrets.token_urlsafe(32)
        content = {"hash": _hash(token), "scope": scope, "campaign": campaign}
        for _ in range(ATTEMPTS):  # another server may make one at the same time
            last = self._last
            number, digest = (0, GENESIS) if last is None else (last.number, last.digest)
            event = chained(digest, number + 1, "token", time.time(), content)
            try:
                self._storage.append(JOURNAL, [event], digest).result()
            except Conflict:
                self.refresh()
                continue
            self.refresh()
            return token
        raise InputError("token", "be made while nobody else makes one")


def campaign_names(storage: Storage) -> list[str]:
    """Campaigns of a store, in order of creation."""
    return [name for name in storage.names() if name != JOURNAL]


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
